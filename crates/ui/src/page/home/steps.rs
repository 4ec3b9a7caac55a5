//! The way to the first event in three steps, each of which says when it is done.

use headwater_model::page::PageRequest;
use headwater_platform::{PlatformError, RunHour, RunSearchFilter};
use maud::{Markup, html};

use super::{
    deployed::{Deployed, has_run},
    newest::Newest,
};
use crate::{
    address::Address as _,
    part::{
        code::{copyable, quoted},
        state::{Tone, state},
    },
    state::Ui,
    visit::Visitor,
};

/// A request that the first example takes.
const ORDER: &str = r#"{"order_id": 7, "total": 12.5}"#;

/// The steps while one is left.
pub(super) struct Steps {
    is_deployed: bool,
    has_run: bool,
    is_seen: bool,
    /// The page of the thing that was deployed, and the command that has it run.
    page: Option<String>,
    runs: String,
    /// The command that shows what came of it.
    shows: String,
}

impl Steps {
    /// The steps, unless all are done. A workflow that has run has shown what it does: most emit no event.
    pub(super) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        deployed: &Deployed,
        hours: &[RunHour],
        newest: &Newest,
    ) -> Result<Option<Self>, PlatformError> {
        let has_event = !newest.are_none();
        let has_run = has_event || has_run(hours) || any_run(ui, visitor).await?;
        let (page, runs, shows) = commands(ui, deployed);
        let steps = Self {
            is_deployed: !deployed.is_nothing(),
            has_run,
            is_seen: has_event || (has_run && deployed.workflows > 0),
            page,
            runs,
            shows,
        };
        Ok((!steps.are_done()).then_some(steps))
    }

    fn are_done(&self) -> bool {
        self.is_deployed && self.has_run && self.is_seen
    }

    pub(super) fn markup(&self, visitor: &Visitor) -> Markup {
        html! {
            section.empty aria-labelledby="steps" {
                h2 #steps { "Three steps to the first event" }
                ol.steps {
                    (step(self.is_deployed, html! {
                        p { "Deploy a source: " a href=(visitor.to("/deploy")) { "choose one here" } ", or in a terminal, from a checkout:" }
                        p { (copyable("headwater deploy examples/http-orders.mjs")) }
                    }))
                    (step(self.has_run, html! {
                        p {
                            "Have it run: by a request to the endpoint that "
                            @match &self.page { Some(page) => { a href=(page) { "its page" } } None => { "its page" } }
                            " shows, by its timer, or now:"
                        }
                        p { (copyable(&self.runs)) }
                    }))
                    (step(self.is_seen, html! {
                        p {
                            "See the event here, or in a terminal as it comes; then send those that follow to a URL of yours, as a "
                            a href=(visitor.to("/webhooks/new")) { "webhook" } ":"
                        }
                        p { (copyable(&self.shows)) }
                    }))
                }
            }
        }
    }
}

fn step(is_done: bool, told: Markup) -> Markup {
    html! {
        li {
            @if is_done { (state(Tone::Good, "done")) } @else { (state(Tone::Busy, "to do")) }
            (told)
        }
    }
}

/// The page of the first thing that is deployed, and the commands about it.
fn commands(ui: &Ui, deployed: &Deployed) -> (Option<String>, String, String) {
    if let Some(source) = deployed.source.as_ref().map(|view| &view.source) {
        let name = quoted(&source.name_slug);
        let endpoint = source.spec.endpoints.first();
        let runs = match endpoint.map(|one| ui.platform.config().endpoint_url(&one.token)) {
            Some(url) => format!("curl -s {url} -H 'content-type: application/json' -d '{ORDER}'"),
            None => format!("headwater run {name}"),
        };
        let shows = format!("headwater events {name} -f");
        return (Some(source.id.address()), runs, shows);
    }
    match &deployed.workflow {
        Some(workflow) => {
            let name = quoted(&workflow.name_slug);
            let runs = format!("headwater workflows run {name} --wait");
            let shows = format!("headwater workflows runs {name}");
            (Some(workflow.id.address()), runs, shows)
        }
        None => (
            None,
            "headwater run orders".to_owned(),
            "headwater events orders -f".to_owned(),
        ),
    }
}

/// Whether a run is kept or under way.
async fn any_run(ui: &Ui, visitor: &Visitor) -> Result<bool, PlatformError> {
    let filter = RunSearchFilter {
        workspace_id: visitor.workspace.clone(),
        ..RunSearchFilter::default()
    };
    let page = PageRequest::first(1);
    let found = ui.platform.find_runs(visitor.caller(), &filter, &page);
    Ok(!found.await?.items.is_empty())
}
