//! Calls of a component's code that belong to no source: computed options and props, an action run once, and a trial of a
//! source.
//!
//! Each call has a worker of its own, which ends with it: things that one user's call leaves in a
//! module, such as a client with somebody's credentials, must not be there for the next.

use std::{collections::BTreeMap, sync::Arc};

use headwater_engine::{Entry, Export, Invocation, Response, RunMessage, WorkerOwner, WorkerSpec};
use headwater_model::{
    event::Emit,
    id::{InvocationId, SourceId, WorkspaceId},
    outcome::Outcome,
    prop::{self, ConfiguredProps, PropDefinition},
};
use headwater_store::{Owner, SavedComponent, Usage};
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::mpsc;

use crate::{
    accounts::UsedAccount, artifact::ArtifactState, audit::Act, caller::Caller,
    data_stores::StoreRequests, error::PlatformError, log_line::LogLine, platform::Platform,
    props::apps, secrets, use_cases::components::ComponentRef,
};

/// Events of one call that are kept to be shown.
const EMITS_MAX: usize = 100;
/// And their bytes.
const EMITS_BYTES: usize = 1024 * 1024;

/// A call: the component, the caller and the values.
#[derive(Debug, Clone)]
pub struct CallTarget {
    /// The component.
    pub component: ComponentRef,
    /// The workspace in which keys are resolved.
    pub workspace_id: Option<WorkspaceId>,
    /// The source that is to be updated like this: the values that it has count too, secrets included, and its
    /// workspace instead of the above.
    pub source_id: Option<SourceId>,
    /// Values by prop, as far as they are known.
    pub configured_props: ConfiguredProps,
}

/// A call's component and values, as far as they are known.
pub(crate) struct KnownProps {
    pub(crate) component: SavedComponent,
    /// The owner of the data stores that it may use.
    pub(crate) owner: Owner,
    /// As they were given, over those that the source has.
    pub(crate) configured: ConfiguredProps,
    /// As the component finds them.
    pub(crate) values: Map<String, Value>,
}

/// A call that has ended.
pub(crate) struct CallReport {
    pub(crate) invocation_id: InvocationId,
    pub(crate) outcome: Outcome,
    pub(crate) exports: Vec<Export>,
    /// The reason given to `$.flow.exit`.
    pub(crate) exit: Option<String>,
    /// The first of the events that it emitted.
    pub(crate) emits: Vec<Emit>,
    /// The number of all of them.
    pub(crate) emitted: u64,
    /// The argument of `respond()`.
    pub(crate) response: Option<Response>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) compute_ms: u64,
}

/// The function to call and its arguments.
pub(crate) struct Call {
    pub(crate) component: SavedComponent,
    pub(crate) entry: Entry,
    pub(crate) event: Box<RawValue>,
    pub(crate) props: Map<String, Value>,
    /// The owner of the data stores that it may use.
    pub(crate) owner: Owner,
    /// The key-value map that it finds. Its changes are not kept.
    pub(crate) key_values: Map<String, Value>,
}

impl Platform {
    /// The component that is to be called, and the values it is called with, as far as they are known. Those of a source
    /// reach no other code than an update of it by the same caller would hand them to.
    ///
    /// # Errors
    /// `NotFound`, or `InvalidProps` for a value that does not fit.
    pub(crate) async fn known_props(
        self: &Arc<Self>,
        caller: &Caller,
        target: &CallTarget,
    ) -> Result<KnownProps, PlatformError> {
        let given = &target.configured_props;
        let (owner, known) = match &target.source_id {
            Some(id) => {
                let source = self.visible_source(caller, id).await?;
                let merged = self.merged_props(&source, Some(given))?;
                (source.owner, merged)
            }
            None => {
                let owner = self.owner(caller, target.workspace_id.clone()).await?;
                (owner, given.clone())
            }
        };
        let workspace_id = owner.workspace_id.clone();
        let component = self
            .component(caller, &target.component, workspace_id)
            .await?;
        if target.source_id.is_some() {
            Self::check_source(&component)?;
        }
        secrets::refuse_sealed(&known)?;
        let definitions = &component.description.props;
        let configured =
            prop::configure_some(definitions, &known).map_err(PlatformError::configured_prop)?;
        self.check_accounts(caller, &apps(definitions), &configured)
            .await?;
        Ok(KnownProps {
            values: self.unbroken_props(definitions, &configured).await?,
            component,
            owner,
            configured,
        })
    }

    /// The component that is to be called, and every value it needs.
    ///
    /// # Errors
    /// `NotFound`, or `InvalidProps` for a value that is missing or does not fit.
    pub(crate) async fn all_props(
        self: &Arc<Self>,
        caller: &Caller,
        target: &CallTarget,
    ) -> Result<(SavedComponent, Map<String, Value>), PlatformError> {
        let (reference, workspace_id) = (&target.component, target.workspace_id.clone());
        let component = self.component(caller, reference, workspace_id).await?;
        let given = &target.configured_props;
        let owner = self.owner(caller, target.workspace_id.clone()).await?;
        let checked = self
            .checked_action_props(caller, &component, &owner, given)
            .await?;
        let props = self
            .unbroken_props(&checked.definitions, &checked.values)
            .await?;
        Ok((component, props))
    }

    /// The final values, which a call needs whole: an account that is gone is an error.
    pub(crate) async fn unbroken_props(
        self: &Arc<Self>,
        definitions: &[PropDefinition],
        configured: &ConfiguredProps,
    ) -> Result<Map<String, Value>, PlatformError> {
        let props = self.props.finals(definitions, configured).await?;
        match props.broken {
            Some(reason) => Err(PlatformError::Conflict(reason)),
            None => Ok(props.values),
        }
    }

    /// After a call that may have met a 401: whether one of its accounts has other credentials now.
    pub(crate) async fn recheck_accounts(
        self: &Arc<Self>,
        caller: &Caller,
        configured: &ConfiguredProps,
        outcome: &Outcome,
    ) -> bool {
        if !outcome.is_unauthorized() {
            return false;
        }
        let mut used = Vec::new();
        for value in configured.values() {
            let id = value.get("authProvisionId").and_then(Value::as_str);
            if let Some(id) = id.and_then(|id| id.parse().ok())
                && let Ok(account) = self.visible_account(caller, &id).await
            {
                let version = account.version;
                used.push(UsedAccount { id, version });
            }
        }
        self.runners.recheck(used).await
    }

    /// Makes a call and waits for its end. It goes on to its end if the caller goes away.
    pub(crate) async fn call(self: &Arc<Self>, call: Call) -> Result<CallReport, PlatformError> {
        let platform = Arc::clone(self);
        self.core
            .to_the_end(async move { platform.call_to_the_end(call).await })
            .await
    }

    /// The same for a call that counts for its owner's quota and usage, as computing options and props does not, and that
    /// leaves an audit record. `configured` names the accounts that it uses.
    ///
    /// # Errors
    /// `QuotaExceeded`, and those of a call that could not be made, which costs nothing.
    pub(crate) async fn charged_call(
        self: &Arc<Self>,
        caller: &Caller,
        call: Call,
        act: Act,
        configured: &ConfiguredProps,
    ) -> Result<CallReport, PlatformError> {
        let owner = call.owner.clone();
        self.quotas.take_invocation(&owner.user_id).await?;
        let called = self.call(call).await;
        let report = called.inspect_err(|_| self.quotas.give_invocation_back(&owner.user_id))?;
        let act = act.with("run_id", report.invocation_id.as_str());
        self.record(caller, act).await;
        let usage = Usage {
            invocations: 1,
            compute_ms: report.compute_ms,
        };
        let now_ms = self.core.env.now_ms();
        self.core.store.add_usage(&owner, usage, now_ms).await?;
        self.recheck_later(caller.clone(), configured.clone(), report.outcome.clone());
        Ok(report)
    }

    /// Looks at the accounts of a call that met a 401. Its effects must not happen twice: the next one gets the new
    /// credentials.
    fn recheck_later(
        self: &Arc<Self>,
        caller: Caller,
        configured: ConfiguredProps,
        outcome: Outcome,
    ) {
        let platform = Arc::clone(self);
        self.core.tasks.spawn(async move {
            platform
                .recheck_accounts(&caller, &configured, &outcome)
                .await
        });
    }

    async fn call_to_the_end(self: &Arc<Self>, call: Call) -> Result<CallReport, PlatformError> {
        let _permit = tokio::select! {
            permit = self.calls.acquire() => permit.ok(),
            () = self.core.stopping.cancelled() => {
                return Err(PlatformError::Unavailable("the node is stopping".to_owned()));
            }
        };
        let invocation_id = self.core.env.id(InvocationId::new);
        let worker = WorkerSpec {
            owner: WorkerOwner::Call(invocation_id.clone()),
            tenant: call.owner.tenant().into(),
            is_isolated: true,
            heap_mib: None,
            artifact_hash: call.component.artifact_hash.clone(),
            env: BTreeMap::new(),
            state: Arc::new(ArtifactState {
                store: Arc::clone(&self.core.store),
                artifact_hash: call.component.artifact_hash,
                key_values: call.key_values,
            }),
        };
        let invocation = Invocation {
            run: 1,
            entry: call.entry,
            event: call.event.into(),
            props: call.props,
            wall: None,
        };
        let report = self
            .follow_call(invocation_id, call.owner, &worker, invocation)
            .await;
        self.core.engine.evict(&worker.owner).await;
        report
    }

    async fn follow_call(
        self: &Arc<Self>,
        invocation_id: InvocationId,
        owner: Owner,
        worker: &WorkerSpec,
        invocation: Invocation,
    ) -> Result<CallReport, PlatformError> {
        let mut store_requests = StoreRequests::new(owner, &invocation.props);
        let (sink, mut messages) = mpsc::unbounded_channel();
        let started = std::time::Instant::now();
        self.core.engine.invoke(worker, invocation, sink).await?;
        let mut report = CallReport {
            invocation_id,
            outcome: Outcome::Lost {
                message: "the worker went away".to_owned(),
            },
            exports: Vec::new(),
            exit: None,
            emits: Vec::new(),
            emitted: 0,
            response: None,
            logs: Vec::new(),
            compute_ms: 0,
        };
        while let Some((_, message)) = messages.recv().await {
            match message {
                RunMessage::Exported(export) => report.exports.push(export),
                RunMessage::Exited(reason) => report.exit = Some(reason),
                RunMessage::Log { level, text } => report.logs.push(LogLine {
                    level,
                    message: text,
                    ts: self.core.env.now_ms(),
                }),
                RunMessage::StoreAsked(request) => store_requests.take(&self.data_stores, request),
                RunMessage::Outcome(outcome) => {
                    report.outcome = outcome;
                    break;
                }
                RunMessage::Emit(emit) => report.emitted(emit),
                RunMessage::Respond(response) => report.response = Some(response),
                // There is nothing to keep.
                RunMessage::KvChanged(_) | RunMessage::Step(_) => {}
            }
        }
        report.compute_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(report)
    }
}

impl CallReport {
    /// Counts an event, and keeps it while there is room.
    fn emitted(&mut self, emit: Emit) {
        self.emitted += 1;
        let bytes = |emit: &Emit| emit.event.get().len();
        let kept: usize = self.emits.iter().map(bytes).sum();
        if self.emits.len() < EMITS_MAX && kept + bytes(&emit) <= EMITS_BYTES {
            self.emits.push(emit);
        }
    }

    /// The value that the call returned.
    ///
    /// # Errors
    /// `Component` with its error or the limit that it exceeded, `Unavailable` if its worker was lost.
    pub(crate) fn returned(self, what: &str) -> Result<Option<Value>, PlatformError> {
        match (&self.outcome, self.outcome.error()) {
            (Outcome::Returned { value }, _) => Ok(value.clone()),
            (Outcome::Lost { message }, _) => Err(PlatformError::Unavailable(message.clone())),
            (_, error) => Err(PlatformError::Component {
                stage: format!("{what} failed"),
                error: Box::new(error.unwrap_or_default()),
            }),
        }
    }
}
