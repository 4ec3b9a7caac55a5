//! Clones of repositories, by the `git` program: their branch `production`, which is the one that Pipedream deploys, or
//! the default one.

use std::io::ErrorKind;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;
use tokio::process::Command;
use url::Url;

use crate::output;

const DEPLOYED: &str = "production";

/// Whether a text names a repository elsewhere: a URL, or `host:path`.
pub(super) fn is_address(given: &str) -> bool {
    let host = given.split('/').next().unwrap_or_default();
    host.split_once(':').is_some_and(|(name, _)| name.len() > 1)
}

/// The address without the password that may be in it.
pub(super) fn shown(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else {
        return address.to_owned();
    };
    let is_hidden = url.set_username("").is_ok() && url.set_password(None).is_ok();
    match is_hidden {
        true => url.to_string(),
        false => address.to_owned(),
    }
}

/// Clones into a folder that goes when it is dropped.
pub(super) async fn clone(address: &str) -> Result<TempDir> {
    // A sign that moves would write over the question for a password that git may ask on the terminal.
    output::note(&format!("cloning {} …", shown(address)));
    let heads = format!("refs/heads/{DEPLOYED}");
    let found = git(&["ls-remote", "--heads", "--", address, &heads], address).await?;
    let dir = tempfile::tempdir().context("cannot create a temporary folder")?;
    let Some(target) = dir.path().to_str() else {
        bail!("the name of the temporary folder is not text; set TMPDIR to another one");
    };
    let mut arguments = vec!["-c", "core.autocrlf=false", "clone", "--quiet"];
    arguments.extend(["--depth", "1", "--single-branch", "--no-tags"]);
    if !found.trim().is_empty() {
        arguments.extend(["--branch", DEPLOYED]);
    }
    arguments.extend(["--", address, target]);
    git(&arguments, address).await?;
    Ok(dir)
}

async fn git(arguments: &[&str], address: &str) -> Result<String> {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    // A hook that calls this program sets them for the repository that it is in.
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(variable);
    }
    let shown = shown(address);
    let output = match command.output().await {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "the program `git` is not there, which cloning {shown} needs; install it, or clone the repository \
             elsewhere and name the folder"
        ),
        Err(error) => return Err(error).context("cannot start the program `git`"),
    };
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr).replace(address, &shown);
        bail!(
            "cannot clone {shown}: {}; clone it yourself and name the folder",
            told.trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_is_shown_without_its_password() {
        for address in [
            "https://x.test/a.git",
            "git@x.test:a/b.git",
            "ssh://x/a",
            "host:a",
        ] {
            assert!(is_address(address), "{address}");
        }
        for path in [
            "a",
            "./a:b",
            "a/b:c",
            "/a",
            "C:",
            "project_export-proj_1.zip",
        ] {
            assert!(!is_address(path), "{path}");
        }
        assert_eq!(
            shown("https://me:secret@x.test/a.git"),
            "https://x.test/a.git"
        );
        assert_eq!(shown("git@x.test:a/b.git"), "git@x.test:a/b.git");
    }
}
