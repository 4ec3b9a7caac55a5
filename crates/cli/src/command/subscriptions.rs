//! `subscriptions`: lists, creates and deletes subscriptions.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};

use crate::arguments::{
    DeleteSubscriptionArguments, SubscriptionArguments, SubscriptionsArguments,
    SubscriptionsCommand,
};
use crate::client::Client;
use crate::confirm;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::{self, text};
use crate::table;
use crate::webhook;

pub(super) async fn run(session: &Session, arguments: SubscriptionsArguments) -> Result<Exit> {
    match arguments.command {
        SubscriptionsCommand::Create(arguments) => create(session, arguments).await?,
        SubscriptionsCommand::List => list(session).await?,
        SubscriptionsCommand::Delete(arguments) => delete(session, arguments).await?,
    }
    Ok(Exit::Success)
}

async fn create(session: &Session, arguments: SubscriptionArguments) -> Result<()> {
    let (resource, body) = subscription(&session.client, arguments).await?;
    let made = session.client.post(&[resource], &body).await?;
    session.print(&made, |made| {
        listing(std::slice::from_ref(made), &BTreeMap::new())
    })
}

async fn delete(session: &Session, arguments: DeleteSubscriptionArguments) -> Result<()> {
    let listener = arguments.subscription.listener.clone();
    let (resource, body) = subscription(&session.client, arguments.subscription).await?;
    let question = format!("Delete this subscription of {listener}?");
    confirm::deletion(&question, arguments.confirmed.yes)?;
    let client = &session.client;
    client.send(Method::DELETE, &[resource], &body).await?;
    session.print(&body, |body| {
        listing(std::slice::from_ref(body), &BTreeMap::new())
    })?;
    output::tell("deleted");
    Ok(())
}

async fn list(session: &Session) -> Result<()> {
    let path = match session.client.workspace_id().await? {
        Some(id) => ["workspaces", id, "subscriptions"],
        None => ["users", "me", "subscriptions"],
    };
    let subscriptions = session.client.get(&path).await?;
    let listed = subscriptions
        .as_array()
        .context("the node's answer is not a list")?;
    if listed.is_empty() && !session.json {
        output::tell(
            "no subscriptions yet; add one with \
             `headwater subscriptions create --emitter SOURCE --listener WEBHOOK`",
        );
        return Ok(());
    }
    let names = match session.json {
        true => BTreeMap::new(),
        false => names(&session.client).await,
    };
    session.print(&subscriptions, |_| listing(listed, &names))
}

/// Webhooks, sources and workflows by their ids, as commands call them. What cannot be listed stays an id.
async fn names(client: &Client) -> BTreeMap<String, String> {
    let mut names = webhook::names(client).await.unwrap_or_default();
    names.retain(|_, name| !name.is_empty());
    for path in [&["users", "me", "sources"][..], &["workflows"]] {
        let listed = client.list_scoped(path).await.unwrap_or_default();
        names.extend(listed.iter().map(|one| {
            let called = source::called_among(one, &listed);
            (text(one, "id").to_owned(), called.to_owned())
        }));
    }
    names
}

/// The address that it is sent to, and its parameters.
async fn subscription(
    client: &Client,
    arguments: SubscriptionArguments,
) -> Result<(&'static str, Value)> {
    let listener_id = listener_id(client, &arguments.listener).await?;
    let event_name = arguments.channel.unwrap_or_default();
    let Some(emitter) = arguments.emitter else {
        let body = json!({"listener_id": listener_id, "event_name": event_name});
        return Ok(("auto_subscriptions", body));
    };
    let emitter_id = emitter_id(client, &emitter).await?;
    let body =
        json!({"emitter_id": emitter_id, "listener_id": listener_id, "event_name": event_name});
    Ok(("subscriptions", body))
}

/// Ids and patterns are the node's to judge.
pub(super) async fn emitter_id(client: &Client, emitter: &str) -> Result<String> {
    match ["dc_", "p_", "u_", "o_"]
        .iter()
        .any(|prefix| emitter.starts_with(prefix))
    {
        true => Ok(emitter.to_owned()),
        false => source::find_id(client, emitter).await,
    }
}

/// A name is a webhook's before it is a source's.
pub(super) async fn listener_id(client: &Client, listener: &str) -> Result<String> {
    if ["dc_", "p_"]
        .iter()
        .any(|prefix| listener.starts_with(prefix))
    {
        return Ok(listener.to_owned());
    }
    if let Some(id) = webhook::id_by_name(client, listener).await? {
        return Ok(id);
    }
    let source = source::find_by_name(client, listener).await?;
    let source = source.with_context(|| format!("no webhook or source is called {listener}"))?;
    Ok(text(&source, "id").to_owned())
}

fn listing(subscriptions: &[Value], names: &BTreeMap<String, String>) -> table::Listing {
    let rows = subscriptions.iter().map(|subscription| {
        // Automatic ones have no emitter, and deleted ones have no id.
        let or_dash = |field| match text(subscription, field) {
            "" => "-".to_owned(),
            text => names.get(text).map_or(text, String::as_str).to_owned(),
        };
        ["id", "emitter_id", "event_name", "listener_id"]
            .map(or_dash)
            .into()
    });
    table::overview(
        &["id", "emitter", "channel", "listener"],
        &["id"],
        rows.collect(),
    )
}
