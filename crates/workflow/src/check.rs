//! Checks of a definition: everything that can be known before a deployment.
//!
//! Not responsible for what a node knows: accounts, components, other workflows.

mod expressions;
mod files;
mod references;

#[cfg(test)]
mod tests;

use crate::{
    definition::{Definition, Draft, NodeKind, TriggerConfig},
    finding::{Finding, FoundAt, Severity},
    yaml::Position,
};

/// The findings about a definition, in the order of its file. `files` are the paths of the folder's files.
pub fn check(definition: &Definition, files: &[&str]) -> Vec<Finding> {
    let mut findings = definition.record.findings.clone();
    findings.extend(expressions::check(definition));
    findings.extend(references::check(definition));
    findings.extend(files::check(definition, files));
    findings.extend(triggers(definition));
    findings.extend(ends(definition));
    sorted(findings)
}

/// The same about a definition with mistakes, and the mistakes.
pub fn check_draft(draft: &Draft, files: &[&str]) -> Vec<Finding> {
    let mut findings = draft.problems.clone();
    findings.extend(check(&draft.definition, files));
    sorted(findings)
}

fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| (finding.place.line, finding.place.column, finding.severity));
    findings
}

/// The keys and forms of the file that Pipedream would not know, in its order.
pub fn additions(definition: &Definition) -> Vec<Finding> {
    let mut additions = definition.record.additions.clone();
    additions.sort_by_key(|finding| (finding.place.line, finding.place.column));
    additions
}

fn triggers(definition: &Definition) -> Vec<Finding> {
    let mut findings = Vec::new();
    let has_none = definition.triggers.is_empty() && !definition.record.has_unread_triggers;
    if has_none && definition.is_active {
        let message = "the workflow has no triggers; it runs only when somebody or another workflow starts it";
        let place = FoundAt::new(Position::START, None);
        findings.push(Finding::new(Severity::Note, place, message));
    }
    for trigger in &definition.triggers {
        if trigger.config != TriggerConfig::NotInFile {
            continue;
        }
        let id = trigger
            .id
            .as_ref()
            .map_or(trigger.key.as_str(), |id| id.as_str());
        let keys = match trigger.key.split('_').next() {
            Some("schedule") => "`type: schedule` and `cron` or `interval_seconds`",
            Some("source") => "`type: source`, `uses` and `props`",
            _ => "`type: events` and `emitter`",
        };
        let message = format!(
            "the configuration of `{id}` is not in the file, as Pipedream does not sync it; add {keys}"
        );
        let place = FoundAt::new(trigger.position, None);
        findings.push(Finding::new(Severity::Error, place, message));
    }
    findings
}

/// Steps behind an `end` that always ends the run.
fn ends(definition: &Definition) -> Vec<Finding> {
    let mut findings = Vec::new();
    let paths = definition.paths();
    for (path, node) in &paths {
        let always_ends = matches!(node.kind, NodeKind::End(_)) && node.condition.is_none();
        if !always_ends || node.is_disabled {
            continue;
        }
        let around = path.parent();
        let mut behind = paths.iter().skip_while(|(other, _)| other != path).skip(1);
        if let Some((next, _)) = behind.find(|(other, _)| other.parent() == around) {
            let message = format!("it never runs, because `{path}` before it always ends the run");
            findings.push(Finding::new(
                Severity::Warning,
                definition.found_at(next),
                message,
            ));
        }
    }
    findings
}
