//! `/runs/selected`: the runs of workflows whose boxes are checked begin again with their events, on the code of now or of
//! then.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::InvocationId;
use headwater_platform::{PlatformError, ReplayPlan, RunReplay};
use maud::{Markup, html};

use crate::{
    fields::Fields,
    page::selected::{Asked, Back, Selected, Tally, no_act},
    part::text::{self, counted},
    problem::Problem,
    reply::{FormReply, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// The acts on runs.
pub(crate) const REPLAYS: [(&str, &str); 2] = [
    ("replay", "Run again on the code of now"),
    ("replay-same", "…of then"),
];

/// The replay that an act means.
pub(super) fn replay(act: &str) -> Result<RunReplay, Problem> {
    let is_same = match act {
        "replay" => false,
        "replay-same" => true,
        other => return Err(no_act(other)),
    };
    Ok(RunReplay {
        from: None,
        is_same,
    })
}

/// Asks, with their number and the deployment that each would follow.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let Selected { act, ids } = Selected::<InvocationId>::of(&visitor)?;
    let request = replay(&act)?;
    let mut rows = Vec::with_capacity(ids.len());
    for id in &ids {
        let plan = ui
            .platform
            .replay_plan(visitor.caller(), id, &request)
            .await;
        rows.push(row(id, plan)?);
    }
    let count = counted(ids.len() as u64, "run", "runs");
    let flag = if request.is_same { " --same" } else { "" };
    let asked = Asked {
        section: Section::Runs,
        title: format!("Begin {count} again?"),
        button: "Run again",
        busy: "Beginning again…",
        consequences: html! {
            p { "A new run begins with the event of each. Every step runs again, with everything that it does outside." }
        },
        rows,
        list: "/runs",
        command: format!("headwater workflows replay {}{flag}", ids[0]),
    };
    Ok(asked.page(&visitor))
}

/// Begins each of them again.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Back>,
) -> FormReply {
    let Selected { act, ids } = Selected::<InvocationId>::of(&visitor)?;
    let request = replay(&act)?;
    let mut tally = Tally::default();
    for id in &ids {
        let started = ui.platform.replay_run(visitor.caller(), id, &request);
        tally.add(started.await)?;
    }
    let words = ("run has", "runs have", "begun again");
    tally.back(&visitor, ("/runs", &given.back), words)
}

/// A run, and the deployment that its replay follows, or the reason why there is none.
fn row(id: &InvocationId, plan: Result<ReplayPlan, PlatformError>) -> Result<Markup, Problem> {
    let told = match plan {
        Ok(plan) => html! { "follows " code { (plan.deployment_id) } },
        Err(PlatformError::Conflict(reason)) => html! { "is left: " (text::sentence(&reason)) },
        Err(error) => return Err(error.into()),
    };
    Ok(html! { a href={ "/runs/" (id) } { code { (id) } } " " (told) })
}
