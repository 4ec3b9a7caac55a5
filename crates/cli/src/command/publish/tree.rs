//! A folder of very many components, such as a checkout of the public registry: package by package, with the files that
//! the components import, each built when it is used first. Only one package is in memory at a time.

mod packages;
mod tally;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use serde_json::Value;

use self::packages::Package;
use self::tally::Tally;
use super::subject::Tree;
use super::undescribed;
use crate::client::{Client, ClientError};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;

/// Packages between two signs of life.
const TOLD_EVERY: usize = 250;

/// Publishes all components of a folder.
pub(super) async fn publish(session: &Session, tree: Tree<'_>) -> Result<Exit> {
    let begun = Instant::now();
    let Tree { folder, components } = tree;
    let unsaid = undescribed::undescribed(folder, &components)?;
    let count = components.len() + unsaid.len();
    output::note(&format!("{count} components to publish"));
    let mut tally = Tally::default();
    for path in unsaid {
        tally.refuse(&path.display().to_string(), undescribed::REASON);
    }
    let packages = packages::of(folder, components);
    let count = packages.len();
    for (index, package) in packages.iter().enumerate() {
        send(&session.client, folder, package, &mut tally).await?;
        if (index + 1) % TOLD_EVERY == 0 {
            let done = index + 1;
            output::note(&format!("[{done}/{count}] packages, {}", tally.line()));
        }
    }
    tally.seconds = begun.elapsed().as_secs();
    match session.json {
        true => output::json(&serde_json::to_value(&tally)?)?,
        false => output::data(&tally.plain())?,
    }
    Ok(match tally.is_whole() {
        true => Exit::Success,
        false => Exit::Failure,
    })
}

/// Sends one package. If a part of it cannot be sent as a whole, because of one file perhaps, its components go one by
/// one.
async fn send(client: &Client, folder: &Path, package: &Package, tally: &mut Tally) -> Result<()> {
    for part in package.parts() {
        match attempt(client, folder, part).await? {
            Ok(results) => tally.add(&results),
            Err(reason) if part.len() == 1 => tally.refuse_all(part, &reason),
            Err(_) => {
                for component in part.chunks(1) {
                    match attempt(client, folder, component).await? {
                        Ok(results) => tally.add(&results),
                        Err(reason) => tally.refuse_all(component, &reason),
                    }
                }
            }
        }
    }
    Ok(())
}

/// The node's results, or the reason why these components cannot be sent together.
///
/// # Errors
/// No other components can be sent either.
async fn attempt(
    client: &Client,
    folder: &Path,
    components: &[PathBuf],
) -> Result<Result<Value, String>> {
    let body = match packages::body(folder, components) {
        Ok(body) => body,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    match client.post(&["registry", "folders"], &body).await {
        Ok(results) => Ok(Ok(results)),
        Err(error) if is_of_package(&error) => Ok(Err(format!("{error:#}"))),
        Err(error) => Err(error),
    }
}

/// Whether another package may do better.
fn is_of_package(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<ClientError>();
    refused.is_some_and(|error| matches!(error.status(), Some(400 | 413 | 422)))
}
