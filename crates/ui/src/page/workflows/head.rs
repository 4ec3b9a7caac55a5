//! The head of every page of a workflow: its name, its state, its triggers, and what can be done with it.

use headwater_model::{
    id::{EmitterId, WorkflowId},
    schedule::Schedule,
};
use headwater_platform::{KnownNames, PlatformError, TriggerView, WorkflowHealth, WorkflowView};
use maud::{Markup, html};
use serde_json::Value;

use crate::{
    address::Address as _,
    part::{
        code::{copyable, quoted},
        history::history,
        icon::{Icon, icon},
        name,
        outcome::outcome,
        schedule::in_words,
        state::{Tone, state},
        tabs::tabs,
        text::{self, counted},
        time,
    },
    state::Ui,
    visit::Visitor,
};

const TABS: [(&str, &str); 5] = [
    ("runs", "Runs"),
    ("steps", "Steps"),
    ("events", "Events"),
    ("errors", "Errors"),
    ("settings", "Settings"),
];

/// A workflow with its health.
pub(crate) struct Shown {
    pub(crate) view: WorkflowView,
    pub(crate) health: WorkflowHealth,
    /// The names of what its triggers listen to.
    names: KnownNames,
}

impl Shown {
    /// The workflow that a page is about.
    pub(crate) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        id: &WorkflowId,
    ) -> Result<Self, PlatformError> {
        let view = ui.platform.workflow(visitor.caller(), id).await?;
        let health = ui.platform.workflows_health(std::slice::from_ref(id));
        let health = health.await?.pop().unwrap_or_default();
        let listened = view.triggers.iter().filter_map(emitter_of);
        let names = ui.platform.names(visitor.caller(), listened, []).await?;
        Ok(Self {
            view,
            health,
            names,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.view.workflow.name
    }

    /// The name that commands take.
    pub(crate) fn quoted(&self) -> String {
        quoted(&self.view.workflow.name_slug)
    }

    pub(crate) fn base(&self) -> String {
        self.view.workflow.id.address()
    }

    /// The head, with the tab that is shown.
    pub(crate) fn head(&self, visitor: &Visitor, tab: &str) -> Markup {
        let base = self.base();
        let health = &self.health;
        html! {
            p.crumbs { a href="/workflows" { "Workflows" } }
            div data-part="head" {
            header.title {
                h1 { (text::value(self.name())) }
                (health_state(self.view.is_active(), health))
                (self.buttons(&base))
            }
            dl.facts {
                dt { "Runs on" }
                dd {
                    @if self.view.triggers.is_empty() { "nothing but by hand and by calls of other workflows" }
                    @for (at, trigger) in self.view.triggers.iter().enumerate() { @if at > 0 { ", " } (self.in_a_word(trigger)) }
                    @if let Some(next) = health.next_tick_at_ms { ", next " (time::ago(next, visitor.now_ms)) }
                }
                @if let Some(run) = &health.last_run {
                    dt { "Last run" }
                    dd {
                        a href={ (base) "/runs/" (run.id) } { (time::ago(run.ended.started_at_ms, visitor.now_ms)) } " "
                        (outcome(run.ended.outcome))
                        @if let Some(error) = &run.ended.error { " " (text::line(error)) }
                    }
                }
                @if health.open_runs > 0 {
                    dt { "Under way" }
                    dd { a href={ (base) "/runs?status=open" } { (counted(health.open_runs.into(), "run", "runs")) } }
                }
                @for url in self.view.triggers.iter().filter_map(|trigger| trigger.endpoint_url.as_deref()) {
                    dt { "Endpoint" }
                    dd { (copyable(url)) }
                }
            }
            }
            (tabs("Parts of the workflow", &base, &TABS, tab))
        }
    }

    /// A trigger in a few words.
    pub(crate) fn in_a_word(&self, trigger: &TriggerView) -> Markup {
        let schedule = trigger.schedule.as_ref();
        html! {
            @match (trigger.kind, emitter_of(trigger)) {
                ("http", _) => { "requests" }
                ("email", _) => { "mail" }
                ("source", Some(id)) => { "events of its own source " (name::emitter(&self.names, &id)) }
                ("source", None) => { "events of a source of its own" }
                ("events", Some(id)) => { "events of " (name::emitter(&self.names, &id)) }
                ("events", None) => { "events of " (text::line(trigger.emitter.as_deref().unwrap_or("others"))) }
                (kind, _) => { (schedule.map_or_else(|| kind.to_owned(), schedule_in_words)) }
            }
        }
    }

    fn buttons(&self, base: &str) -> Markup {
        let is_active = self.view.is_active();
        html! {
            div.actions {
                @if is_active { a.button href={ (base) "/run" } data-key="r" { (icon(Icon::Play)) "Run now" } }
                form method="post" action={ (base) "/switch" } {
                    @if is_active {
                        button name="active" value="false" { (icon(Icon::Paused)) "Pause" }
                    } @else {
                        button name="active" value="true" { (icon(Icon::Play)) "Resume" }
                    }
                }
                (history(self.view.workflow.id.as_str()))
                a.button.danger href={ (base) "/delete" } { "Delete" }
            }
        }
    }
}

/// The state of a workflow in one word.
pub(crate) fn health_state(is_active: bool, health: &WorkflowHealth) -> Markup {
    match (is_active, health.failing_since_ms) {
        (false, _) => state(Tone::Quiet, "paused"),
        (true, Some(_)) => state(Tone::Bad, "failing"),
        (true, None) if health.last_run.is_none() => state(Tone::Busy, "waiting"),
        (true, None) => state(Tone::Good, "ok"),
    }
}

/// The source or workflow that a trigger listens to, if it is one.
fn emitter_of(trigger: &TriggerView) -> Option<EmitterId> {
    match &trigger.source_id {
        Some(id) => Some(EmitterId::Source(id.clone())),
        None => trigger.emitter.as_deref()?.parse().ok(),
    }
}

fn schedule_in_words(value: &Value) -> String {
    let seconds = value["interval_seconds"].as_u64();
    let cron = value["cron"].as_str();
    match (seconds, cron) {
        (Some(seconds), _) => in_words(&Schedule::Interval { seconds }),
        (None, Some(expression)) => {
            let timezone = value["timezone"].as_str().unwrap_or("UTC");
            format!("cron {expression} ({timezone})")
        }
        (None, None) => "a schedule".to_owned(),
    }
}
