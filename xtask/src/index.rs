//! `cargo xtask index`: the index of components on npm, which the node searches, and the page of the guide that counts
//! them. Packages come by `npm pack`; a node reads their components, as it does when it publishes a folder. Nothing of a
//! package is built or run.

mod components;
mod file;
mod page;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use self::file::{Index, Package};
use crate::{
    command::{cargo, output, root, run as run_command},
    component_packages::PACKAGES,
    node::Node,
    provision::target_dir,
};

const USAGE: &str = "\
usage: cargo xtask index [--binary FILE] [PACKAGE…]

  PACKAGE…       packages to look at again; all that are known without any
  --binary FILE  the headwater that reads them, instead of building one";

/// The index, which the platform embeds.
const INDEX: &str = "crates/platform/components.tsv";
const PAGE: &str = "docs/guide/component-index.md";

/// Looks at packages, and writes the index and its page.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let (binary, named) = match words {
        ["--binary", binary, named @ ..] => (Some(PathBuf::from(binary)), named),
        named => (None, named),
    };
    if let Some(option) = named.iter().find(|word| word.starts_with('-')) {
        bail!("{option} is unknown\n{USAGE}");
    }
    if let Some(stranger) = named.iter().find(|name| !PACKAGES.contains(name)) {
        bail!("{stranger} is not in xtask/src/component_packages.rs; add it there");
    }
    let binary = match binary {
        Some(binary) => binary,
        None => {
            run_command(cargo().args(["build", "--package", "headwater"]))?;
            target_dir().join("debug/headwater")
        }
    };
    let mut index = match named.is_empty() {
        true => Index::default(),
        false => Index::parse(&read(INDEX)?)?,
    };
    let today = output(std::process::Command::new("date").args(["-u", "+%F"]))?;
    let folder = target_dir().join("index");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let node = Node::start(&binary, &folder.join("data"))?;
    for name in if named.is_empty() { PACKAGES } else { named } {
        let (version, components) = components::of(&node, name, &folder)
            .with_context(|| format!("reading the components of {name}"))?;
        eprintln!("{name}@{version}: {} components", components.len());
        index.put(Package {
            name: (*name).to_owned(),
            version,
            seen_on: today.trim().to_owned(),
            components,
        });
    }
    write(INDEX, &index.text())?;
    write(PAGE, &page::text(&index))
}

fn read(path: &str) -> Result<String> {
    std::fs::read_to_string(root().join(path)).with_context(|| format!("cannot read {path}"))
}

fn write(path: &str, text: &str) -> Result<()> {
    std::fs::write(root().join(path), text).with_context(|| format!("cannot write {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_the_guide_is_that_of_the_index() {
        let index = Index::parse(&read(INDEX).unwrap()).unwrap();
        assert_eq!(index.text(), read(INDEX).unwrap());
        assert_eq!(
            page::text(&index),
            read(PAGE).unwrap(),
            "run `cargo xtask index`"
        );
        let names: Vec<&str> = index.packages().map(|package| &*package.name).collect();
        assert_eq!(names, PACKAGES);
        for package in index.packages() {
            assert!(!package.components.is_empty(), "{}", package.name);
        }
    }
}
