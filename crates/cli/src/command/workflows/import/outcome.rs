//! The outcome of an import: for each workflow its folder, the work that is left, and its deployment.

use std::path::PathBuf;

use serde::Serialize;

use super::needs::Needs;

#[derive(Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) origin: String,
    pub(super) into: PathBuf,
    /// The file that tells all of this.
    pub(super) report: PathBuf,
    pub(super) workflows: Vec<Workflow>,
    /// Workflows that the origin names and does not have.
    pub(super) missing: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Workflow {
    /// Its folder, by path below the one that was written into.
    pub(super) folder: String,
    #[serde(flatten)]
    pub(super) state: State,
    /// The text that it was derived from, which is kept beside the folder.
    pub(super) original: Option<String>,
    pub(super) not_understood: Vec<String>,
    pub(super) left_out: Vec<String>,
    #[serde(flatten)]
    pub(super) needs: Needs,
    pub(super) deployment: Option<Deployment>,
}

/// The outcome for a folder.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum State {
    Imported,
    /// It was there already.
    Unchanged,
    /// It was there already, with other files.
    Kept {
        differing: Vec<String>,
    },
    Failed {
        reason: String,
    },
}

/// The outcome of a deployment.
#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(super) enum Deployment {
    Deployed {
        id: String,
        endpoints: Vec<String>,
    },
    /// It was not tried.
    Left {
        reason: &'static str,
    },
    Refused {
        reason: String,
    },
}

impl Deployment {
    pub(super) fn left(reason: &'static str) -> Self {
        Self::Left { reason }
    }
}

impl Workflow {
    /// Whether its folder is there as a whole.
    pub(super) fn is_there(&self) -> bool {
        !matches!(self.state, State::Failed { .. })
    }

    /// The work that nobody but a person can do, as a number.
    pub(super) fn count(&self) -> usize {
        self.needs.count() + self.not_understood.len()
    }

    fn is_whole(&self) -> bool {
        self.is_there() && !matches!(self.deployment, Some(Deployment::Refused { .. }))
    }
}

impl Outcome {
    /// Whether nothing went wrong. Work that is left is not a failure.
    pub(super) fn is_whole(&self) -> bool {
        self.missing.is_empty() && self.workflows.iter().all(Workflow::is_whole)
    }
}
