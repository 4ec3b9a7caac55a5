//! `/deliveries/retry` and `/deliveries/discard`: for all that a filter finds, with their number first.

use std::sync::Arc;

use axum::extract::{Query, State};
use headwater_platform::{ChangeDeliveries, DeliveriesChanged, DeliveryChange, PlatformError};
use maud::html;
use url::form_urlencoded::Serializer;

use super::filter::Wanted;
use crate::{
    fields::Fields,
    part::{
        code::quoted,
        confirm::{Question, confirm_busy},
        empty::empty,
        text::counted,
    },
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Asks whether to send all of them again.
pub(crate) async fn ask_to_retry(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> PageReply {
    ask(&ui, &visitor, &wanted, DeliveryChange::Retry).await
}

/// Asks whether to discard all of them.
pub(crate) async fn ask_to_discard(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> PageReply {
    ask(&ui, &visitor, &wanted, DeliveryChange::Discard).await
}

/// Sends all of them again.
pub(crate) async fn retry(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(wanted): Fields<Wanted>,
) -> FormReply {
    let done = change(&ui, &visitor, &wanted, DeliveryChange::Retry, false).await?;
    let line = told(&done, "on the way again");
    Ok(see_other_saying(&visitor, &list(&wanted), &line))
}

/// Discards all of them.
pub(crate) async fn discard(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(wanted): Fields<Wanted>,
) -> FormReply {
    let done = change(&ui, &visitor, &wanted, DeliveryChange::Discard, false).await?;
    let line = told(&done, "discarded");
    Ok(see_other_saying(&visitor, &list(&wanted), &line))
}

/// The result in numbers.
fn told(done: &DeliveriesChanged, what: &str) -> String {
    let mut line = format!(
        "{} {what}",
        counted(done.count, "delivery is", "deliveries are")
    );
    if done.left_out > 0 {
        line += &format!(
            "; {} left as before, because their webhook is paused",
            counted(done.left_out, "was", "were")
        );
    }
    line
}

async fn change(
    ui: &Ui,
    visitor: &Visitor,
    wanted: &Wanted,
    change: DeliveryChange,
    is_dry: bool,
) -> Result<DeliveriesChanged, PlatformError> {
    let request = ChangeDeliveries {
        change,
        filter: wanted.filter(visitor.now_ms)?,
        is_dry,
    };
    ui.platform
        .change_deliveries(visitor.caller(), request)
        .await
}

async fn ask(ui: &Ui, visitor: &Visitor, wanted: &Wanted, of: DeliveryChange) -> PageReply {
    let wanted = &wanted.for_act().at(visitor.now_ms);
    let would = change(ui, visitor, wanted, of, true).await?;
    if would.count == 0 && would.left_out == 0 {
        let (title, reason) = match of {
            DeliveryChange::Retry => ("Send again", "No delivery is left to be sent again."),
            DeliveryChange::Discard => ("Discard", "No delivery is left to be discarded."),
        };
        let body = html! {
            h1 { (title) }
            (empty(reason, html! { p { a href=(list(wanted)) { "Go back to the list" } } }))
        };
        return Ok(Page::of(Section::Deliveries, title, body));
    }
    let plus = if would.is_capped { " or more" } else { "" };
    let count = format!("{}{plus}", counted(would.count, "delivery", "deliveries"));
    let (title, button, busy, action) = match of {
        DeliveryChange::Retry => (
            format!("Send {count} again?"),
            "Send again",
            "Sending again…",
            "/deliveries/retry",
        ),
        DeliveryChange::Discard => (
            format!("Discard {count}?"),
            "Discard",
            "Discarding…",
            "/deliveries/discard",
        ),
    };
    let fields = wanted.fields();
    let question = Question {
        title: &title,
        consequences: html! {
            @match of {
                DeliveryChange::Retry => { p { "They are due at once, in the order of their events; those that had ended have the whole schedule of attempts before them." } }
                DeliveryChange::Discard => { p { "They are not attempted any more, and stay in the list of discarded ones, from where they can be sent again." } }
            }
            dl.facts { @for (name, value) in &fields { dt { (name) } dd { code { (value) } } } }
            @if !wanted.narrows() { p { "Nothing else narrows it: these are those of all webhooks" @if !wanted.workspace.is_empty() { " of the workspace" } "." } }
            @if would.left_out > 0 { p { (counted(would.left_out, "delivery is", "deliveries are")) " left as they are, because their webhook is paused." } }
        },
        action,
        fields: &fields,
        button,
        back: &list(wanted),
    };
    let asked = confirm_busy(&question, busy);
    let page = Page::of(Section::Deliveries, title.clone(), asked);
    Ok(page.command(command(wanted, of)))
}

/// The command that does the same.
fn command(wanted: &Wanted, of: DeliveryChange) -> String {
    let act = match of {
        DeliveryChange::Retry => "retry",
        DeliveryChange::Discard => "discard",
    };
    let webhook = match wanted.webhook.as_str() {
        "" => String::new(),
        id => format!(" --webhook {}", quoted(id)),
    };
    let flags = wanted.flags(&wanted.state);
    format!("headwater deliveries {act} --all{webhook}{flags}")
}

/// The list with the filter.
fn list(wanted: &Wanted) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(wanted.fields());
    match query.finish() {
        query if query.is_empty() => "/deliveries".to_owned(),
        query => format!("/deliveries?{query}"),
    }
}
