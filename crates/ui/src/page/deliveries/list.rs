//! `/deliveries`: those of all webhooks, by state, webhook and answer, with what can be done to all of them.

use std::sync::Arc;

use axum::extract::{Query, State};
use headwater_model::{id::ListenerId, webhook::DeliveryState};
use headwater_platform::{
    CappedCount, Delivery, DeliveryCounts, FoundDeliveries, KnownNames, PlatformError,
};
use maud::{Markup, html};

use super::{
    event::{names_of, summary},
    filter::{ANSWERS, ANY, STATES, Wanted},
};
use crate::{
    part::{
        code::quoted,
        delivery::{answer, delivery_state},
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
        (form(&wanted))
        (live_bar())
        div data-part="deliveries" {
            @if found.items.is_empty() {
                (nothing(&visitor, &wanted, &found, &counts))
            } @else {
                (selection::bar(&visitor, "/deliveries/selected", &[("retry", "Send again"), ("discard", "Discard")]))
                (table(&found.items, &names, &visitor))
            }
            (pages(&found, &visitor))
        }
    };
    Ok(Page::of(Section::Deliveries, "Deliveries", body)
        .changing(&Topic::Webhooks, &visitor)
        .command(command(&wanted)))
}

/// The number of deliveries in each state, whichever is shown.
async fn counts(
    ui: &Ui,
    visitor: &Visitor,
    wanted: &Wanted,
) -> Result<DeliveryCounts, PlatformError> {
    let in_any_state = Wanted {
        state: ANY.to_owned(),
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
    let first = DeliveryCounts {
        pending: counts.pending,
        dead: counts.dead,
        ..DeliveryCounts::default()
    };
    let one = |state| match state {
        DeliveryState::Pending => counts.pending,
        DeliveryState::Dead => counts.dead,
        DeliveryState::Delivered => counts.delivered,
        DeliveryState::Discarded => counts.discarded,
    };
    let chip = |value: &str, label: &str, count| {
        let address = visitor.with(&[("state", Some(value).filter(|value| !value.is_empty()))]);
        html! { li { a href=(address) aria-current=[(wanted.state == value).then_some("true")] { (label) " " (capped(count)) } } }
    };
    html! {
        ul.chips aria-label="States" {
            (chip("", "Dead and pending", first.total()))
            @for (value, label, state) in STATES { (chip(value, label, one(state))) }
            (chip(ANY, "All", counts.total()))
        }
        (narrowed(visitor, wanted))
    }
}

/// The filters that no field of the form shows, each with a way to be without it.
fn narrowed(visitor: &Visitor, wanted: &Wanted) -> Markup {
    let all = [
        ("webhook", "Webhook", &wanted.webhook),
        ("emitter", "From", &wanted.emitter),
        ("event", "Event", &wanted.event),
    ];
    let given: Vec<_> = all
        .iter()
        .filter(|(_, _, value)| !value.is_empty())
        .collect();
    html! {
        @if !given.is_empty() {
            ul.chips aria-label="Filters" {
                @for (name, label, value) in given {
                    li { a href=(visitor.with(&[(name, None)])) title="Take this filter away" { span { (label) " " code { (text::visible(value)) } " ×" span.unseen { " (take away)" } } } }
                }
            }
        }
    }
}

fn form(wanted: &Wanted) -> Markup {
    html! {
        form.filters action="/deliveries" {
            @for (name, value) in wanted.fields() { @if !matches!(name, "answer" | "since" | "until" | "q") { input type="hidden" name=(name) value=(value); } }
            div { label for="q" { "Event has " } input #q type="search" name="q" value=(wanted.q) autocomplete="off"; }
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
    let wanted = wanted.for_act();
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

fn nothing(
    visitor: &Visitor,
    wanted: &Wanted,
    found: &FoundDeliveries,
    counts: &DeliveryCounts,
) -> Markup {
    let all = html! { p { a href="/deliveries?state=any" { "Show all deliveries" } } };
    let total = counts.total();
    match (wanted.narrows(), total.count) {
        _ if found.searched_to.is_some() => empty(
            "None of those searched so far is like this.",
            html! { p { "There are older ones, which the next page searches." } },
        ),
        (false, 0) => empty(
            "Nothing was sent to a webhook yet, or its delivery is not kept any more.",
            html! {
                p { "A webhook gets the events that come after it was subscribed to their source or workflow; its deliveries are kept for a time." }
                p { a href="/webhooks" { "Show the webhooks" } " and what they are subscribed to." }
            },
        ),
        (true, 0) => empty("No delivery is like this.", all),
        (_, _) if wanted.state.is_empty() => empty(
            "None of them is dead, and none is on its way.",
            html! { p { a href=(visitor.with(&[("state", Some(ANY))])) { "Show all " (capped(total)) } } },
        ),
        (_, _) => empty(
            "None of them is in this state.",
            html! { p { a href=(visitor.with(&[("state", Some(ANY))])) { "Show all " (capped(total)) } } },
        ),
    }
}

/// The command that lists the same.
fn command(wanted: &Wanted) -> String {
    let states = match wanted.state.as_str() {
        "" => "pending,dead",
        ANY => "",
        states => states,
    };
    let webhook = match wanted.webhook.as_str() {
        "" => String::new(),
        id => format!(" {}", quoted(id)),
    };
    format!("headwater deliveries list{webhook}{}", wanted.flags(states))
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
