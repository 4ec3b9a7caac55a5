//! Sources: deployed, listed, changed, run, deleted.

use headwater_model::prop::PropDefinition;
use http::Method;
use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Listed;
use crate::{
    api::{self, Api},
    props,
    reply::{Refusal, Reply, Shown},
    server::Server,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeploySource {
    /// The component, as for `describe_component`. Give this or `code`.
    component: Option<String>,
    /// The code of a component of your own: a JavaScript module whose default export has `name`, `version`, `props` and
    /// `run({ event })`, which calls `this.$emit(event, { id, summary, ts })`.
    code: Option<String>,
    /// A name to find the source by; the component's without one.
    name: Option<String>,
    /// Values by prop, as the schema of `describe_component` says.
    #[serde(default)]
    props: Map<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfSource {
    /// The source's id or name.
    source: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateSource {
    /// The source's id or name.
    source: String,
    /// False pauses it, true resumes it.
    active: Option<bool>,
    /// Its new name.
    name: Option<String>,
    /// New values of props; those that are not named stay, null removes one.
    props: Option<Map<String, Value>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunSource {
    /// The source's id or name.
    source: String,
    /// The event that `run` gets; that of a manual run without one.
    event: Option<Value>,
}

#[tool_router(router = sources, vis = "pub(crate)")]
impl Server {
    /// Deploys a component as a source, which runs from now on. The answer has its id and the URLs of its endpoints.
    #[tool(annotations(
        title = "Deploy a source",
        read_only_hint = false,
        destructive_hint = false
    ))]
    async fn deploy_source(&self, api: Api, Parameters(asked): Parameters<DeploySource>) -> Reply {
        let component = match (&asked.component, asked.code) {
            (Some(reference), None) => api.component(reference).await?,
            (None, Some(code)) => {
                let body = json!({ "component_code": code });
                api.create(&["components"], body).await?
            }
            _ => return Err(Refusal::new("give one of `component` and `code`")),
        };
        let known = api::props(&component)?;
        let mut body = json!({
            "component_id": component["id"],
            "configured_props": props::configured(&known, asked.props),
        });
        if let Some(name) = asked.name {
            body["name"] = name.into();
        }
        let deployed = api.create(&["sources"], body).await;
        if deployed.is_err() && component["newly_saved"] == true {
            // It was saved for this alone; the refusal is what counts.
            let path = ["components", component["id"].as_str().unwrap_or_default()];
            let _ = api.send(Method::DELETE, &path, json!({})).await;
        }
        deployed.map(Shown)
    }

    /// Lists the sources, with their health: when each ran last, how that ended, and when it runs next.
    #[tool(annotations(title = "List sources", read_only_hint = true, open_world_hint = false))]
    async fn list_sources(&self, api: Api, Parameters(asked): Parameters<Listed>) -> Reply {
        let query = [
            ("q", asked.query),
            ("after", asked.after),
            ("expand", Some("health".to_owned())),
            ("limit", Some("50".to_owned())),
        ];
        let sources = api.list(&["users", "me", "sources"], &query).await;
        sources.map(Shown)
    }

    /// Shows a source: its props, endpoints and health.
    #[tool(annotations(
        title = "Show a source",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn show_source(&self, api: Api, Parameters(asked): Parameters<OfSource>) -> Reply {
        let id = api.source_id(&asked.source).await?;
        let query = [("expand", Some("health".to_owned()))];
        let source = api.get(&["sources", &id], &query).await?;
        Ok(Shown(api::data(source)))
    }

    /// Changes a source: pauses or resumes it, renames it, or gives props new values.
    #[tool(annotations(
        title = "Change a source",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = true
    ))]
    async fn update_source(&self, api: Api, Parameters(asked): Parameters<UpdateSource>) -> Reply {
        let id = api.source_id(&asked.source).await?;
        let mut body = json!({});
        if let Some(active) = asked.active {
            body["active"] = active.into();
        }
        if let Some(name) = asked.name {
            body["name"] = name.into();
        }
        if let Some(given) = asked.props {
            let known = props_of(&api, &id).await?;
            body["configured_props"] = Value::Object(props::configured(&known, given));
        }
        let changed = api.send(Method::PATCH, &["sources", &id], body).await;
        changed.map(Shown)
    }

    /// Deletes a source with its events, its state and its subscriptions. This cannot be undone.
    #[tool(annotations(
        title = "Delete a source",
        read_only_hint = false,
        destructive_hint = true
    ))]
    async fn delete_source(&self, api: Api, Parameters(asked): Parameters<OfSource>) -> Reply {
        let id = api.source_id(&asked.source).await?;
        api.send(Method::DELETE, &["sources", &id], json!({}))
            .await?;
        Ok(Shown(json!({ "deleted": id })))
    }

    /// Runs a source once, now, and tells how the run ended and what it emitted.
    #[tool(annotations(
        title = "Run a source",
        read_only_hint = false,
        destructive_hint = false
    ))]
    async fn run_source(&self, api: Api, Parameters(asked): Parameters<RunSource>) -> Reply {
        let id = api.source_id(&asked.source).await?;
        let mut body = json!({});
        if let Some(event) = asked.event {
            body["event"] = event;
        }
        let run = api.send(Method::POST, &["sources", &id, "run"], body).await;
        run.map(Shown)
    }
}

/// The props of the component that a source runs.
async fn props_of(api: &Api, source: &str) -> Result<Vec<PropDefinition>, Refusal> {
    let source = api.get(&["sources", source], &[]).await.map(api::data)?;
    let component = source["component_id"].as_str().unwrap_or_default();
    api::props(&api.component(component).await?)
}
