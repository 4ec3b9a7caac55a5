//! Other programs with schedules, as npm has them. They are installed once, into a folder beside this program, which is
//! in the folder of builds.

pub(crate) mod n8n;
pub(crate) mod node_red;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::process;

/// A package of npm in a folder of its own.
struct Package {
    name: &'static str,
    version: &'static str,
    /// Packages that it would take from elsewhere than the registry, in a version that is there.
    overrides: &'static [(&'static str, &'static str)],
}

impl Package {
    /// Its folder in `node_modules`; installs it if need be.
    async fn installed(&self) -> Result<PathBuf> {
        let Self { name, version, .. } = self;
        let peers = process::own_path()?.with_file_name("bench-peers");
        let folder = peers.join(name);
        let package = folder.join("node_modules").join(name);
        let installed = folder.join("installed");
        if installed.is_file() {
            return Ok(package);
        }
        std::fs::create_dir_all(&folder)?;
        let overrides = self.overrides.iter().copied();
        let manifest = json!({
            "private": true, "dependencies": { *name: version },
            "overrides": overrides.collect::<BTreeMap<_, _>>(),
        });
        std::fs::write(folder.join("package.json"), manifest.to_string())?;
        eprintln!("    installing {name}@{version} from npm, once …");
        let output = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(&folder)
            .kill_on_drop(true)
            .output()
            .await
            .context("npm cannot be started")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("npm could not install {name}@{version}: {said}");
        }
        // An installation that was interrupted is begun again.
        std::fs::write(installed, "")?;
        Ok(package)
    }
}

/// The version of an installed package, as its manifest says.
fn version(package: &Path) -> Result<String> {
    let manifest = std::fs::read(package.join("package.json"))?;
    let manifest: Value = serde_json::from_slice(&manifest)?;
    let version = manifest["version"].as_str();
    Ok(version.context("a package without a version")?.to_owned())
}
