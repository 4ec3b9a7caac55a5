//! `replay`: sends events of a source or workflow again to those who listen to it now.

use anyhow::Result;
use serde_json::{Value, json};

use super::events::emitter;
use crate::arguments::ReplayEventsArguments;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;

pub(super) async fn run(session: &Session, arguments: &ReplayEventsArguments) -> Result<Exit> {
    let (_, id) = emitter(session, &arguments.source).await?;
    let events = arguments.events.iter();
    let events: Vec<_> = events
        .map(|event| json!({"emitter_id": id, "event_id": event}))
        .collect();
    let body = json!({"events": events, "dry_run": arguments.dry_run});
    let replayed = session.client.post(&["events", "replay"], &body).await?;
    session.print(&replayed, listing)?;
    output::note(&told(&replayed, arguments.dry_run));
    if replayed["has_more"] == json!(true) {
        output::note("an event has more than 1,000 subscriptions; the others got nothing");
    }
    Ok(match replayed["gone"].as_u64() {
        Some(0) => Exit::Success,
        _ => Exit::Failure,
    })
}

fn listing(replayed: &Value) -> String {
    let listeners = replayed["listeners"].as_array().into_iter().flatten();
    let rows = listeners.map(|one| {
        vec![
            text(one, "listener_id").to_owned(),
            text(one, "name").to_owned(),
            one["count"].to_string(),
            one["left_out"].to_string(),
        ]
    });
    table::listing(&["id", "name", "events", "left out"], rows.collect())
}

/// The number of events, and those that could not be sent.
fn told(replayed: &Value, is_dry: bool) -> String {
    let [count, gone, others] = ["count", "gone", "others"].map(|name| &replayed[name]);
    let mut told = match is_dry {
        true => format!("{count} would be sent again"),
        false => format!("{count} sent again"),
    };
    if *gone != json!(0) {
        told += &format!("; {gone} not kept any more");
    }
    if *others != json!(0) {
        told += &format!("; {others} listeners are not yours to see");
    }
    told
}
