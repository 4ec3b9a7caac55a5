//! The service that is copied from: read only, patiently, and without trust in the shape of its answers.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use serde_json::Value;

use crate::arguments::ImportArguments;
use crate::client::{Client, ClientError};
use crate::output;
use crate::secret;
use crate::source::text;

/// Times that a request is repeated while the service asks for patience or fails.
const RETRIES: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(120);
/// The most that the API gives at once.
const PAGE_LIMIT: &str = "100";

pub(super) struct Origin {
    client: Client,
    workspace: Option<String>,
}

impl Origin {
    pub(super) fn open(arguments: &ImportArguments) -> Result<Self> {
        let key = arguments.from_key.clone().filter(|key| !key.is_empty());
        let key = match key {
            Some(key) => key,
            None => secret::ask(
                &format!("key of {}", arguments.from),
                "give the key of the service to copy from with --from-key or HEADWATER_IMPORT_KEY",
            )?,
        };
        Ok(Self {
            client: Client::new(&arguments.from, Some(key))?,
            workspace: arguments.from_workspace.clone().filter(|id| !id.is_empty()),
        })
    }

    /// Its address.
    pub(super) fn shown(&self) -> &str {
        self.client.base().as_str()
    }

    pub(super) fn workspace(&self) -> Option<&str> {
        self.workspace.as_deref()
    }

    /// One resource.
    pub(super) async fn get(&self, path: &[&str]) -> Result<Value> {
        let found = self.find(path).await?;
        found.ok_or_else(|| self.withheld(path))
    }

    /// One resource, if the service gives it to this key.
    pub(super) async fn find(&self, path: &[&str]) -> Result<Option<Value>> {
        let asked = self.patiently(path, async || self.client.get(path).await);
        asked.await
    }

    /// All items of a list, those of the chosen workspace if there is one.
    pub(super) async fn list(&self, path: &[&str]) -> Result<Vec<Value>> {
        let listed = self.list_if_any(path).await?;
        listed.ok_or_else(|| self.withheld(path))
    }

    /// The same of a list that not every such service has.
    pub(super) async fn list_if_any(&self, path: &[&str]) -> Result<Option<Vec<Value>>> {
        let mut items = Vec::new();
        let mut seen = BTreeSet::new();
        let mut after: Option<String> = None;
        loop {
            let mut query = vec![("limit", PAGE_LIMIT.to_owned())];
            query.extend(self.workspace.clone().map(|id| ("workspace_id", id)));
            query.extend(after.clone().map(|cursor| ("after", cursor)));
            let asked = self.patiently(path, async || self.client.page(path, &query).await);
            let Some(page) = asked.await? else {
                return Ok(None);
            };
            let count = items.len();
            // Some services give everything at once, whatever is asked for.
            let new = page.data.into_iter();
            items.extend(new.filter(|item| seen.insert(identity(item))));
            let next = page.page_info.end_cursor;
            if items.len() == count || next.is_none() || next == after {
                return Ok(Some(items));
            }
            after = next;
        }
    }

    /// Repeats a request that the service has no time for now. `None` if it has no such thing for this key.
    async fn patiently<T>(
        &self,
        path: &[&str],
        ask: impl AsyncFn() -> Result<T>,
    ) -> Result<Option<T>> {
        let mut pause = FIRST_PAUSE;
        for _ in 0..RETRIES {
            let error = match ask().await {
                Ok(answer) => return Ok(Some(answer)),
                Err(error) => error,
            };
            let refused = error.downcast_ref::<ClientError>();
            if !refused.is_some_and(ClientError::is_transient) {
                return self.refused(path, error);
            }
            let wished = refused.and_then(ClientError::retry_after);
            let wait = wished.unwrap_or(pause).min(PAUSE_MAX);
            output::tell(&format!(
                "{}: {error:#}; asking again in {} s",
                path.join("/"),
                wait.as_secs()
            ));
            tokio::time::sleep(wait).await;
            pause *= 2;
        }
        match ask().await {
            Ok(answer) => Ok(Some(answer)),
            Err(error) => self.refused(path, error),
        }
    }

    fn withheld(&self, path: &[&str]) -> anyhow::Error {
        anyhow!(
            "{} does not give {} to this key; check --from and --from-key",
            self.shown(),
            path.join("/")
        )
    }

    /// The refusal in the words of an import: hints about this node's key and address would mislead.
    fn refused<T>(&self, path: &[&str], error: anyhow::Error) -> Result<Option<T>> {
        let (shown, path) = (self.shown(), path.join("/"));
        match error
            .downcast_ref::<ClientError>()
            .and_then(ClientError::status)
        {
            Some(403 | 404 | 405 | 501) => Ok(None),
            Some(401) => bail!(
                "{shown} refuses the key for {path} ({error:#}); give another with --from-key or \
                 HEADWATER_IMPORT_KEY"
            ),
            _ => bail!("cannot read {path} from {shown}: {error:#}"),
        }
    }
}

/// An item's id; of one without, all that it says.
fn identity(item: &Value) -> String {
    match text(item, "id") {
        "" => item.to_string(),
        id => id.to_owned(),
    }
}
