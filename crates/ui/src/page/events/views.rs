//! Views on `/events`: searches with a name, as the page of events shows them.

use headwater_model::duration;
use headwater_platform::EventView;
use maud::{Markup, html};
use url::form_urlencoded::Serializer;

use super::wanted::Wanted;
use crate::{
    part::{
        icon::{Icon, icon},
        text,
    },
    visit::Visitor,
};

/// A view that could not be saved: its name, and the reason.
pub(super) struct Unsaved<'a> {
    pub(super) name: &'a str,
    pub(super) wrong: &'a str,
}

/// The address of a search.
pub(super) fn address(visitor: &Visitor, wanted: &Wanted) -> String {
    let base = visitor.to("/events");
    let joint = if base.contains('?') { '&' } else { '?' };
    match wanted.query() {
        query if query.is_empty() => base,
        query => format!("{base}{joint}{query}"),
    }
}

/// The address of the question whether to delete the view of this name.
fn deletion(visitor: &Visitor, name: &str) -> String {
    let base = visitor.to("/events/views/delete");
    let joint = if base.contains('?') { '&' } else { '?' };
    let query = Serializer::new(String::new())
        .append_pair("name", name)
        .finish();
    format!("{base}{joint}{query}")
}

/// Links to the views, with the one whose search is shown.
pub(super) fn links(visitor: &Visitor, views: &[EventView], wanted: &Wanted) -> Markup {
    let query = wanted.query();
    let is_shown = |view: &EventView| Wanted::of_view(view).query() == query;
    let shown = views.iter().find(|view| is_shown(view));
    html! {
        @if !views.is_empty() {
            nav aria-label="Saved views" {
                ul.chips {
                    @for view in views {
                        li {
                            a href=(address(visitor, &Wanted::of_view(view))) aria-current=[is_shown(view).then_some("true")] {
                                (text::line(&view.name))
                            }
                        }
                    }
                    @if let Some(view) = shown { li { a href=(deletion(visitor, &view.name)) { "Delete this view…" } } }
                }
            }
        }
    }
}

/// Whether a time is one before now.
fn is_relative(time: &str) -> bool {
    duration::parse(time.trim()).is_some()
}

/// The form that names the search.
pub(super) fn form(visitor: &Visitor, wanted: &Wanted, unsaved: Option<&Unsaved<'_>>) -> Markup {
    let wrong = unsaved.map(|unsaved| unsaved.wrong);
    html! {
        details.further open[wrong.is_some()] {
            summary { "Save as a view" }
            form.filters method="post" action=(address(visitor, wanted)) {
                div {
                    label for="view-name" { "Name " }
                    input #view-name name="name" value=(unsaved.map_or("", |unsaved| unsaved.name)) required maxlength="100" autocomplete="off"
                        aria-invalid=[wrong.map(|_| "true")] aria-describedby=[wrong.map(|_| "view-wrong")];
                }
                button { "Save" }
            }
            @if let Some(wrong) = wrong { p.wrong role="alert" #view-wrong { (icon(Icon::Warning)) (text::sentence(wrong)) } }
            p.note {
                @if visitor.workspace.is_some() { "All members of the workspace see it. " }
                "A view of the same name is replaced. "
                @if is_relative(&wanted.since) || is_relative(&wanted.until) { "Times before now stay so: the view moves on with the clock." }
            }
        }
    }
}
