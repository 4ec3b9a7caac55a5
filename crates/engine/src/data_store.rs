//! Requests of a run to the data stores of its owner, and their answers.
//!
//! Not responsible for the stores' owners or contents: the caller of [`crate::Engine::invoke`] answers.

use std::fmt;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A request for a data store. It is answered once; dropping it fails the run's call.
#[derive(Debug)]
pub struct StoreRequest {
    /// The store's name, as the prop was configured.
    pub store: String,
    /// The operation.
    pub operation: StoreOperation,
    /// The channel for the answer.
    pub reply: Replier,
}

/// An operation on a data store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum StoreOperation {
    /// The value of a key, if there is one.
    Get {
        /// The key.
        key: String,
    },
    /// Whether there is a record of this key.
    Has {
        /// The key.
        key: String,
    },
    /// Writes a record.
    Set {
        /// The key.
        key: String,
        /// The value, as JSON text.
        value: Box<RawValue>,
        /// Seconds after which it expires, if ever.
        ttl_seconds: Option<f64>,
    },
    /// Changes a record's expiry, and returns whether it exists.
    SetTtl {
        /// The key.
        key: String,
        /// Seconds after which it expires; `None` for never.
        ttl_seconds: Option<f64>,
    },
    /// Deletes a record, and returns whether it existed.
    Delete {
        /// The key.
        key: String,
    },
    /// Deletes all records.
    Clear,
    /// The number of records.
    Size,
    /// Some keys: `{"items": […], "after": KEY}`, without `after` when these were the last.
    Keys {
        /// Only keys after this one.
        after: Option<String>,
    },
    /// Some records as `[key, value]`, in the same form.
    Entries {
        /// Only records after this key.
        after: Option<String>,
    },
}

impl StoreOperation {
    /// Whether it changes the results of later operations.
    pub fn is_write(&self) -> bool {
        match self {
            Self::Set { .. } | Self::SetTtl { .. } | Self::Delete { .. } | Self::Clear => true,
            Self::Get { .. }
            | Self::Has { .. }
            | Self::Size
            | Self::Keys { .. }
            | Self::Entries { .. } => false,
        }
    }
}

/// An answer: JSON text or nothing (`undefined`), or an error message for the component.
pub type StoreReply = Result<Option<Box<RawValue>>, String>;

type Send = Box<dyn FnOnce(StoreReply) + std::marker::Send>;

/// The channel to the run that made the request.
pub struct Replier {
    send: Option<Send>,
    room: Option<BoxFuture<'static, ()>>,
}

impl Replier {
    /// Answers go to `send`, which has room once `room` has completed.
    pub fn new(
        send: impl FnOnce(StoreReply) + std::marker::Send + 'static,
        room: impl Future<Output = ()> + std::marker::Send + 'static,
    ) -> Self {
        Self {
            send: Some(Box::new(send)),
            room: Some(Box::pin(room)),
        }
    }

    /// Waits until the run's worker has read most of its earlier answers: one that never reads must not fill the node's
    /// memory.
    pub async fn room(&mut self) {
        if let Some(room) = self.room.take() {
            room.await;
        }
    }

    /// Answers the run. If it has ended meanwhile, the answer is dropped.
    pub fn answer(mut self, reply: StoreReply) {
        if let Some(send) = self.send.take() {
            send(reply);
        }
    }
}

impl Drop for Replier {
    fn drop(&mut self) {
        if let Some(send) = self.send.take() {
            send(Err("the node is stopping; nothing was done".to_owned()));
        }
    }
}

impl fmt::Debug for Replier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replier")
    }
}

/// The operations' names in frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OperationName {
    Get,
    Has,
    Set,
    SetTtl,
    Delete,
    Clear,
    Size,
    Keys,
    Entries,
}

impl OperationName {
    /// The operation with its arguments from the frame; `None` when one is missing.
    pub(crate) fn with(
        self,
        key: Option<String>,
        value: Option<Box<RawValue>>,
        ttl_seconds: Option<f64>,
    ) -> Option<StoreOperation> {
        Some(match self {
            Self::Get => StoreOperation::Get { key: key? },
            Self::Has => StoreOperation::Has { key: key? },
            Self::Set => StoreOperation::Set {
                key: key?,
                value: value?,
                ttl_seconds,
            },
            Self::SetTtl => StoreOperation::SetTtl {
                key: key?,
                ttl_seconds,
            },
            Self::Delete => StoreOperation::Delete { key: key? },
            Self::Clear => StoreOperation::Clear,
            Self::Size => StoreOperation::Size,
            Self::Keys => StoreOperation::Keys { after: key },
            Self::Entries => StoreOperation::Entries { after: key },
        })
    }
}
