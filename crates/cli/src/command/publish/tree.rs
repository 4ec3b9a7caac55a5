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
use super::subject::{BUILT_MAX, Tree, Unit};
use super::undescribed;
use crate::client::{Client, ClientError};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;

/// Packages between two signs of life.
const TOLD_EVERY: usize = 250;

/// Publishes all components of a folder.
pub(super) async fn publish(session: &Session, tree: Tree<'_>) -> Result<Exit> {
    let begun = Instant::now();
    let Tree { folder, components } = tree;
    let unsaid = undescribed::undescribed(folder, &components)?;
    let count = components.len() + unsaid.len();
    output::tell(&format!("{count} components to publish"));
    let mut tally = Tally::default();
    for path in unsaid {
        tally.refuse(&path.display().to_string(), undescribed::REASON);
    }
    let may_be_built = components.len() <= BUILT_MAX;
    let packages = packages::of(folder, components);
    let count = packages.len();
    for (index, package) in packages.iter().enumerate() {
        let mut results = send(&session.client, folder, package, &mut tally).await?;
        if may_be_built {
            ask_of_built(&session.client, folder, &mut results).await;
        }
        tally.add(&results);
        if (index + 1) % TOLD_EVERY == 0 {
            let done = index + 1;
            output::tell(&format!("[{done}/{count}] packages, {}", tally.line()));
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
async fn send(
    client: &Client,
    folder: &Path,
    package: &Package,
    tally: &mut Tally,
) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    for part in package.parts() {
        match attempt(client, folder, part).await? {
            Ok(results) => all.extend(results),
            Err(reason) if part.len() == 1 => tally.refuse_all(part, &reason),
            Err(_) => {
                for component in part.chunks(1) {
                    match attempt(client, folder, component).await? {
                        Ok(results) => all.extend(results),
                        Err(reason) => tally.refuse_all(component, &reason),
                    }
                }
            }
        }
    }
    Ok(all)
}

/// Asks about components that were refused whether they are in the registry as they are built: then the node has the
/// bundle of each, not its file. Folders of more components are never published so.
async fn ask_of_built(client: &Client, folder: &Path, results: &mut [Value]) {
    for result in results {
        if text(result, "refused").is_empty() || text(result, "key").is_empty() {
            continue;
        }
        let unit = Unit::File(folder.join(text(result, "path")));
        let Ok(body) = unit.body().await else {
            continue;
        };
        let built = client.post(&["components", "registry"], &body).await;
        if let Ok(built) = built
            && built["newly_published"] == false
        {
            *result = built;
        }
    }
}

/// The node's results, or the reason why these components cannot be sent together.
///
/// # Errors
/// No other components can be sent either.
async fn attempt(
    client: &Client,
    folder: &Path,
    components: &[PathBuf],
) -> Result<Result<Vec<Value>, String>> {
    let body = match packages::body(folder, components) {
        Ok(body) => body,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    match client.post(&["registry", "folders"], &body).await {
        Ok(results) => Ok(Ok(results.as_array().cloned().unwrap_or_default())),
        Err(error) if is_of_package(&error) => Ok(Err(format!("{error:#}"))),
        Err(error) => Err(error),
    }
}

/// Whether another package may do better.
fn is_of_package(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<ClientError>();
    refused.is_some_and(|error| matches!(error.status(), Some(400 | 413 | 422)))
}
