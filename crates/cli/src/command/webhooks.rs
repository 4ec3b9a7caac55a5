//! `webhooks`: creates, lists, changes and deletes webhooks, and replays missed events.

mod verify;

use anyhow::{Context as _, Result};
use headwater_model::{limits::PENDING_DELIVERIES_COUNTED_MAX, webhook::DeliveryOrder};
use reqwest::Method;
use serde_json::{Map, Value, json};

use super::{attempt, show, subscriptions};
use crate::arguments::{
    CreateWebhookArguments, ReplayArguments, RotateSecretArguments, UpdateWebhookArguments,
    WebhookOrdering, WebhooksArguments, WebhooksCommand,
};
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::secret;
use crate::session::Session;
use crate::shell;
use crate::source::text;
use crate::table;
use crate::timestamp;
use crate::usage_error::UsageError;
use crate::webhook;

/// A time before all deliveries, in epoch milliseconds.
const EVER: &str = "0";

pub(super) async fn run(session: &Session, arguments: WebhooksArguments) -> Result<Exit> {
    match arguments.command {
        WebhooksCommand::Create(arguments) => create(session, arguments).await?,
        WebhooksCommand::List => list(session).await?,
        WebhooksCommand::Describe(arguments) => describe(session, &arguments.webhook).await?,
        WebhooksCommand::Update(arguments) => update(session, arguments).await?,
        WebhooksCommand::Activate(arguments) => {
            switch(session, &arguments.webhook, true).await?;
        }
        WebhooksCommand::Deactivate(arguments) => {
            switch(session, &arguments.webhook, false).await?;
        }
        WebhooksCommand::RotateSecret(arguments) => rotate_secret(session, arguments).await?,
        WebhooksCommand::Test(arguments) => return test(session, &arguments.webhook).await,
        WebhooksCommand::Verify(arguments) => return verify::run(session, arguments),
        WebhooksCommand::Replay(arguments) => replay(session, arguments).await?,
        WebhooksCommand::Delete(arguments) => {
            delete(session, &arguments.webhook, arguments.confirmed.yes).await?;
        }
    }
    Ok(Exit::Success)
}

async fn create(session: &Session, arguments: CreateWebhookArguments) -> Result<()> {
    let client = &session.client;
    // A webhook that nothing is sent to should not be left behind by a typing error.
    let mut emitters = Vec::new();
    for source in &arguments.from {
        emitters.push(subscriptions::emitter_id(client, source).await?);
    }
    let given = [
        ("url", Some(arguments.address)),
        ("name", arguments.name),
        ("description", arguments.description),
        ("ordering", arguments.ordering.map(order)),
    ];
    let webhook = client.post_scoped(&["webhooks"], body(given)).await?;
    session.print(&webhook, card)?;
    output::tell("save the secret: it is not shown again");
    let id = text(&webhook, "id");
    let called = match text(&webhook, "name") {
        "" => id,
        name => name,
    };
    let called = shell::quoted(called);
    let channel = arguments.channel.unwrap_or_default();
    for (source, emitter_id) in arguments.from.iter().zip(emitters) {
        let body = json!({"emitter_id": emitter_id, "listener_id": id, "event_name": channel});
        client
            .post(&["subscriptions"], &body)
            .await
            .with_context(|| format!("the webhook was created, but gets no events of {source}"))?;
        output::tell(&format!("it gets the events of {source}"));
    }
    output::tell(&match arguments.from.is_empty() {
        true => format!(
            "send it events: headwater subscriptions create --emitter SOURCE --listener {called}"
        ),
        false => format!("send it a test event: headwater webhooks test {called}"),
    });
    Ok(())
}

async fn list(session: &Session) -> Result<()> {
    let webhooks = webhook::list(&session.client).await?;
    if webhooks.is_empty() && !session.json {
        output::tell("no webhooks yet; create one with `headwater webhooks create URL`");
        return Ok(());
    }
    let rows = |_: &Value| {
        let rows = webhooks.iter().map(row);
        let headers = ["id", "name", "active", "url", "pending", "created"];
        table::overview(&headers, &["created"], rows.collect())
    };
    session.print(&Value::from(webhooks.clone()), rows)
}

async fn describe(session: &Session, id_or_name: &str) -> Result<()> {
    let id = webhook::find_id(&session.client, id_or_name).await?;
    let query = [("expand", "health".to_owned())];
    let webhook = session.client.get_data(&["webhooks", &id], &query).await?;
    session.print(&webhook, card)
}

async fn update(session: &Session, arguments: UpdateWebhookArguments) -> Result<()> {
    let given = [
        ("url", arguments.address),
        ("name", arguments.name),
        ("description", arguments.description),
        ("ordering", arguments.ordering.map(order)),
    ];
    let body = body(given);
    if body.as_object().is_some_and(Map::is_empty) {
        let complaint = "nothing to update: give --address, --name, --description or --ordering";
        return Err(UsageError(complaint.to_owned()).into());
    }
    let id = webhook::find_id(&session.client, &arguments.webhook).await?;
    change(session, &id, &body).await
}

async fn change(session: &Session, id: &str, body: &Value) -> Result<()> {
    let path = ["webhooks", id];
    let webhook = session.client.send(Method::PATCH, &path, body).await?;
    session.print(&webhook, card)
}

/// Turns a webhook on or off, and tells how its dead letters, which it may have since, are delivered.
async fn switch(session: &Session, id_or_name: &str, active: bool) -> Result<()> {
    let id = webhook::find_id(&session.client, id_or_name).await?;
    change(session, &id, &json!({"active": active})).await?;
    let word = shell::quoted(id_or_name);
    let on_again = format!("`headwater webhooks activate {word}` turns it on again");
    let replayed = format!("`headwater webhooks replay {word}` delivers them");
    // The change was made, whatever becomes of this question.
    let has_dead_letters = has_dead_letters(session, id).await;
    match (active, has_dead_letters.unwrap_or(false)) {
        (true, false) => {}
        (true, true) => output::tell(&format!("it has dead letters: {replayed}")),
        (false, false) => output::tell(&format!("it gets nothing until {on_again}")),
        (false, true) => output::tell(&format!(
            "what was pending is dead letters now, and it gets nothing until {on_again}; then {replayed}"
        )),
    }
    Ok(())
}

async fn has_dead_letters(session: &Session, id: String) -> Result<bool> {
    let filter = [("webhook_id", id), ("state", "dead".to_owned())];
    let found = session.client.first(&["deliveries"], 1, &filter).await?;
    Ok(!found.data.is_empty())
}

async fn rotate_secret(session: &Session, arguments: RotateSecretArguments) -> Result<()> {
    let id = webhook::find_id(&session.client, &arguments.webhook).await?;
    let secret = arguments.secret.map(secret::read).transpose()?;
    let body = body([("secret", secret)]);
    let path = ["webhooks", &id, "rotate_secret"];
    let webhook = session.client.post(&path, &body).await?;
    session.print(&webhook, card)?;
    output::tell("save the secret: it is not shown again; the former one stays valid for 24 hours");
    Ok(())
}

/// Fails if the webhook did not take it, so that a script can wait for one that does.
async fn test(session: &Session, id_or_name: &str) -> Result<Exit> {
    let id = webhook::find_id(&session.client, id_or_name).await?;
    let path = ["webhooks", &id, "test"];
    let tested = session.client.post(&path, &json!({})).await?;
    session.print(&tested, attempt::answered)?;
    Ok(attempt::exit(&tested))
}

async fn replay(session: &Session, arguments: ReplayArguments) -> Result<()> {
    let id = webhook::find_id(&session.client, &arguments.webhook).await?;
    let now_ms = timestamp::now_ms();
    let since = arguments.since.as_deref().unwrap_or(EVER);
    let since = timestamp::given("--since", since, now_ms)?;
    let until = timestamp::given_or_none("--until", arguments.until.as_deref(), now_ms)?;
    let mut body = body([("since", Some(since)), ("until", until)]);
    body["delivered"] = arguments.delivered.into();
    if arguments.missed {
        body["missed"] = true.into();
        body["dry_run"] = arguments.dry_run.into();
    }
    let path = ["webhooks", &id, "replay"];
    let replayed = session.client.post(&path, &body).await?;
    session.print(&replayed, |replayed| {
        let label = if arguments.missed {
            "missed"
        } else {
            "replayed"
        };
        table::card(vec![(label.to_owned(), replayed["replayed"].to_string())])
    })?;
    if replayed["is_capped"] == true {
        output::tell("there may be more; run it again for the rest, or narrow --since and --until");
    }
    if arguments.dry_run {
        output::tell("nothing was sent; leave out --dry-run to do it");
    }
    Ok(())
}

async fn delete(session: &Session, id_or_name: &str, yes: bool) -> Result<()> {
    let id = webhook::find_id(&session.client, id_or_name).await?;
    confirm::deletion(
        &format!("Delete webhook {id_or_name} with its subscriptions and deliveries?"),
        yes,
    )?;
    session.client.delete(&["webhooks", &id]).await?;
    session.print(&json!({"id": id}), |_| id.clone())?;
    output::tell("deleted");
    Ok(())
}

/// The given fields, as the API takes them.
fn body<const N: usize>(given: [(&str, Option<String>); N]) -> Value {
    given
        .into_iter()
        .filter_map(|(field, value)| Some((field.to_owned(), Value::from(value?))))
        .collect()
}

fn row(webhook: &Value) -> Vec<String> {
    vec![
        text(webhook, "id").to_owned(),
        text(webhook, "name").to_owned(),
        show::active(webhook).to_owned(),
        text(webhook, "url").to_owned(),
        pending(webhook),
        timestamp::listed_seconds(&webhook["created_at"]),
    ]
}

/// As the API calls it.
fn order(given: WebhookOrdering) -> String {
    let name = json!(DeliveryOrder::from(given));
    name.as_str().unwrap_or_default().to_owned()
}

/// The number of its pending deliveries, as far as they are counted.
fn pending(webhook: &Value) -> String {
    match webhook["pending_deliveries"].as_u64() {
        Some(count) if count >= u64::from(PENDING_DELIVERIES_COUNTED_MAX) => {
            format!("{count} or more")
        }
        Some(count) => count.to_string(),
        None => String::new(),
    }
}

fn card(webhook: &Value) -> String {
    let mut rows = vec![
        ("id".to_owned(), text(webhook, "id").to_owned()),
        ("url".to_owned(), text(webhook, "url").to_owned()),
        ("active".to_owned(), show::active(webhook).to_owned()),
    ];
    for (field, label) in [
        ("name", "name"),
        ("description", "description"),
        ("ordering", "ordering"),
        ("secret", "secret"),
        ("disabled_reason", "disabled because"),
    ] {
        let value = text(webhook, field);
        if !value.is_empty() {
            rows.push((label.to_owned(), value.to_owned()));
        }
    }
    if webhook["failing_since_ms"].is_u64() {
        let since = timestamp::from_millis(&webhook["failing_since_ms"]);
        rows.push(("failing since".to_owned(), since));
    }
    if webhook["pending_deliveries"].is_u64() {
        rows.push(("pending".to_owned(), pending(webhook)));
    }
    if webhook["oldest_pending_at_ms"].is_u64() {
        let oldest = timestamp::from_millis(&webhook["oldest_pending_at_ms"]);
        rows.push(("oldest pending".to_owned(), oldest));
    }
    if webhook["former_secret_valid_until_ms"].is_u64() {
        let until = timestamp::from_millis(&webhook["former_secret_valid_until_ms"]);
        rows.push((
            "former secret".to_owned(),
            format!("signs, too, until {until}"),
        ));
    }
    let recent = &webhook["health"]["last_24_hours"];
    if recent["attempts"].as_u64().is_some_and(|count| count > 0) {
        let told = format!(
            "{} attempts, {} failed; half within {} ms, 95 of 100 within {} ms",
            recent["attempts"], recent["failures"], recent["p50_ms"], recent["p95_ms"]
        );
        rows.push(("last 24 hours".to_owned(), told));
    }
    for event in ["created", "updated"] {
        let seconds = &webhook[format!("{event}_at").as_str()];
        rows.push((event.to_owned(), timestamp::from_seconds(seconds)));
    }
    table::card(rows)
}
