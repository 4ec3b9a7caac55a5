//! The part of a run's state that its invocation keeps: everything but the places.

use headwater_model::{
    id::{DeploymentId, InvocationId},
    time::EpochMs,
};
use headwater_store::WaitId;
use headwater_workflow::run::Root;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::admission::Keys;

/// The head of a run. An invocation that has not begun may have one already, which says how to begin.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The deployment that it follows; at first that of its workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deployment_id: Option<DeploymentId>,
    /// The same for a run and everything that it goes on as; kept by replays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace_id: Option<String>,
    /// When its first step began, epoch milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started_at_ms: Option<EpochMs>,
    /// How often it went on after a pause.
    #[serde(default)]
    pub(crate) pauses: u32,
    /// Events that it has emitted.
    #[serde(default)]
    pub(crate) emitted: u32,
    /// Mails about its errors to its owner.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) error_mails: u32,
    /// Bytes that its steps returned and exported.
    #[serde(default)]
    pub(crate) kept_bytes: u64,
    /// The replayed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) replay: Option<ReplayOf>,
    /// The wait that its end answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) called_by: Option<CalledBy>,
    /// The values of its keys of concurrency and throttle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keys: Option<Keys>,
    /// Whether it is a test: waits end it, and it leaves no `$errors`.
    #[serde(default)]
    pub(crate) is_test: bool,
    /// Whether only its record is kept when it has ended, because its request said so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_forgotten: bool,
    /// The state of the tree as a whole.
    #[serde(default)]
    pub(crate) root: Root,
}

/// The run that is done again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReplayOf {
    /// It.
    pub(crate) run_id: InvocationId,
    /// The path of the step to begin with; without it, all is done again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<String>,
}

/// The wait of a block `call`, or of `$.flow.trigger`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CalledBy {
    pub(crate) run_id: InvocationId,
    pub(crate) path: String,
    pub(crate) generation: u32,
}

impl CalledBy {
    pub(crate) fn wait(&self) -> WaitId {
        WaitId {
            run_id: self.run_id.clone(),
            path: self.path.clone(),
            generation: self.generation,
        }
    }
}

impl Head {
    /// The head that an invocation keeps; a new one if it keeps none.
    ///
    /// # Errors
    /// The stored text is not a head.
    pub(crate) fn read(state: Option<&RawValue>) -> Result<Self, serde_json::Error> {
        state.map_or_else(
            || Ok(Self::default()),
            |state| serde_json::from_str(state.get()),
        )
    }

    /// The head as it stays with the record of a run of which nothing else is kept.
    pub(crate) fn of_record(&self) -> Self {
        Self {
            deployment_id: self.deployment_id.clone(),
            trace_id: self.trace_id.clone(),
            started_at_ms: self.started_at_ms,
            replay: self.replay.clone(),
            keys: self.keys.clone(),
            is_forgotten: true,
            ..Self::default()
        }
    }

    /// The run that it repeats, if it is a replay.
    pub(crate) fn replay_of(&self) -> Option<InvocationId> {
        self.replay.as_ref().map(|replay| replay.run_id.clone())
    }

    /// Whether a step of the run has been committed.
    pub(crate) fn has_begun(&self) -> bool {
        self.started_at_ms.is_some()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u32) -> bool {
    *number == 0
}
