//! Saving a component at the node, from a file, a URL or a package: the step that deploying and
//! updating share. The answer tells the props.

use anyhow::Result;
use serde_json::{Value, json};

use crate::bundle;
use crate::client::Client;
use crate::reference::ComponentReference;

/// Saves the code and returns the component.
pub(super) async fn save(client: &Client, reference: &str) -> Result<Value> {
    let body = match ComponentReference::parse(reference)? {
        ComponentReference::File(path) => {
            json!({"component_code": bundle::component_code(&path).await?})
        }
        ComponentReference::Url(url) => json!({"component_url": url.as_str()}),
        ComponentReference::Npm(npm) => json!({"component_code": npm.component_code()}),
    };
    client.post(&["components"], &body).await
}
