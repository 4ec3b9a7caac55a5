//! Definitions: workflows as their `workflow.yaml` has them.
//!
//! Responsible for the whole file format, that of Pipedream's synced repositories and what is added to it: every key,
//! its default, and why a value cannot stand. Deliberately not for running anything, nor for what can be known only
//! from the folder's other files or a node ([`crate::check`], and deployments).

mod blocks;
mod code;
mod namespace;
mod node;
mod reading;
mod record;
mod retry;
mod secrets;
mod settings;
mod tree;
mod triggers;

#[cfg(test)]
mod tests;

pub(crate) use self::record::{Expression, Literal, Scope};
pub use self::{
    blocks::{Call, CaseTest, Delay, DelayLength, End, LoopSource, Mode, OnTimeout, Wait},
    code::{ComponentReference, InvalidReference, StepCode},
    namespace::{InvalidNamespace, Namespace},
    node::{Branch, Case, IfElse, Loop, Node, NodeKind, OnError, Parallel, Step, Switch},
    reading::{Draft, InvalidDefinition},
    retry::{FailureKind, Retry},
    secrets::SecretProps,
    settings::{Concurrency, Overflow, Queue, Retention, Settings, Stored, Throttle},
    tree::Definition,
    triggers::{EventsTrigger, HttpResponse, HttpTrigger, SourceTrigger, Trigger, TriggerConfig},
};
pub use crate::template::{Condition, Template};
