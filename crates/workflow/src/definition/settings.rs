//! The settings of a workflow.

use std::time::Duration;

use super::retry::Retry;
use crate::template::Template;

/// Waiting work of a workflow that limits itself, unless its file says otherwise.
const QUEUE_SIZE: u32 = 10_000;

/// The settings of a workflow, with defaults for those that its file does not have.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// `error_notification`: whether the owner gets a mail about errors. On.
    pub notifies_of_errors: bool,
    /// `notify_first_error`: whether that mail is sent at the first of several tries, too. Off.
    pub notifies_of_first_error: bool,
    /// `lambda_timeout`, seconds in the file: the time that a step may take. By default that of its trigger's kind.
    pub timeout: Option<Duration>,
    /// `lambda_memory`: MiB of heap that the worker of the steps has. By default as much as the node's others.
    pub memory_mb: Option<u32>,
    /// `auto_retry`: the policy of steps that have none.
    pub auto_retry: Option<Retry>,
    /// `concurrency`: runs at once. Without, as many as there are.
    pub concurrency: Option<Concurrency>,
    /// `throttle`: runs that begin within a time. Without, as many as there are.
    pub throttle: Option<Throttle>,
    /// `queue`: work that waits because of the two.
    pub queue: Queue,
    /// `data_retention`: how long and which runs are kept.
    pub retention: Retention,
    /// `resume_methods`: methods of requests that resume a wait, in capitals. By default all but HEAD and OPTIONS.
    pub resume_methods: Option<Vec<String>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            notifies_of_errors: true,
            notifies_of_first_error: false,
            timeout: None,
            memory_mb: None,
            auto_retry: None,
            concurrency: None,
            throttle: None,
            queue: Queue::default(),
            retention: Retention::default(),
            resume_methods: None,
        }
    }
}

/// At most so many runs at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Concurrency {
    /// The number; none begins when it is 0.
    pub limit: u32,
    /// Counts runs apart by the value of an expression over the trigger.
    pub key: Option<Template>,
}

/// At most so many runs begin within a fixed window of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Throttle {
    /// The number; none begins when it is 0.
    pub limit: u32,
    /// The window.
    pub per: Duration,
    /// Counts runs apart by the value of an expression over the trigger.
    pub key: Option<Template>,
}

/// Work that waits for concurrency or throttle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    /// So much of it at most; 10,000 by default.
    pub size: u32,
    /// The fate of work beyond that.
    pub overflow: Overflow,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            size: QUEUE_SIZE,
            overflow: Overflow::Reject,
        }
    }
}

/// The fate of work beyond the queue's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// Requests are refused with 429; events wait in the log.
    Reject,
    /// The oldest waiting run is cancelled.
    Oldest,
}

/// How long and which runs are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retention {
    /// Days; by default those of the node.
    pub days: Option<u32>,
    /// Which of them.
    pub stored: Stored,
}

/// Runs whose data is kept once they have ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stored {
    /// All of them.
    #[default]
    All,
    /// Those that failed.
    Errors,
    /// None.
    None,
}
