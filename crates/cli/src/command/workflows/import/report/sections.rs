//! The work that is left for one workflow, kind by kind, with the next step of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::super::needs::Needs;
use super::super::outcome::{Deployment, State, Workflow};
use crate::workflow::findings;

/// One kind of work.
pub(super) struct Section {
    pub(super) title: &'static str,
    /// The next step; empty if the title says it.
    pub(super) next: &'static str,
    pub(super) items: Vec<String>,
    /// Whether each item is something to do, as against something to know.
    pub(super) is_work: bool,
}

/// The outcome in a few words.
pub(super) fn outcome(workflow: &Workflow) -> String {
    let came = match &workflow.state {
        State::Imported => "imported".to_owned(),
        State::Unchanged => "there already, unchanged".to_owned(),
        State::Kept { .. } => "there already with changes, which stay".to_owned(),
        State::Failed { reason } => return format!("did not come over: {reason}"),
    };
    let deployed = match &workflow.deployment {
        Some(Deployment::Deployed { id, .. }) => format!("deployed as {id}"),
        Some(Deployment::Left { reason }) => format!("not deployed: {reason}"),
        Some(Deployment::Refused { reason }) => format!("not deployed: {reason}"),
        None => match workflow.count() {
            0 => "nothing to do before it is deployed".to_owned(),
            1 => "one thing to do".to_owned(),
            number => format!("{number} things to do"),
        },
    };
    format!("{came}; {deployed}")
}

/// Everything that there is to say, the urgent before the rest.
pub(super) fn of(workflow: &Workflow) -> Vec<Section> {
    let mut sections = of_folder(workflow);
    sections.extend(of_needs(&workflow.folder, &workflow.needs));
    sections.extend(to_know(&workflow.needs));
    if let Some(Deployment::Deployed { endpoints, .. }) = &workflow.deployment {
        sections.push(Section {
            title: "URLs of its triggers",
            is_work: true,
            next: "give them to whoever calls the workflow",
            items: endpoints.clone(),
        });
    }
    sections.retain(|section| !section.items.is_empty());
    sections
}

/// The work that is done once for all workflows.
pub(super) fn of_all(workflows: &[Workflow]) -> Vec<Section> {
    let needs = || workflows.iter().map(|workflow| &workflow.needs);
    let mut accounts = BTreeMap::<_, (&str, usize)>::new();
    for account in needs().flat_map(|needs| &needs.accounts) {
        let entry = accounts.entry(account.id.as_str());
        entry.or_insert((&account.app, 0)).1 += 1;
    }
    let accounts = accounts.into_iter();
    let accounts = accounts.map(|(id, (app, number))| {
        let workflows = if number == 1 { "workflow" } else { "workflows" };
        format!("`{id}` (app {app}), in {number} {workflows}")
    });
    let variables: BTreeSet<_> = needs().flat_map(|needs| &needs.variables).collect();
    let components: BTreeSet<_> = needs().flat_map(|needs| &needs.components).collect();
    let quoted = |names: BTreeSet<&String>| names.iter().map(|name| format!("`{name}`")).collect();
    let mut sections = vec![
        Section {
            title: "Accounts of all workflows",
            is_work: true,
            next: "`headwater accounts connect APP`, or `headwater accounts add APP` for one that `headwater apps` does not \
                   list; then replace the id in each workflow.yaml",
            items: accounts.collect(),
        },
        Section {
            title: "Variables of all workflows",
            is_work: true,
            next: "`headwater variables set NAME`",
            items: quoted(variables),
        },
        Section {
            title: "Components of all workflows",
            is_work: true,
            next: "the node brings `http-*`, `filter-*`, `delay-*`, `email-*`, `rss-*` and `formatting-*`, and takes those of packages on npm \
                   from there; publish the others with `headwater publish`",
            items: quoted(components),
        },
    ];
    sections.retain(|section| !section.items.is_empty());
    sections
}

fn of_folder(workflow: &Workflow) -> Vec<Section> {
    let differing = match &workflow.state {
        State::Kept { differing } => differing.clone(),
        State::Imported | State::Unchanged | State::Failed { .. } => Vec::new(),
    };
    vec![
        Section {
            title: "Files that differ from those of the origin",
            is_work: false,
            next: "they were not written over; for those of the origin, import into another folder",
            items: differing,
        },
        Section {
            title: "Fields that were not understood",
            is_work: true,
            next: "nothing was derived from them, and workflow.yaml says `inactive: true`; compare it with the JSON \
                   beside its folder, and then delete that line",
            items: workflow.not_understood.clone(),
        },
        Section {
            title: "Files that were left out",
            is_work: false,
            next: "",
            items: workflow.left_out.clone(),
        },
    ]
}

/// The work that keeps a workflow from doing as it did.
fn of_needs(folder: &str, needs: &Needs) -> Vec<Section> {
    let rewrite = needs.to_rewrite.iter();
    let rewrite = rewrite.map(|one| format!("`{}`: {}, {}", one.step, one.runtime, one.file));
    let accounts = needs.accounts.iter();
    let accounts = accounts.map(|one| format!("{} (app {})", uses(&one.id, &one.used_by), one.app));
    let private = needs.private_components.iter();
    let is_error = |one: &&Value| findings::is_error(one);
    let shown = |one: &Value| findings::line(Path::new(folder), one);
    let (errors, others): (Vec<_>, Vec<_>) = needs.findings.iter().partition(is_error);
    vec![
        Section {
            title: "Steps to rewrite in JavaScript",
            is_work: true,
            next: "delete their `runtime` with it, and `uses` if it names the old file",
            items: rewrite.collect(),
        },
        Section {
            title: "Triggers whose configuration is not in the file",
            is_work: true,
            next: "add below the `id` in workflow.yaml",
            items: triggers(needs, true),
        },
        Section {
            title: "Accounts to connect",
            is_work: true,
            next: "replace the id in workflow.yaml by that of the new account",
            items: accounts.collect(),
        },
        Section {
            title: "Components of a workspace",
            is_work: true,
            next: "`headwater publish` them, or put their code into the folder and name the file in `uses`",
            items: private
                .map(|one| format!("`{}`: {}", one.step, one.uses))
                .collect(),
        },
        Section {
            title: "Mistakes",
            is_work: true,
            next: "correct them in workflow.yaml",
            items: errors.into_iter().map(shown).collect(),
        },
        Section {
            title: "Findings",
            is_work: false,
            next: "",
            items: others.into_iter().map(shown).collect(),
        },
    ]
}

/// Things to know, or to set once.
fn to_know(needs: &Needs) -> Vec<Section> {
    let stores = needs.data_stores.iter();
    let dynamic = needs.dynamic_props.iter();
    vec![
        Section {
            title: "Variables to set",
            is_work: true,
            next: "`headwater variables set NAME`, once for all workflows",
            items: needs
                .variables
                .iter()
                .map(|name| format!("`{name}`"))
                .collect(),
        },
        Section {
            title: "Triggers that are others here",
            is_work: false,
            next: "",
            items: triggers(needs, false),
        },
        Section {
            title: "Data stores, which begin empty",
            is_work: false,
            next: "the id is the name of the store here, and may be replaced by a better one",
            items: stores.map(|one| uses(&one.id, &one.used_by)).collect(),
        },
        Section {
            title: "Props that depend on others (`_props_cursor`)",
            is_work: false,
            next: "they are found anew by each deployment; the cursor has no effect and may stay",
            items: dynamic
                .map(|one| format!("`{}`: {}", one.step, one.cursor))
                .collect(),
        },
    ]
}

fn uses(id: &str, used_by: &[String]) -> String {
    format!("`{id}`: {}", used_by.join(", "))
}

fn triggers(needs: &Needs, is_needed: bool) -> Vec<String> {
    let triggers = needs
        .triggers
        .iter()
        .filter(|one| one.is_needed == is_needed);
    triggers
        .map(|one| format!("`{}` ({}): {}", one.id, one.kind, one.add))
        .collect()
}
