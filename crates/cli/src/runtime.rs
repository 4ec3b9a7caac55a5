//! `headwater runtime`: where the JavaScript runtime is, for people and for build scripts. Finding
//! and installing it is the engine's business; the environment is read here.

use std::{ffi::OsString, path::PathBuf};

use anyhow::{Context as _, Result};
use headwater_engine::deno::{self, Bundler, BundlerSource, Deno, DenoSearch};
use serde_json::json;

use crate::{arguments::RuntimeAction, exit::Exit, output, waiting};

/// The variables of the environment that package clients need to honour the user's own settings.
const CLIENT_ENV: &[&str] = &[
    "HOME",
    "PATH",
    "LANG",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "DENO_CERT",
    "DENO_TLS_CA_STORE",
    "DENO_AUTH_TOKENS",
    "PIP_INDEX_URL",
    "PIP_CERT",
    "PIP_CONFIG_FILE",
];

/// Prefixes of further variables of the same kind.
const CLIENT_ENV_PREFIXES: &[&str] = &["NPM_CONFIG_", "npm_config_"];

/// The environment that package clients are given.
pub(crate) fn client_env() -> Vec<(OsString, OsString)> {
    let wanted = |name: &str| {
        CLIENT_ENV.contains(&name)
            || CLIENT_ENV_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(wanted))
        .collect()
}

/// The user's cache folder for Headwater.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    let from_env = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(own) = from_env("HEADWATER_CACHE_DIR") {
        return Ok(own);
    }
    let base =
        from_env("XDG_CACHE_HOME").or_else(|| from_env("HOME").map(|home| home.join(".cache")));
    let base = base
        .context("neither HEADWATER_CACHE_DIR, XDG_CACHE_HOME nor HOME is set; set one of them")?;
    Ok(base.join("headwater"))
}

/// The folder in which Deno keeps the downloads of this user's commands, the bundler among them.
pub(crate) fn deno_dir() -> Result<PathBuf> {
    Ok(cache_dir()?.join("deno-dir"))
}

/// Finds Deno, or installs it while telling the person so.
pub(crate) async fn locate() -> Result<Deno> {
    let search = DenoSearch {
        override_path: std::env::var_os("HEADWATER_DENO")
            .filter(|path| !path.is_empty())
            .map(PathBuf::from),
        path_var: std::env::var_os("PATH"),
        cache_dir: cache_dir()?,
        client_env: client_env(),
    };
    let found = deno::locate(&search, &|progress| output::note(progress));
    Ok(waiting::shown("setting up the JavaScript runtime", found).await?)
}

/// Fetches everything that a node without internet needs, as far as it is not there, and prints the path of Deno.
pub(crate) async fn run(action: Option<RuntimeAction>, as_json: bool) -> Result<Exit> {
    let deno = locate().await?;
    if let Some(RuntimeAction::Install) = action {
        let source = BundlerSource {
            deno: deno.path.clone(),
            kept_in: None,
            registry_env: client_env(),
        };
        let folder = deno_dir()?;
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let bundler = Bundler::new(source, folder);
        let bundler = waiting::told("setting up the bundler", bundler.ready()).await?;
        output::note(&format!("The bundler is {}", bundler.display()));
    }
    let path = deno.path.display().to_string();
    if as_json {
        output::json(&json!({ "path": path, "version": deno.version }))?;
    } else {
        output::data(&path)?;
    }
    Ok(Exit::Success)
}
