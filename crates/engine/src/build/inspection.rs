//! The imports of modules, as the bundler itself reads them: with its parser, and with the texts put together
//! that it puts together. Deno's graph lists what is written as one literal only. No module is loaded for
//! it and nothing that is imported is looked for.
//!
//! Not responsible for judging imports; see [`super::imports`].

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    command::{DenoTool, Purpose},
    failure::{BuildResult, disk},
};
use crate::api::EngineError;

/// Files for one run of the bundler.
const FILES_AT_ONCE: usize = 200;
/// Characters that the bundler takes for something else in the name of a file.
const MISREAD: &[char] = &['*', '\n', '\r'];
/// The endings whose language the bundler knows; everything else is read as JavaScript.
const KNOWN: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

/// A module's imports, or what keeps the bundler from reading them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inspected {
    Imports(Vec<Import>),
    Unreadable(String),
}

/// One import of a module.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Import {
    /// The specifier, put together; `*` stands for what is known at run time only.
    #[serde(rename = "path")]
    pub(super) specifier: String,
    /// The import attributes.
    #[serde(default)]
    pub(super) with: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Metafile {
    inputs: BTreeMap<String, Input>,
}

#[derive(Deserialize)]
struct Input {
    imports: Vec<Import>,
}

/// Inspects `files`, which are in or below `folder`.
pub(super) async fn inspect(
    tool: &DenoTool,
    folder: &Path,
    files: impl IntoIterator<Item = PathBuf>,
) -> BuildResult<BTreeMap<PathBuf, Inspected>> {
    let mut inspected = BTreeMap::new();
    let mut names = BTreeSet::new();
    for file in files {
        let relative = file.strip_prefix(folder).ok().and_then(Path::to_str);
        match relative.filter(|name| !name.contains(MISREAD)) {
            Some(name) => {
                names.insert(name.to_owned());
            }
            None => {
                let reason = "its name has characters that the bundler cannot take".to_owned();
                inspected.insert(file, Inspected::Unreadable(reason));
            }
        }
    }
    let names: Vec<String> = names.into_iter().collect();
    for some in names.chunks(FILES_AT_ONCE) {
        let mut some = some.to_vec();
        while !some.is_empty() {
            let refused = read(tool, folder, &some, &mut inspected).await?;
            if refused.is_empty() {
                break;
            }
            some.retain(|name| !refused.contains_key(name));
            let refused = refused.into_iter();
            inspected.extend(
                refused.map(|(name, reason)| (folder.join(name), Inspected::Unreadable(reason))),
            );
        }
    }
    Ok(inspected)
}

/// Reads all of the files, or none and says which cannot be read.
async fn read(
    tool: &DenoTool,
    folder: &Path,
    names: &[String],
    inspected: &mut BTreeMap<PathBuf, Inspected>,
) -> BuildResult<BTreeMap<String, String>> {
    let output =
        tempfile::tempdir_in(&tool.deno_dir).map_err(|error| disk(&tool.deno_dir, &error))?;
    let metafile = output.path().join("imports.json");
    let step = tool
        .run(
            Purpose::Files,
            folder,
            arguments(names, output.path(), &metafile),
        )
        .await?;
    if !step.success {
        return Ok(refused(names, &step.stderr));
    }
    let text = tokio::fs::read(&metafile)
        .await
        .map_err(|error| disk(&metafile, &error))?;
    let metafile: Metafile =
        serde_json::from_slice(&text).map_err(|error| EngineError::Unavailable {
            context: "reading what modules import".into(),
            reason: error.to_string(),
        })?;
    let inputs = metafile.inputs.into_iter();
    inspected
        .extend(inputs.map(|(name, input)| (folder.join(name), Inspected::Imports(input.imports))));
    Ok(BTreeMap::new())
}

fn arguments(names: &[String], output: &Path, metafile: &Path) -> Vec<OsString> {
    let fixed = [
        "--bundle",
        "--external:*",
        "--format=esm",
        "--platform=neutral",
        "--log-level=error",
        "--log-limit=0",
        "--color=false",
        "--tree-shaking=false",
        // An import that no value is taken of is one, too; and no file decides what is read how.
        "--tsconfig-raw={\"compilerOptions\":{\"verbatimModuleSyntax\":true}}",
        "--loader:=js",
    ];
    let endings: BTreeSet<&str> = names
        .iter()
        .filter_map(|name| Path::new(name).extension()?.to_str())
        .filter(|ending| !KNOWN.contains(ending))
        .collect();
    let loaders = endings
        .into_iter()
        .map(|ending| format!("--loader:.{ending}=js").into());
    let mut places = [OsString::from("--outdir="), OsString::from("--metafile=")];
    places[0].push(output.join("out"));
    places[1].push(metafile);
    let fixed = fixed.map(OsString::from).into_iter();
    // Numbered, because files that differ in their endings only would be one.
    let names = names.iter().enumerate();
    let names = names.map(|(number, name)| format!("{number}=./{name}").into());
    fixed.chain(loaders).chain(places).chain(names).collect()
}

/// The files that the bundler's errors are about, each with the first of them; all, where that is not said.
fn refused(names: &[String], told: &str) -> BTreeMap<String, String> {
    let mut refused = BTreeMap::new();
    let mut message = "";
    for line in told.lines() {
        if let Some((_, text)) = line.split_once("[ERROR] ") {
            message = text;
            continue;
        }
        let place = line.trim_start().trim_end_matches(':');
        let mut parts = place.rsplitn(3, ':');
        if let (Some(column), Some(number), Some(name)) = (parts.next(), parts.next(), parts.next())
            && column.parse::<u32>().is_ok()
            && number.parse::<u32>().is_ok()
            && names.iter().any(|known| known == name)
        {
            let reason = format!("{message} at {name}:{number}:{column}");
            refused.entry(name.to_owned()).or_insert(reason);
        }
    }
    if refused.is_empty() {
        let unknown = "the bundler cannot read it";
        refused.extend(names.iter().map(|name| (name.clone(), unknown.to_owned())));
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::refused;

    #[test]
    fn errors_are_told_by_file() {
        let told = "\u{2718} [ERROR] Could not resolve import(\"../../foo/**/*\")\n\n    a/t.mjs:7:25:\n      7 \u{2502} x\n\n\
                    \u{2718} [ERROR] Expected identifier\n\n    bad.mjs:1:5:\n      1 \u{2502} x = {\n";
        let names = ["a/t.mjs", "bad.mjs", "good.mjs"].map(str::to_owned);
        let found = refused(&names, told);
        let found: Vec<_> = found.into_values().collect();
        assert_eq!(
            found,
            [
                "Could not resolve import(\"../../foo/**/*\") at a/t.mjs:7:25",
                "Expected identifier at bad.mjs:1:5"
            ]
        );
        assert_eq!(refused(&names, "Killed").len(), 3);
    }
}
