//! Findings about a workflow's files, those of this program and those of a node alike: as JSON and as lines that
//! editors can follow.

use std::path::Path;

use headwater_workflow::check::{additions, check_draft};
use headwater_workflow::definition::{Draft, TriggerConfig};
use headwater_workflow::environment::{Required, Requirements, SENDS_MAIL};
use headwater_workflow::finding::{Finding, FoundAt, Severity};
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

/// Things that the node has to have, which this program cannot know: variables, and a way out and in for mail.
pub(crate) fn required(folder: &Folder) -> Vec<Value> {
    let Ok(draft) = Draft::read(folder.definition(), &folder.paths()) else {
        return Vec::new();
    };
    let definition = &draft.definition;
    let required = Requirements::of(definition, folder.texts());
    let noted = |place: &FoundAt, message: String| {
        of_definition(&Finding {
            severity: Severity::Note,
            place: place.clone(),
            message,
        })
    };
    let by = |of: &Required| {
        of.file
            .as_ref()
            .map_or_else(String::new, |file| format!("{file}: "))
    };
    let variables = required.variables.iter().map(|(name, of)| {
        let message = format!(
            "{}`process.env.{name}` is the variable `{name}` of the node; set it there (`headwater variables set {name}`)",
            by(of)
        );
        noted(&of.place, message)
    });
    let mail = required.mail.iter().map(|of| {
        let message = format!(
            "{}`{SENDS_MAIL}` needs a node that sends mail: one with --smtp-url and --mail-from",
            by(of)
        );
        noted(&of.place, message)
    });
    let triggers = definition.triggers.iter();
    let by_mail = triggers.filter(|trigger| trigger.config == TriggerConfig::Email);
    let by_mail = by_mail.map(|trigger| {
        let place = FoundAt {
            line: trigger.position.line,
            column: trigger.position.column,
            path: None,
        };
        let message = "the trigger needs a node that takes mail: one with --smtp-listen";
        noted(&place, message.to_owned())
    });
    variables.chain(mail).chain(by_mail).collect()
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
    fn what_the_node_has_to_have_is_noted() {
        let yaml = "name: A\ntriggers:\n- type: email\nsteps:\n- namespace: one\n  props: { a: '{{process.env.KEY}}' }\n";
        let files = [
            ("workflow.yaml", yaml),
            (
                "one/entry.js",
                "process.env.HOME + process.env.KEY; $.send.email({})",
            ),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let folder = Folder {
            dir: "orders".into(),
            files: BTreeMap::from(files),
            left_out: Vec::new(),
        };
        let required = required(&folder);
        let told = required.iter().map(|finding| line(&folder.dir, finding));
        let told: Vec<_> = told.collect();
        assert_eq!(told.len(), 3, "{told:?}");
        for (told, (place, text)) in told.iter().zip([
            (":6:", "`process.env.KEY` is the variable `KEY`"),
            (":5:", "one/entry.js: `$.send.email` needs"),
            (":3:", "--smtp-listen"),
        ]) {
            assert!(told.contains(place) && told.contains("note:"), "{told}");
            assert!(told.contains(text), "{told}");
        }
    }

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
