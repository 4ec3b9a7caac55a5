//! `/sources/{id}/events/{event_id}/fixture` and the same of workflows: an event as tests and runs by hand take it, to copy.

use std::sync::Arc;

use axum::extract::{Path, State};
use headwater_model::{
    event::EventRef,
    id::{EmitterId, EventId},
};
use maud::{Markup, html};
use serde_json::Value;

use super::show::reference;
use crate::{
    address,
    part::{code::copyable, event_row::summary, payload, text, text::bytes, verification::block},
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Larger events are not copied but downloaded.
const COPIED_BYTES_MAX: usize = 64 * 1024;

/// Shows the event as files.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> PageReply {
    let of = reference(&emitter, &event)?;
    let logged = ui.platform.event(visitor.caller(), &of).await?;
    let json = logged.event.event.get();
    let event = address::of_event(&of.emitter, &of.id);
    let body = html! {
        p.crumbs { a href="/events" { "Events" } " / " a href=(event) { (payload::inline(text::line(&summary(&logged.event)))) } }
        h1 { "As a test fixture" }
        @if json.len() <= COPIED_BYTES_MAX {
            @let value: Value = serde_json::from_str(json).unwrap_or_default();
            h2 { "A test of a workflow" }
            p { "In the folder " code { "tests" } " of a workflow, such as " code { "tests/" (file_stem(&of.id)) ".yaml" } ", for " code { "headwater workflows test" } ":" }
            (payload::block(block(&workflow_test(&value))))
            h2 { "JSON" }
            p { "As a file, such as " code { "event.json" } ":" }
            (payload::block(block(&format!("{value:#}\n"))))
        } @else {
            p { "The event has " (bytes(json.len())) ", which is more than is copied. " a href={ (event) "/raw" } download { "Download it" } " as " code { "event.json" } "." }
        }
        h2 { "Running code with it" }
        (commands(&of))
    };
    Ok(Page::of(Section::Events, "Test fixture", body)
        .command(format!("headwater events {} {} --json", of.emitter, of.id)))
}

/// The commands that take the file.
fn commands(of: &EventRef) -> Markup {
    html! {
        dl.facts {
            dt { "Try code" } dd { (copyable("headwater try source.mjs --event @event.json")) }
            @match &of.emitter {
                EmitterId::Source(id) => { dt { "Run the source" } dd { (copyable(&format!("headwater run {id} --event @event.json"))) } }
                EmitterId::Workflow(id) => { dt { "Run the workflow" } dd { (copyable(&format!("headwater workflows run {id} --event @event.json"))) } }
            }
        }
    }
}

/// A test with this event, which has to succeed. JSON is YAML, if it is indented.
fn workflow_test(event: &Value) -> String {
    let json = format!("{event:#}").replace('\n', "\n  ");
    format!("event: {json}\nexpect:\n  status: succeeded\n")
}

fn file_stem(id: &EventId) -> String {
    format!("event-{}", id.ms.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_has_the_event_below_its_key() {
        assert_eq!(
            workflow_test(&json!({"id": 7, "text": "two\nlines"})),
            "event: {\n    \"id\": 7,\n    \"text\": \"two\\nlines\"\n  }\nexpect:\n  status: succeeded\n"
        );
    }
}
