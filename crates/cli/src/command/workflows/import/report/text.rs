//! The report as text for a terminal, and as Markdown.

use std::fmt::Write as _;

use super::super::outcome::{Deployment, Outcome, Workflow};
use super::sections::{self, Section};

/// The text for a terminal.
pub(super) fn plain(whole: &Outcome) -> String {
    let mut text = String::new();
    for workflow in &whole.workflows {
        let (folder, outcome) = (&workflow.folder, sections::outcome(workflow));
        line(&mut text, &format!("{folder}: {outcome}"));
        plain_sections(&mut text, sections::of(workflow));
    }
    for missing in &whole.missing {
        line(&mut text, &format!("not in the archive: {missing}"));
    }
    text.push('\n');
    line(&mut text, &summary(whole));
    plain_sections(&mut text, sections::of_all(&whole.workflows));
    let _ = write!(text, "The report is in {}.", whole.report.display());
    text
}

fn plain_sections(text: &mut String, sections: Vec<Section>) {
    for Section {
        title, next, items, ..
    } in sections
    {
        let next = if next.is_empty() {
            String::new()
        } else {
            format!(" ({next})")
        };
        line(text, &format!("  {title}{next}:"));
        for item in items {
            line(text, &format!("    {item}"));
        }
    }
}

/// The file.
pub(super) fn markdown(whole: &Outcome) -> String {
    let mut text = "# Import of workflows\n\n".to_owned();
    line(
        &mut text,
        &format!("From `{}`. {}", whole.origin, summary(whole)),
    );
    markdown_sections(&mut text, sections::of_all(&whole.workflows));
    for workflow in &whole.workflows {
        text.push('\n');
        section_of(&mut text, workflow);
    }
    if !whole.missing.is_empty() {
        text.push_str("\n## Not in the archive\n\n");
        for missing in &whole.missing {
            line(&mut text, &format!("- {missing}"));
        }
    }
    text
}

fn section_of(text: &mut String, workflow: &Workflow) {
    line(text, &format!("## {}", workflow.folder));
    text.push('\n');
    let name = match workflow.needs.name.as_str() {
        "" => String::new(),
        name => format!("**{name}**: "),
    };
    line(text, &format!("{name}{}.", sections::outcome(workflow)));
    markdown_sections(text, sections::of(workflow));
}

fn markdown_sections(text: &mut String, sections: Vec<Section>) {
    for section in sections {
        let Section {
            title,
            next,
            items,
            is_work,
        } = section;
        let mark = if is_work { "- [ ]" } else { "-" };
        text.push('\n');
        line(text, &format!("### {title}"));
        text.push('\n');
        if !next.is_empty() {
            line(text, &format!("Next: {next}."));
            text.push('\n');
        }
        for item in items {
            line(text, &format!("{mark} {item}"));
        }
    }
}

fn summary(whole: &Outcome) -> String {
    let all = whole.workflows.len() + whole.missing.len();
    let there = || whole.workflows.iter().filter(|one| one.is_there());
    let workflows = if all == 1 { "workflow" } else { "workflows" };
    let came = format!("{} of {all} {workflows} came over", there().count());
    if whole.workflows.iter().any(|one| one.deployment.is_some()) {
        let is_deployed =
            |one: &&Workflow| matches!(one.deployment, Some(Deployment::Deployed { .. }));
        let deployed = there().filter(is_deployed).count();
        return format!("{came}; {deployed} deployed.");
    }
    let ready = there().filter(|one| one.count() == 0).count();
    format!(
        "{came}; in {ready} there is nothing to do before it is deployed, as far as folders tell: they do not know which \
         components the node has."
    )
}

/// Adds a line. Texts of others may have characters that a terminal obeys, or that begin another line.
fn line(text: &mut String, line: &str) {
    text.extend(line.chars().map(|c| match c {
        '\n' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }));
    text.push('\n');
}
