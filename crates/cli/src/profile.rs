//! Profiles: nodes with the keys for them, which `headwater login` keeps in the user's own configuration folder.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// The name of a profile that is given none.
pub(crate) const DEFAULT_NAME: &str = "default";

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Profiles {
    /// The one that counts where no other is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<String>,
    #[serde(default)]
    pub(crate) profiles: BTreeMap<String, Profile>,
}

/// A node, and the key for it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Profile {
    pub(crate) url: String,
    pub(crate) api_key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) workspace: Option<String>,
}

impl Profiles {
    /// Those that are kept; none if there is no file.
    pub(crate) fn read() -> Result<Self> {
        let Some(path) = place() else {
            return Ok(Self::default());
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        toml::from_str(&text).with_context(|| {
            format!(
                "{} is not as `headwater login` writes it; correct or delete it",
                path.display()
            )
        })
    }

    /// Keeps them where only their owner reads them, and says where that is.
    pub(crate) fn write(&self) -> Result<PathBuf> {
        let path = place().context("neither XDG_CONFIG_HOME nor HOME is set; set one of them")?;
        let failed = || format!("cannot write {}", path.display());
        let folder = path.parent().with_context(failed)?;
        std::fs::create_dir_all(folder).with_context(failed)?;
        // A temporary file has the mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
        file.write_all(toml::to_string(self)?.as_bytes())
            .with_context(failed)?;
        file.persist(&path).with_context(failed)?;
        Ok(path)
    }
}

/// `~/.config/headwater/profiles.toml`, or below `XDG_CONFIG_HOME`.
fn place() -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let config = match given("XDG_CONFIG_HOME") {
        Some(config) => PathBuf::from(config),
        None => PathBuf::from(given("HOME")?).join(".config"),
    };
    Some(config.join("headwater/profiles.toml"))
}
