//! How storage fails. "Not found" is not among it.

use std::error::Error as StdError;

type Source = Box<dyn StdError + Send + Sync>;

/// What a store can answer instead of a result.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The step no longer applies: the lease was lost, the source is gone or changed. Nothing was written.
    #[error("conflict: {0}")]
    Conflict(String),
    /// The engine cannot be reached or is out of room. Nothing was written; trying again may help.
    #[error("the store is unavailable: {context}")]
    Unavailable {
        /// What was being done.
        context: String,
        /// The database's own error.
        #[source]
        source: Source,
    },
    /// Stored data cannot be read as what it should be.
    #[error("stored data is corrupt: {0}")]
    Corrupt(String),
}

impl StoreError {
    /// Everything that is known, for the node's log: the database's own words are for nobody else.
    pub fn in_full(&self) -> String {
        match self {
            Self::Unavailable { source, .. } => format!("{self}: {source}"),
            Self::Conflict(_) | Self::Corrupt(_) => self.to_string(),
        }
    }

    /// An error of the database while doing `context`.
    pub fn unavailable(context: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Unavailable {
            context: context.into(),
            source: source.into(),
        }
    }
}
