//! Saving a component at the node, from a file, a URL or a package, or finding the one that a key
//! names: the step that deploying and updating share. The answer tells the props.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use headwater_model::package::PackageReference;
use serde_json::{Value, json};

use crate::bundle;
use crate::client::{Client, ClientError};
use crate::reference::ComponentReference;
use crate::source::text;
use crate::usage_error::UsageError;

/// Files of the working folder that are looked at.
const FILES_MAX: usize = 1000;

/// Saves the code and returns the component.
pub(super) async fn save(client: &Client, reference: &str) -> Result<Value> {
    let body = match ComponentReference::parse(reference)? {
        ComponentReference::BuiltIn(address) => json!({"component_url": address}),
        ComponentReference::File(path) => bundle::body(&path).await?,
        ComponentReference::Url(url) => json!({"component_url": url.as_str()}),
        ComponentReference::Npm(npm) => json!({"component_code": module_of(&npm)?}),
        ComponentReference::Saved(key) if Path::new(&key).is_file() => {
            bundle::body(Path::new(&key)).await?
        }
        ComponentReference::Saved(key) => match saved(client, &key).await? {
            Found::Component(component) => return Ok(component),
            Found::At(specifier) => return Box::pin(save(client, &specifier)).await,
        },
    };
    let saved = client.post_scoped(&["components"], body).await;
    saved.map_err(|error| in_terms_of(error, file_of(reference).as_deref()))
}

/// Takes a component away again that was saved for something that was refused; one that was there before stays.
pub(super) async fn unless_refused<T>(
    client: &Client,
    component: &Value,
    done: Result<T>,
) -> Result<T> {
    if done.is_err() && component["newly_saved"] == true {
        // It is in nobody's way, and the refusal is what counts.
        let _ = client.delete(&["components", text(component, "id")]).await;
    }
    done
}

/// An error in which the component is called as the file that it is from, if it is.
pub(super) fn in_terms_of(error: anyhow::Error, file: Option<&Path>) -> anyhow::Error {
    match error.downcast::<ClientError>() {
        Ok(refused) => refused.map_text(|text| bundle::in_file(text, file)).into(),
        Err(error) => error,
    }
}

/// The local file that a reference names, if it does.
pub(super) fn file_of(reference: &str) -> Option<PathBuf> {
    match ComponentReference::parse(reference).ok()? {
        ComponentReference::File(path) => Some(path),
        ComponentReference::Saved(key) => Some(PathBuf::from(key)).filter(|path| path.is_file()),
        ComponentReference::Url(_)
        | ComponentReference::Npm(_)
        | ComponentReference::BuiltIn(_) => None,
    }
}

/// The file in the working folder that has just the code of a saved component.
pub(super) async fn file_of_component(client: &Client, id: &str) -> Option<PathBuf> {
    let component = client.get(&["components", id]).await.ok()?;
    let code = component["code"].as_str()?;
    let has_code = |file: &PathBuf| {
        let is_as_long = file
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() == code.len() as u64);
        is_as_long && std::fs::read_to_string(file).is_ok_and(|text| text == code)
    };
    let files = std::fs::read_dir(".").ok()?.flatten().take(FILES_MAX);
    files
        .map(|file| PathBuf::from(file.file_name()))
        .find(has_code)
}

fn module_of(package: &PackageReference) -> Result<String, UsageError> {
    match package.path {
        Some(_) => Ok(package.component_code()),
        None => Err(UsageError(format!(
            "{package} is a package, not a component; give one of its files as {package}/path, or \
             publish all its components with `headwater publish {package}` and deploy one by its key"
        ))),
    }
}

/// The thing that a key names.
enum Found {
    /// A component that the node has.
    Component(Value),
    /// One of a package, or that the node brings along, by its address.
    At(String),
}

async fn saved(client: &Client, key: &str) -> Result<Found> {
    let scope = client.scope().await?;
    let error = match client.get_data(&["components", key], &scope).await {
        Ok(component) => return Ok(Found::Component(component)),
        Err(error) => error,
    };
    let is_missing = |error: &ClientError| error.is_not_found();
    if !error.downcast_ref().is_some_and(is_missing) {
        return Err(error);
    }
    if Path::new(key).is_dir() {
        bail!(
            "{key} is a folder; give one of its files, or publish all its components with `headwater publish {key}`"
        );
    }
    match indexed(client, key).await? {
        Some(specifier) => Ok(Found::At(specifier)),
        None => bail!(
            "{key} is neither a file nor the key or id of a component; `headwater list components` shows those of the \
             node, `headwater search {key}` also those on npm. Pipedream has published few of its apps there: of others, \
             deploy a file of a checkout of its repository"
        ),
    }
}

/// The address of the component that the node's index has under the key.
async fn indexed(client: &Client, key: &str) -> Result<Option<String>> {
    let filter = [("q", key.to_owned())];
    let path = ["packages", "components"];
    let found = client.first(&path, usize::MAX, &filter).await?.data;
    let meant = found.iter().find(|component| text(component, "key") == key);
    Ok(meant.map(|component| text(component, "specifier").to_owned()))
}
