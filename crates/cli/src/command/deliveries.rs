//! `deliveries`: deliveries to webhooks, successful and failed; retrying and discarding them.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::Result;
use clap::ValueEnum as _;
use headwater_model::id::EmitterId;
use serde_json::{Value, json};

use crate::arguments::{
    ChangeDeliveriesArguments, DeliveriesArguments, DeliveriesCommand, DeliveriesFilter,
    DiscardDeliveriesArguments, ListDeliveriesArguments,
};
use crate::client;
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::question;
use crate::session::Session;
use crate::source::{self, text};
use crate::table;
use crate::timestamp;
use crate::waiting;
use crate::webhook;

/// An attempt has 15 s; others of the webhook may be in front of it.
const ATTEMPTED_WITHIN: Duration = Duration::from_secs(20);
/// Characters of an event that a table shows.
const DATA_CHARS: usize = 80;
const ATTEMPT_LOOKED_FOR_EVERY: Duration = Duration::from_millis(100);

pub(super) async fn run(session: &Session, arguments: DeliveriesArguments) -> Result<Exit> {
    match arguments.command {
        DeliveriesCommand::List(arguments) => list(session, &arguments).await?,
        DeliveriesCommand::Describe(arguments) => describe(session, &arguments.delivery).await?,
        DeliveriesCommand::Retry(arguments) => return retry(session, &arguments).await,
        DeliveriesCommand::Discard(arguments) => discard(session, &arguments).await?,
    }
    Ok(Exit::Success)
}

async fn list(session: &Session, arguments: &ListDeliveriesArguments) -> Result<()> {
    let mut filter = filter(session, arguments.webhook.as_deref(), &arguments.filter).await?;
    // A table shows no events; JSON is for programs, which need all of them.
    if session.json {
        filter.push(("expand", "event".to_owned()));
    }
    let path = ["deliveries"];
    let page = session.client.first(&path, arguments.limit, &filter);
    let deliveries = page.await?.data;
    if deliveries.is_empty() && !session.json {
        output::tell(&none_found(&filter));
        return Ok(());
    }
    let headers = [
        "id",
        "state",
        "webhook",
        "event",
        "data",
        "channel",
        "attempts",
        "last answer",
        "next",
        "dispatched",
    ];
    let yielding = ["channel", "event", "dispatched", "attempts", "data", "next"];
    let names = match session.json {
        true => BTreeMap::new(),
        // Those of webhooks that the caller may not list stay ids.
        false => webhook::names(&session.client).await.unwrap_or_default(),
    };
    let rows = |_: &Value| {
        let rows = deliveries.iter().map(|delivery| row(delivery, &names));
        table::overview(&headers, &yielding, rows.collect())
    };
    session.print(&Value::from(deliveries.clone()), rows)?;
    if !session.json && deliveries.iter().any(is_dead) {
        output::tell(
            "dead letters are attempted again with `headwater deliveries retry ID`, all of a webhook with `headwater \
             webhooks replay NAME`",
        );
    }
    Ok(())
}

/// The line in place of an empty list.
fn none_found(filter: &[(&'static str, String)]) -> String {
    match filter {
        [("state", state)] => format!("no delivery is {state}"),
        _ => "no such deliveries; `headwater subscriptions list` shows the webhooks' subscriptions"
            .to_owned(),
    }
}

async fn describe(session: &Session, id: &str) -> Result<()> {
    // The event is all a person cannot see elsewhere once the log has let go of it.
    let query = [("expand", "event".to_owned())];
    let delivery = session.client.get_data(&["deliveries", id], &query).await?;
    session.print(&delivery, card)
}

/// Retries one delivery, which fails if its attempt does, or many.
async fn retry(session: &Session, arguments: &ChangeDeliveriesArguments) -> Result<Exit> {
    let Some(id) = &arguments.delivery else {
        change_all(session, "retry", arguments).await?;
        return Ok(Exit::Success);
    };
    let (delivery, has_ended) =
        waiting::shown("waiting for the attempt", retried(session, id)).await?;
    session.print(&delivery, card)?;
    if text(&delivery, "state") == "delivered" {
        return Ok(Exit::Success);
    }
    output::tell(
        &match (has_ended, delivery["next_attempt_at_ms"].is_u64()) {
            (false, _) => format!(
                "the attempt has not ended yet; `headwater deliveries describe {id}` shows it"
            ),
            (true, true) => format!(
                "it was not delivered; the next attempt: {}",
                timestamp::listed_millis(&delivery["next_attempt_at_ms"])
            ),
            (true, false) => "it was not delivered, and no attempt follows by itself".to_owned(),
        },
    );
    Ok(Exit::Failure)
}

async fn discard(session: &Session, arguments: &DiscardDeliveriesArguments) -> Result<()> {
    let change = &arguments.change;
    let Some(id) = &change.delivery else {
        if !arguments.yes && !change.dry_run && question::is_possible() {
            let counted = changed(session, "discard", change, true).await?;
            let question = format!(
                "Discard {}? Only a retry brings them back.",
                counted_deliveries(&counted)
            );
            confirm::asked(&question, false, "nothing was discarded")?;
        }
        return change_all(session, "discard", change).await;
    };
    let path = ["deliveries", id, "discard"];
    let delivery = session.client.post(&path, &json!({})).await?;
    session.print(&delivery, card)
}

/// Retries or discards all deliveries of the filter.
async fn change_all(
    session: &Session,
    verb: &str,
    arguments: &ChangeDeliveriesArguments,
) -> Result<()> {
    let changed = changed(session, verb, arguments, arguments.dry_run).await?;
    session.print(&changed, changed_card)?;
    if arguments.dry_run {
        output::tell("nothing was changed; leave out --dry-run to do it");
    }
    Ok(())
}

/// The answer of the node to a change of all deliveries of the filter, or to the question how many they are.
async fn changed(
    session: &Session,
    verb: &str,
    arguments: &ChangeDeliveriesArguments,
    is_dry_run: bool,
) -> Result<Value> {
    let filter = filter(session, arguments.webhook.as_deref(), &arguments.filter).await?;
    let mut body = json!({"dry_run": is_dry_run});
    for (field, value) in &filter {
        body[*field] = value.as_str().into();
    }
    let changed = session.client.post(&["deliveries", verb], &body).await;
    changed.map_err(|error| client::naming_flags(error, &filter))
}

/// Retries a delivery, and awaits the attempt unless that takes long. Tells whether it has ended.
async fn retried(session: &Session, id: &str) -> Result<(Value, bool)> {
    let former = session.client.get(&["deliveries", id]).await?;
    let give_up_at = Instant::now() + ATTEMPTED_WITHIN;
    let path = ["deliveries", id, "retry"];
    let mut delivery = session.client.post(&path, &json!({})).await?;
    while attempts(&delivery).len() <= attempts(&former).len() {
        if Instant::now() >= give_up_at {
            return Ok((delivery, false));
        }
        tokio::time::sleep(ATTEMPT_LOOKED_FOR_EVERY).await;
        delivery = session.client.get(&["deliveries", id]).await?;
    }
    Ok((delivery, true))
}

/// The filter as the node takes it.
async fn filter(
    session: &Session,
    webhook: Option<&str>,
    filter: &DeliveriesFilter,
) -> Result<Vec<(&'static str, String)>> {
    let webhook_id = match webhook {
        Some(id_or_name) => Some(webhook::find_id(&session.client, id_or_name).await?),
        None => None,
    };
    // An id is taken as it is, that of a workflow too.
    let emitter_id = match &filter.source {
        Some(id) if id.parse::<EmitterId>().is_ok() => Some(id.clone()),
        Some(name) => Some(source::find_id(&session.client, name).await?),
        None => None,
    };
    let states = filter.state.iter().filter_map(|state| {
        let state = state.to_possible_value()?;
        Some(state.get_name().to_owned())
    });
    let states: Vec<_> = states.collect();
    let now_ms = timestamp::now_ms();
    let since = timestamp::given_or_none("--since", filter.since.as_deref(), now_ms)?;
    let until = timestamp::given_or_none("--until", filter.until.as_deref(), now_ms)?;
    let pairs = [
        (
            "state",
            Some(states.join(",")).filter(|states| !states.is_empty()),
        ),
        ("webhook_id", webhook_id),
        ("emitter_id", emitter_id),
        ("event_id", filter.event.clone()),
        ("status", filter.status.clone()),
        ("since", since),
        ("until", until),
        ("q", filter.query.clone()),
    ];
    Ok([session.client.scope().await?, client::given(pairs)].concat())
}

/// The number of deliveries that a change is about, as far as they are counted.
fn count(changed: &Value) -> String {
    match changed["is_capped"].as_bool() {
        Some(true) => format!("{}+", changed["count"]),
        _ => changed["count"].to_string(),
    }
}

fn counted_deliveries(changed: &Value) -> String {
    match &*count(changed) {
        "1" => "1 delivery".to_owned(),
        count => format!("{count} deliveries"),
    }
}

fn changed_card(changed: &Value) -> String {
    let mut rows = vec![("deliveries".to_owned(), count(changed))];
    if changed["left_out"].as_u64() > Some(0) {
        let left = format!("{} of inactive webhooks", changed["left_out"]);
        rows.push(("left out".to_owned(), left));
    }
    table::card(rows)
}

fn row(delivery: &Value, webhooks: &BTreeMap<String, String>) -> Vec<String> {
    let attempts = attempts(delivery);
    let webhook = text(delivery, "webhook_id");
    let name = webhooks.get(webhook).filter(|name| !name.is_empty());
    vec![
        text(delivery, "id").to_owned(),
        text(delivery, "state").to_owned(),
        name.map_or(webhook, String::as_str).to_owned(),
        text(delivery, "event_id").to_owned(),
        data(delivery),
        channel(delivery).to_owned(),
        attempts.len().to_string(),
        attempts.last().map(answer).unwrap_or_default(),
        timestamp::listed_millis(&delivery["next_attempt_at_ms"]),
        timestamp::listed_millis(&delivery["created_at_ms"]),
    ]
}

fn card(delivery: &Value) -> String {
    let mut rows: Vec<_> = ["id", "state", "webhook_id", "emitter_id", "event_id"]
        .map(|field| {
            let label = field.trim_end_matches("_id").to_owned();
            (label, text(delivery, field).to_owned())
        })
        .into();
    rows.push(("channel".to_owned(), channel(delivery).to_owned()));
    let dispatched = timestamp::from_millis(&delivery["created_at_ms"]);
    rows.push(("dispatched".to_owned(), dispatched));
    if delivery["next_attempt_at_ms"].is_u64() {
        let next = timestamp::listed_millis(&delivery["next_attempt_at_ms"]);
        rows.push(("next attempt".to_owned(), next));
    }
    let card = format!("{}\n\nDATA\n{:#}", table::card(rows), delivery["event"]);
    let attempts: Vec<_> = attempts(delivery)
        .iter()
        .map(|attempt| {
            vec![
                timestamp::listed_millis(&attempt["at_ms"]),
                text(attempt, "cause").to_owned(),
                format!("{} ms", attempt["latency_ms"]),
                answer(attempt),
                line(text(attempt, "response_excerpt")),
            ]
        })
        .collect();
    match attempts.is_empty() {
        true => card,
        false => {
            let headers = ["attempt", "cause", "took", "answer", "response"];
            format!("{card}\n\n{}", table::part(&headers, attempts))
        }
    }
}

/// The beginning of the event's data, on one line.
fn data(delivery: &Value) -> String {
    let event = &delivery["event"];
    let shown = match event["truncated"] == true {
        true => line(text(event, "preview")),
        false => event.to_string(),
    };
    match shown.char_indices().nth(DATA_CHARS) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

fn is_dead(delivery: &Value) -> bool {
    text(delivery, "state") == "dead"
}

fn attempts(delivery: &Value) -> &[Value] {
    delivery["attempts"].as_array().map_or(&[], Vec::as_slice)
}

/// The status, and why it does not count or there is none.
fn answer(attempt: &Value) -> String {
    let status = attempt["status"].as_u64().map(|status| status.to_string());
    let error = Some(line(text(attempt, "error"))).filter(|error| !error.is_empty());
    let parts: Vec<_> = status.into_iter().chain(error).collect();
    parts.join(" ")
}

fn channel(delivery: &Value) -> &str {
    match text(delivery, "event_name") {
        "" => "-",
        name => name,
    }
}

/// The receiver's answer, on one line.
fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
