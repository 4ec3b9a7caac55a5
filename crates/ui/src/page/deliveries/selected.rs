//! `/deliveries/selected`: the deliveries whose boxes are checked are sent again, or discarded.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::DeliveryId;
use headwater_platform::{ChangeDeliveries, Delivery, DeliveryChange, DeliveryFilter};
use maud::{Markup, html};

use super::event::summary;
use crate::{
    fields::Fields,
    page::selected::{Asked, Back, Selected, Tally, no_act},
    part::{
        delivery::delivery_state,
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

    /// The change, its words, and why one of them may have been left.
    fn change(self) -> (DeliveryChange, &'static str, &'static str) {
        match self {
            Self::Retry => (
                DeliveryChange::Retry,
                "on the way again",
                "the webhook is paused, or the delivery is not there any more",
            ),
            Self::Discard => (
                DeliveryChange::Discard,
                "discarded",
                "it has been delivered, or is not there any more",
            ),
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
    let (title, (button, busy), consequences, verb) = match act {
        Act::Retry => (
            format!("Send {count} again?"),
            ("Send again", "Sending again…"),
            html! { p { "They are due at once, in the order of their events; those that had ended have the whole schedule of attempts before them. Those of a paused webhook are left as they are." } },
            "retry",
        ),
        Act::Discard => (
            format!("Discard {count}?"),
            ("Discard", "Discarding…"),
            html! { p { "They are not attempted any more, and stay in the list of discarded ones, from where they can be sent again. Delivered ones are left as they are." } },
            "discard",
        ),
    };
    let asked = Asked {
        section: Section::Deliveries,
        title,
        button,
        busy,
        consequences,
        rows,
        list: "/deliveries",
        command: format!("headwater deliveries {verb} {}", ids[0]),
    };
    Ok(asked.page(&visitor))
}

/// Does it to all of them in one step, in the order of their events.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Back>,
) -> FormReply {
    let Selected { act, ids } = Selected::<DeliveryId>::of(&visitor)?;
    let act = Act::of(&act)?;
    let (change, done, reason) = act.change();
    let chosen = ids.len() as u64;
    let first = ids[0].clone();
    let request = ChangeDeliveries {
        change,
        filter: DeliveryFilter {
            ids,
            ..DeliveryFilter::default()
        },
        is_dry: false,
    };
    let changed = ui
        .platform
        .change_deliveries(visitor.caller(), request)
        .await?;
    if changed.count == 0 {
        // Those of others are not there.
        ui.platform.delivery(visitor.caller(), &first).await?;
    }
    let mut tally = Tally::default();
    tally.add_all(changed.count, chosen - changed.count.min(chosen), reason);
    let words = ("delivery is", "deliveries are", done);
    tally.back(&visitor, ("/deliveries", &given.back), words)
}

fn row(delivery: &Delivery) -> Markup {
    html! { a href={ "/deliveries/" (delivery.id) } { (payload::inline(text::line(&summary(delivery)))) } " " (delivery_state(delivery.state)) }
}
