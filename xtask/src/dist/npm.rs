//! The npm package: the binary as the package's program, so that `npx` runs it. Written by `npm pack`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Result, bail};
use serde_json::json;

use super::{
    binary::Binary,
    staging::{document, fresh, write},
};
use crate::command::{find_program, run};

pub(super) fn pack(binary: &Binary, staging: &Path, folder: &Path) -> Result<PathBuf> {
    if find_program("npm").is_none() {
        bail!("npm is missing; install it with `apt-get install npm`");
    }
    fresh(staging)?;
    binary.copy_to(&staging.join("bin/headwater"))?;
    let manifest = json!({
        "name": "headwater",
        "version": binary.version,
        "description": "Self-hosted event sources and workflows: one binary with an embedded database",
        "license": "Apache-2.0",
        "bin": { "headwater": "bin/headwater" },
        "os": ["linux"],
        "cpu": [binary.architecture.npm],
        "libc": ["glibc"],
    });
    write(
        &staging.join("package.json"),
        &serde_json::to_string_pretty(&manifest)?,
    )?;
    write(&staging.join("README.md"), &document("README.md")?)?;
    write(&staging.join("LICENSE"), &document("LICENSE")?)?;
    run(Command::new("npm")
        .args(["pack", "--silent", "--ignore-scripts", "--pack-destination"])
        .arg(folder)
        .current_dir(staging)
        .stdout(std::io::stderr()))?;
    Ok(folder.join(format!("headwater-{}.tgz", binary.version)))
}
