//! The OpenAPI document, put together from the annotations of the `operations` that are served. The
//! parts that all of them share are added by `shared`; the committed copy is `docs/openapi.json`.

pub(crate) mod failure;
mod schema;
mod shared;

use std::sync::LazyLock;

use serde_json::{Value, json};
use utoipa::{
    Modify, OpenApi,
    openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};

use crate::{
    operations,
    wire::{ErrorBody, id},
};

/// The document without the operations.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Headwater",
        description = "Runs event sources: JavaScript components that collect events and emit \
                       them. Read the events here, or have them delivered.\n\nEvery request below `/v1` \
                       carries `Authorization: Bearer <API_KEY>`. A trailing slash makes no \
                       difference, and parameters of `POST` and `DELETE` may come in the query or \
                       in a JSON body."
    ),
    components(schemas(ErrorBody, id::Workflow)),
    security(("api_key" = [])),
    modifiers(&Security),
    tags(
        (name = "Components", description = "Saved code of sources and actions."),
        (name = "Sources", description = "Deployed components."),
        (name = "Workflows", description = "Deployed folders of steps, and their runs. Not part of Pipedream's API."),
        (name = "Variables", description = "Values that steps of workflows read as `process.env`. Not part of Pipedream's API."),
        (name = "Runs", description = "Runs of sources' code that have ended, kept for a while, and those of workflows. Not part of Pipedream's API."),
        (name = "Events", description = "Events that sources and workflows emitted."),
        (name = "Subscriptions", description = "Connections from emitters to listeners."),
        (name = "Webhooks", description = "URLs that events are delivered to, and the deliveries."),
        (name = "Accounts", description = "Credentials of third-party apps. Not part of Pipedream's API."),
        (name = "Data stores", description = "Key-value stores that components share by name. Not part of Pipedream's API."),
        (name = "Users and workspaces", description = "The caller, other users, workspaces, and keys."),
        (name = "Node", description = "Health, metrics and documentation."),
    )
)]
struct Frame;

struct Security;

impl Modify for Security {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("An API key."))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("api_key", SecurityScheme::Http(scheme));
    }
}

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let annotated = Frame::openapi().merge_from(operations::document());
    let mut document = serde_json::to_value(annotated).expect("plain data is JSON");
    shared::complete(&mut document);
    document
});

/// The document of a node at this URL.
pub(crate) fn document(url: &str) -> Value {
    let mut document = DOCUMENT.clone();
    document["servers"] = json!([{ "url": url }]);
    document
}

/// The document as it is committed: of no node in particular.
pub fn openapi_json() -> String {
    format!("{:#}\n", document("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_document_is_that_of_the_handlers() {
        let committed = include_str!("../../../docs/openapi.json");
        assert!(
            committed == openapi_json(),
            "docs/openapi.json is out of date: run `cargo xtask openapi` and commit it"
        );
    }

    #[test]
    fn operations_have_ids_of_their_own_and_say_what_they_do() {
        let document = document("/");
        let mut ids = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                for field in ["operationId", "summary", "tags"] {
                    assert!(!operation[field].is_null(), "{method} {path}: no {field}");
                }
                ids.push(operation["operationId"].as_str().unwrap().to_owned());
            }
        }
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "an operationId is used twice: {ids:?}");
    }
}
