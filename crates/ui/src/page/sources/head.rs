//! The head of every page of a source: its name, its state, its trigger, and what can be done with it.

use headwater_model::id::{AccountId, SourceId};
use headwater_platform::{AccountView, HealthStatus, PlatformError, SourceHealth, SourceView};
use maud::{Markup, html};

use super::component::Component;
use crate::{
    address::Address as _,
    page::accounts::uses::accounts_of,
    part::{
        code::{copyable, quoted},
        health::health,
        history::history,
        icon::{Icon, icon},
        outcome::{outcome, trigger},
        schedule::in_words,
        state::{Tone, state},
        tabs::tabs,
        text, time,
    },
    state::Ui,
    visit::Visitor,
};

const TABS: [(&str, &str); 7] = [
    ("events", "Events"),
    ("logs", "Logs"),
    ("runs", "Runs"),
    ("errors", "Errors"),
    ("config", "Configuration"),
    ("subscriptions", "Subscriptions"),
    ("versions", "Versions"),
];

/// The accounts of a source whose credentials are refused or have ended.
async fn refused(
    ui: &Ui,
    visitor: &Visitor,
    view: &SourceView,
) -> Result<Vec<AccountView>, PlatformError> {
    let mut accounts = Vec::new();
    for id in accounts_of(view).filter_map(|id| id.parse::<AccountId>().ok()) {
        match ui.platform.account(visitor.caller(), &id).await {
            Ok(account) => accounts.push(account),
            // Deleted meanwhile.
            Err(PlatformError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let is_bad = |account: &AccountView| {
        matches!(
            account.health.status,
            HealthStatus::Refused | HealthStatus::Expired
        )
    };
    accounts.retain(is_bad);
    Ok(accounts)
}

/// A source with its health.
pub(crate) struct Shown {
    pub(crate) view: SourceView,
    pub(crate) health: SourceHealth,
    /// Accounts of a source that fails, whose credentials are not good any more.
    pub(crate) refused: Vec<AccountView>,
    /// Its component, as far as a page tells of it.
    pub(super) component: Option<Component>,
}

impl Shown {
    /// The source that a page is about.
    pub(crate) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        id: &SourceId,
    ) -> Result<Self, PlatformError> {
        let view = ui.platform.source(visitor.caller(), id).await?;
        let health = ui
            .platform
            .sources_health(std::slice::from_ref(&view))
            .await?;
        let health = health.into_iter().next().unwrap_or_default();
        let refused = match health.failing_since_ms {
            Some(_) => refused(ui, visitor, &view).await?,
            None => Vec::new(),
        };
        Ok(Self {
            component: Component::of(ui, visitor, &view).await?,
            view,
            health,
            refused,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.view.source.spec.name
    }

    /// The name that commands take.
    pub(crate) fn quoted(&self) -> String {
        quoted(&self.view.source.name_slug)
    }

    pub(crate) fn base(&self) -> String {
        self.view.source.id.address()
    }

    /// The form of a webhook for its events, in its workspace.
    pub(crate) fn new_webhook(&self) -> String {
        let source = &self.view.source;
        let workspace = source.owner.workspace_id.as_ref();
        let workspace = workspace.map(|id| format!("workspace={id}&"));
        let workspace = workspace.unwrap_or_default();
        format!("/webhooks/new?{workspace}source={}", source.id)
    }

    /// The addresses at which it takes requests.
    pub(crate) fn endpoint_urls(&self, ui: &Ui) -> Vec<String> {
        let endpoints = self.view.source.spec.endpoints.iter();
        let config = ui.platform.config();
        endpoints
            .map(|endpoint| config.endpoint_url(&endpoint.token))
            .collect()
    }

    /// The causes of its runs, in words.
    pub(crate) fn triggers(&self) -> String {
        let spec = &self.view.source.spec;
        let timers = spec.timers.iter().map(|timer| in_words(&timer.schedule));
        let requests = (!spec.endpoints.is_empty()).then(|| "requests at its endpoint".to_owned());
        let all: Vec<_> = timers.chain(requests).collect();
        match all.is_empty() {
            true => "events that it subscribes to, or by hand".to_owned(),
            false => all.join(", "),
        }
    }

    /// The head, with the tab that is shown.
    pub(crate) fn head(&self, ui: &Ui, visitor: &Visitor, tab: &str) -> Markup {
        let base = self.base();
        html! {
            p.crumbs { a href="/sources" { "Sources" } }
            div data-part="head" {
            header.title {
                h1 { (text::value(self.name())) }
                (health_state(&self.view, &self.health))
                (self.buttons(&base))
            }
            dl.facts {
                @if let Some(component) = &self.component { (component.facts(ui, &self.view)) }
                dt { "Runs on" }
                dd {
                    (self.triggers())
                    @if let Some(next) = self.health.next_tick_at_ms { ", next " (time::ago(next, visitor.now_ms)) }
                }
                @if let Some(run) = &self.health.last_run {
                    dt { "Last run" }
                    dd {
                        a href={ "/runs/" (run.id) } { (time::ago(run.ended.started_at_ms, visitor.now_ms)) } " "
                        (outcome(run.ended.outcome))
                        @if run.ended.trigger.of_invocation().is_none() { " of the hook " (trigger(run.ended.trigger)) }
                        @if let Some(error) = &run.ended.error { " " (text::line(error)) }
                    }
                }
                @if let Some(since) = self.health.failing_since_ms {
                    dt { "Failing" }
                    dd { "since " (time::ago(since, visitor.now_ms)) }
                }
                @for account in &self.refused {
                    dt { "Account" }
                    dd { a href={ "/accounts/" (account.account.id) } { (text::line(&account.account.name)) } " " (health(account.health.status)) }
                }
                @for url in self.endpoint_urls(ui) {
                    dt { "Endpoint" }
                    dd { (copyable(&url)) }
                    dt { "Send it a request" }
                    dd { (copyable(&request_to(&url))) }
                }
            }
            }
            (tabs("Parts of the source", &base, &TABS, tab))
        }
    }

    /// The way to other values, and to a newer version where one is published.
    fn update(&self, base: &str) -> Markup {
        let component = self.component.as_ref();
        let href = component.map_or_else(
            || format!("{base}/edit"),
            |component| component.update(base),
        );
        let newer = component.and_then(Component::newer);
        html! { a.button href=(href) { "Update" @if let Some(newer) = newer { " to " (text::line(newer)) } } }
    }

    /// The form of a new source with the same values.
    fn duplicate(&self) -> String {
        let source = &self.view.source;
        let workspace = source.owner.workspace_id.as_ref();
        let workspace = workspace.map(|id| format!("workspace={id}&"));
        let workspace = workspace.unwrap_or_default();
        format!(
            "/deploy/{}?{workspace}like={}",
            source.spec.component_id, source.id
        )
    }

    fn buttons(&self, base: &str) -> Markup {
        let is_active = self.view.active();
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
                (self.update(base))
                a.button href=(self.duplicate()) { "Duplicate" }
                (history(self.view.source.id.as_str()))
                a.button.danger href={ (base) "/delete" } { "Delete" }
            }
        }
    }
}

/// A request to an endpoint, as a command.
pub(super) fn request_to(url: &str) -> String {
    format!("curl -s {url} -H 'content-type: application/json' -d '{{\"hello\":\"world\"}}'")
}

/// The state of a source in one word, or two of a paused one whose last run failed.
pub(crate) fn health_state(view: &SourceView, health: &SourceHealth) -> Markup {
    match (view.active(), health.failing_since_ms) {
        (false, Some(_)) => {
            html! { (state(Tone::Bad, "failing")) " " (state(Tone::Quiet, "paused")) }
        }
        (false, None) => state(Tone::Quiet, "paused"),
        (true, Some(_)) => state(Tone::Bad, "failing"),
        (true, None) if health.last_run.is_none() => state(Tone::Busy, "waiting"),
        (true, None) => state(Tone::Good, "ok"),
    }
}
