//! The result of a bounded step of background work.

use headwater_model::{
    id::{RunnableId, WebhookId},
    time::EpochMs,
};

/// The result of a bounded step of background work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Items done in this step.
    pub done: u64,
    /// Whether the step stopped at its bound, so that calling again finds more.
    pub more: bool,
    /// When the next item is due, if the work is timed. Epoch milliseconds.
    pub next_due_ms: Option<EpochMs>,
    /// Sources and workflows that got invocations to run.
    pub woken: Vec<RunnableId>,
    /// Webhooks that got deliveries to make.
    pub woken_webhooks: Vec<WebhookId>,
    /// Events that dispatch has not reached yet, deleted ones among them; 0 unless it stopped at its bound.
    pub behind: u64,
}
