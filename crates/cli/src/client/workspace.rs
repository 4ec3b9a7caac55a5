//! The workspace that commands work in, if one is chosen: named in requests that list, find and create.
//! A node is asked for it once, and only by a command that needs it.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::Client;
use crate::tenant;

/// The parameter that names a workspace.
const FIELD: &str = "workspace_id";

impl Client {
    /// The id of the chosen workspace.
    pub(crate) async fn workspace_id(&self) -> Result<Option<&str>> {
        let Some(chosen) = &self.workspace else {
            return Ok(None);
        };
        let id = self
            .workspace_id
            .get_or_try_init(|| tenant::workspace_id(self, chosen))
            .await?;
        Ok(Some(id))
    }

    /// The parameter that selects the chosen workspace in a query.
    pub(crate) async fn scope(&self) -> Result<Vec<(&'static str, String)>> {
        let id = self.workspace_id().await?;
        Ok(id.map(|id| (FIELD, id.to_owned())).into_iter().collect())
    }

    /// Every item of a list: those of the chosen workspace, or the caller's own.
    pub(crate) async fn list_scoped(&self, path: &[&str]) -> Result<Vec<Value>> {
        let scope = self.scope().await?;
        Ok(self.first(path, usize::MAX, &scope).await?.data)
    }

    /// Makes something in the chosen workspace, or for the caller alone.
    pub(crate) async fn post_scoped(&self, path: &[&str], body: Value) -> Result<Value> {
        self.send_scoped(Method::POST, path, body).await
    }

    /// Sends a body about something of the chosen workspace, or of the caller alone.
    pub(crate) async fn send_scoped(
        &self,
        method: Method,
        path: &[&str],
        mut body: Value,
    ) -> Result<Value> {
        if let Some(id) = self.workspace_id().await? {
            body[FIELD] = id.into();
        }
        self.send(method, path, &body).await
    }

    /// Deletes something of the chosen workspace, or of the caller alone.
    pub(crate) async fn delete_scoped(&self, path: &[&str]) -> Result<Value> {
        match self.workspace_id().await? {
            Some(id) => self.send(Method::DELETE, path, &json!({ FIELD: id })).await,
            None => self.delete(path).await,
        }
    }
}
