//! The parts that every command shares: the client for the node and the way to print. The key is found
//! here; its use is the client's business.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::arguments::{DEFAULT_DATA_DIR, DEFAULT_URL, Global};
use crate::client::{Client, same_node};
use crate::output;
use crate::profile::{Profile, Profiles};
use crate::serve::ADDRESS_FILE;
use crate::usage_error::UsageError;

pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) json: bool,
    pub(crate) data_dir: PathBuf,
    /// Whether the key was given, or is that of a profile, as against found in the data folder of a node on this machine.
    pub(crate) key_given: bool,
}

impl Session {
    pub(crate) fn open(global: &Global) -> Result<Self> {
        let access = Access::find(global)?;
        let workspace = filled(global.workspace.as_ref()).or(access.workspace);
        let client = Client::new(&access.url, access.key)?
            .with_key_of(access.origin)
            .in_workspace(workspace);
        Ok(Self {
            client,
            json: global.json,
            data_dir: global.data_dir.clone(),
            key_given: access.key_given,
        })
    }

    /// Prints the API's data as it is, or as text.
    pub(crate) fn print<T: Shown>(
        &self,
        data: &Value,
        text: impl FnOnce(&Value) -> T,
    ) -> Result<()> {
        if self.json {
            output::json(data)
        } else {
            output::data(&text(data).shown()?)
        }
    }
}

/// Text for people, or the reason why there is none.
pub(crate) trait Shown {
    fn shown(self) -> Result<String>;
}

impl Shown for String {
    fn shown(self) -> Result<String> {
        Ok(self)
    }
}

impl Shown for Result<String, UsageError> {
    fn shown(self) -> Result<String> {
        Ok(self?)
    }
}

/// The node that commands talk to, and the key for it.
struct Access {
    url: String,
    key: Option<String>,
    /// The place that the key is from; or, without one, the places where none is.
    origin: String,
    key_given: bool,
    workspace: Option<String>,
}

impl Access {
    /// Flags and variables count first, then a profile that is named, then the data folder of a node on this machine, then
    /// the profile of the last login. A profile's key goes to the profile's node only. A key that is given takes the place
    /// of a key alone: the node is the one that would be asked without it.
    fn find(global: &Global) -> Result<Self> {
        let given_url = filled(global.url.as_ref());
        let given_key = filled(global.api_key.as_ref());
        let named = filled(global.profile.as_ref());
        let stored = match (&named, &given_key) {
            (Some(_), _) => None,
            (None, None) => stored_key(&global.data_dir)?,
            // Nothing is lost with one that cannot be read.
            (None, Some(_)) => stored_key(&global.data_dir).unwrap_or_default(),
        };
        let is_complete = given_url.is_some() && given_key.is_some();
        let profile = match is_complete || stored.is_some() {
            true if named.is_none() => None,
            _ => profile(named.as_deref())?,
        };
        let of_folder = stored
            .as_ref()
            .and_then(|_| stored_address(&global.data_dir));
        let url = given_url.or_else(|| Some(profile.as_ref()?.1.url.clone()));
        let url = url.or(of_folder);
        if url.is_none() && given_key.is_none() {
            refuse_missing(&global.data_dir)?;
        }
        let url = url.unwrap_or_else(|| DEFAULT_URL.to_owned());
        let profile = profile.filter(|(_, profile)| same_node(&profile.url, &url));
        let workspace = profile.as_ref().and_then(|(_, it)| it.workspace.clone());
        let (key, origin, key_given) = match (given_key, profile, stored) {
            (Some(key), _, _) => (Some(key), "--api-key or HEADWATER_API_KEY".to_owned(), true),
            (None, Some((name, profile)), _) => {
                (Some(profile.api_key), format!("the profile {name}"), true)
            }
            (None, None, Some(key)) => {
                let file = global.data_dir.join("api-key");
                (Some(key), file.display().to_string(), false)
            }
            (None, None, None) => {
                let file = global.data_dir.join("api-key");
                let places = format!(
                    "{} does not exist, and no profile is of this node",
                    file.display()
                );
                (None, places, false)
            }
        };
        Ok(Self {
            url,
            key,
            origin,
            key_given,
            workspace,
        })
    }
}

/// The profile of that name, or that of the last login.
fn profile(named: Option<&str>) -> Result<Option<(String, Profile)>> {
    let mut profiles = Profiles::read()?;
    let Some(name) = named.map(str::to_owned).or(profiles.current) else {
        return Ok(None);
    };
    match (profiles.profiles.remove(&name), named) {
        (Some(profile), _) => Ok(Some((name, profile))),
        (None, None) => Ok(None),
        (None, Some(name)) => Err(UsageError(format!(
            "there is no profile {name}; `headwater login --profile {name}` creates it"
        ))
        .into()),
    }
}

fn filled(given: Option<&String>) -> Option<String> {
    given.filter(|text| !text.is_empty()).cloned()
}

/// Refuses a data folder that was named and is not there: it was to say which node is meant.
fn refuse_missing(data_dir: &Path) -> Result<(), UsageError> {
    if data_dir == Path::new(DEFAULT_DATA_DIR) || data_dir.exists() {
        return Ok(());
    }
    Err(UsageError(format!(
        "there is no data folder {}; name that of a node with --data-dir, or the node with --url",
        data_dir.display()
    )))
}

/// The address that the folder's node wrote down.
fn stored_address(data_dir: &Path) -> Option<String> {
    let text = std::fs::read_to_string(data_dir.join(ADDRESS_FILE)).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
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
