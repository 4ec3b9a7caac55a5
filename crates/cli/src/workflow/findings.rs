//! Findings about a workflow's files, those of this program and those of a node alike: as JSON and as lines that
//! editors can follow.

use std::path::Path;

use headwater_workflow::check::{additions, check_draft};
use headwater_workflow::definition::Draft;
use headwater_workflow::finding::Finding;
use headwater_workflow::state_file::{InvalidStateFile, StateFile};
use serde_json::{Value, json};

use super::folder::{DEFINITION_FILE, Folder, STATE_FILE};
use crate::source::text;

/// Everything that the files tell without a node; with `pipedream` also what Pipedream would not know.
pub(crate) fn of_folder(folder: &Folder, pipedream: bool) -> Vec<Value> {
    let paths = folder.paths();
    let mut findings = match Draft::read(folder.definition(), &paths) {
        Ok(draft) => {
            let mut findings = check_draft(&draft, &paths);
            if pipedream {
                findings.extend(additions(&draft.definition));
                findings.sort_by_key(|finding| (finding.place.line, finding.place.column));
            }
            findings
        }
        Err(invalid) => invalid.problems,
    }
    .iter()
    .map(of_definition)
    .collect::<Vec<_>>();
    let state = folder
        .files
        .get(STATE_FILE)
        .map(|text| text.parse::<StateFile>());
    findings.extend(state.and_then(Result::err).as_ref().map(of_state));
    findings
}

pub(crate) fn is_error(finding: &Value) -> bool {
    text(finding, "severity") == "error"
}

/// A finding as a line; the node names no file, as its findings are about the definition.
pub(crate) fn line(dir: &Path, finding: &Value) -> String {
    let file = match text(finding, "file") {
        "" => DEFINITION_FILE,
        file => file,
    };
    let step = match text(finding, "path") {
        "" => String::new(),
        path => format!("{path}: "),
    };
    format!(
        "{file}:{line}:{column}: {severity}: {step}{message}",
        file = dir.join(file).display(),
        line = finding["line"],
        column = finding["column"],
        severity = text(finding, "severity"),
        message = text(finding, "message"),
    )
}

pub(crate) fn of_definition(finding: &Finding) -> Value {
    let mut value = json!({
        "file": DEFINITION_FILE,
        "severity": finding.severity.as_str(),
        "line": finding.place.line,
        "column": finding.place.column,
        "message": finding.message,
    });
    if let Some(path) = &finding.place.path {
        value["path"] = path.to_string().into();
    }
    value
}

fn of_state(invalid: &InvalidStateFile) -> Value {
    json!({
        "file": STATE_FILE,
        "severity": "error",
        "line": invalid.position.line,
        "column": invalid.position.column,
        "message": invalid.message,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn lines(files: &[(&str, &str)], pipedream: bool) -> Vec<String> {
        let files = files.iter();
        let files = files.map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        let folder = Folder {
            dir: "orders".into(),
            files: files.collect::<BTreeMap<_, _>>(),
            left_out: Vec::new(),
        };
        let findings = of_folder(&folder, pipedream);
        let lines = findings.iter();
        lines.map(|finding| line(&folder.dir, finding)).collect()
    }

    const YAML: &str = "name: A\ntriggers:\n- type: http\nsteps:\n- namespace: one\n";

    #[test]
    fn a_line_has_the_place_and_the_step() {
        assert_eq!(
            lines(&[("workflow.yaml", YAML)], false),
            [
                "orders/workflow.yaml:5:3: error: one: the file `one/entry.js` is not in the workflow's folder; add it, \
                 or name another one with `uses`"
            ]
        );
        let whole = [("workflow.yaml", YAML), ("one/entry.js", "")];
        assert_eq!(lines(&whole, false), [""; 0]);
        let additions = lines(&whole, true);
        assert!(
            additions[0].starts_with("orders/workflow.yaml:3:"),
            "{additions:?}"
        );
        assert!(additions[0].contains("note: Pipedream"), "{additions:?}");
    }

    #[test]
    fn a_definition_that_cannot_be_read_and_a_broken_state_are_told() {
        let files = [
            ("workflow.yaml", "steps: 1\n"),
            (".workflow.state", "<<<<<<< HEAD\n"),
        ];
        let told = lines(&files, false);
        assert!(
            told[0].starts_with("orders/workflow.yaml:1:1: error:"),
            "{told:?}"
        );
        let last = told.last().unwrap();
        assert!(last.starts_with("orders/.workflow.state:1:"), "{told:?}");
    }

    #[test]
    fn findings_of_a_node_are_about_the_definition() {
        let finding =
            json!({"severity": "warning", "line": 3, "column": 1, "message": "it never runs"});
        assert_eq!(
            line(Path::new("a"), &finding),
            "a/workflow.yaml:3:1: warning: it never runs"
        );
    }
}
