//! The runs of a workflow that begin while somebody watches, each followed to its end. The node is asked for new ones
//! again and again.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Result;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use serde_json::Value;

use super::super::progress::{self, Progress};
use crate::client::ClientError;
use crate::output;
use crate::session::Session;
use crate::source::text;

const PERIOD: Duration = Duration::from_millis(250);
/// Runs that may begin, and may end, between two questions.
const NEW_MAX: usize = 100;

pub(super) struct Runs<'a> {
    session: &'a Session,
    workflow_id: String,
    /// Runs that are followed, or were there before.
    known: HashSet<String>,
    /// Whether the workflow was deleted, and that was said.
    is_gone: bool,
}

impl<'a> Runs<'a> {
    /// Those that begin from now on.
    pub(super) async fn new(session: &'a Session, workflow_id: &str) -> Result<Self> {
        let mut runs = Self {
            session,
            workflow_id: workflow_id.to_owned(),
            known: HashSet::new(),
            is_gone: false,
        };
        runs.unknown().await?;
        Ok(runs)
    }

    /// Prints those that begin, of a workflow that is deleted and deployed again, too.
    pub(super) async fn print(mut self) -> Result<()> {
        let mut followed = FuturesUnordered::new();
        loop {
            for id in self.asked_again().await? {
                followed.push(follow(self.session, id));
            }
            tokio::select! {
                Some(ended) = followed.next() => match ended {
                    // It went with its workflow.
                    Err(error) if is_not_found(&error) => {}
                    ended => ended?,
                },
                () = tokio::time::sleep(PERIOD) => {}
            }
        }
    }

    /// The ids of new runs; none while the node is away or busy.
    async fn asked_again(&mut self) -> Result<Vec<String>> {
        let error = match self.unknown().await {
            Ok(ids) => {
                self.is_gone = false;
                return Ok(ids);
            }
            Err(error) => error,
        };
        if is_not_found(&error) {
            if !self.is_gone {
                self.is_gone = true;
                output::tell(&format!(
                    "workflow {} was deleted; the next save deploys it again, Ctrl-C ends",
                    self.workflow_id
                ));
            }
            return Ok(Vec::new());
        }
        match error.downcast_ref::<ClientError>() {
            Some(refused) if refused.is_transient() => Ok(Vec::new()),
            _ => Err(error),
        }
    }

    async fn unknown(&mut self) -> Result<Vec<String>> {
        let path = ["workflows", &self.workflow_id, "runs"];
        let open = [("open", "true".to_owned())];
        let client = &self.session.client;
        // In this order: a run that ends in between is in the second list.
        let mut found = client.first(&path, NEW_MAX, &open).await?.data;
        found.extend(client.first(&path, NEW_MAX, &[]).await?.data);
        let ids = found.iter().map(|run| text(run, "id").to_owned());
        let mut new: Vec<_> = ids.filter(|id| self.known.insert(id.clone())).collect();
        // Lists begin with the newest.
        new.reverse();
        Ok(new)
    }
}

fn is_not_found(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<ClientError>();
    refused.is_some_and(ClientError::is_not_found)
}

async fn follow(session: &Session, id: String) -> Result<()> {
    let run: Value = Progress::new(session, &id)
        .among_others()
        .until_ended()
        .await?;
    match session.json {
        true => output::json_line(&run),
        false => output::data(&format!("{id}  {}", progress::end(&run))),
    }
}
