//! The tools, one file per kind of thing.

mod accounts;
mod components;
mod events;
mod runs;
mod sources;
mod webhooks;
mod workflows;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::{api::Api, reply::Refusal};

/// A list that has no further filter.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Listed {
    /// A part of the names to look for.
    query: Option<String>,
    /// `page_info.end_cursor` of the page before.
    after: Option<String>,
}

/// A source, a workflow, or neither, as query parameters.
async fn emitter(
    api: &Api,
    source: Option<&str>,
    workflow: Option<&str>,
) -> Result<[(&'static str, Option<String>); 2], Refusal> {
    let source = match source {
        Some(given) => Some(api.source_id(given).await?),
        None => None,
    };
    let workflow = match workflow {
        Some(given) => Some(api.workflow_id(given).await?),
        None => None,
    };
    Ok([("source_id", source), ("workflow_id", workflow)])
}

/// At most so many, as a query parameter.
fn limit(asked: Option<u32>) -> Option<String> {
    Some(asked.unwrap_or(20).clamp(1, 100).to_string())
}

/// An object of the API without what an assistant has no use for.
fn without(mut shown: Value, fields: &[&str]) -> Value {
    if let Some(object) = shown.as_object_mut() {
        object.retain(|name, _| !fields.contains(&name.as_str()));
    }
    shown
}
