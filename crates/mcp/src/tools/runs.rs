//! Runs of sources and workflows.

use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{emitter, limit};
use crate::{
    api::{self, Api},
    reply::{Reply, Shown},
    server::Server,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListRuns {
    /// The id or name of the source whose runs to list. Without `source` and `workflow`, those of all.
    source: Option<String>,
    /// The id or name of the workflow whose runs to list.
    workflow: Option<String>,
    /// Only runs in one of these states, separated by commas: `open`, `succeeded`, `failed`, `cancelled`.
    status: Option<String>,
    /// Only runs of this time or later, such as 2026-01-31T12:00:00Z.
    since: Option<String>,
    /// So many at most, up to 100; 20 without it.
    limit: Option<u32>,
    /// `page_info.end_cursor` of the page before.
    after: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShowRun {
    /// The run's id, `inv_…`.
    run: String,
}

#[tool_router(router = runs, vis = "pub(crate)")]
impl Server {
    /// Lists runs of sources and workflows, newest first: when, how long, how each ended, what it emitted.
    #[tool(annotations(title = "List runs", read_only_hint = true, open_world_hint = false))]
    async fn list_runs(&self, api: Api, Parameters(asked): Parameters<ListRuns>) -> Reply {
        let (source, workflow) = (asked.source.as_deref(), asked.workflow.as_deref());
        let [source, workflow] = emitter(&api, source, workflow).await?;
        let query = [
            source,
            workflow,
            ("status", asked.status),
            ("since", asked.since),
            ("limit", limit(asked.limit)),
            ("after", asked.after),
        ];
        api.list(&["runs"], &query).await.map(Shown)
    }

    /// Shows a run: its error with the stack, its events, and the steps of a workflow's run.
    #[tool(annotations(title = "Show a run", read_only_hint = true, open_world_hint = false))]
    async fn show_run(&self, api: Api, Parameters(asked): Parameters<ShowRun>) -> Reply {
        let run = api.get(&["runs", &asked.run], &[]).await?;
        Ok(Shown(api::data(run)))
    }
}
