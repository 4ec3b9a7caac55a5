//! The parts of a page that lists an emitter's events: its channels, and the stream of what comes.

use headwater_model::{event::Event, id::EmitterId, page::Page as Listed};
use maud::{Markup, html};

use super::text;
use crate::{reply::Page, visit::Visit};

/// Whether the page shows the newest rows, above which new ones appear.
fn is_newest(visit: &Visit) -> bool {
    visit.parameter("after").is_none() && visit.parameter("before").is_none()
}

/// The page with the stream of what comes after its rows, if they are the newest: nothing is missed between the two, and
/// nothing comes twice.
pub(crate) fn followed(
    page: Page,
    visit: &Visit,
    emitter: &EmitterId,
    events: &Listed<Event>,
) -> Page {
    if !is_newest(visit) {
        return page;
    }
    let kind = match emitter {
        EmitterId::Source(_) => "source",
        EmitterId::Workflow(_) => "workflow",
    };
    let last = events.items.first().map(|event| event.id);
    let mut parameters = vec![("after", last.unwrap_or_default().to_string())];
    parameters.extend(
        visit
            .parameter("channel")
            .map(|channel| ("channel", channel)),
    );
    page.live(format!("{kind}:{emitter}"), parameters)
}

/// Links to the channels by their names; the first is that of all ordinary ones.
pub(crate) fn channels(visit: &Visit, known: &[&str]) -> Markup {
    let current = visit.parameter("channel");
    let current = current.as_deref().filter(|name| !name.is_empty());
    let other = current.filter(|name| !known.contains(name));
    let mark = |is_current: bool| is_current.then_some("true");
    html! {
        ul.chips aria-label="Channels" {
            li.note aria-hidden="true" { "Channel:" }
            li { a href=(visit.with(&[("channel", None)])) aria-current=[mark(current.is_none())] { "all but the node's own" } }
            @for name in known {
                li { a href=(visit.with(&[("channel", Some(*name))])) aria-current=[mark(current == Some(*name))] { (name) } }
            }
            @if let Some(name) = other { li { a href=(visit.with(&[])) aria-current="true" { (text::line(name)) } } }
        }
    }
}

/// The state of the stream, and the switch that pauses it.
pub(crate) fn live_bar() -> Markup {
    html! {
        div.livebar data-livebar hidden {
            span { span.dot {} span data-live-state { "Live" } }
            button.quiet type="button" data-live-pause data-key="p" { "Hold updates" }
            button type="button" data-live-show hidden { "Show new" }
            span.note data-live-count {}
        }
    }
}
