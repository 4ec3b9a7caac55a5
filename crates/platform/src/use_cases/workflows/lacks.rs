//! Things that a folder counts on and its node lacks: a way for mail to come in or to go out, variables, and the workflow that
//! its state file names. They are told, and the deployment goes on: they may come later.

use std::collections::BTreeSet;

use headwater_store::{Owner, SavedComponent};
use headwater_workflow::{
    definition::TriggerConfig,
    environment::{Required, Requirements, SENDS_MAIL},
    finding::{Finding, FoundAt, Severity},
};

use super::{folder::Folder, step_props::Remarks};
use crate::{error::PlatformError, platform::Platform};

const NO_WAY_OUT: &str = "the mail of `$.send.email` is not sent, because this node sends none; its operator can start it with \
                          --smtp-url and --mail-from";

impl Platform {
    /// Tells the triggers that get nothing, the mail that goes nowhere, and the variables that are not there.
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
        let files = folder.files.iter();
        let files = files.map(|(path, text)| (path.as_str(), text.as_str()));
        let required = Requirements::of(&folder.definition, files);
        if self.core.config.mail.is_none() {
            findings.extend(required.mail.as_ref().map(|of| warned(of, NO_WAY_OUT)));
        }
        if required.variables.is_empty() {
            return Ok(findings);
        }
        let variables = self.core.store.variables(owner.tenant()).await?.into_iter();
        let set: BTreeSet<String> = variables.map(|variable| variable.name).collect();
        let option = match &owner.workspace_id {
            Some(id) => format!(" --workspace {id}"),
            None => String::new(),
        };
        let missing = required.variables.iter();
        let missing = missing.filter(|(name, _)| !set.contains(*name));
        findings.extend(missing.map(|(name, of)| {
            let message = format!(
                "`process.env.{name}` has no value, because there is no variable `{name}`; set it (`headwater variables set \
                 {name}=VALUE{option}`)"
            );
            warned(of, &message)
        }));
        Ok(findings)
    }

    /// Tells that the code of a step's component, which is not of the folder, sends mail that goes nowhere.
    pub(super) fn lacks_a_way_out(&self, component: &SavedComponent) -> Remarks {
        match self.core.config.mail.is_none() && component.code.contains(SENDS_MAIL) {
            true => vec![(Severity::Warning, NO_WAY_OUT.to_owned())],
            false => Remarks::new(),
        }
    }
}

/// A warning about something that is needed, with the file that needs it if that is not the definition.
fn warned(of: &Required, message: &str) -> Finding {
    let by = of.file.as_ref().map(|file| format!("{file}: "));
    Finding {
        severity: Severity::Warning,
        place: of.place.clone(),
        message: format!("{}{message}", by.unwrap_or_default()),
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

/// A place that is about the workflow as a whole.
fn at(line: usize, column: usize) -> FoundAt {
    FoundAt {
        line,
        column,
        path: None,
    }
}
