//! The packages that a component is locked to, read from the lock file of its build. Creating that file is the task
//! of `build`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A package at the one version that the component runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedPackage {
    /// Its name.
    pub name: String,
    /// The version.
    pub version: String,
    /// The version that the component asks for, such as `^1.2` or `*`; nothing for a package that only others need.
    pub range: Option<String>,
}

/// The parts of Deno's lock file with versions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Lock {
    specifiers: BTreeMap<String, String>,
    npm: BTreeMap<String, Value>,
}

/// The packages of a lock: those that the component imports itself, then those that these need.
pub fn locked_packages(lock: &str) -> Vec<LockedPackage> {
    let lock: Lock = serde_json::from_str(lock).unwrap_or_default();
    let mut packages: Vec<_> = lock
        .specifiers
        .iter()
        .filter_map(|(specifier, version)| {
            let (name, range) = name_and_rest(specifier.strip_prefix("npm:")?)?;
            Some(LockedPackage {
                name: name.to_owned(),
                version: without_peers(version).to_owned(),
                range: Some(range.to_owned()),
            })
        })
        .collect();
    for id in lock.npm.keys() {
        let Some((name, version)) = name_and_rest(id) else {
            continue;
        };
        let package = LockedPackage {
            name: name.to_owned(),
            version: without_peers(version).to_owned(),
            range: None,
        };
        let known = |known: &LockedPackage| {
            (&known.name, &known.version) == (&package.name, &package.version)
        };
        if !packages.iter().any(known) {
            packages.push(package);
        }
    }
    packages
}

/// `NAME@REST`, where a name may be scoped.
fn name_and_rest(text: &str) -> Option<(&str, &str)> {
    let at = text.get(1..)?.find('@')? + 1;
    Some((&text[..at], &text[at + 1..]))
}

/// A version may be followed by the peers that the package was resolved with.
fn without_peers(version: &str) -> &str {
    version
        .split_once('_')
        .map_or(version, |(version, _)| version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_imports_come_with_their_ranges_and_the_rest_without() {
        let lock = r#"{"version": "5",
            "specifiers": {"npm:@scope/a@*": "2.0.0_b@1.0.0", "npm:b@1": "1.0.0"},
            "npm": {"@scope/a@2.0.0_b@1.0.0": {}, "b@1.0.0": {}, "c_d@3.1.0": {}}}"#;
        let packages: Vec<_> = locked_packages(lock)
            .into_iter()
            .map(|package| (package.name, package.version, package.range))
            .collect();
        let package = |name: &str, version: &str, range: Option<&str>| {
            (
                name.to_owned(),
                version.to_owned(),
                range.map(str::to_owned),
            )
        };
        assert_eq!(
            packages,
            [
                package("@scope/a", "2.0.0", Some("*")),
                package("b", "1.0.0", Some("1")),
                package("c_d", "3.1.0", None),
            ]
        );
        assert_eq!(locked_packages("{\"version\":\"5\"}\n"), []);
    }
}
