//! `serve --workflows DIR`: every workflow folder below a folder is deployed when the node starts, and again whenever one
//! of its files is saved. A folder with mistakes is told, and its former deployment stays; a workflow whose folder is gone
//! is turned off, and keeps its runs.
//!
//! Not responsible for the meaning of the files, nor for workflows that were deployed otherwise.

mod attempts;
mod claims;
mod deployment;
mod look;
mod remembered;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use headwater_model::id::{WorkflowId, WorkspaceId};
use headwater_platform::Platform;
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

use self::{
    attempts::{AGAIN_AFTER, Attempts},
    claims::{Claim, claims, gone},
    deployment::Deployer,
    look::{Found, Look},
    remembered::Remembered,
};
use super::{arguments::ServeArguments, data_dir::DataDir, environment};
use crate::{arguments::Global, usage_error::UsageError};

/// The time between two looks; files count when they are the same in both.
const PERIOD: Duration = Duration::from_millis(500);
/// A folder may be away for a moment while tools put another in its place.
const GONE_AFTER: Duration = Duration::from_secs(5);

/// The folder of workflows, and the deployments from it.
pub(super) struct WorkflowFolders {
    root: PathBuf,
    deployer: Deployer,
    attempts: Attempts,
    /// The workflows whose folder is away, since when.
    away: BTreeMap<WorkflowId, Instant>,
    /// The last complaint about the folders as a whole.
    complaint: Option<String>,
}

impl WorkflowFolders {
    /// Checks that the folder of `--workflows` can be read, if there is one.
    pub(super) fn check(options: &ServeArguments) -> Result<()> {
        let Some(root) = &options.workflows else {
            return Ok(());
        };
        let read = std::fs::read_dir(root).map(drop);
        read.with_context(|| format!("--workflows: cannot read the folder {}", root.display()))
    }

    /// Takes over the folder of `--workflows`, if there is one.
    ///
    /// # Errors
    /// There is no such workspace.
    pub(super) async fn open(
        options: &ServeArguments,
        global: &Global,
        data_dir: &DataDir,
        app: &Arc<Platform>,
    ) -> Result<Option<Self>> {
        let Some(root) = &options.workflows else {
            return Ok(None);
        };
        let absolute = std::path::absolute(root).context("--workflows")?;
        let workspace = global.workspace.as_ref().or(options.workspace.as_ref());
        let workspace_id = match workspace.filter(|name| !name.is_empty()) {
            Some(name) => Some(workspace_of_administrator(app, name).await?),
            None => None,
        };
        Ok(Some(Self {
            deployer: Deployer {
                app: Arc::clone(app),
                env: environment::system()?,
                workspace_id,
                remembered: Remembered::open(data_dir.workflow_folders(), &absolute)?,
            },
            root: root.clone(),
            attempts: Attempts::default(),
            away: BTreeMap::new(),
            complaint: None,
        }))
    }

    /// Follows the folder until the node stops. The task ends once a deployment that has begun by then has; whoever stops the
    /// node decides how long to wait for that.
    pub(super) fn start(self, stopping: CancellationToken) -> JoinHandle<()> {
        tokio::spawn(self.follow(stopping))
    }

    async fn follow(mut self, stopping: CancellationToken) {
        // The first look counts at once.
        let mut former = None;
        let mut is_settled = false;
        while !stopping.is_cancelled() {
            if let Some(look) = self.look().await {
                let is_same = former.as_ref() == Some(&look);
                if !is_same || !is_settled || self.attempts.is_time_to_try_again(Instant::now()) {
                    let has_tried = self.deploy_due(&look, former.as_ref(), &stopping).await;
                    self.turn_off_gone(&look).await;
                    is_settled = is_same && !has_tried && self.away.is_empty();
                }
                former = Some(look);
            }
            tokio::select! {
                () = stopping.cancelled() => {}
                () = tokio::time::sleep(PERIOD) => {}
            }
        }
    }

    /// All folders as they are now; `None` if that cannot be told, so that nothing counts as gone.
    async fn look(&mut self) -> Option<Look> {
        let root = self.root.clone();
        let looked = tokio::task::spawn_blocking(move || Look::at(&root)).await;
        let looked = looked.context("looking was interrupted").flatten();
        let complaint = match &looked {
            Err(error) => Some(format!("--workflows: {error:#}")),
            Ok(look) => unreadable(look),
        };
        if self.complaint != complaint {
            if let Some(complaint) = &complaint {
                tracing::warn!("{complaint}");
            }
            self.complaint = complaint;
        }
        looked.ok()
    }

    /// Whether anything was tried.
    async fn deploy_due(
        &mut self,
        look: &Look,
        former: Option<&Look>,
        stopping: &CancellationToken,
    ) -> bool {
        let mut has_tried = false;
        let mut known = claims(look, &self.deployer.remembered);
        for (name, found) in &look.folders {
            let is_written = former.is_some_and(|former| former.folders.get(name) != Some(found));
            let claim = known.remove(name);
            let Some(claim) = claim.filter(|claim| !is_written && self.is_due(name, found, claim))
            else {
                continue;
            };
            if stopping.is_cancelled() {
                break;
            }
            self.attempt(name, found, claim).await;
            has_tried = true;
            known = claims(look, &self.deployer.remembered);
        }
        has_tried
    }

    fn is_due(&self, name: &str, found: &Found, claim: &Claim) -> bool {
        let attempts = &self.attempts;
        attempts.is_due(name, found, claim.is_copy(), Instant::now())
    }

    async fn attempt(&mut self, name: &str, found: &Found, claim: Claim) {
        let dir = look::path(&self.root, name);
        let is_copy = claim.is_copy();
        let outcome = self.deployer.deploy(name, dir, claim).await;
        let told = self
            .attempts
            .end(name, (found, is_copy), outcome, Instant::now());
        if let Some(complaint) = told {
            tracing::error!("{complaint}");
            tracing::error!(
                "{} is not deployed; a former deployment of it stays, and saving a file in it tries again",
                look::path(&self.root, name).display()
            );
        }
    }

    async fn turn_off_gone(&mut self, look: &Look) {
        self.attempts
            .retain(|name| look.folders.contains_key(name) || look.may_hide(name));
        let gone = gone(look, &self.deployer.remembered);
        self.away.retain(|id, _| gone.contains(id));
        for id in gone {
            let since = *self.away.entry(id.clone()).or_insert_with(Instant::now);
            if since.elapsed() < GONE_AFTER {
                continue;
            }
            if let Err(error) = self.deployer.turn_off(&id).await {
                let folder = self.deployer.folder_of(&id);
                tracing::error!(workflow_id = %id, "the folder {folder} is gone, and the workflow cannot be turned off: {error:#}");
                self.away.insert(id, Instant::now() + AGAIN_AFTER);
            }
        }
    }
}

/// The folders in which no workflow can be looked for, as one text.
fn unreadable(look: &Look) -> Option<String> {
    let folders = look.unreadable.iter();
    let folders = folders.map(|(folder, reason)| format!("{folder} ({reason})"));
    let folders: Vec<_> = folders.collect();
    (!folders.is_empty()).then(|| {
        format!(
            "--workflows: no workflow can be found in {}",
            folders.join(", ")
        )
    })
}

/// The id of a workspace that the administrator is a member of.
async fn workspace_of_administrator(app: &Platform, id_or_orgname: &str) -> Result<WorkspaceId> {
    let workspaces = app.administrator().await?.identity.workspaces;
    let mut workspaces = workspaces.into_iter();
    let found = workspaces.find(|workspace| {
        workspace.orgname == id_or_orgname || workspace.id.as_str() == id_or_orgname
    });
    let found = found.ok_or_else(|| {
        UsageError(format!(
            "--workspace: the administrator is a member of no workspace `{id_or_orgname}`; `headwater workspaces list` shows \
             those that there are"
        ))
    })?;
    Ok(found.id)
}
