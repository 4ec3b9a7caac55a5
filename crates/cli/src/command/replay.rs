//! `replay`: sends events of a source or workflow again to those who listen to it now.

use anyhow::Result;
use serde_json::{Value, json};

use super::events::emitter;
use super::subscriptions::listener_id;
use crate::arguments::ReplayEventsArguments;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;

/// The reason why an event reaches nobody, and the next step.
const UNHEARD: &str = "no active webhook, source or workflow listens (`headwater subscriptions create` adds a listener)";

pub(super) async fn run(session: &Session, arguments: &ReplayEventsArguments) -> Result<Exit> {
    let (_, id) = emitter(session, &arguments.source).await?;
    let events = arguments.events.iter();
    let events: Vec<_> = events
        .map(|event| json!({"emitter_id": id, "event_id": event}))
        .collect();
    let only = match &arguments.to {
        Some(given) => Some(listener_id(&session.client, given).await?),
        None => None,
    };
    let body = json!({"events": events, "listener_id": only, "dry_run": arguments.dry_run});
    let replayed = session.client.post(&["events", "replay"], &body).await?;
    session.print(&replayed, listing)?;
    output::tell(&told(&replayed, arguments.dry_run));
    if replayed["has_more"] == json!(true) {
        output::note("an event has more than 1,000 subscriptions; the others got nothing");
    }
    let is_whole = replayed["gone"] == json!(0) && replayed["untried"].is_null();
    Ok(match is_whole {
        true => Exit::Success,
        false => Exit::Failure,
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
    table::part(&["id", "name", "events", "left out"], rows.collect())
}

/// The number of events that somebody gets, and of those that nobody does.
fn told(replayed: &Value, is_dry: bool) -> String {
    let number = |name: &str| replayed[name].as_u64().unwrap_or_default();
    let mut told = Vec::new();
    match (number("count"), is_dry) {
        (0, _) => {}
        (count, true) => told.push(format!("{count} would be sent again")),
        (count, false) => told.push(format!("{count} sent again")),
    }
    match (number("unheard"), is_dry) {
        (0, _) => {}
        (unheard, true) => told.push(format!("{unheard} would reach nobody: {UNHEARD}")),
        (unheard, false) => told.push(format!("{unheard} reached nobody: {UNHEARD}")),
    }
    if number("gone") > 0 {
        told.push(format!("{} not kept any more", number("gone")));
    }
    if number("untried") > 0 {
        let reason = text(replayed, "reason");
        told.push(format!("{} not sent: {reason}", number("untried")));
    }
    if number("others") > 0 {
        told.push(format!(
            "{} listeners are not yours to see",
            number("others")
        ));
    }
    told.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_nobody_gets_are_told_apart() {
        let replayed = json!({"count": 0, "unheard": 1, "gone": 0, "others": 0});
        assert!(told(&replayed, true).starts_with("1 would reach nobody: no active"));
        let replayed = json!({"count": 2, "unheard": 1, "gone": 1, "others": 3});
        let expected = format!(
            "2 sent again; 1 reached nobody: {UNHEARD}; 1 not kept any more; 3 listeners are not yours to see"
        );
        assert_eq!(told(&replayed, false), expected);
        let ended = json!({"count": 1, "untried": 2, "reason": "it broke"});
        assert_eq!(told(&ended, false), "1 sent again; 2 not sent: it broke");
    }
}
