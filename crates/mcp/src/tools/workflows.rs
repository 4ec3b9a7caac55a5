//! Workflows: listed, started, replayed, resumed.

use http::Method;
use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Listed;
use crate::{
    api::{self, Api},
    reply::{Reply, Shown},
    server::Server,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OfWorkflow {
    /// The workflow's id or name.
    workflow: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunWorkflow {
    /// The workflow's id or name.
    workflow: String,
    /// `steps.trigger.event` of the run; `{}` without it.
    event: Option<Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplayRun {
    /// The run's id, `inv_…`.
    run: String,
    /// The path of the step to begin with; the results of those before it are used again. Without it, all is done again.
    from: Option<String>,
    /// True only tells what would be skipped.
    #[serde(default)]
    dry_run: bool,
}

#[tool_router(router = workflows, vis = "pub(crate)")]
impl Server {
    /// Lists the workflows.
    #[tool(annotations(
        title = "List workflows",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn list_workflows(&self, api: Api, Parameters(asked): Parameters<Listed>) -> Reply {
        let query = [
            ("q", asked.query),
            ("after", asked.after),
            ("limit", Some("50".to_owned())),
        ];
        api.list(&["workflows"], &query).await.map(Shown)
    }

    /// Shows a workflow: its triggers, steps and settings.
    #[tool(annotations(
        title = "Show a workflow",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn show_workflow(&self, api: Api, Parameters(asked): Parameters<OfWorkflow>) -> Reply {
        let id = api.workflow_id(&asked.workflow).await?;
        let workflow = api.get(&["workflows", &id], &[]).await?;
        Ok(Shown(api::data(workflow)))
    }

    /// Starts a run of a workflow. `show_run` tells how it gets on.
    #[tool(annotations(
        title = "Run a workflow",
        read_only_hint = false,
        open_world_hint = true
    ))]
    async fn run_workflow(&self, api: Api, Parameters(asked): Parameters<RunWorkflow>) -> Reply {
        let id = api.workflow_id(&asked.workflow).await?;
        let body = json!({ "event": asked.event.unwrap_or_else(|| json!({})) });
        let started = api
            .send(Method::POST, &["workflows", &id, "run"], body)
            .await;
        started.map(Shown)
    }

    /// Replays a run of a workflow that has ended, whole or from a step on, on the workflow's current code.
    #[tool(annotations(title = "Replay a run", read_only_hint = false, open_world_hint = true))]
    async fn replay_run(&self, api: Api, Parameters(asked): Parameters<ReplayRun>) -> Reply {
        let mut body = json!({ "dry_run": asked.dry_run });
        if let Some(from) = asked.from {
            body["from"] = from.into();
        }
        let path = ["runs", asked.run.as_str(), "replay"];
        api.send(Method::POST, &path, body).await.map(Shown)
    }
}
