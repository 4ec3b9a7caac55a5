//! The deployment of workflows that came over, one after the other, each for itself.

use std::path::Path;

use anyhow::Error;
use serde_json::Value;

use super::outcome::{Deployment, Workflow};
use crate::client::ClientError;
use crate::command::workflows::deploy;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::workflow::findings;
use crate::workflow::folder::Folder;

pub(super) struct Deployments<'a> {
    session: &'a Session,
    /// The reason that no further workflow is tried.
    stopped: Option<Error>,
}

impl<'a> Deployments<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self {
            session,
            stopped: None,
        }
    }

    /// Deploys a workflow if nothing in its folder is against it.
    pub(super) async fn next(&mut self, workflow: &Workflow, into: &Path) -> Deployment {
        if !workflow.is_there() {
            return Deployment::left("its folder did not come over");
        }
        if !workflow.needs.can_be_deployed {
            return Deployment::left("there is work to do first");
        }
        if self.stopped.is_some() {
            return Deployment::left("the node did not take the one before it");
        }
        match self.deploy(&into.join(&workflow.folder)).await {
            Ok(deployed) => Deployment::Deployed {
                id: text(&deployed, "id").to_owned(),
                endpoints: endpoints(&deployed),
            },
            Err(error) => {
                let reason = format!("{error:#}");
                if is_hopeless(&error) {
                    self.stopped = Some(error);
                }
                Deployment::Refused { reason }
            }
        }
    }

    async fn deploy(&self, dir: &Path) -> anyhow::Result<Value> {
        let folder = Folder::read(dir)?;
        let deployed = deploy::send(self.session, &folder).await?;
        for finding in deployed["findings"].as_array().into_iter().flatten() {
            output::tell(&findings::line(&folder.dir, finding));
        }
        Ok(deployed)
    }

    /// The failure that ended the deployments early.
    pub(super) fn into_error(self) -> Option<Error> {
        self.stopped
    }
}

fn endpoints(deployed: &Value) -> Vec<String> {
    let triggers = deployed["triggers"].as_array().into_iter().flatten();
    let urls = triggers.map(|trigger| text(trigger, "endpoint_url"));
    urls.filter(|url| !url.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether the next workflow would meet the same end.
fn is_hopeless(error: &Error) -> bool {
    let refused = error.downcast_ref::<ClientError>();
    refused.is_some_and(|error| {
        matches!(error, ClientError::Unreachable(_)) || error.status() == Some(401)
    })
}
