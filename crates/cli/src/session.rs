//! The parts that every command shares: the client for the node and the way to print. The key is found
//! here; its use is the client's business.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::arguments::Global;
use crate::client::Client;
use crate::output;

pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) json: bool,
    pub(crate) data_dir: PathBuf,
    /// Whether the key was given, as against found in the data folder of a node on this machine.
    pub(crate) key_given: bool,
}

impl Session {
    pub(crate) fn open(global: &Global) -> Result<Self> {
        let given = global.api_key.clone().filter(|key| !key.is_empty());
        let key_given = given.is_some();
        let key = match given {
            Some(key) => Some(key),
            None => stored_key(&global.data_dir)?,
        };
        let workspace = global.workspace.clone().filter(|text| !text.is_empty());
        Ok(Self {
            client: Client::new(&global.url, key)?.in_workspace(workspace),
            json: global.json,
            data_dir: global.data_dir.clone(),
            key_given,
        })
    }

    /// Prints the API's data as it is, or as text.
    pub(crate) fn print(&self, data: &Value, text: impl FnOnce(&Value) -> String) -> Result<()> {
        if self.json {
            output::json(data)
        } else {
            output::data(&text(data))
        }
    }
}

/// The key a node on this machine wrote down. No such file is fine: the node may be elsewhere, and its
/// 401 has the next step.
fn stored_key(data_dir: &Path) -> Result<Option<String>> {
    let path = data_dir.join("api-key");
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|key| !key.is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| {
            format!(
                "cannot read the API key in {}; give it with --api-key or HEADWATER_API_KEY",
                path.display()
            )
        }),
    }
}
