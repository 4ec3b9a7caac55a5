//! The things that orders need before they can be carried out.

use std::{collections::BTreeSet, sync::Arc};

use headwater_engine::{Entry, WorkerSpec};
use headwater_model::id::{AccountId, InvocationId, RunnableId};
use headwater_store::Owner;
use headwater_workflow::{
    path::Path,
    run::{Blob, Work},
};
use serde_json::{Map, Value, value::RawValue};

use super::{
    account_masks::accounts_marked_in,
    blob_texts::BlobTexts,
    calls::{HOPS_MAX, too_many_calls},
    context::WorkflowContext,
    deployed::Deployed,
    input,
    masking::Masks,
};
use crate::error::PlatformError;

/// An order that can be carried out.
pub(super) enum Start {
    /// Code or expressions.
    Execute(Box<Execution>),
    /// A run of another workflow.
    Call(Call),
}

/// An execution of code or expressions in a worker.
pub(super) struct Execution {
    pub(super) worker: WorkerSpec,
    pub(super) entry: Entry,
    pub(super) props: Map<String, Value>,
    pub(super) masks: Arc<Masks>,
    pub(super) texts: BlobTexts,
    pub(super) work: Work,
    /// Whether the accounts whose marks earlier results hold are among the masks.
    pub(super) knows_marks: bool,
    /// Its input with values in place of marks, if it is large.
    pub(super) input: Option<String>,
}

/// A call of another workflow.
pub(super) struct Call {
    pub(super) runnable: RunnableId,
    pub(super) event: Arc<RawValue>,
    /// Whether the place waits for its end.
    pub(super) waits: bool,
}

/// Reads what an order needs.
///
/// # Errors
/// Something is missing: the step cannot run.
pub(super) async fn prepared(
    context: &WorkflowContext,
    deployed: &Arc<Deployed>,
    (run_id, path, hops): (&InvocationId, &Path, u32),
    work: Work,
    blobs: Vec<Blob>,
) -> Result<Start, PlatformError> {
    let texts = BlobTexts::read(&context.core, run_id, blobs).await?;
    let variables = context.variables.of(&deployed.workflow.owner).await?;
    let masks = Arc::clone(&variables.masks);
    match work {
        Work::Call { .. } if hops >= HOPS_MAX => Err(too_many_calls()),
        Work::Call {
            workflow,
            event,
            waits,
        } => {
            let runnable = context
                .find(&deployed.workflow.owner, &workflow)
                .await?
                .into();
            let event = texts.of(&event)?;
            Ok(Start::Call(Call {
                runnable,
                event: input::raw(event.as_ref().to_owned()),
                waits,
            }))
        }
        Work::Evaluate(_) => Ok(Start::Execute(Box::new(Execution {
            worker: deployed.evaluator(&context.core, &variables),
            entry: Entry::Evaluate,
            props: Map::new(),
            masks,
            texts,
            work,
            knows_marks: false,
            input: None,
        }))),
        Work::Step => {
            let namespace = deployed
                .definition
                .node(path)
                .map(|node| node.namespace.as_str().to_owned());
            let step = namespace.and_then(|namespace| deployed.step(&namespace));
            let step = step.ok_or_else(|| PlatformError::not_found("step", path))?;
            let finals = step.finals(&context.props).await?;
            if let Some(reason) = finals.broken {
                return Err(PlatformError::Conflict(reason));
            }
            let used = step.auths(&finals);
            let owner = &deployed.workflow.owner;
            let of_accounts = context.account_masks.used(owner, &used).await?;
            let masks = masks.beside(&context.core.aside, of_accounts).await?;
            Ok(Start::Execute(Box::new(Execution {
                worker: deployed.worker(&context.core, step, &variables),
                entry: Entry::Step,
                props: finals.values,
                masks,
                texts,
                work,
                knows_marks: false,
                input: None,
            })))
        }
    }
}

/// An execution that knows the accounts whose marks are in its input: of earlier steps, and of other workflows.
///
/// # Errors
/// The accounts cannot be read.
pub(super) async fn knowing(
    context: &WorkflowContext,
    owner: &Owner,
    accounts: BTreeSet<AccountId>,
    mut execution: Execution,
) -> Result<Execution, PlatformError> {
    let of_accounts = context.account_masks.marked(owner, accounts).await?;
    let masks = execution.masks.beside(&context.core.aside, of_accounts);
    execution.masks = masks.await?;
    execution.knows_marks = true;
    Ok(execution)
}

/// An execution whose large input has the values in place of their marks.
///
/// # Errors
/// The accounts cannot be read.
pub(super) async fn with_large_input(
    context: &WorkflowContext,
    owner: &Owner,
    marked: String,
    mut execution: Execution,
) -> Result<Execution, PlatformError> {
    let marked = Arc::new(marked);
    loop {
        let (text, masks) = (Arc::clone(&marked), Arc::clone(&execution.masks));
        let knows_marks = execution.knows_marks;
        let opened = context.core.aside.run(move || {
            let opened = masks.opened(&text).into_owned();
            let accounts = match knows_marks {
                true => BTreeSet::new(),
                false => accounts_marked_in(&opened),
            };
            (opened, accounts)
        });
        let (opened, accounts) = opened.await?;
        if accounts.is_empty() {
            execution.input = Some(opened);
            return Ok(execution);
        }
        execution = knowing(context, owner, accounts, execution).await?;
    }
}
