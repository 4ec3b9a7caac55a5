//! Resolutions of waits: calls of their URLs, and the ends of called runs.

use serde::{Deserialize, Serialize};

use super::kept::Kept;

/// The answer that ends a wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// `resume_url` was called, with this request.
    Resume(Option<Kept>),
    /// `rerun_url` was called, with this request.
    Rerun(Option<Kept>),
    /// `cancel_url` was called: the run ends.
    Cancel,
    /// The called run succeeded, with this result.
    Returned(Kept),
    /// The called run failed or was cancelled; the text says how.
    Failed(String),
}

impl Resolution {
    /// The value that came with it.
    pub(super) fn value_mut(&mut self) -> Option<&mut Kept> {
        match self {
            Self::Resume(value) | Self::Rerun(value) => value.as_mut(),
            Self::Returned(value) => Some(value),
            Self::Cancel | Self::Failed(_) => None,
        }
    }

    pub(super) fn value(&self) -> Option<&Kept> {
        match self {
            Self::Resume(value) | Self::Rerun(value) => value.as_ref(),
            Self::Returned(value) => Some(value),
            Self::Cancel | Self::Failed(_) => None,
        }
    }
}

/// The effect of a resolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolved {
    /// The wait has ended.
    Now,
    /// The step still runs, or the block has not begun; the resolution is kept until it waits.
    AtItsEnd,
    /// The wait had ended before.
    Before,
}
