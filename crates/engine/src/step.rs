//! Steps of workflows as the platform sees them: the messages that only they send.
//!
//! Not responsible for the meaning of these messages, which is the platform's, nor for frames (`worker/protocol.rs`).

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{data_store::Replier, json_if_any, response::Response};

/// A message of a step, in the order of its code's calls.
#[derive(Debug)]
pub enum StepMessage {
    /// The step's `if` does not hold, and its code does not run.
    Skipped,
    /// `$.flow.delay`, `$.flow.suspend` or `$.flow.rerun` was called.
    Flow(Flow),
    /// `$.send.…` was called.
    Sent(Sent),
    /// `$.respond` was called; the first of a run counts.
    Responded(StepResponse),
    /// A further part of the response's body came.
    ResponseBody {
        /// The part.
        bytes: Bytes,
        /// Whether further parts follow.
        has_more: bool,
    },
    /// `$.respond` was called with something that is not a response, or its body failed; the text says how.
    ResponseRefused(String),
    /// A service of the platform was asked; the step waits for the answer.
    Asked(ServiceRequest),
}

/// A pause that a step asks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Flow {
    /// Its kind.
    pub operation: FlowOperation,
    /// Milliseconds until it ends by itself.
    pub after_ms: u64,
    /// The value for the next execution, as JSON text.
    #[serde(with = "json_if_any")]
    pub context: Option<Box<RawValue>>,
    /// Further executions at most, for `$.flow.rerun`.
    pub max_retries: Option<u32>,
}

/// The kind of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowOperation {
    /// The next step begins later.
    Delay,
    /// The next step begins when somebody calls a URL.
    Suspend,
    /// The same step runs again later.
    Rerun,
}

/// Something to send once the step is committed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Sent {
    /// The way.
    pub kind: SendKind,
    /// The arguments, checked by the worker, as JSON text.
    pub value: Box<RawValue>,
}

/// A way to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendKind {
    /// An HTTP request: `{method, url, headers?, params?, data?, auth?}`.
    Http,
    /// A mail to the owner: `{subject, text?, html?}`.
    Email,
    /// An object in a bucket: `{bucket, prefix, payload}`.
    S3,
    /// An event of the workflow: `{event, channel?}`.
    Emit,
    /// A message on the workflow's stream: `{channel, payload}`.
    Sse,
}

/// The response of a workflow to its HTTP request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StepResponse {
    /// Status, headers and the first part of the body.
    pub response: Response,
    /// Whether it is to be sent at once, and not at the end of the run.
    pub is_immediate: bool,
    /// Whether further parts of the body follow.
    pub has_more: bool,
}

/// A request of a step to a service of the platform. It is answered once; dropping it fails the step's call.
#[derive(Debug)]
pub struct ServiceRequest {
    /// The service.
    pub service: Service,
    /// The operation's name.
    pub operation: String,
    /// The operation's arguments, a JSON object as text.
    pub arguments: Box<RawValue>,
    /// The channel for the answer.
    pub reply: Replier,
}

/// A service of the platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    /// Files of the workflow's owner.
    Files,
    /// Other workflows.
    Workflows,
}
