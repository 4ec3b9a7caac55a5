//! The code of a folder's steps: whether it parses, told at the places of the files. Runs none of it.

use std::collections::BTreeMap;

use anyhow::Result;
use headwater_engine::build::{LocalBundling, SyntaxFault, syntax_faults};
use headwater_workflow::definition::{Definition, Draft, NodeKind, StepCode};
use headwater_workflow::path::Path;
use headwater_workflow::yaml::Position;
use serde_json::{Value, json};

use super::findings;
use super::folder::{DEFINITION_FILE, Folder};
use crate::{output, runtime, waiting};

/// The endings of code that is parsed.
const ENDINGS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];
/// The folder of code that is in the definition, while it is parsed; no step can name it.
const INLINE: &str = ".code";

/// Everything that the files tell without a node, their code included. A note says so if the code cannot be looked at.
pub(crate) async fn findings(folder: &Folder, pipedream: bool) -> Vec<Value> {
    let found = findings::of_folder(folder, pipedream);
    match of_code(folder).await {
        Ok(faults) => sorted(found, faults),
        Err(error) => {
            output::note(&format!(
                "note: the code of the steps was not looked at: {error:#}"
            ));
            found
        }
    }
}

/// The same before a deployment: the node looks at the code in any case.
pub(crate) async fn findings_before_deployment(folder: &Folder) -> Vec<Value> {
    let found = findings::of_folder(folder, false);
    let faults = of_code(folder).await;
    sorted(found, faults.unwrap_or_default())
}

/// The findings in order: those of the definition first, then file by file, in the order of their places.
pub(crate) fn sorted(mut found: Vec<Value>, faults: Vec<Value>) -> Vec<Value> {
    found.extend(faults);
    found.sort_by_cached_key(|finding| {
        let file = finding["file"].as_str().unwrap_or_default().to_owned();
        let place = (finding["line"].as_u64(), finding["column"].as_u64());
        (file != DEFINITION_FILE, file, place)
    });
    found
}

async fn of_code(folder: &Folder) -> Result<Vec<Value>> {
    let Ok(draft) = Draft::read(folder.definition(), &folder.paths()) else {
        return Ok(Vec::new());
    };
    let code = Code::of(folder, &draft.definition);
    if code.modules.is_empty() {
        return Ok(Vec::new());
    }
    let parsing = LocalBundling {
        deno: runtime::locate().await?.path,
        cache_dir: runtime::cache_dir()?,
        registry_env: runtime::client_env(),
    };
    let parsed = syntax_faults(&parsing, &code.modules);
    let faults = waiting::shown("reading the workflow's code", parsed).await?;
    Ok(faults.iter().map(|fault| code.finding(fault)).collect())
}

/// The code of a folder.
struct Code<'a> {
    definition: &'a Definition,
    text: &'a str,
    /// The texts by file; those in the definition by names of their own.
    modules: BTreeMap<String, String>,
    /// The steps by the names of their modules.
    steps: BTreeMap<String, Path>,
}

impl<'a> Code<'a> {
    fn of(folder: &'a Folder, definition: &'a Definition) -> Self {
        let files = folder.files.iter();
        let files = files.filter(|(path, _)| {
            let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
            ENDINGS.contains(&ending)
        });
        let mut code = Self {
            definition,
            text: folder.definition(),
            modules: files
                .map(|(path, text)| (path.clone(), text.clone()))
                .collect(),
            steps: BTreeMap::new(),
        };
        for (number, (path, node)) in definition.paths().into_iter().enumerate() {
            if let NodeKind::Step(step) = &node.kind {
                code.add(number, path, &step.code);
            }
        }
        code
    }

    fn add(&mut self, number: usize, path: Path, code: &StepCode) {
        match code {
            StepCode::File(file) => {
                self.steps.entry(file.clone()).or_insert(path);
            }
            StepCode::Inline(text) => {
                let name = format!("{INLINE}/{number}");
                self.modules.insert(name.clone(), text.clone());
                self.steps.insert(name, path);
            }
            StepCode::Component(_) | StepCode::Foreign { .. } => {}
        }
    }

    fn finding(&self, fault: &SyntaxFault) -> Value {
        let (line, column) = fault.place.unwrap_or((1, 1));
        let message = format!("this is not JavaScript or TypeScript: {}", fault.message);
        let Some(path) = self.steps.get(&fault.module) else {
            // Perhaps no step imports it.
            return finding(&fault.module, "warning", (line, column), &message);
        };
        let mut found = match self.definition.code_position(path) {
            Some(at) => {
                let place = within(self.text, at, (line, column));
                finding(DEFINITION_FILE, "error", place, &message)
            }
            None => finding(&fault.module, "error", (line, column), &message),
        };
        found["path"] = path.to_string().into();
        found
    }
}

fn finding(file: &str, severity: &str, (line, column): (usize, usize), message: &str) -> Value {
    json!({
        "file": file, "severity": severity, "line": line, "column": column, "message": message,
    })
}

/// The place in the definition of a place in code that begins there: of a block, its lines are those of the file; of other
/// text, the place where it begins is near enough.
fn within(text: &str, at: Position, (line, column): (usize, usize)) -> (usize, usize) {
    let lines: Vec<&str> = text.lines().collect();
    let before = lines.get(..at.line - 1).unwrap_or_default();
    let head = before.iter().rposition(|line| !line.trim().is_empty());
    let Some(head) = head.filter(|head| begins_block(before[*head])) else {
        return (at.line, at.column);
    };
    let mut block = lines[head + 1..].iter();
    let first = block.find(|line| !line.trim().is_empty());
    let indent = first.map_or(0, |line| line.len() - line.trim_start().len());
    (head + 1 + line, indent + column)
}

/// Whether a line ends with the mark of a block, whose lines stay as they are.
fn begins_block(line: &str) -> bool {
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    let is_modifier = |c: char| matches!(c, '+' | '-') || c.is_ascii_digit();
    line.trim_end_matches(is_modifier).ends_with("code: |")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_block_is_one_of_the_file() {
        let text = "steps:\n- namespace: a\n  code: |\n\n    let a;\n    let b =;\n- { namespace: b, code: let }\n";
        let at = |line, column| Position { line, column };
        for begins in [at(4, 1), at(5, 5)] {
            assert_eq!(within(text, begins, (3, 8)), (6, 12));
        }
        assert_eq!(within(text, at(7, 25), (1, 4)), (7, 25));
    }
}
