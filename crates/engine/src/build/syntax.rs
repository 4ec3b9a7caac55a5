//! Whether modules parse: a look at the code of a person's own files before anything is sent or built. Nothing is run,
//! no import is followed, and no package is looked at.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    failure::{BuildFailure, blocking},
    inspection::{Inspected, ending, inspect_package},
    local::LocalBundling,
};
use crate::api::EngineError;

/// The endings of a text without one, which may be in either language.
const EITHER: [&str; 2] = ["mjs", "ts"];
const ENDINGS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];

/// A module that does not parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxFault {
    /// The module, by the name that it was given under.
    pub module: String,
    /// The place, from 1; none if the parser does not name it.
    pub place: Option<(usize, usize)>,
    /// The reason.
    pub message: String,
}

/// The modules that do not parse. Names are relative paths; one without an ending of a language is text that may be in
/// either.
///
/// # Errors
/// The parser cannot be had or run.
pub async fn syntax_faults(
    config: &LocalBundling,
    modules: &BTreeMap<String, String>,
) -> Result<Vec<SyntaxFault>, EngineError> {
    if modules.is_empty() {
        return Ok(Vec::new());
    }
    let tool = config.tool();
    tool.prepare().await?;
    let folder = tool.scratch("syntax-").await.map_err(of_host)?;
    let files = files(modules);
    let (root, written) = (folder.path().to_owned(), files.clone());
    let writing = blocking(folder.path(), move || {
        for (_, path, text) in &written {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().unwrap_or(&root))?;
            std::fs::write(file, text)?;
        }
        Ok(())
    });
    writing.await.map_err(of_host)?;
    let paths = files.iter().map(|(_, path, _)| folder.path().join(path));
    let inspected = inspect_package(&tool, folder.path(), paths).await;
    let inspected = inspected.map_err(of_host)?;
    Ok(modules
        .keys()
        .filter_map(|module| {
            let own = files.iter().filter(|(name, _, _)| name == module);
            let tried = own.map(|(_, path, _)| fault(module, (folder.path(), path), &inspected));
            // It parses in one language, or else the attempt that got further tells why not.
            let faults: Vec<SyntaxFault> = tried.collect::<Option<_>>()?;
            faults.into_iter().rev().max_by_key(|fault| fault.place)
        })
        .collect())
}

/// The files to look at: the module, the path and the text of each.
fn files(modules: &BTreeMap<String, String>) -> Vec<(String, PathBuf, String)> {
    let mut files = Vec::new();
    for (name, text) in modules {
        let mut add = |path: String| files.push((name.clone(), PathBuf::from(path), text.clone()));
        match ending(name).is_some_and(|ending| ENDINGS.contains(&ending)) {
            true => add(name.clone()),
            false => EITHER
                .iter()
                .for_each(|ending| add(format!("{name}.{ending}"))),
        }
    }
    files
}

fn fault(
    module: &str,
    (folder, path): (&Path, &Path),
    inspected: &BTreeMap<PathBuf, Inspected>,
) -> Option<SyntaxFault> {
    let Some(Inspected::Unreadable(reason)) = inspected.get(&folder.join(path)) else {
        return None;
    };
    let (message, place) = match reason.rsplit_once(" at ") {
        Some((message, place)) => (message, place_of(place)),
        None => (reason.as_str(), None),
    };
    Some(SyntaxFault {
        module: module.to_owned(),
        message: match place {
            Some(_) => message.to_owned(),
            None => reason.clone(),
        },
        place,
    })
}

/// Line and column of `name:line:column`; the parser counts columns from 0.
fn place_of(text: &str) -> Option<(usize, usize)> {
    let mut numbers = text.rsplitn(3, ':').map(str::parse::<usize>);
    match (numbers.next()?, numbers.next()?) {
        (Ok(column), Ok(line)) => Some((line, column + 1)),
        _ => None,
    }
}

fn of_host(failure: BuildFailure) -> EngineError {
    match failure {
        BuildFailure::Host(error) => error,
        BuildFailure::Rejected(rejection) => EngineError::Unavailable {
            context: "reading code".into(),
            reason: rejection.error.titled(),
        },
    }
}
