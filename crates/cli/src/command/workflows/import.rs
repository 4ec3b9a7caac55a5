//! `workflows import`: brings workflows over from a synced repository of Pipedream or from the archive of an exported
//! project: a folder for each, and a report of the work that is left. Changes nothing at the origin, and writes over
//! nothing that is there already.

mod archive;
mod deployment;
mod export;
mod git;
mod incoming;
mod needs;
mod origin;
mod outcome;
mod report;
mod repository;
mod tree;
mod writing;

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use self::deployment::Deployments;
use self::incoming::{Incoming, Listed};
use self::needs::Needs;
use self::origin::Origin;
use self::outcome::{Outcome, State, Workflow};
use self::writing::Written;
use crate::arguments::{Global, ImportWorkflowsArguments};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::workflow::folder::Folder;

pub(super) async fn run(global: &Global, arguments: &ImportWorkflowsArguments) -> Result<Exit> {
    // A mistake in the address of the node is told before anything is written.
    let session = match arguments.deploy {
        true => Some(Session::open(global)?),
        false => None,
    };
    let into = arguments.into.as_path();
    std::fs::create_dir_all(into)
        .with_context(|| format!("cannot create the folder {}", into.display()))?;
    let origin = Origin::open(&arguments.origin, into).await?;
    let Listed { workflows, missing } = listed(&origin)?;
    let mut outcome = Outcome {
        origin: origin.shown.clone(),
        into: into.to_owned(),
        report: into.join(report::FILE),
        workflows: Vec::new(),
        missing,
    };
    let mut deployments = session.as_ref().map(Deployments::new);
    for incoming in workflows {
        let mut workflow = brought(into, incoming);
        if let Some(deployments) = &mut deployments {
            workflow.deployment = Some(deployments.next(&workflow, into).await);
        }
        outcome.workflows.push(workflow);
    }
    report::write(&outcome)?;
    match global.json {
        true => output::json(&serde_json::to_value(&outcome)?)?,
        false => output::report(&report::plain(&outcome))?,
    }
    if let Some(error) = deployments.and_then(Deployments::into_error) {
        return Err(error.context("not everything could be deployed"));
    }
    Ok(match outcome.is_whole() {
        true => Exit::Success,
        false => Exit::Failure,
    })
}

/// The workflows of an origin, whichever kind it is.
fn listed(origin: &Origin) -> Result<Listed> {
    let synced = repository::workflows(&origin.tree, &origin.name);
    if !synced.is_empty() {
        return Ok(Listed {
            workflows: synced,
            missing: Vec::new(),
        });
    }
    let exported = export::workflows(&origin.tree)?;
    if exported.workflows.is_empty() && exported.missing.is_empty() {
        bail!(
            "there are no workflows in {}: expected folders with a workflow.yaml, as Pipedream writes them into a \
             repository, or a `project_export-….zip`",
            origin.shown
        );
    }
    Ok(exported)
}

/// Writes one workflow, and finds the work that its folder asks for as it is now.
fn brought(into: &Path, incoming: Incoming) -> Workflow {
    let state = match writing::write(into, &incoming) {
        Ok(Written::New) => State::Imported,
        Ok(Written::Same) => State::Unchanged,
        Ok(Written::Kept(differing)) => State::Kept { differing },
        Err(error) => State::Failed {
            reason: format!("{error:#}"),
        },
    };
    let mut workflow = Workflow {
        folder: incoming.folder,
        state,
        original: incoming.original.map(|(name, _)| name),
        not_understood: incoming.not_understood,
        left_out: incoming.left_out,
        needs: Needs::default(),
        deployment: None,
    };
    if !workflow.is_there() {
        return workflow;
    }
    match Folder::read(&into.join(&workflow.folder)) {
        Ok(folder) => workflow.needs = Needs::of(&folder),
        Err(error) => {
            workflow.state = State::Failed {
                reason: format!("{error:#}"),
            };
        }
    }
    workflow
}
