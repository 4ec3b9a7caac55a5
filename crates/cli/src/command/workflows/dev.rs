//! `workflows dev`: deploys a folder, deploys it again whenever one of its files is saved, and prints the steps and
//! logs of its runs. A save that does not work leaves the former deployment as it is.

mod runs;
mod watch;

use std::path::Path;
use std::pin::Pin;

use anyhow::Result;
use serde_json::Value;

use self::runs::Runs;
use self::watch::FolderWatch;
use super::super::dev::Signals;
use super::{deploy, show};
use crate::client::ClientError;
use crate::exit::{self, Exit};
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::workflow::folder::{self, Folder};

pub(super) async fn run(session: &Session, dir: &Path) -> Result<Exit> {
    // A folder that is not there is a mistake on the command line, and nothing to wait for.
    folder::files_of(dir)?;
    let mut dev = Dev {
        session,
        dir,
        watch: FolderWatch::new(dir),
        under_way: None,
        displayed: None,
    };
    let mut signals = Signals::listen()?;
    tokio::select! {
        ended = dev.watch() => ended?,
        () = signals.next() => {}
    }
    tokio::select! {
        () = dev.finish() => {}
        () = signals.next() => {
            output::tell("stopped waiting; the node continues the deployment, and `headwater workflows list` shows its result");
            return Ok(Exit::Failure);
        }
    }
    Ok(Exit::Success)
}

/// The end of a deployment: the files, and the workflow that they are now.
type Deployed<'a> = Pin<Box<dyn Future<Output = Result<(Folder, Value)>> + Send + 'a>>;

struct Dev<'a> {
    session: &'a Session,
    dir: &'a Path,
    watch: FolderWatch,
    /// A deployment that the node was asked for, and carries to its end: without waiting for it, a workflow would be
    /// left whose id nobody keeps.
    under_way: Option<Deployed<'a>>,
    /// The last display of the workflow.
    displayed: Option<String>,
}

impl Dev<'_> {
    /// Watches and deploys until an error that no save can mend.
    async fn watch(&mut self) -> Result<()> {
        let workflow = loop {
            if let Some(workflow) = self.attempt().await? {
                break workflow;
            }
            self.watch.changed().await;
        };
        let runs = Runs::new(self.session, text(&workflow, "id")).await?;
        tokio::try_join!(runs.print(), self.follow_changes())?;
        Ok(())
    }

    /// Deploys each save.
    async fn follow_changes(&mut self) -> Result<()> {
        loop {
            self.watch.changed().await;
            self.attempt().await?;
        }
    }

    /// Deploys the files as they are now. A fault that the next save can mend is printed; the rest is an error.
    async fn attempt(&mut self) -> Result<Option<Value>> {
        self.watch.look();
        let dir = self.dir.display();
        let error = match self.deploy().await {
            Ok((folder, workflow)) => {
                self.show(&folder, &workflow);
                output::tell(&format!(
                    "live; saving a file in {dir} deploys it again, Ctrl-C ends"
                ));
                return Ok(Some(workflow));
            }
            Err(error) => error,
        };
        let refused = error.downcast_ref::<ClientError>();
        if refused.is_some_and(|refused| refused.status() == Some(401)) {
            return Err(error);
        }
        exit::print_error(&error);
        output::tell(&format!(
            "not deployed; waiting for a file in {dir} to be saved"
        ));
        Ok(None)
    }

    async fn deploy(&mut self) -> Result<(Folder, Value)> {
        let (session, dir) = (self.session, self.dir);
        let deployed = Box::pin(async move {
            let folder = Folder::read(dir)?;
            let workflow = deploy::send(session, &folder).await?;
            Ok((folder, workflow))
        });
        let result = self.under_way.insert(deployed).await;
        self.under_way = None;
        result
    }

    /// Prints the findings, and the workflow where it looks different from before.
    fn show(&mut self, folder: &Folder, workflow: &Value) {
        deploy::tell_findings(folder, workflow);
        let brief = show::brief(workflow);
        if self.displayed.as_ref() != Some(&brief) {
            output::tell(&brief);
            deploy::tell_next(folder, workflow);
            self.displayed = Some(brief);
        }
    }

    /// The end of watching.
    async fn finish(&mut self) {
        if let Some(deployed) = self.under_way.take() {
            output::tell("waiting for the deployment to end; Ctrl-C again gives up");
            if let Err(error) = deployed.await {
                exit::print_error(&error);
            }
        }
        if let Ok(id) = folder::workflow_id(self.dir) {
            output::tell(&format!(
                "{id} stays deployed; `headwater workflows delete {id}` deletes it"
            ));
        }
    }
}
