//! The file of the index: a line for each package, and under it one for each of its components, with tabs between the
//! fields. A refresh is a readable change of it.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, bail};

/// The version of a package that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    /// A date.
    pub(super) seen_on: String,
    /// In the order of their keys.
    pub(super) components: Vec<Component>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Component {
    pub(super) key: String,
    pub(super) kind: String,
    pub(super) version: String,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) description: String,
}

/// Packages by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index(BTreeMap<String, Package>);

impl Index {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut index = Self::default();
        let mut last = None;
        for line in text.lines() {
            let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
            match <[String; 3]>::try_from(fields) {
                Ok([name, version, seen_on]) => {
                    index.put(Package {
                        name: name.clone(),
                        version,
                        seen_on,
                        components: Vec::new(),
                    });
                    last = Some(name);
                }
                Err(fields) => {
                    let package = last.as_ref().and_then(|name| index.0.get_mut(name));
                    let package = package.context("a component before any package")?;
                    package.components.push(component(fields)?);
                }
            }
        }
        Ok(index)
    }

    /// Takes the place of what was known of the package.
    pub(super) fn put(&mut self, package: Package) {
        self.0.insert(package.name.clone(), package);
    }

    pub(super) fn packages(&self) -> impl Iterator<Item = &Package> {
        self.0.values()
    }

    pub(super) fn text(&self) -> String {
        let mut lines = Vec::new();
        for package in self.packages() {
            let Package {
                name,
                version,
                seen_on,
                components,
            } = package;
            lines.push(format!("{name}\t{version}\t{seen_on}\n"));
            for component in components {
                let Component {
                    key,
                    kind,
                    version,
                    path,
                    name,
                    description,
                } = component;
                lines.push(format!(
                    "{key}\t{kind}\t{version}\t{path}\t{name}\t{description}\n"
                ));
            }
        }
        lines.concat()
    }
}

fn component(fields: Vec<String>) -> Result<Component> {
    match <[String; 6]>::try_from(fields) {
        Ok([key, kind, version, path, name, description]) => Ok(Component {
            key,
            kind,
            version,
            path,
            name,
            description,
        }),
        Err(fields) => bail!("a component has six fields: {fields:?}"),
    }
}
