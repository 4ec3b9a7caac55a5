//! Running a source's code once without deploying it (docs/guide/writing-a-component.md, "Trying it"): in the sandbox and
//! under the limits of every run, with the values that it would be deployed with. Its events are shown and appended
//! nowhere, its key-value map begins empty and is not kept, and its hooks do not run.

use std::sync::Arc;

use headwater_engine::{Entry, Response};
use headwater_model::{
    endpoint::EndpointToken,
    event::Emit,
    id::InvocationId,
    outcome::Outcome,
    prop::{ConfiguredProps, PropDefinition, PropKind},
};
use headwater_store::{Owner, SavedComponent, Source};
use serde_json::{Map, Value, json};

use crate::{
    audit::AuditAction,
    caller::Caller,
    error::PlatformError,
    log_line::LogLine,
    platform::Platform,
    use_cases::{
        calls::{Call, CallTarget},
        components::on_component,
    },
};

/// The result of a trial.
#[derive(Debug, Clone)]
pub struct TrialReport {
    /// The invocation.
    pub invocation_id: InvocationId,
    /// Its outcome.
    pub outcome: Outcome,
    /// The first events that it emitted, in order; dedupe, which compares with former runs, saw none of them.
    pub events: Vec<Emit>,
    /// All that it emitted.
    pub emitted: u64,
    /// The response that it gave to the request, if it gave one.
    pub response: Option<Response>,
    /// Its logs.
    pub logs: Vec<LogLine>,
}

/// A run to try.
pub(crate) struct Trial<'a> {
    pub(crate) component: SavedComponent,
    /// The owner of the source that it is of, or would be.
    pub(crate) owner: Owner,
    /// Values by prop, in clear.
    pub(crate) values: ConfiguredProps,
    /// Those of them that the caller gave: one for no prop is an error.
    pub(crate) given: Option<&'a ConfiguredProps>,
    /// The source whose endpoints it has.
    pub(crate) former: Option<&'a Source>,
    /// The event; that of a run by hand without.
    pub(crate) event: Option<Value>,
    /// The key-value map that it finds, and whose changes are thrown away.
    pub(crate) key_values: Map<String, Value>,
}

impl Platform {
    /// Runs a source's code once, with an event or that of a run by hand, and waits for its end. A thrown error is its
    /// outcome, not an error of this call.
    ///
    /// # Errors
    /// `Invalid` for an action, `InvalidProps`, `NotFound`, `QuotaExceeded`.
    pub async fn try_source(
        self: &Arc<Self>,
        caller: &Caller,
        target: &CallTarget,
        event: Option<Value>,
    ) -> Result<TrialReport, PlatformError> {
        let former = match &target.source_id {
            Some(id) => Some(self.visible_source(caller, id).await?),
            None => None,
        };
        let given = &target.configured_props;
        let (owner, values) = match &former {
            Some(source) => {
                let merged = self.merged_props(source, Some(given))?;
                (source.owner.clone(), merged)
            }
            None => {
                let owner = self.owner(caller, target.workspace_id.clone()).await?;
                (owner, given.clone())
            }
        };
        let workspace = owner.workspace_id.clone();
        let component = self.component(caller, &target.component, workspace).await?;
        Self::check_source(&component)?;
        let trial = Trial {
            component,
            owner,
            values,
            given: Some(given),
            former: former.as_ref(),
            event,
            key_values: Map::new(),
        };
        self.make_trial(caller, trial).await
    }

    /// Makes a trial whose component and values are known, and waits for its end.
    ///
    /// # Errors
    /// As [`Platform::try_source`].
    pub(crate) async fn make_trial(
        self: &Arc<Self>,
        caller: &Caller,
        trial: Trial<'_>,
    ) -> Result<TrialReport, PlatformError> {
        let Trial {
            component,
            owner,
            values,
            given,
            former,
            event,
            key_values,
        } = trial;
        let checked = self
            .checked_props(caller, &component, &owner, values, given)
            .await?;
        let (definitions, configured) = (&checked.definitions, &checked.values);
        let mut props = self.unbroken_props(definitions, configured).await?;
        self.add_interfaces(definitions, configured, former, &mut props)?;
        let event = event.unwrap_or_else(|| json!({ "timestamp": self.core.env.now_at() }));
        let event = serde_json::value::to_raw_value(&event)
            .map_err(|error| PlatformError::Internal(error.to_string()))?;
        let act = on_component(AuditAction::ComponentRun, &component).of(&owner);
        let call = Call {
            component,
            entry: Entry::Run,
            event,
            props,
            owner,
            key_values,
        };
        let report = self.charged_call(caller, call, act, configured).await?;
        Ok(TrialReport {
            invocation_id: report.invocation_id,
            outcome: report.outcome,
            events: report.emits,
            emitted: report.emitted,
            response: report.response,
            logs: report.logs,
        })
    }

    /// Adds what only a source has: its timers, and its endpoints, which are those of the source that is to be updated, or
    /// ones where nothing answers yet.
    fn add_interfaces(
        &self,
        definitions: &[PropDefinition],
        configured: &ConfiguredProps,
        former: Option<&Source>,
        props: &mut Map<String, Value>,
    ) -> Result<(), PlatformError> {
        for prop in definitions {
            let value = match prop.kind() {
                PropKind::Timer => prop
                    .schedule(configured.get(&prop.name))
                    .map_err(PlatformError::configured_prop)?
                    .to_value(),
                PropKind::Http => {
                    let mut known = former.iter().flat_map(|source| &source.spec.endpoints);
                    let known = known.find(|endpoint| endpoint.prop == prop.name);
                    let token = known.map(|endpoint| endpoint.token.clone());
                    let token = token.unwrap_or_else(|| EndpointToken::new(self.core.env.token()));
                    json!({ "endpoint": self.core.config.endpoint_url(&token) })
                }
                PropKind::Input
                | PropKind::App
                | PropKind::Db
                | PropKind::DataStore
                | PropKind::HttpRequest
                | PropKind::Apphook
                | PropKind::Inert => continue,
            };
            props.insert(prop.name.clone(), value);
        }
        Ok(())
    }
}
