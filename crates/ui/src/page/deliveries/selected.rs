//! `/deliveries/selected`: the deliveries whose boxes are checked are sent again, or discarded.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::DeliveryId;
use headwater_platform::{Delivery, PlatformError};
use maud::{Markup, html};

use super::event::summary;
use crate::{
    fields::Fields,
    page::{
        runs::show::delivery_state,
        selected::{Asked, Back, Selected, Tally, no_act},
    },
    part::{
        payload,
        text::{self, counted},
    },
    problem::Problem,
    reply::{FormReply, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// An act on deliveries.
#[derive(Debug, Clone, Copy)]
enum Act {
    Retry,
    Discard,
}

impl Act {
    fn of(text: &str) -> Result<Self, Problem> {
        match text {
            "retry" => Ok(Self::Retry),
            "discard" => Ok(Self::Discard),
            other => Err(no_act(other)),
        }
    }

    async fn on(
        self,
        ui: &Ui,
        visitor: &Visitor,
        id: &DeliveryId,
    ) -> Result<Delivery, PlatformError> {
        let (platform, caller) = (&ui.platform, visitor.caller());
        match self {
            Self::Retry => platform.retry_delivery(caller, id).await,
            Self::Discard => platform.discard_delivery(caller, id).await,
        }
    }
}

/// Asks, with their number.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let Selected { act, ids } = Selected::<DeliveryId>::of(&visitor)?;
    let act = Act::of(&act)?;
    let mut rows = Vec::with_capacity(ids.len());
    for id in &ids {
        rows.push(row(&ui.platform.delivery(visitor.caller(), id).await?));
    }
    let count = counted(ids.len() as u64, "delivery", "deliveries");
    let (title, button, consequences, verb) = match act {
        Act::Retry => (
            format!("Send {count} again?"),
            "Send again",
            html! { p { "They are due at once, with the whole schedule of attempts before them. Those of a paused webhook are left as they are." } },
            "retry",
        ),
        Act::Discard => (
            format!("Discard {count}?"),
            "Discard",
            html! { p { "They are not attempted any more, and stay in the list of discarded ones, from where they can be sent again. Delivered ones are left as they are." } },
            "discard",
        ),
    };
    let asked = Asked {
        section: Section::Deliveries,
        title,
        button,
        consequences,
        rows,
        list: "/deliveries",
        command: format!("headwater deliveries {verb} {}", ids[0]),
    };
    Ok(asked.page(&visitor))
}

/// Does it to each of them.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Back>,
) -> FormReply {
    let Selected { act, ids } = Selected::<DeliveryId>::of(&visitor)?;
    let act = Act::of(&act)?;
    let mut tally = Tally::default();
    for id in &ids {
        tally.add(act.on(&ui, &visitor, id).await)?;
    }
    let done = match act {
        Act::Retry => "on the way again",
        Act::Discard => "discarded",
    };
    let words = ("delivery is", "deliveries are", done);
    tally.back(&visitor, ("/deliveries", &given.back), words)
}

fn row(delivery: &Delivery) -> Markup {
    html! { a href={ "/deliveries/" (delivery.id) } { (payload::inline(text::line(&summary(delivery)))) } " " (delivery_state(delivery.state)) }
}
