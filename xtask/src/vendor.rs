//! The editor of code pages: CodeMirror, bundled once from npm and committed, so that the product builds without npm.
//!
//! The versions are in `package.json` and `package-lock.json` of the folder. The result stands beside them with the
//! licences of all packages in it, and with a manifest of versions and hashes that tidy checks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    command::{find_program, output, root, run},
    provision::target_dir,
};

/// The folder of the bundle, relative to the repository.
pub(crate) const FOLDER: &str = "crates/ui/assets/vendor";
/// The list of what is in the folder.
pub(crate) const MANIFEST: &str = "manifest.json";
/// The texts of the licences.
pub(crate) const LICENCES: &str = "licences.txt";

const BUNDLE: &str = "codemirror.js";
/// The files that the bundle is made from.
const SOURCES: [&str; 3] = ["codemirror.entry.mjs", "package.json", "package-lock.json"];

/// A package that is part of the bundle.
struct Package {
    name: String,
    version: String,
    licence: String,
    text: String,
}

/// Bundles the editor again and writes it with its manifest.
pub(crate) fn editor() -> Result<()> {
    if find_program("npm").is_none() {
        bail!("npm is needed to bundle the editor; install it and run the task again");
    }
    let (kept, work) = (root().join(FOLDER), target_dir().join("vendor-editor"));
    fs::create_dir_all(&work).with_context(|| format!("cannot create {}", work.display()))?;
    for name in SOURCES {
        fs::copy(kept.join(name), work.join(name))
            .with_context(|| format!("cannot read {name}"))?;
    }
    run(Command::new("npm")
        .args(["ci", "--silent", "--no-audit", "--no-fund"])
        .arg("--ignore-scripts")
        .current_dir(&work))?;
    output(
        Command::new(work.join("node_modules/.bin/esbuild"))
            .args([SOURCES[0], "--bundle", "--minify", "--format=esm"])
            .args(["--log-level=warning", "--metafile=meta.json"])
            .arg(format!("--outfile={BUNDLE}"))
            .current_dir(&work),
    )?;
    let meta = fs::read_to_string(work.join("meta.json"))?;
    let packages = packages(&work, &serde_json::from_str(&meta)?)?;
    let licences = licences(&packages);
    let bundle = fs::read_to_string(work.join(BUNDLE))?;
    fs::write(kept.join(BUNDLE), format!("/*!\n{licences}*/\n{bundle}"))?;
    fs::write(kept.join(LICENCES), licences)?;
    let manifest = serde_json::to_string_pretty(&manifest(&kept, &packages)?)?;
    fs::write(kept.join(MANIFEST), format!("{manifest}\n"))?;
    println!("{FOLDER}/{BUNDLE} has {} packages", packages.len());
    Ok(())
}

/// The packages with a file in the bundle, by their names.
fn packages(work: &Path, meta: &Value) -> Result<Vec<Package>> {
    let inputs = meta["inputs"]
        .as_object()
        .context("no inputs in meta.json")?;
    let names: BTreeSet<_> = inputs.keys().filter_map(|path| package_of(path)).collect();
    let package = |name: &str| -> Result<Package> {
        let folder = work.join("node_modules").join(name);
        let read = |file: &str| {
            let path = folder.join(file);
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let described: Value = serde_json::from_str(&read("package.json")?)?;
        let field = |field: &str| {
            let value = described[field].as_str().map(str::to_owned);
            value.with_context(|| format!("{name} names no {field}"))
        };
        Ok(Package {
            name: name.to_owned(),
            version: field("version")?,
            licence: field("license")?,
            text: read("LICENSE")?.trim().to_owned(),
        })
    };
    names.into_iter().map(package).collect()
}

/// The name of the package that a file belongs to.
fn package_of(path: &str) -> Option<&str> {
    let (_, inside) = path.rsplit_once("node_modules/")?;
    let parts = if inside.starts_with('@') { 2 } else { 1 };
    let end = inside.match_indices('/').nth(parts - 1)?.0;
    Some(&inside[..end])
}

/// Each text once, below the names of the packages that it is the licence of.
fn licences(packages: &[Package]) -> String {
    let mut of_text = BTreeMap::<&str, Vec<String>>::new();
    for package in packages {
        let line = format!("{} {}", package.name, package.version);
        of_text.entry(&package.text).or_default().push(line);
    }
    let mut parts: Vec<_> = of_text
        .into_iter()
        .map(|(text, lines)| format!("{}\n\n{text}\n", lines.join("\n")))
        .collect();
    parts.sort();
    parts.join("\n")
}

fn manifest(kept: &Path, packages: &[Package]) -> Result<Value> {
    let mut files = BTreeMap::new();
    for name in SOURCES.into_iter().chain([BUNDLE, LICENCES]) {
        files.insert(name, hash(&fs::read(kept.join(name))?));
    }
    let packages: Vec<_> = packages
        .iter()
        .map(|one| json!({"name": one.name, "version": one.version, "licence": one.licence}))
        .collect();
    Ok(json!({"sha256": files, "packages": packages}))
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_the_innermost_package() {
        for (path, package) in [
            ("node_modules/crelt/index.js", Some("crelt")),
            (
                "node_modules/@codemirror/view/dist/index.js",
                Some("@codemirror/view"),
            ),
            ("node_modules/a/node_modules/b/c.js", Some("b")),
            ("codemirror.entry.mjs", None),
        ] {
            assert_eq!(package_of(path), package);
        }
    }

    #[test]
    fn a_text_stands_once_below_all_that_have_it() {
        let package = |name: &str, text: &str| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            text: text.to_owned(),
        };
        let packages = [
            package("a", "one"),
            package("b", "two"),
            package("c", "one"),
        ];
        assert_eq!(
            licences(&packages),
            "a 1.0.0\nc 1.0.0\n\none\n\nb 1.0.0\n\ntwo\n"
        );
    }
}
