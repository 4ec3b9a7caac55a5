//! The deployment of one folder, by the use cases of the node itself.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use headwater_model::id::{WorkflowId, WorkspaceId};
use headwater_platform::{Caller, DeployWorkflow, Environment, Platform, PlatformError};
use headwater_workflow::finding::Severity;
use headwater_workflow::state_file::StateFile;

use super::claims::Claim;
use super::remembered::{Entry, Remembered, Standing};
use crate::workflow::findings;
use crate::workflow::folder::{Folder, STATE_FILE};

/// The end of an attempt.
pub(super) enum Outcome {
    /// The folder is deployed, and its state file has this text, if it could be written.
    Deployed(Option<String>),
    /// The folder is refused, until one of its files is saved.
    Refused(String),
    /// The node cannot deploy it now.
    Failed(String),
}

/// The parts that each deployment needs.
pub(super) struct Deployer {
    pub(super) app: Arc<Platform>,
    pub(super) env: Environment,
    pub(super) workspace_id: Option<WorkspaceId>,
    pub(super) remembered: Remembered,
}

impl Deployer {
    /// Deploys a folder, unless it is deployed as it is.
    pub(super) async fn deploy(&mut self, name: &str, dir: PathBuf, claim: Claim) -> Outcome {
        let read = tokio::task::spawn_blocking(move || Folder::read(&dir)).await;
        let mut folder = match read.context("reading was interrupted").flatten() {
            Ok(folder) => folder,
            Err(error) => return unread(&error),
        };
        if let Some(errors) = errors(&folder) {
            return Outcome::Refused(errors);
        }
        let (id, state) = match claim {
            Claim::Known(id, state) => (id, state),
            Claim::New(state) => self.with_id(state),
            Claim::CopyOf(other) => {
                let file = folder.dir.join(STATE_FILE);
                return Outcome::Refused(format!(
                    "{}: it has the id of the workflow in {other}; delete this file, and the copy becomes a workflow of \
                     its own",
                    file.display()
                ));
            }
            Claim::Unreadable => return Outcome::Refused("its ids cannot be read".to_owned()),
        };
        let in_folder = folder
            .files
            .insert(STATE_FILE.to_owned(), state.to_string());
        match self.deploy_folder(name, &id, &folder).await {
            Ok(state) => Outcome::Deployed(kept(&folder, in_folder, state)),
            Err(error) => told(&folder, &error),
        }
    }

    /// The text of the state file afterwards.
    async fn deploy_folder(
        &mut self,
        name: &str,
        id: &WorkflowId,
        folder: &Folder,
    ) -> Result<String> {
        let caller = self.app.administrator().await?;
        let state = folder.files.get(STATE_FILE).cloned().unwrap_or_default();
        let former = self.remembered.get(id).map(|entry| entry.standing);
        let is_on = former == Some(Standing::Deployed);
        if is_on && self.is_deployed(&caller, folder).await {
            self.keep(id, name, &state, Standing::Deployed)?;
            return Ok(state);
        }
        // Known before it is there: whatever happens in between, no second workflow is created from this folder. One that
        // was turned off is deployed even if its files are the same, and is turned off again should its folder go meanwhile.
        let standing = match former {
            None | Some(Standing::Deployed) => Standing::Deployed,
            Some(Standing::Changing | Standing::Gone) => Standing::Changing,
        };
        self.keep(id, name, &state, standing)?;
        let request = DeployWorkflow {
            files: folder.files.clone(),
            workspace_id: self.workspace_id.clone(),
            lacks_accounts: false,
        };
        let deployed = Box::pin(self.app.deploy_workflow(&caller, request)).await;
        if deployed.is_err() && matches!(former, None | Some(Standing::Gone)) {
            // There is nothing to turn off, and what was turned off stays so.
            self.remembered.stands(id, Standing::Gone)?;
        }
        let deployed = deployed?;
        self.keep(id, name, &deployed.state_file, Standing::Deployed)?;
        for finding in &deployed.findings {
            let line = findings::line(&folder.dir, &findings::of_definition(finding));
            match finding.severity {
                Severity::Error | Severity::Warning => tracing::warn!(workflow_id = %id, "{line}"),
                Severity::Note => tracing::info!(workflow_id = %id, "{line}"),
            }
        }
        for path in &folder.left_out {
            tracing::info!(workflow_id = %id, "{path} is no text, and was not deployed");
        }
        tracing::info!(workflow_id = %id, "deployed {}", folder.dir.display());
        Ok(deployed.state_file)
    }

    /// Turns a workflow's triggers off, if it is still there. Its runs stay.
    pub(super) async fn turn_off(&mut self, id: &WorkflowId) -> Result<()> {
        let caller = self.app.administrator().await?;
        let folder = self.folder_of(id);
        self.remembered.stands(id, Standing::Changing)?;
        let off = headwater_platform::UpdateWorkflow {
            active: Some(false),
        };
        match self.app.update_workflow(&caller, id, off).await {
            Ok(_) => tracing::warn!(
                workflow_id = %id,
                "the folder {folder} is gone: the workflow's triggers are off, and its runs are kept; `headwater workflows delete \
                 {id}` deletes it"
            ),
            Err(PlatformError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.remembered.stands(id, Standing::Gone)
    }

    /// The folder that a workflow was deployed from, by its path below the folder of all.
    pub(super) fn folder_of(&self, id: &WorkflowId) -> String {
        let entry = self.remembered.get(id);
        entry.map_or_else(String::new, |entry| format!("`{}`", entry.folder))
    }

    async fn is_deployed(&self, caller: &Caller, folder: &Folder) -> bool {
        let files = folder.files.clone();
        matches!(self.app.is_deployed(caller, files).await, Ok(true))
    }

    fn with_id(&self, mut state: StateFile) -> (WorkflowId, StateFile) {
        let id = self.env.id(WorkflowId::new);
        state.id = Some(id.clone());
        (id, state)
    }

    fn keep(
        &mut self,
        id: &WorkflowId,
        folder: &str,
        state: &str,
        standing: Standing,
    ) -> Result<()> {
        let entry = Entry {
            folder: folder.to_owned(),
            state: state.to_owned(),
            standing,
        };
        self.remembered.keep(id, entry)
    }
}

/// The end of an attempt whose files could not be read. If the disk is the reason, it may pass by itself; a folder with too
/// many files, say, is refused.
fn unread(error: &anyhow::Error) -> Outcome {
    let text = format!("{error:#}");
    let may_pass = error
        .chain()
        .any(|cause| cause.is::<std::io::Error>() || cause.is::<tokio::task::JoinError>());
    match may_pass {
        true => Outcome::Failed(text),
        false => Outcome::Refused(text),
    }
}

/// An error as the log tells it, and whether it may pass by itself.
fn told(folder: &Folder, error: &anyhow::Error) -> Outcome {
    let mut text = format!("{}: {error:#}", folder.dir.display());
    let Some(error) = error.downcast_ref::<PlatformError>() else {
        return Outcome::Failed(text);
    };
    if let PlatformError::Component { error, .. } = error {
        // Writing to a text does not fail.
        let _ = write!(text, "\n{}", error.stack);
    }
    match error {
        PlatformError::Unavailable(_)
        | PlatformError::Unreachable(_)
        | PlatformError::TooManyWaiting { .. }
        | PlatformError::QuotaExceeded { .. }
        | PlatformError::RateLimited { .. }
        | PlatformError::SignInThrottled { .. }
        | PlatformError::Conflict(_)
        | PlatformError::Internal(_) => Outcome::Failed(text),
        PlatformError::NotFound { .. }
        | PlatformError::EventGone { .. }
        | PlatformError::Invalid(_)
        | PlatformError::InvalidProps(_)
        | PlatformError::Unpublishable(_)
        | PlatformError::Component { .. }
        | PlatformError::Unauthenticated
        | PlatformError::Forbidden(_)
        | PlatformError::KeyTaken(_)
        | PlatformError::AdminOnly => Outcome::Refused(text),
    }
}

/// The mistakes that the files alone tell, a line each.
fn errors(folder: &Folder) -> Option<String> {
    let found = findings::of_folder(folder, false);
    let errors = found.iter().filter(|one| findings::is_error(one));
    let lines: Vec<_> = errors.map(|one| findings::line(&folder.dir, one)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The text that the state file in the folder has now.
fn kept(folder: &Folder, in_folder: Option<String>, state: String) -> Option<String> {
    if in_folder.as_ref() == Some(&state) {
        return in_folder;
    }
    let path = folder.dir.join(STATE_FILE);
    match write(&path, &state) {
        Ok(()) => Some(state),
        Err(error) => {
            tracing::warn!(
                "cannot write {}: {error}; the ids are kept in the data folder, for as long as the folder stays in its \
                 place",
                path.display()
            );
            in_folder
        }
    }
}

/// Writes a state file, whole or not at all.
fn write(path: &Path, state: &str) -> std::io::Result<()> {
    let unfinished = path.with_file_name(format!("{STATE_FILE}.unfinished"));
    std::fs::write(&unfinished, state)?;
    std::fs::rename(unfinished, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_read_is_tried_again_and_one_with_mistakes_is_not() {
        let read = |dir: &Path| Folder::read(dir).map(drop);
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("workflow.yaml"), "name: A").unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        for number in 0..1_001 {
            std::fs::write(dir.path().join(format!("a/{number}")), "").unwrap();
        }
        let many = unread(&read(dir.path()).unwrap_err());
        assert!(matches!(&many, Outcome::Refused(text) if text.contains("more than")));
        let away = std::io::Error::other("stale file handle");
        let away: Result<()> = Err(away).context("cannot read orders/a.js");
        let away = unread(&away.unwrap_err());
        let expected = "cannot read orders/a.js: stale file handle";
        assert!(matches!(&away, Outcome::Failed(text) if text == expected));
    }
}
