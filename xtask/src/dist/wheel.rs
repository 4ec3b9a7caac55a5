//! The Python package: the binary as a script of the wheel, so that `pip install` puts it beside `python`. Written by
//! the tool `wheel`, which makes its record.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use super::{
    binary::Binary,
    staging::{document, fresh, write},
};
use crate::{command::run, provision};

const REQUIREMENTS: &str = "xtask/dist/requirements.txt";

pub(super) fn pack(binary: &Binary, staging: &Path, folder: &Path) -> Result<PathBuf> {
    let python = provision::venv("dist-python", REQUIREMENTS)
        .context("cannot install the packer of wheels")?;
    fresh(staging)?;
    let version = &binary.version;
    let script = format!("headwater-{version}.data/scripts/headwater");
    binary.copy_to(&staging.join(script))?;
    let tag = format!(
        "py3-none-manylinux_2_{}_{}",
        binary.glibc_minor, binary.architecture.python
    );
    let about = staging.join(format!("headwater-{version}.dist-info"));
    write(&about.join("licenses/LICENSE"), &document("LICENSE")?)?;
    write(&about.join("METADATA"), &metadata(version)?)?;
    write(
        &about.join("WHEEL"),
        &format!("Wheel-Version: 1.0\nGenerator: wheel\nRoot-Is-Purelib: false\nTag: {tag}\n"),
    )?;
    run(Command::new(python)
        .args(["-m", "wheel", "pack", "--dest-dir"])
        .args([folder, staging])
        .stdout(std::io::stderr()))?;
    Ok(folder.join(format!("headwater-{version}-{tag}.whl")))
}

fn metadata(version: &str) -> Result<String> {
    let readme = document("README.md")?;
    Ok(format!(
        "\
Metadata-Version: 2.4
Name: headwater
Version: {version}
Summary: Self-hosted event sources and workflows: one binary with an embedded database
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"
    ))
}
