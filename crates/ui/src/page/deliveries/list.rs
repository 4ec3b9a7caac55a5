//! `/deliveries`: those of all webhooks, by state, webhook and answer, with what can be done to all of them.

use std::sync::Arc;

use axum::extract::{Query, State};
use headwater_model::id::ListenerId;
use headwater_platform::{
    CappedCount, Delivery, DeliveryCounts, FoundDeliveries, KnownNames, PlatformError,
};
use maud::{Markup, html};

use super::{
    event::{names_of, summary},
    filter::{ANSWERS, STATES, Wanted},
};
use crate::{
    page::{runs::show::delivery_state, webhooks::show::answer},
    part::{
        empty::empty,
        event_list::live_bar,
        icon::{Icon, icon},
        name::{self, named},
        payload, selection, text, time,
    },
    query::ROWS,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Lists deliveries.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> PageReply {
    let (caller, filter) = (visitor.caller(), wanted.filter(visitor.now_ms)?);
    let found = ui
        .platform
        .find_deliveries(caller, &filter, &visitor.page_request())
        .await?;
    let counts = counts(&ui, &visitor, &wanted).await?;
    let names = names_of(&ui, &visitor, &found.items).await?;
    let body = html! {
        header.title {
            h1 { "Deliveries" }
            div data-part="bulk" { (bulk(&wanted, &counts)) }
        }
        div data-part="states" { (states(&visitor, &wanted, &counts)) }
        (answers(&wanted))
        (live_bar())
        div data-part="deliveries" {
            @if found.items.is_empty() {
                (nothing(&wanted))
            } @else {
                (selection::bar(&visitor, "/deliveries/selected", &[("retry", "Send again"), ("discard", "Discard")]))
                (table(&found.items, &names, &visitor))
            }
            (pages(&found, &visitor))
        }
    };
    Ok(Page::of(Section::Deliveries, "Deliveries", body)
        .changing(&Topic::Webhooks, &visitor)
        .command("headwater deliveries list"))
}

/// The number of deliveries in each state, whichever is shown.
async fn counts(
    ui: &Ui,
    visitor: &Visitor,
    wanted: &Wanted,
) -> Result<DeliveryCounts, PlatformError> {
    let in_any_state = Wanted {
        state: String::new(),
        ..wanted.clone()
    };
    ui.platform
        .count_deliveries(visitor.caller(), &in_any_state.filter(visitor.now_ms)?)
        .await
}

/// A count, and whether there are more.
pub(crate) fn capped(count: CappedCount) -> String {
    let plus = if count.is_capped { "+" } else { "" };
    format!("{}{plus}", text::grouped(count.count))
}

fn states(visitor: &Visitor, wanted: &Wanted, counts: &DeliveryCounts) -> Markup {
    let of = |value: &str| match value {
        "pending" => counts.pending,
        "dead" => counts.dead,
        "delivered" => counts.delivered,
        _ => counts.discarded,
    };
    html! {
        ul.chips aria-label="States" {
            li { a href=(visitor.with(&[("state", None)])) aria-current=[wanted.state.is_empty().then_some("true")] { "All " (capped(counts.total())) } }
            @for (value, label, _) in STATES {
                li {
                    a href=(visitor.with(&[("state", Some(value))])) aria-current=[(wanted.state == value).then_some("true")] {
                        (label) " " (capped(of(value)))
                    }
                }
            }
        }
    }
}

fn answers(wanted: &Wanted) -> Markup {
    html! {
        form.filters action="/deliveries" {
            @for (name, value) in wanted.fields() { @if !matches!(name, "answer" | "since" | "until") { input type="hidden" name=(name) value=(value); } }
            div {
                label for="answer" { "Last answer " }
                select #answer name="answer" {
                    option value="" { "any" }
                    @for answer in ANSWERS { option value=(answer) selected[wanted.answer == answer] { (answer) } }
                }
            }
            div { label for="since" { "Since " } input #since name="since" value=(wanted.since) size="18" placeholder="24h or 2026-01-31" autocomplete="off"; }
            div { label for="until" { "Until " } input #until name="until" value=(wanted.until) size="18" placeholder="now" autocomplete="off"; }
            button { "Filter" }
        }
    }
}

/// Whether there is something to send again: not what was delivered.
pub(crate) fn is_retryable(counts: &DeliveryCounts) -> bool {
    counts.dead.count + counts.pending.count + counts.discarded.count > 0
}

/// The acts on all that the filter finds.
fn bulk(wanted: &Wanted, counts: &DeliveryCounts) -> Markup {
    let fields = wanted.fields();
    html! {
        @if is_retryable(counts) {
            div.actions {
                form action="/deliveries/retry" {
                    @for (name, value) in &fields { input type="hidden" name=(name) value=(value); }
                    button { (icon(Icon::Delivery)) "Send all again" }
                }
                form action="/deliveries/discard" {
                    @for (name, value) in &fields { input type="hidden" name=(name) value=(value); }
                    button { "Discard all" }
                }
            }
        }
    }
}

fn table(deliveries: &[Delivery], names: &KnownNames, visitor: &Visitor) -> Markup {
    html! {
        table.list {
            thead { tr {
                (selection::head())
                th scope="col" { "Created" } th scope="col" { "Event" } th scope="col" { "State" } th scope="col" { "From" } th scope="col" { "To" }
                th.number scope="col" { "Attempts" } th scope="col" { "Last answer" } th.spare scope="col" { "Next" }
            } }
            tbody {
                @for delivery in deliveries {
                    tr data-row=(delivery.id) {
                        (selection::cell(visitor, Some(delivery.id.as_str()), delivery.id.as_str()))
                        td.narrow { (time::ago(delivery.created_at_ms, visitor.now_ms)) }
                        th.event scope="row" { a href={ "/deliveries/" (delivery.id) } { (payload::inline(text::line(&summary(delivery)))) } }
                        td data-label="State" { (delivery_state(delivery.state)) }
                        td.named data-label="From" { a href=(visitor.with(&[("emitter", Some(delivery.event.emitter.as_str()))])) { (named(names.of_emitter(&delivery.event.emitter), delivery.event.emitter.as_str())) } }
                        td.named data-label="To" { (name::listener(names, &ListenerId::Webhook(delivery.webhook_id.clone()))) }
                        td.number data-label="Attempts" { (delivery.attempts.len()) }
                        td data-label="Last answer" { @if let Some(last) = delivery.attempts.last() { (answer(last)) } }
                        td.spare data-label="Next" { @if let Some(next) = delivery.next_attempt_at_ms { (time::ago(next, visitor.now_ms)) } }
                    }
                }
            }
        }
    }
}

fn nothing(wanted: &Wanted) -> Markup {
    match wanted.fields().is_empty() {
        true => empty(
            "Nothing was sent to a webhook yet, or its delivery is not kept any more.",
            html! {
                p { "A webhook gets the events that come after it was subscribed to their source or workflow; its deliveries are kept for a time." }
                p { a href="/webhooks" { "Show the webhooks" } " and what they are subscribed to." }
            },
        ),
        false => empty(
            "No delivery is like this.",
            html! { p { a href="/deliveries" { "Show all deliveries" } } },
        ),
    }
}

/// The ways to the next and the first page. A search that found little has looked at many, and goes on there.
fn pages(found: &FoundDeliveries, visitor: &Visitor) -> Markup {
    let is_full = found.items.len() >= ROWS as usize;
    let last = found.items.last().map(|delivery| &delivery.id);
    let next = found.searched_to.as_ref().or(last.filter(|_| is_full));
    html! {
        nav.pager aria-label="Pages" {
            @if visitor.parameter("after").is_some() { a href=(visitor.with(&[])) { "First page" } }
            @if let Some(next) = next { a rel="next" href=(visitor.with(&[("after", Some(next.as_str()))])) { "Next" (icon(Icon::Next)) } }
        }
    }
}
