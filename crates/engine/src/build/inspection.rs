//! The imports of modules, as the bundler itself reads them: with its parser, including texts that it concatenates.
//! Deno's graph lists imports of a single literal only. No module is loaded, and no import is resolved.
//!
//! Responsible for: an answer for every requested file, even if the bundler fails over others. Not for
//! judging imports; see [`super::imports`].

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    command::DenoTool,
    failure::{BuildResult, blocking},
};
use crate::{api::EngineError, host_failure};

/// Files for one run of the bundler.
const FILES_AT_ONCE: usize = 200;
/// Files for which the bundler may be run alone, because it fails without saying over which one. Ordinary packages
/// have none.
const ALONE_MAX: usize = 32;
/// Characters that the bundler takes for something else in the name of a file.
const MISREAD: &[char] = &['*', '\n', '\r'];
/// The endings whose language the bundler knows, and the name that it has for it. All others are read as JavaScript.
const LANGUAGES: &[(&str, &str)] = &[
    ("js", "js"),
    ("mjs", "js"),
    ("cjs", "js"),
    ("jsx", "jsx"),
    ("ts", "ts"),
    ("mts", "ts"),
    ("cts", "ts"),
    ("tsx", "tsx"),
];
/// The beginning of errors about an import by a pattern that no file has a name for.
const UNRESOLVED: &[&str] = &["Could not resolve import(", "Could not resolve require("];
const NOT_SAID: &str = "the bundler cannot read it";

/// A module's imports, or the reason why the bundler cannot read them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Inspected {
    Imports(Vec<Import>),
    /// It is read as code, and no file has a name that it imports by a pattern. Nothing can be bundled with it
    /// as long as that is so.
    Unresolved,
    Unreadable(String),
}

/// One import of a module.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Import {
    /// The specifier, put together; `*` stands for parts known only at run time.
    #[serde(rename = "path")]
    pub(super) specifier: String,
    /// The syntax, as the bundler calls it.
    pub(super) kind: String,
    /// The import attributes.
    #[serde(default)]
    pub(super) with: BTreeMap<String, String>,
}

/// The kind of module that files are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The kind that components become: strict, all of it.
    Module,
    /// The way in which older packages are written, whose syntax may be one that modules do not have (`with`, `010`).
    CommonJs,
}

/// The answers of one run, or the files over which it failed: none if it does not name them.
type Answer = Result<BTreeMap<String, Inspected>, BTreeMap<String, Inspected>>;

#[derive(Deserialize)]
struct Metafile {
    inputs: BTreeMap<String, Input>,
}

#[derive(Deserialize)]
struct Input {
    imports: Vec<Import>,
}

/// Inspects own modules, which are in or below `folder`.
pub(super) async fn inspect(
    tool: &DenoTool,
    folder: &Path,
    files: impl IntoIterator<Item = PathBuf>,
) -> BuildResult<BTreeMap<PathBuf, Inspected>> {
    inspect_as(tool, folder, files, &[Form::Module]).await
}

/// Inspects modules of the package in `folder`.
pub(super) async fn inspect_package(
    tool: &DenoTool,
    folder: &Path,
    files: impl IntoIterator<Item = PathBuf>,
) -> BuildResult<BTreeMap<PathBuf, Inspected>> {
    inspect_as(tool, folder, files, &[Form::Module, Form::CommonJs]).await
}

async fn inspect_as(
    tool: &DenoTool,
    folder: &Path,
    files: impl IntoIterator<Item = PathBuf>,
    forms: &[Form],
) -> BuildResult<BTreeMap<PathBuf, Inspected>> {
    let mut inspected = BTreeMap::new();
    let mut names = BTreeSet::new();
    for file in files {
        let relative = file.strip_prefix(folder).ok().and_then(Path::to_str);
        match relative.filter(|name| can_be_named(name)) {
            Some(name) => {
                names.insert(name.to_owned());
            }
            None => {
                let reason = "its name has characters that the bundler cannot take".to_owned();
                inspected.insert(file, Inspected::Unreadable(reason));
            }
        }
    }
    let mut answers = BTreeMap::new();
    for form in forms {
        answers.extend(each(tool, folder, names, *form).await?);
        let failed = answers.iter();
        let failed = failed.filter(|(_, inspected)| matches!(inspected, Inspected::Unreadable(_)));
        names = failed.map(|(name, _)| name.clone()).collect();
    }
    let answers = answers.into_iter();
    inspected.extend(answers.map(|(name, inspected)| (folder.join(name), inspected)));
    Ok(inspected)
}

/// The answer for each of the files, many of which are read at once.
async fn each(
    tool: &DenoTool,
    folder: &Path,
    names: BTreeSet<String>,
    form: Form,
) -> BuildResult<BTreeMap<String, Inspected>> {
    let names: Vec<String> = names.into_iter().collect();
    let mut waiting: Vec<Vec<String>> = names.chunks(FILES_AT_ONCE).map(<[_]>::to_vec).collect();
    let mut answers = BTreeMap::new();
    let mut alone = 0;
    while let Some(mut some) = waiting.pop() {
        if some.is_empty() {
            continue;
        }
        match read(tool, folder, &some, form).await? {
            Ok(found) => {
                let missing = some.iter().filter(|name| !found.contains_key(*name));
                answers.extend(missing.map(|name| (name.clone(), not_said())));
                answers.extend(found);
            }
            Err(refused) if !refused.is_empty() => {
                some.retain(|name| !refused.contains_key(name));
                answers.extend(refused);
                waiting.push(some);
            }
            Err(_) if some.len() == 1 || alone == ALONE_MAX => {
                alone += usize::from(some.len() == 1);
                answers.extend(some.into_iter().map(|name| (name, not_said())));
            }
            Err(_) => {
                let other = some.split_off(some.len() / 2);
                waiting.extend([some, other]);
            }
        }
    }
    Ok(answers)
}

fn not_said() -> Inspected {
    Inspected::Unreadable(NOT_SAID.to_owned())
}

/// Reads all of the files, or none.
async fn read(tool: &DenoTool, folder: &Path, names: &[String], form: Form) -> BuildResult<Answer> {
    let output = tool.scratch("inspect-").await?;
    let metafile = output.path().join("imports.json");
    let arguments = arguments(names, form, output.path(), &metafile);
    let step = tool.read_files(folder, output.path(), arguments).await?;
    let told = step.success.then_some(metafile);
    let text = blocking(folder, move || {
        let text = told.map(std::fs::read).transpose()?;
        output.close()?;
        io::Result::Ok(text)
    });
    let Some(text) = text.await? else {
        // Many files together may exceed its limits.
        if names.len() == 1
            && let Some(reason) = host_failure::out_of_memory(&step.stderr)
        {
            return Err(unknown(reason).into());
        }
        return Ok(Err(refused(names, &step.stderr)));
    };
    let metafile: Metafile =
        serde_json::from_slice(&text).map_err(|error| unknown(&error.to_string()))?;
    let inputs = metafile.inputs.into_iter();
    Ok(Ok(inputs
        .map(|(name, input)| (name, Inspected::Imports(input.imports)))
        .collect()))
}

fn unknown(reason: &str) -> EngineError {
    EngineError::Unavailable {
        context: "reading what modules import".into(),
        reason: reason.to_owned(),
    }
}

fn arguments(names: &[String], form: Form, output: &Path, metafile: &Path) -> Vec<OsString> {
    let fixed = [
        "--bundle",
        "--external:*",
        "--platform=neutral",
        "--log-level=error",
        "--log-limit=0",
        "--color=false",
        "--tree-shaking=false",
        // An import without bindings counts too; and no file of a package may change the bundler's settings.
        "--tsconfig-raw={\"compilerOptions\":{\"verbatimModuleSyntax\":true}}",
        "--loader:=js",
        match form {
            Form::Module => "--format=esm",
            Form::CommonJs => "--format=cjs",
        },
    ];
    let endings: BTreeSet<&str> = names.iter().filter_map(|name| ending(name)).collect();
    let loaders = endings.into_iter().filter_map(|ending| {
        let lower = ending.to_ascii_lowercase();
        let known = LANGUAGES.iter().find(|(known, _)| *known == lower);
        let language = known.map_or("js", |(_, language)| language);
        // Without being told, the bundler knows them in lower case.
        (known.is_none() || lower != ending)
            .then(|| format!("--loader:.{ending}={language}").into())
    });
    let mut places = [OsString::from("--outdir="), OsString::from("--metafile=")];
    places[0].push(output.join("out"));
    places[1].push(metafile);
    let fixed = fixed.map(OsString::from).into_iter();
    // Numbered, because files that differ in their endings only would be one.
    let names = names.iter().enumerate();
    let names = names.map(|(number, name)| format!("{number}=./{name}").into());
    fixed.chain(loaders).chain(places).chain(names).collect()
}

/// The part of a file's name that determines its language for the bundler.
pub(super) fn ending(name: &str) -> Option<&str> {
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    file.rsplit_once('.').map(|(_, ending)| ending)
}

/// Whether the bundler can be given a file, and the language to read it in.
fn can_be_named(name: &str) -> bool {
    let is_plain =
        |ending: &str| !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphanumeric());
    !name.contains(MISREAD) && ending(name).is_none_or(is_plain)
}

/// The files that the bundler's errors name, if any.
fn refused(names: &[String], told: &str) -> BTreeMap<String, Inspected> {
    let mut refused = BTreeMap::new();
    let mut message = None;
    for line in told.lines() {
        if let Some((_, text)) = line.split_once("[ERROR] ") {
            message = Some(text);
            continue;
        }
        let place = line.trim_start().trim_end_matches(':');
        let mut parts = place.rsplitn(3, ':');
        if let (Some(column), Some(number), Some(name)) = (parts.next(), parts.next(), parts.next())
            && column.parse::<u32>().is_ok()
            && number.parse::<u32>().is_ok()
            && names.iter().any(|known| known == name)
            && let Some(message) = message.take()
        {
            let reason = || Inspected::Unreadable(format!("{message} at {name}:{number}:{column}"));
            let is_unresolved = UNRESOLVED.iter().any(|start| message.starts_with(start));
            match refused.get(name) {
                None if is_unresolved => refused.insert(name.to_owned(), Inspected::Unresolved),
                None => refused.insert(name.to_owned(), reason()),
                Some(Inspected::Unresolved) if !is_unresolved => {
                    refused.insert(name.to_owned(), reason())
                }
                Some(_) => None,
            };
        }
    }
    refused
}

#[cfg(test)]
mod tests;
