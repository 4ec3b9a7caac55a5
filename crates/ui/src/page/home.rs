//! `/`: what fails now, and the newest of everything.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{page::PageRequest, webhook::DeliveryState};
use headwater_platform::{DeliveryFilter, RunHour, SourceHealth, SourceView, Wanted, Webhook};
use maud::{Markup, html};

use super::{
    deliveries::list::capped,
    runs::list::bars,
    sources::head::health_state,
    webhooks::list::{name, state_of},
};
use crate::{
    address::Address as _,
    part::{
        code::copyable,
        event_list::live_bar,
        icon::{Icon, icon},
        payload,
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
/// Sources with the newest events that are shown.
const NEWEST: usize = 10;

/// Everything that the page shows.
struct Overview {
    sources: Vec<(SourceView, SourceHealth)>,
    total_count: u64,
    webhooks: Vec<Webhook>,
    dead: headwater_platform::CappedCount,
    hours: Vec<RunHour>,
}

/// Shows the state of everything at a glance.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let overview = overview(&ui, &visitor).await?;
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
                (newest(&overview, &visitor))
            }
        }
    };
    Ok(Page::of(Section::Home, "Home", body)
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
        webhooks: webhooks.items,
        dead: counts.dead,
    })
}

/// Sources, webhooks and deliveries that need somebody, first of all.
fn failing(overview: &Overview, visitor: &Visitor) -> Markup {
    let sources = overview.sources.iter();
    let sources: Vec<_> = sources
        .filter(|(view, health)| view.active() && health.failing_since_ms.is_some())
        .collect();
    let webhooks = overview.webhooks.iter();
    let webhooks: Vec<_> = webhooks
        .filter(|webhook| webhook.disabled_reason.is_some() || webhook.failing_since_ms.is_some())
        .collect();
    let is_well = sources.is_empty() && webhooks.is_empty() && overview.dead.count == 0;
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
            @for webhook in &webhooks {
                li.card data-row=(webhook.id) {
                    (state_of(webhook, visitor)) " "
                    a href={ "/webhooks/" (webhook.id) } { (text::line(name(webhook))) }
                    @if let Some(reason) = &webhook.disabled_reason { p { (text::line(reason)) } }
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
    let active = overview
        .sources
        .iter()
        .filter(|(view, _)| view.active())
        .count() as u64;
    html! {
        p.note {
            a href="/sources" { (counted(overview.total_count, "source", "sources")) } ", " (active) " of those looked at are active"
        }
    }
}

fn newest(overview: &Overview, visitor: &Visitor) -> Markup {
    let mut newest: Vec<_> = overview
        .sources
        .iter()
        .filter_map(|(view, health)| Some((view, health.last_event.as_ref()?)))
        .collect();
    newest.sort_by_key(|(_, event)| std::cmp::Reverse(event.indexed_at_ms));
    newest.truncate(NEWEST);
    html! {
        h2 { "Newest events" }
        @if newest.is_empty() { p.note { "No source has emitted an event that is kept." } }
        @else {
            table.list {
                thead { tr { th scope="col" { "Time" } th scope="col" { "Source" } th scope="col" { "Event" } } }
                tbody {
                    @for (view, event) in &newest {
                        tr data-row=(event.id) {
                            td.narrow { (time::ago(event.indexed_at_ms, visitor.now_ms)) }
                            td data-label="Source" { a href={ "/sources/" (view.source.id) } { (text::line(&view.source.spec.name)) } }
                            th scope="row" {
                                a href={ (view.source.id.address()) "/events/" (event.id) } {
                                    @match &event.summary { Some(summary) => { (payload::inline(text::line(summary))) } None => { (event.id) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The way to the first event.
fn first_steps() -> Markup {
    html! {
        section.empty {
            p.reason { "Nothing is deployed yet. Three steps to the first event:" }
            ol {
                li { p { "Deploy a source: " a href="/deploy" { "choose one here" } ", or in a terminal, from a checkout:" } p { (copyable("headwater deploy examples/http-orders.mjs")) } }
                li { p { "Send it a request, at the endpoint that its page shows." } }
                li { p { "See the event appear on its page." } }
            }
        }
    }
}
