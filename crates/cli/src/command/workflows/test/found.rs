//! A run as a test looks at it.

use std::collections::{BTreeMap, HashSet};

use headwater_platform::{StepView, WorkflowRunStatus, WorkflowRunView};
use headwater_workflow::definition::{Definition, NodeKind};
use headwater_workflow::path::{Path, Segment};
use headwater_workflow::run::PlaceStatus;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::calls::Call;
use super::marks::Marks;

/// The traces that a run has left.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) status: &'static str,
    /// Steps and blocks in the order of their start, without those in `parallel` and `loop`.
    pub(super) path: Vec<String>,
    pub(super) calls: Vec<Call>,
    /// `$return_value` by namespace.
    pub(super) returns: BTreeMap<String, Value>,
    /// The other exports, by namespace.
    pub(super) exports: BTreeMap<String, Value>,
    /// `{returned, exports}` by place.
    pub(super) results: Value,
    /// `{name, message, code, step}`.
    pub(super) error: Option<Value>,
    pub(super) sends: Vec<Value>,
    pub(super) response: Option<Value>,
}

impl Found {
    /// The traces of a run; what it keeps has marks in place of the values of variables.
    pub(super) fn of(
        definition: &Definition,
        run: &WorkflowRunView,
        calls: Vec<Call>,
        marks: Marks<'_>,
    ) -> Self {
        let read = |value: &RawValue| Some(marks.opened(serde_json::from_str(value.get()).ok()?));
        let returned = |step: &StepView| {
            let value = step.return_value.as_ref()?;
            Some((step.namespace.clone(), read(value)?))
        };
        let exported = |step: &StepView| {
            let exports = step.exports.iter();
            let exports = exports.filter_map(|(name, value)| Some((name.clone(), read(value)?)));
            (step.namespace.clone(), exports.collect())
        };
        Self {
            status: status(run.run.status),
            path: path(definition, run),
            returns: run.steps.iter().filter_map(returned).collect(),
            exports: run.steps.iter().map(exported).collect(),
            results: marks.opened(results(run)),
            error: error(run).map(|error| marks.opened(error)),
            sends: calls.iter().flat_map(|call| call.sends.clone()).collect(),
            calls,
            response: None,
        }
    }

    /// The calls of a step: those between two rests of the run in the order of their places, whichever began first.
    pub(super) fn calls_of(&self, namespace: &str) -> Vec<&Call> {
        let calls = self.calls.iter();
        let mut calls: Vec<&Call> = calls.filter(|call| call.namespace() == namespace).collect();
        calls.sort_by_key(|call| call.number());
        calls
    }

    /// Something of the calls by place: those of one place are in order, those of several may be in any.
    pub(super) fn by_place(&self, of: impl Fn(&Call) -> Option<Value>) -> Value {
        let mut places: BTreeMap<&Path, Vec<Value>> = BTreeMap::new();
        for call in &self.calls {
            if let Some(value) = of(call) {
                places.entry(&call.path).or_default().push(value);
            }
        }
        let places = places.into_iter();
        places
            .map(|(path, values)| (path.to_string(), json!(values)))
            .collect()
    }
}

/// The results of all places, whatever the order in which they began.
fn results(run: &WorkflowRunView) -> Value {
    let places: BTreeMap<&Path, Value> = run
        .steps
        .iter()
        .filter(|step| step.return_value.is_some() || !step.exports.is_empty())
        .map(|step| {
            let exports: BTreeMap<_, _> = step.exports.iter().cloned().collect();
            let result = json!({ "returned": step.return_value, "exports": exports });
            (&step.path, result)
        })
        .collect();
    let places = places.into_iter();
    places
        .map(|(path, result)| (path.to_string(), result))
        .collect()
}

fn status(status: WorkflowRunStatus) -> &'static str {
    match status {
        WorkflowRunStatus::Queued => "queued",
        WorkflowRunStatus::Running => "running",
        WorkflowRunStatus::Waiting => "waiting",
        WorkflowRunStatus::Succeeded => "succeeded",
        WorkflowRunStatus::Failed => "failed",
        WorkflowRunStatus::Cancelled => "cancelled",
    }
}

fn path(definition: &Definition, run: &WorkflowRunView) -> Vec<String> {
    let nodes = definition.paths().into_iter();
    let fans_out = |kind: &NodeKind| matches!(kind, NodeKind::Parallel(_) | NodeKind::Loop(_));
    let fans: Vec<Path> = nodes
        .filter(|(_, node)| fans_out(&node.kind))
        .map(|(path, _)| path)
        .collect();
    let shown = run.steps.iter().filter(|step| {
        let place = step.path.without_indices();
        let is_inside = fans.iter().any(|fan| place != *fan && place.is_within(fan));
        step.status != PlaceStatus::Skipped && !is_inside
    });
    shown.map(|step| name(definition, run, step)).collect()
}

/// The name of a step, and of a block with the branch that was taken.
fn name(definition: &Definition, run: &WorkflowRunView, step: &StepView) -> String {
    let kind = definition.node(&step.path).map(|node| &node.kind);
    if !matches!(kind, Some(NodeKind::IfElse(_) | NodeKind::Switch(_))) {
        return step.namespace.clone();
    }
    let branches: HashSet<&str> = kind
        .map(NodeKind::branches)
        .into_iter()
        .flatten()
        .map(|(name, _)| name)
        .collect();
    let branch = run.steps.iter().find_map(|inner| {
        let rest = inner.path.segments().strip_prefix(step.path.segments())?;
        match rest.first()? {
            Segment::Name(name) if branches.contains(&**name) => Some(name.clone()),
            Segment::Name(_) | Segment::Index(_) => None,
        }
    });
    match branch {
        Some(branch) => format!("{}.{branch}", step.namespace),
        None => step.namespace.clone(),
    }
}

/// The error of a run: that of the step which ended it, as far as one did.
fn error(run: &WorkflowRunView) -> Option<Value> {
    let line = run.run.error.as_deref()?;
    let failed = run
        .steps
        .iter()
        .filter_map(|step| Some((step, step.error.as_ref()?)));
    // The run has its error without the stack.
    let mut ended = failed.filter(|(_, error)| error.titled() == line);
    Some(match ended.next_back() {
        Some((step, error)) => json!({
            "name": error.name,
            "message": error.message,
            "code": error.code,
            "step": step.namespace,
        }),
        None => json!({ "message": line }),
    })
}
