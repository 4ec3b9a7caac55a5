//! Running an action alone, once (docs/guide/writing-a-component.md, "Actions"): the same code that is
//! a step of workflows.

use std::sync::Arc;

use headwater_engine::{Entry, Export};
use headwater_model::{component::ComponentType, id::InvocationId, outcome::Outcome};
use serde_json::{
    Map, Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{
    audit::AuditAction,
    caller::Caller,
    error::PlatformError,
    log_line::LogLine,
    platform::Platform,
    use_cases::calls::{Call, CallTarget},
    use_cases::components::on_component,
};

/// The name under which an action exports a line for people.
const SUMMARY: &str = "$summary";

/// The result of an action's run.
#[derive(Debug, Clone)]
pub struct ActionReport {
    /// The invocation.
    pub invocation_id: InvocationId,
    /// Its outcome, with its return value.
    pub outcome: Outcome,
    /// The values given to `$.export`, by name; the last of a name counts.
    pub exports: Map<String, Value>,
    /// The exported `$summary`.
    pub summary: Option<String>,
    /// The reason given to `$.flow.exit`, if it was called: in a workflow nothing would follow.
    pub exit: Option<String>,
    /// Its logs.
    pub logs: Vec<LogLine>,
}

impl Platform {
    /// Runs an action once and waits for its end. A thrown error is its outcome, not an error of this
    /// call.
    ///
    /// # Errors
    /// `Invalid` for a source, `InvalidProps`, `NotFound`.
    pub async fn run_action(
        self: &Arc<Self>,
        caller: &Caller,
        target: &CallTarget,
    ) -> Result<ActionReport, PlatformError> {
        let (component, props) = self.all_props(caller, target).await?;
        if component.description.component_type != ComponentType::Action {
            let reason = format!(
                "`{}` is a source: deploy it with `POST /sources`, then `POST /sources/{{id}}/run`",
                component.description.name
            );
            return Err(PlatformError::invalid("component", reason));
        }
        let owner = self.owner(caller, target.workspace_id.clone()).await?;
        let act = on_component(AuditAction::ComponentRun, &component).of(&owner);
        let call = Call {
            component,
            entry: Entry::Run,
            event: self.step_event(caller),
            props,
            owner,
            key_values: Map::new(),
        };
        let configured = &target.configured_props;
        let report = self.charged_call(caller, call, act, configured).await?;
        let mut exports = exported(report.exports);
        let summary = exports.remove(SUMMARY).and_then(|summary| {
            let text = summary.as_str().map(str::to_owned);
            text.or_else(|| (!summary.is_null()).then(|| summary.to_string()))
        });
        Ok(ActionReport {
            invocation_id: report.invocation_id,
            outcome: report.outcome,
            exports,
            summary,
            exit: report.exit,
            logs: report.logs,
        })
    }

    /// The arguments of `run({ steps, $ })`: no steps came before.
    fn step_event(&self, caller: &Caller) -> Box<RawValue> {
        let context = json!({ "ts": self.core.env.now_ms(), "owner_id": caller.user_id() });
        let event = to_raw_value(&json!({ "steps": {}, "context": context }));
        event.unwrap_or_else(|_| RawValue::NULL.to_owned())
    }
}

fn exported(exports: Vec<Export>) -> Map<String, Value> {
    let named = |Export { name, value }| {
        let value = value.and_then(|text| serde_json::from_str(text.get()).ok());
        (name, value.unwrap_or_default())
    };
    exports.into_iter().map(named).collect()
}
