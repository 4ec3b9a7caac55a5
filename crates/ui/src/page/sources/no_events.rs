//! The reason why a source has no events to show, and what helps.

use headwater_model::{channel::Channel, page::PageRequest};
use headwater_platform::{PlatformError, RunFilter, RunRecord};
use maud::{Markup, html};

use super::head::{Shown, request_to};
use crate::{
    part::{
        code::copyable,
        empty::empty,
        health::health,
        text::{self, counted},
    },
    state::Ui,
    visit::Visitor,
};

/// Runs that are looked at: what they did is the reason.
const RUNS: u32 = 50;

/// The sums of the newest runs.
struct Looked {
    runs: u64,
    emitted: u64,
    dropped: u64,
    has_scheduled: bool,
    /// Whether there are older ones.
    has_more: bool,
}

impl Looked {
    fn at(runs: &[RunRecord], total: u64) -> Self {
        let sum = |count: fn(&RunRecord) -> u32| runs.iter().map(|run| u64::from(count(run))).sum();
        Self {
            runs: runs.len() as u64,
            emitted: sum(|run| run.ended.emitted),
            dropped: sum(|run| run.ended.dropped.count),
            has_scheduled: runs.iter().any(|run| run.ended.has_scheduled),
            has_more: total > runs.len() as u64,
        }
    }

    /// The runs in words.
    fn named(&self) -> String {
        let runs = counted(self.runs, "run", "runs");
        match self.has_more {
            true => format!("last {runs}"),
            false => runs,
        }
    }
}

/// The reason for a page without events of a channel; without one, of all that the source emits.
pub(super) async fn reason(
    ui: &Ui,
    visitor: &Visitor,
    shown: &Shown,
    channel: Option<&str>,
) -> Result<Markup, PlatformError> {
    if visitor.parameter("after").is_some() || visitor.parameter("before").is_some() {
        let first = visitor.with(&[]);
        return Ok(empty(
            "There are no more events in this direction.",
            html! { p { a href=(first) { "Show the newest" } } },
        ));
    }
    let first = PageRequest::first(RUNS);
    let id = &shown.view.source.id;
    let runs = ui
        .platform
        .source_runs(visitor.caller(), id, RunFilter::default(), &first)
        .await?;
    // Hooks emit seldom, and are not what people mean by a run.
    let is_run = |run: &&RunRecord| run.ended.trigger.of_invocation().is_some();
    let others = runs.items.iter().filter(is_run).cloned();
    let looked_at: Vec<_> = others.collect();
    let hooks = (runs.items.len() - looked_at.len()) as u64;
    let looked = Looked::at(&looked_at, runs.total_count - hooks);
    Ok(match channel {
        Some(channel) => on_channel(shown, channel, &looked),
        None => of_all(ui, shown, &looked_at, &looked),
    })
}

/// Nothing on one channel: the others may have something.
fn on_channel(shown: &Shown, channel: &str, looked: &Looked) -> Markup {
    let others = html! { p { a href={ (shown.base()) "/events" } { "Show the other events" } } };
    match channel {
        Channel::ERRORS => empty(
            "No error is kept.",
            html! { p { "Errors of runs appear here, with the event that they were about." } (others) },
        ),
        Channel::SCHEDULED => empty(
            "No event waits for its time.",
            html! { p { "Those that a run emits for later wait here until they are released." } (others) },
        ),
        _ if looked.runs == 0 => {
            empty("Nothing is on this channel, as it has not run yet.", others)
        }
        _ => empty(
            "Nothing is kept on this channel.",
            html! { p { "The filter leaves out what its " (looked.named()) " emitted on others." } (others) },
        ),
    }
}

fn of_all(ui: &Ui, shown: &Shown, runs: &[RunRecord], looked: &Looked) -> Markup {
    if let Some(account) = shown.refused.first() {
        let name = &account.account.name;
        return empty(
            &format!("Its account {name} is not accepted any more."),
            html! { p { (health(account.health.status)) " " a href={ "/accounts/" (account.account.id) } { "Show the account" } ", and reconnect it." } },
        );
    }
    let Some(last) = runs.first() else {
        return never_ran(ui, shown);
    };
    let all_runs = html! { a href={ (shown.base()) "/runs" } { "Show its runs" } };
    let of_last = html! { a href={ "/runs/" (last.id) } { "Show the last run and its log" } };
    if looked.emitted > 0 {
        return empty(
            "Nothing that it emitted is kept any more.",
            html! {
                p { "Its " (looked.named()) " emitted " (counted(looked.emitted, "event", "events")) ", which retention or somebody has deleted since. Of each source, this node keeps the newest " (text::grouped(ui.platform.config().retained_events.into())) ". " (all_runs) }
                (paused(shown))
            },
        );
    }
    if let Some(error) = &last.ended.error {
        return empty(
            &format!("The last run failed: {error}"),
            html! { p { a href={ "/runs/" (last.id) } { "Show the run" } } (paused(shown)) },
        );
    }
    if looked.has_scheduled {
        return empty(
            "It scheduled its events for later.",
            html! { p { a href={ (shown.base()) "/events?channel=" (Channel::SCHEDULED) } { "Show those that wait" } } (paused(shown)) },
        );
    }
    if looked.dropped > 0 {
        return empty(
            &format!(
                "Dedupe dropped all that its {} emitted ({}).",
                looked.named(),
                counted(looked.dropped, "event", "events")
            ),
            html! { p { "It had emitted events with the same ids before. " a href={ "/runs/" (last.id) } { "Show which" } } (paused(shown)) },
        );
    }
    empty(
        &format!("Its {} emitted nothing.", looked.named()),
        html! { p { (of_last) " or " a href={ (shown.base()) "/runs" } { "all runs" } } (paused(shown)) },
    )
}

fn never_ran(ui: &Ui, shown: &Shown) -> Markup {
    if !shown.view.active() {
        return empty(
            "The source is paused, so it does not run.",
            html! { p { "Resume it with the button above." } },
        );
    }
    match shown.endpoint_urls(ui).first() {
        Some(url) => empty(
            "Nothing was sent to its endpoint yet.",
            html! {
                p { "It waits for a request. Send one:" }
                p { (copyable(&request_to(url))) }
            },
        ),
        None => empty(
            "It has not run yet.",
            html! { p { "It waits for its trigger: " (shown.triggers()) ". " a href={ (shown.base()) "/run" } { "Run it now" } "." } },
        ),
    }
}

/// A further reason why nothing comes.
fn paused(shown: &Shown) -> Markup {
    html! { @if !shown.view.active() { p { "It is paused, so it does not run. Resume it with the button above." } } }
}
