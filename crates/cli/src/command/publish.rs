//! `publish`: puts components into the node's registry, each for itself, so that one that fails holds
//! up no other. The node decides about the right to publish.

mod subject;
mod tree;
mod undescribed;

use std::path::PathBuf;

use anyhow::Result;
use futures::StreamExt as _;
use serde_json::Value;

use self::subject::{Subject, Unit};
use super::save;
use crate::arguments::PublishArguments;
use crate::client::{Client, ClientError};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;

pub(super) async fn run(session: &Session, arguments: &PublishArguments) -> Result<Exit> {
    if let Some(tree) = subject::tree(arguments)? {
        return tree::publish(session, tree).await;
    }
    match subject::find(&session.client, &arguments.components).await? {
        Subject::One(unit) => {
            let component = publish(&session.client, &unit).await?;
            session.print(&component, |component| listing([component]))?;
            Ok(Exit::Success)
        }
        Subject::Many(units) => publish_all(session, &units, &[]).await,
        Subject::Folder(units, unsaid) => publish_all(session, &units, &unsaid).await,
    }
}

/// Components under way at a time: as many as a node builds at a time.
const CONCURRENT: usize = 2;

async fn publish(client: &Client, unit: &Unit) -> Result<Value> {
    let published = published(client, unit).await;
    published.map_err(|error| save::in_terms_of(error, unit.file()))
}

async fn published(client: &Client, unit: &Unit) -> Result<Value> {
    let body = unit.body().await?;
    let published = client.post(&["components", "registry"], &body).await;
    match published {
        // It may have been published unbuilt: then the node has its file, not the bundle of it.
        Err(error) if is_conflict(&error) => {
            let unchanged = published_unbuilt(client, unit).await;
            unchanged.ok_or(error)
        }
        published => published,
    }
}

/// The component that a file was published as with its folder, if the file is the same.
async fn published_unbuilt(client: &Client, unit: &Unit) -> Option<Value> {
    let body = unit.unbuilt_body()?;
    let results = client.post(&["registry", "folders"], &body).await.ok()?;
    let result = results.as_array()?.first()?;
    let is_unchanged = result["newly_published"] == false && text(result, "refused").is_empty();
    is_unchanged.then(|| result.clone())
}

/// The numbers of components by result.
#[derive(Default)]
struct Tally {
    published: Vec<Value>,
    kept: usize,
    failed: usize,
}

async fn publish_all(session: &Session, units: &[Unit], unsaid: &[PathBuf]) -> Result<Exit> {
    let mut tally = Tally::default();
    let all = units.len() + unsaid.len();
    let attempts = units
        .iter()
        .map(|unit| async move { (unit, publish(&session.client, unit).await) });
    // In their order, so that two runs can be compared.
    let mut attempts = futures::stream::iter(attempts)
        .buffered(CONCURRENT)
        .enumerate();
    while let Some((index, (unit, published))) = attempts.next().await {
        let place = format!("[{}/{all}]", index + 1);
        match published {
            Ok(component) => {
                output::tell(&format!(
                    "{place} {} {}",
                    done(&component),
                    named(&component)
                ));
                tally.published.push(component);
            }
            Err(error) if is_hopeless(&error) => return Err(error),
            // An importer of a package cannot raise the versions in it.
            Err(error) if unit.is_of_package() && is_conflict(&error) => {
                output::tell(&format!("{place} kept {}: {error:#}", unit.name()));
                tally.kept += 1;
            }
            Err(error) => {
                output::tell(&format!("{place} failed {}: {error:#}", unit.name()));
                tally.failed += 1;
            }
        }
    }
    for (index, path) in unsaid.iter().enumerate() {
        let place = format!("[{}/{all}]", units.len() + index + 1);
        let (path, reason) = (path.display(), undescribed::REASON);
        output::tell(&format!("{place} refused {path}: {reason}"));
        tally.failed += 1;
    }
    let published = Value::from(tally.published);
    if session.json {
        output::json(&published)?;
    } else if let Some(components) = published.as_array().filter(|all| !all.is_empty()) {
        output::data(&listing(components))?;
    }
    if tally.failed > 0 {
        let failed = tally.failed;
        let others = match failed == all {
            true => "",
            false => "; the others are in the registry",
        };
        output::tell(&format!("{failed} of {all} components failed{others}"));
        return Ok(Exit::Failure);
    }
    if tally.kept > 0 {
        let kept = tally.kept;
        output::tell(&format!("{kept} unchanged since they were published"));
    }
    Ok(Exit::Success)
}

/// Whether the next component would meet the same end.
fn is_hopeless(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<ClientError>();
    refused.is_some_and(|error| {
        matches!(error, ClientError::Unreachable(_)) || error.status() == Some(401)
    })
}

fn is_conflict(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<ClientError>();
    refused.is_some_and(|error| error.status() == Some(409))
}

fn done(component: &Value) -> &'static str {
    match component["newly_published"].as_bool() {
        Some(false) => "unchanged",
        _ => "published",
    }
}

fn named(component: &Value) -> String {
    format!("{} {}", text(component, "key"), text(component, "version"))
}

fn listing<'a>(components: impl IntoIterator<Item = &'a Value>) -> String {
    let rows = components.into_iter().map(|component| {
        let fields = ["key", "version", "type", "id"];
        let mut row: Vec<_> = fields
            .iter()
            .map(|field| text(component, field).to_owned())
            .collect();
        row.push(done(component).to_owned());
        row
    });
    table::part(&["key", "version", "type", "id", "state"], rows.collect())
}
