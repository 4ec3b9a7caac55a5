//! Actions that are tools of their own: each has the action's key as its name, and its props as typed inputs.

use futures::{StreamExt as _, TryStreamExt as _, stream};
use headwater_model::prop::PropDefinition;
use rmcp::{
    ErrorData,
    handler::server::tool::IntoCallToolResult as _,
    model::{CallToolResponse, JsonObject, Tool, ToolAnnotations},
};
use serde_json::{Value, json};

use crate::{
    api::{self, Api},
    props,
    reply::{Refusal, Reply, Shown},
};

/// Actions that are read at once.
const AT_ONCE: usize = 8;

/// The tools of the actions that the server was told to offer.
pub(crate) async fn tools(api: &Api) -> Result<Vec<Tool>, ErrorData> {
    let keys = stream::iter(api.settings().actions.clone());
    keys.map(|key| async move { tool(api, &key).await })
        .boxed()
        .buffered(AT_ONCE)
        .try_collect()
        .await
        .map_err(|refusal| ErrorData::invalid_request(refusal.to_string(), None))
}

async fn tool(api: &Api, key: &str) -> Result<Tool, Refusal> {
    let action = action(api, key).await?;
    let schema = props::schema(&api::props(&action)?);
    let description = action["description"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    let name = action["name"].as_str().unwrap_or(key);
    let annotations = ToolAnnotations::new().read_only(false).open_world(true);
    Ok(Tool::new(key.to_owned(), description, schema)
        .with_title(name)
        .with_annotations(annotations))
}

/// Calls the action that a tool is named after.
pub(crate) async fn call(
    api: &Api,
    name: &str,
    arguments: JsonObject,
) -> Result<CallToolResponse, ErrorData> {
    if !api.settings().actions.iter().any(|key| key == name) {
        return Err(ErrorData::invalid_params(
            format!("there is no tool `{name}`; `tools/list` lists those that there are"),
            None,
        ));
    }
    run(api, name, arguments).await.into_call_tool_result()
}

/// Runs an action once. One that throws is a refusal, with its stack and its log.
pub(crate) async fn run(api: &Api, component: &str, given: JsonObject) -> Reply {
    let action = action(api, component).await?;
    let props: Vec<PropDefinition> = api::props(&action)?;
    let body = json!({ "configured_props": props::configured(&props, given) });
    let id = action["id"].as_str().unwrap_or(component);
    let report = api.create(&["components", id, "run"], body).await?;
    match report["outcome"]["status"].as_str() {
        Some("returned" | "exited") => Ok(Shown(report)),
        _ => Err(Refusal::new(format!("the action failed: {report:#}"))),
    }
}

async fn action(api: &Api, reference: &str) -> Result<Value, Refusal> {
    let component = api.component(reference).await?;
    match component["type"].as_str() {
        Some("action") => Ok(component),
        _ => Err(Refusal::new(format!(
            "{reference} is a source, not an action; deploy it with `deploy_source`"
        ))),
    }
}
