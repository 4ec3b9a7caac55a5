//! The page of a run that is not kept any more, or never was.

use axum::http::StatusCode;
use headwater_model::id::InvocationId;
use maud::html;

use crate::{
    part::{empty::empty, text::grouped},
    reply::{Page, Section},
    state::Ui,
};

/// Tells how many runs are kept, and until when this one may have been.
pub(super) fn page(ui: &Ui, id: &InvocationId) -> Page {
    let config = ui.platform.config();
    let kept = format!(
        "Of each source and workflow, the newest {} runs that succeeded and {} that failed are kept.",
        grouped(config.retained_runs.into()),
        grouped(config.retained_failed_runs.into())
    );
    let body = html! {
        p.crumbs { a href="/runs" { "Runs" } }
        header.title { h1 { "This run is not here" } }
        (empty(&kept, html! {
            p {
                "There is no run with this id, or it belongs to somebody else. It may have been kept until newer ones took its place, or until its source or workflow was deleted."
            }
            p { a href="/runs?status=any" { "Show the runs that are kept" } }
        }))
        dl.facts { dt { "Id" } dd { code { (id) } } }
    };
    Page::of(Section::Runs, "This run is not here", body)
        .with_status(StatusCode::NOT_FOUND)
        .command("headwater runs list")
}
