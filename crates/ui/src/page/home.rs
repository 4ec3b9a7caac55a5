//! `/`: what fails now, and the newest of everything.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{event_search::EventPlace, page::PageRequest, webhook::DeliveryState};
use headwater_platform::{
    Attempt, DeliveryFilter, EventsSearch, FoundEvent, LogPosition, PlatformError, RunHour,
    SourceHealth, SourceView, Wanted, Webhook,
};
use maud::{Markup, html};

use super::{
    deliveries::list::capped,
    runs::list::bars,
    sources::head::health_state,
    webhooks::{
        list::{name, word_of},
        show::answer,
    },
};
use crate::{
    part::{
        code::copyable,
        empty::empty,
        event_list::live_bar,
        icon::{Icon, icon},
        news::{self, Line},
        strip::strip,
        text::{self, counted},
        time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Sources that are looked at; the list has the others.
const LOOKED_AT: u32 = 100;

/// Failing webhooks whose last answer is told.
const ANSWERED: usize = 10;
/// Deliveries of each among which it is looked for.
const DELIVERIES: u32 = 10;

/// Everything that the page shows.
struct Overview {
    sources: Vec<(SourceView, SourceHealth)>,
    total_count: u64,
    /// Those that fail, with their last attempts.
    webhooks: Vec<(Webhook, Option<Attempt>)>,
    dead: headwater_platform::CappedCount,
    hours: Vec<RunHour>,
}

/// Shows the state of everything at a glance.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let overview = overview(&ui, &visitor).await?;
    let (newest, up_to) = newest(&ui, &visitor).await?;
    let body = html! {
        header.title { h1 { "Home" } }
        (live_bar())
        div data-part="home" {
            @if overview.total_count == 0 {
                (first_steps())
            } @else {
                (failing(&overview, &visitor))
                (strip(&bars(&overview.hours, &visitor)))
                (numbers(&overview))
            }
        }
        (newest)
    };
    Ok(Page::of(Section::Home, "Home", body)
        .news(visitor.workspace.as_ref(), up_to)
        .changing(&Topic::Sources, &visitor)
        .changing(&Topic::Webhooks, &visitor)
        .command("headwater list")
        .command("headwater doctor"))
}

async fn overview(ui: &Ui, visitor: &Visitor) -> Result<Overview, crate::problem::Problem> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    let page = PageRequest::first(LOOKED_AT);
    let workspace = visitor.workspace.clone();
    let sources = platform.sources(caller, workspace, Wanted::default(), &page);
    let sources = sources.await?;
    let health = platform.sources_health(&sources.items).await?;
    let webhooks = platform
        .webhooks(
            caller,
            visitor.workspace.clone(),
            &PageRequest::first(LOOKED_AT),
        )
        .await?;
    let filter = DeliveryFilter {
        state: Some(DeliveryState::Dead),
        ..DeliveryFilter::default()
    };
    let counts = platform.count_deliveries(caller, &filter).await?;
    let hours = platform
        .run_hours(caller, visitor.workspace.as_ref())
        .await?;
    Ok(Overview {
        hours,
        total_count: sources.total_count,
        sources: sources.items.into_iter().zip(health).collect(),
        webhooks: with_answers(ui, webhooks.items).await?,
        dead: counts.dead,
    })
}

/// The webhooks that fail, with the last attempts at the first of them.
async fn with_answers(
    ui: &Ui,
    webhooks: Vec<Webhook>,
) -> Result<Vec<(Webhook, Option<Attempt>)>, PlatformError> {
    let webhooks = webhooks.into_iter();
    let failing: Vec<_> = webhooks
        .filter(|one| one.disabled_reason.is_some() || one.failing_since_ms.is_some())
        .collect();
    let first = failing.iter().take(ANSWERED);
    let ids: Vec<_> = first.map(|webhook| webhook.id.clone()).collect();
    let answers = match ids.is_empty() {
        true => Vec::new(),
        false => ui.platform.last_attempts(&ids, DELIVERIES).await?,
    };
    let answers = answers.into_iter().chain(std::iter::repeat(None));
    Ok(failing.into_iter().zip(answers).collect())
}

/// Sources, webhooks and deliveries that need somebody, first of all.
fn failing(overview: &Overview, visitor: &Visitor) -> Markup {
    let sources = overview.sources.iter();
    let sources: Vec<_> = sources
        .filter(|(view, health)| view.active() && health.failing_since_ms.is_some())
        .collect();
    let is_well = sources.is_empty() && overview.webhooks.is_empty() && overview.dead.count == 0;
    html! {
        h2 { "Needs you" }
        @if is_well { p { span.state.good { (icon(Icon::Ok)) "Nothing fails." } } }
        ul.cards {
            @for (view, health) in &sources {
                li.card data-row=(view.source.id) {
                    (health_state(view, health)) " "
                    a href={ "/sources/" (view.source.id) } { (text::line(&view.source.spec.name)) }
                    @if let Some(since) = health.failing_since_ms { p.note { "since " (time::ago(since, visitor.now_ms)) } }
                    @if let Some(error) = health.last_run.as_ref().and_then(|run| run.ended.error.as_deref()) { p { (text::line(error)) } }
                }
            }
            @for (webhook, last) in &overview.webhooks {
                li.card data-row=(webhook.id) {
                    (word_of(webhook)) " "
                    a href={ "/webhooks/" (webhook.id) } { (text::line(name(webhook))) }
                    @if let Some(since) = webhook.failing_since_ms { p.note { "since " (time::ago(since, visitor.now_ms)) } }
                    @if let Some(reason) = &webhook.disabled_reason { p { (text::line(reason)) } }
                    @if let Some(last) = last { p { "Last answer: " (answer(last)) } }
                }
            }
            @if overview.dead.count > 0 {
                li.card {
                    a href="/deliveries?state=dead" { (capped(overview.dead)) " dead letters" }
                    p { "They were attempted for the whole schedule." }
                    p { a.button href="/deliveries/retry" { "Send all again" } }
                }
            }
        }
    }
}

fn numbers(overview: &Overview) -> Markup {
    let paused = overview.sources.iter();
    let paused = paused.filter(|(view, _)| !view.active()).count();
    html! {
        p.note {
            a href="/sources" { (counted(overview.total_count, "source", "sources")) }
            @match (paused, overview.total_count > u64::from(LOOKED_AT)) {
                (0, _) => {}
                (paused, false) => { ", " (paused) " of them paused" }
                (paused, true) => { ", " (paused) " of the newest " (LOOKED_AT) " paused" }
            }
        }
    }
}

/// The newest events, and the position of the log from which on the page follows what comes.
async fn newest(ui: &Ui, visitor: &Visitor) -> Result<(Markup, LogPosition), PlatformError> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    // Before the events are read, so that none is missed; those that come twice have the same keys.
    let up_to = platform.news_begin().await?;
    let search = EventsSearch {
        workspace_id: visitor.workspace.clone(),
        limit: news::ROWS as u32,
        ..EventsSearch::default()
    };
    let found = platform.search_events(caller, search).await?.events;
    let emitters = found.iter().map(|event| event.emitter.clone());
    let names = platform.names(caller, emitters, []).await?;
    let summaries: Vec<_> = found.iter().map(summary).collect();
    let lines = found.iter().zip(&summaries).map(|(event, summary)| Line {
        place: EventPlace {
            id: event.id,
            emitter: event.emitter.clone(),
        },
        indexed_at_ms: event.indexed_at_ms,
        name: names
            .of_emitter(&event.emitter)
            .unwrap_or(event.emitter.as_str()),
        summary,
    });
    let lines: Vec<_> = lines.collect();
    let shown = html! {
        h2 { "Newest events" }
        (news::table(&lines, visitor.now_ms))
        @if lines.is_empty() { (empty("No source and no workflow has emitted an event that is kept.", html! { p { "Those that come appear here." } })) }
    };
    Ok((shown, up_to))
}

/// The line of an event: its summary, or its beginning.
fn summary(event: &FoundEvent) -> String {
    match &event.summary {
        Some(summary) if !summary.trim().is_empty() => summary.clone(),
        _ => serde_json::to_string(&event.data).unwrap_or_default(),
    }
}

/// The way to the first event.
fn first_steps() -> Markup {
    html! {
        section.empty {
            p.reason { "Nothing is deployed yet. Three steps to the first event:" }
            ol {
                li { p { "Deploy a source: " a href="/deploy" { "choose one here" } ", or in a terminal, from a checkout:" } p { (copyable("headwater deploy examples/http-orders.mjs")) } }
                li { p { "Have it run: by a request to the endpoint that its page shows, by its timer, or by " b { "Run now" } " there." } }
                li { p { "See the event appear on its page, and send those that follow to a URL of yours, as a " a href="/webhooks/new" { "webhook" } "." } }
            }
        }
    }
}
