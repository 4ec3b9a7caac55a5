//! Code that is not there, or does not run here.

use crate::{
    definition::{Definition, NodeKind, StepCode, TriggerConfig},
    finding::{Finding, FoundAt, Severity},
};

pub(super) fn check(definition: &Definition, files: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, node) in definition.paths() {
        let NodeKind::Step(step) = &node.kind else {
            continue;
        };
        let severity = match node.is_disabled {
            true => Severity::Warning,
            false => Severity::Error,
        };
        let at = || definition.found_at(&path);
        let fault = fault(&step.code, files);
        findings.extend(fault.map(|message| Finding::new(severity, at(), message)));
    }
    for trigger in &definition.triggers {
        if let TriggerConfig::Source(source) = &trigger.config
            && let Some(message) = fault(&source.uses, files)
        {
            let at = FoundAt::new(trigger.position, None);
            findings.push(Finding::new(Severity::Error, at, message));
        }
    }
    findings
}

fn fault(code: &StepCode, files: &[&str]) -> Option<String> {
    match code {
        StepCode::File(file) if !files.contains(&file.as_str()) => Some(format!(
            "the file `{file}` is not in the workflow's folder; add it, or name another one with `uses`"
        )),
        StepCode::Foreign { runtime, file } => Some(format!(
            "`{file}` is code for `{runtime}`, which does not run here; rewrite it in JavaScript or TypeScript"
        )),
        StepCode::File(_) | StepCode::Inline(_) | StepCode::Component(_) => None,
    }
}
