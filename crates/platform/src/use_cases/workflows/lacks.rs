//! Things that a folder counts on and its node lacks: a way for mail to come in or to go out, variables, and the workflow that
//! its state file names. They are told, and the deployment goes on: they may come later.

use std::collections::{BTreeMap, BTreeSet};

use headwater_store::{Owner, SavedComponent};
use headwater_workflow::{
    definition::{NodeKind, StepCode, TriggerConfig},
    environment::variables_read_by,
    finding::{Finding, FoundAt, Severity},
};

use super::{
    folder::{DEFINITION_FILE, Folder},
    step_props::Remarks,
};
use crate::{error::PlatformError, platform::Platform};

/// The call that sends a mail, as code writes it.
const SENDS_MAIL: &str = "$.send.email";
/// The endings of files with code of steps.
const CODE: [&str; 6] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
/// The folder of tests, whose files no step imports.
const TESTS: &str = "tests/";

impl Platform {
    /// Tells the triggers that get nothing, and the variables that are not there.
    pub(super) async fn lacks(
        &self,
        folder: &Folder,
        owner: &Owner,
    ) -> Result<Vec<Finding>, PlatformError> {
        let mut findings = Vec::new();
        if !self.core.config.takes_mail {
            let triggers = folder.definition.triggers.iter();
            let by_mail = triggers.filter(|trigger| trigger.config == TriggerConfig::Email);
            findings.extend(by_mail.map(|trigger| Finding {
                severity: Severity::Warning,
                place: at(trigger.position.line, trigger.position.column),
                message: "no mail starts a run, because this node takes none; its operator can start it with --smtp-listen"
                    .to_owned(),
            }));
        }
        let read = Reading::of(folder);
        if read.by_name.is_empty() {
            return Ok(findings);
        }
        let variables = self.core.store.variables(owner.tenant()).await?.into_iter();
        let set: BTreeSet<String> = variables.map(|variable| variable.name).collect();
        let option = match &owner.workspace_id {
            Some(id) => format!(" --workspace {id}"),
            None => String::new(),
        };
        for (name, (place, by)) in read.by_name {
            if set.contains(&name) {
                continue;
            }
            let message = format!(
                "{by}`process.env.{name}` has no value, because there is no variable `{name}`; set it (`headwater variables \
                 set {name}=VALUE{option}`)"
            );
            findings.push(Finding {
                severity: Severity::Warning,
                place,
                message,
            });
        }
        Ok(findings)
    }

    /// Tells that a step's code sends mail that goes nowhere, as far as its text shows.
    pub(super) fn lacks_a_way_out(&self, component: &SavedComponent) -> Remarks {
        match self.core.config.mail.is_none() && component.code.contains(SENDS_MAIL) {
            true => {
                let message = format!(
                    "the mail of `{SENDS_MAIL}` is not sent, because this node sends none; its operator can start it with \
                     --smtp-url and --mail-from"
                );
                vec![(Severity::Warning, message)]
            }
            false => Remarks::new(),
        }
    }
}

/// Tells the triggers that had an address before, where the workflow is created: former addresses are not given again, as
/// deleting a workflow is the way to get rid of them.
pub(super) fn new_addresses(folder: &Folder) -> Vec<Finding> {
    let Some(id) = &folder.state.id else {
        return Vec::new();
    };
    let triggers = folder.definition.triggers.iter().filter_map(|trigger| {
        let (address, whom) = match trigger.config {
            TriggerConfig::Http(_) => ("URL", "calls"),
            TriggerConfig::Email => ("address", "writes to"),
            TriggerConfig::Schedule(_)
            | TriggerConfig::Source(_)
            | TriggerConfig::Events(_)
            | TriggerConfig::NotInFile => return None,
        };
        let is_known = trigger.id.is_some() || folder.state.triggers.contains_key(&trigger.key);
        is_known.then(|| Finding {
            severity: Severity::Note,
            place: at(trigger.position.line, trigger.position.column),
            message: format!(
                "workflow `{id}` was not on this node, and is created: the trigger has a new {address}, which whoever {whom} it \
                 needs to know"
            ),
        })
    });
    triggers.collect()
}

/// The variables that a folder reads, each with its first place and the file if it is not the definition.
#[derive(Default)]
struct Reading {
    by_name: BTreeMap<String, (FoundAt, String)>,
}

impl Reading {
    fn of(folder: &Folder) -> Self {
        let mut read = Self::default();
        let text = folder.files.get(DEFINITION_FILE).map_or("", String::as_str);
        for (number, line) in text.lines().enumerate() {
            if !line.trim_start().starts_with('#') {
                let column = line.find("process.env").unwrap_or_default();
                let column = line[..column].chars().count() + 1;
                read.add(line, &at(number + 1, column), "");
            }
        }
        let definition = &folder.definition;
        let mut steps = BTreeMap::new();
        for (path, node) in definition.paths() {
            if let NodeKind::Step(step) = &node.kind
                && let StepCode::File(file) = &step.code
            {
                steps.insert(file.as_str(), (definition.found_at(&path), node));
            }
        }
        for (file, text) in folder.files.iter() {
            let is_code = CODE.iter().any(|ending| file.ends_with(ending));
            if !is_code || file.starts_with(TESTS) {
                continue;
            }
            match steps.get(file.as_str()) {
                Some((_, node)) if node.is_disabled => {}
                Some((place, _)) => read.add(text, place, &format!("{file}: ")),
                None => read.add(text, &at(1, 1), &format!("{file}: ")),
            }
        }
        read
    }

    fn add(&mut self, text: &str, place: &FoundAt, by: &str) {
        for name in variables_read_by(text) {
            let entry = self.by_name.entry(name);
            entry.or_insert_with(|| (place.clone(), by.to_owned()));
        }
    }
}

/// A place that is about the workflow as a whole.
fn at(line: usize, column: usize) -> FoundAt {
    FoundAt {
        line,
        column,
        path: None,
    }
}
