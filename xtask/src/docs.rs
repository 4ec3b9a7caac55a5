//! `cargo xtask docs`: the guide as a site of pages with a search, built by mdBook.

use std::{path::PathBuf, process::Command};

use anyhow::{Context as _, Result};

use crate::{
    command::{cargo, root, run},
    provision::target_dir,
};

const MDBOOK_VERSION: &str = "0.5.4";

/// Builds the site, and says where it is.
pub(crate) fn build() -> Result<()> {
    let site = target_dir().join("guide");
    run(Command::new(mdbook()?)
        .arg("build")
        .arg(root().join("docs"))
        .arg("--dest-dir")
        .arg(std::path::absolute(&site)?))?;
    println!("the guide is in {}", site.join("index.html").display());
    Ok(())
}

/// The program, built once from the Rust registry.
fn mdbook() -> Result<PathBuf> {
    let tools = target_dir().join("tools");
    let program = tools.join("bin/mdbook");
    let is_wanted = |output: std::process::Output| {
        String::from_utf8_lossy(&output.stdout).contains(MDBOOK_VERSION)
    };
    if Command::new(&program)
        .arg("--version")
        .output()
        .is_ok_and(is_wanted)
    {
        return Ok(program);
    }
    run(cargo()
        .args(["install", "mdbook", "--locked", "--no-default-features"])
        .args([
            "--features",
            "search",
            "--version",
            MDBOOK_VERSION,
            "--root",
        ])
        .arg(&tools))
    .context("cannot install mdBook; install it and run `mdbook build docs`")?;
    Ok(program)
}
