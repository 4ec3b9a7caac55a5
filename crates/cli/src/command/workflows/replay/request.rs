//! The request for a replay, the same for one run and for each of many.

use anyhow::Result;
use serde_json::{Value, json};

use crate::arguments::ReplayRunArguments;
use crate::session::Session;

/// Asks for a replay of one run.
pub(super) async fn send(
    session: &Session,
    id: &str,
    arguments: &ReplayRunArguments,
) -> Result<Value> {
    let body = body(arguments);
    session.client.post(&["runs", id, "replay"], &body).await
}

fn body(arguments: &ReplayRunArguments) -> Value {
    let mut body = json!({});
    if let Some(step) = &arguments.from {
        body["from"] = step.as_str().into();
    }
    if arguments.same || arguments.latest {
        let deployment = if arguments.same { "same" } else { "latest" };
        body["deployment"] = deployment.into();
    }
    if arguments.dry_run {
        body["dry_run"] = true.into();
    }
    body
}
