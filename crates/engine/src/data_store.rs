//! Requests of a run to the data stores of its owner, and the way back to it.
//!
//! Not responsible for whose stores they are, nor for what is in them: the caller of [`crate::Engine::invoke`] is asked.

use std::fmt;

use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A request for a data store. It is answered once; a run whose request is dropped is told that nobody answered.
#[derive(Debug)]
pub struct StoreRequest {
    /// The store's name, as the prop was configured.
    pub store: String,
    /// The operation.
    pub operation: StoreOperation,
    /// The way of the answer.
    pub reply: Replier,
}

/// An operation on a data store.
#[derive(Debug, Clone)]
pub enum StoreOperation {
    /// The value of a key; nothing when there is none.
    Get {
        /// The key.
        key: String,
    },
    /// Tells whether there is a record of this key.
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
        /// After how many seconds it is to be gone, if ever.
        ttl_seconds: Option<f64>,
    },
    /// Changes when a record is gone, and says whether it is there.
    SetTtl {
        /// The key.
        key: String,
        /// After how many seconds; `None` for never.
        ttl_seconds: Option<f64>,
    },
    /// Deletes a record, and says whether it was there.
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
        /// Only those behind this one.
        after: Option<String>,
    },
    /// Some records as `[key, value]`, in the same form.
    Entries {
        /// Only those behind this key.
        after: Option<String>,
    },
}

impl StoreOperation {
    /// Tells whether it changes what a later operation sees.
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

/// An answer: JSON text or nothing (`undefined`), or what the component is told went wrong.
pub type StoreReply = Result<Option<Box<RawValue>>, String>;

type Send = Box<dyn FnOnce(StoreReply) + std::marker::Send>;

/// The way back to the run that asked.
pub struct Replier {
    send: Option<Send>,
    room: Option<BoxFuture<'static, ()>>,
}

impl Replier {
    /// Answers go to `send`, where there is room once `room` has ended.
    pub fn new(
        send: impl FnOnce(StoreReply) + std::marker::Send + 'static,
        room: impl Future<Output = ()> + std::marker::Send + 'static,
    ) -> Self {
        Self {
            send: Some(Box::new(send)),
            room: Some(Box::pin(room)),
        }
    }

    /// Waits until the run's worker has taken most of what it was answered before: one that asks and never reads must not
    /// fill the node's memory.
    pub async fn room(&mut self) {
        if let Some(room) = self.room.take() {
            room.await;
        }
    }

    /// Answers the run. It may have ended meanwhile, and then nobody hears.
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
    /// The operation with what its frame carries; `None` when something is missing.
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
