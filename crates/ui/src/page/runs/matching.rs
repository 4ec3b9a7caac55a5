//! `/runs/replay`: all runs of workflows that a filter finds and that have ended begin again, with their number first.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    response::{IntoResponse as _, Response},
};
use headwater_model::id::InvocationId;
use headwater_platform::{FoundRunsReplayed, REPLAYED_RUNS_MAX, ReplayFoundRuns, RunSearchFilter};
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use url::form_urlencoded::{self, Serializer};

use super::{filter::Wanted, selected::replay};
use crate::{
    part::{
        confirm::{Question, confirm_busy},
        empty::empty,
        text::{self, counted, grouped},
    },
    problem::Problem,
    query::{since, until},
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// The parameters that are not of the filter.
const ACT: &str = "act";
const BEHIND: &str = "behind";

/// The links to the questions about all that a list's filter finds.
pub(super) fn links(visitor: &Visitor, status: &str) -> Markup {
    let address = |act: &str| {
        let status = Some(status).filter(|status| !status.is_empty());
        let list = visitor.with(&[("status", status), ("selected", None), (ACT, Some(act))]);
        list.replacen("/runs", "/runs/replay", 1)
    };
    html! {
        p {
            "All that match, of workflows and ended: "
            a href=(address("replay")) { "run again on the code of now…" } " · "
            a href=(address("replay-same")) { "of then…" }
        }
    }
}

/// The act of an address.
struct Act {
    request: ReplayFoundRuns,
    /// The same with spans of time as moments, up to now: the question and the act mean the same runs, and those that begin
    /// by it are none of them.
    address: String,
}

impl Act {
    fn of(visitor: &Visitor, wanted: &Wanted, is_dry: bool) -> Result<Self, Problem> {
        let now_ms = visitor.now_ms;
        let is_same = replay(visitor.parameter(ACT).as_deref().unwrap_or("replay"))?.is_same;
        let until_ms = until(&wanted.until, now_ms).unwrap_or(now_ms);
        let filter = RunSearchFilter {
            states: wanted.states(),
            until_ms: Some(until_ms),
            ..wanted.in_any_state(visitor.workspace.clone(), now_ms)
        };
        let since = since(&wanted.since, now_ms).map(|since| since.to_string());
        let moments = [
            ("since", since.as_deref()),
            ("until", Some(&until_ms.to_string())),
        ];
        Ok(Self {
            address: visitor.with(&moments),
            request: ReplayFoundRuns {
                filter,
                after: visitor.parameter(BEHIND).and_then(|id| id.parse().ok()),
                is_same,
                is_dry,
            },
        })
    }

    /// The same as the body of a request to the API.
    fn body(&self, wanted: &Wanted) -> Value {
        let filter = wanted.asked(self.request.filter.clone()).into_iter();
        let filter: Map<_, _> = filter
            .map(|(name, value)| (name.to_owned(), value.into()))
            .collect();
        let mut body = json!({ "filter": filter });
        if self.request.is_same {
            body["deployment"] = "same".into();
        }
        if let Some(run) = &self.request.after {
            body["after"] = run.as_str().into();
        }
        body
    }

    /// The list of what the filter finds.
    fn list(&self) -> String {
        let query = without(&self.address, &[ACT, BEHIND]).finish();
        format!("/runs?{query}")
    }

    /// The same question about the runs behind one: up to the same moment.
    fn behind(&self, run: &InvocationId) -> String {
        let mut query = without(&self.address, &[BEHIND]);
        let query = query.append_pair(BEHIND, run.as_str()).finish();
        format!("/runs/replay?{query}")
    }
}

/// The query of an address without some of its parameters.
fn without(address: &str, names: &[&str]) -> Serializer<'static, String> {
    let (_, query) = address.split_once('?').unwrap_or_default();
    let kept = form_urlencoded::parse(query.as_bytes());
    let kept = kept.filter(|(name, _)| !names.contains(&&**name));
    let mut query = Serializer::new(String::new());
    query.extend_pairs(kept);
    query
}

/// Asks, with the number of runs.
pub(crate) async fn ask(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> PageReply {
    let act = Act::of(&visitor, &wanted, true)?;
    let would = ui
        .platform
        .replay_found_runs(visitor.caller(), &act.request)
        .await?;
    let back = act.list();
    if would.found == 0 {
        let body = html! {
            h1 { "Run again" }
            (empty("No run that matches can be done again.", html! {
                p { "Runs of workflows that have ended can; runs of sources keep no event." }
                p { a href=(back) { "Go back to the list" } }
            }))
            (rest(&act, &would))
        };
        return Ok(Page::of(Section::Runs, "Run again", body));
    }
    let title = format!("Begin {} again?", counted(would.found, "run", "runs"));
    let question = Question {
        title: &title,
        consequences: html! {
            p {
                "A new run begins with the event of each, oldest first, on the code of "
                @if act.request.is_same { "then" } @else { "now" }
                ". Every step runs again, with everything that it does outside."
            }
            p { "Those whose event is not kept any more are left, and told afterwards." }
            @if would.others > 0 { p { (counted(would.others, "other run is", "other runs are")) " left: of sources, or not ended." } }
            @if would.next.is_some() { p { (bound(&would)) " Older ones are asked about afterwards." } }
        },
        action: &act.address,
        fields: &[],
        button: "Run again",
        back: &back,
    };
    let body = confirm_busy(&question, "Beginning again…");
    let page = Page::of(Section::Runs, title.clone(), body);
    Ok(page.request_with(&ui, "POST", "/runs/replay", &act.body(&wanted)))
}

/// Begins them again, and says what became of each.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let act = Act::of(&visitor, &wanted, false)?;
    let done = ui
        .platform
        .replay_found_runs(visitor.caller(), &act.request)
        .await?;
    let title = format!(
        "{} begun again",
        counted(done.replayed, "run has", "runs have")
    );
    let body = html! {
        h1 { (title) }
        dl.facts {
            dt { "Found" } dd { (grouped(done.found)) }
            dt { "Begun again" } dd { (grouped(done.replayed)) }
            dt { "Refused" } dd { (grouped(done.refused)) }
            @if done.untried > 0 { dt { "Not tried" } dd { (grouped(done.untried)) ": none would do better than the last that was refused" } }
            @if done.others > 0 { dt { "Left" } dd { (grouped(done.others)) ": of sources, or not ended" } }
        }
        @if !done.reasons.is_empty() {
            h2 { "Refused" }
            ul.rows { @for (id, reason) in &done.reasons { li { a href={ "/runs/" (id) } { code { (id) } } ": " (text::sentence(reason)) } } }
            @if done.refused > done.reasons.len() as u64 { p { "and " (counted(done.refused - done.reasons.len() as u64, "other", "others")) } }
        }
        (rest(&act, &done))
        p { a.button href=(act.list()) { "Go back to the list" } }
    };
    Ok(Page::of(Section::Runs, title.clone(), body).into_response())
}

fn bound(all: &FoundRunsReplayed) -> String {
    let most = REPLAYED_RUNS_MAX as u64;
    match all.found >= most {
        true => format!(
            "At most {} runs begin again at once: these are the newest of those that match.",
            grouped(most)
        ),
        false => "These are not all that match.".to_owned(),
    }
}

/// The way to the older ones.
fn rest(act: &Act, all: &FoundRunsReplayed) -> Markup {
    html! {
        @if let Some(next) = &all.next {
            p { a href=(act.behind(next)) { "Go on with the older ones" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    #[test]
    fn the_way_to_older_runs_keeps_the_moment_of_the_question() {
        let act = Act {
            request: ReplayFoundRuns::default(),
            address: "/runs/replay?status=failed&act=replay-same&behind=inv_1&until=17".to_owned(),
        };
        assert_eq!(act.list(), "/runs?status=failed&until=17");
        let run = InvocationId::new(EpochMs(1), 1);
        let behind = "/runs/replay?status=failed&act=replay-same&until=17&behind=";
        assert_eq!(act.behind(&run), format!("{behind}{run}"));
    }
}
