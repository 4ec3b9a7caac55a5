//! Doing a run of a source again (docs/guide/runs.md, "Running again"): on the code that the source runs now, as a run by
//! hand, or as a trial of the code and the values of then.
//!
//! A run on the code of then counts for nothing. A source has one key-value map and one memory of dedupe, and both belong
//! to the code that it runs now: other code might not understand the former, and would fill the latter for it.

use std::sync::Arc;

use headwater_model::{
    id::{InvocationId, RunnableId, SourceId},
    limits::PAGE_LIMIT_MAX,
    page::PageRequest,
    time::EpochMs,
};
use headwater_store::{RunRecord, RunTrigger, RunVersion, Source, SourceDeployment};
use serde_json::Value;

use super::deployments::{SourceDeploymentView, unfit};
use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    runner::RunReport,
    use_cases::trials::{Trial, TrialReport},
};

/// A run of a source as it can be done again.
#[derive(Debug, Clone)]
pub struct SourceReplay {
    /// The source.
    pub source_id: SourceId,
    /// Its name.
    pub source_name: String,
    /// The cause of the run.
    pub trigger: RunTrigger,
    /// The run's event, as far as it is known: that of another emitter which is still kept, and the tick of the source's
    /// only timer. A run keeps no event of its own.
    pub event: Option<Value>,
    /// The deployment that the source runs now, with secrets left out.
    pub now: Option<SourceDeploymentView>,
    /// The one that it ran then, if that is still kept.
    pub then: Option<SourceDeploymentView>,
}

/// The code and the values that a run is done again on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceVersion {
    /// Those of now.
    Now,
    /// Those of then.
    Then,
}

impl SourceReplay {
    /// Whether the source still runs what it ran then.
    pub fn is_unchanged(&self) -> bool {
        self.then.as_ref().is_some_and(|then| then.is_current)
    }

    /// The deployment that a replay would follow.
    pub fn deployment(&self, version: SourceVersion) -> Option<&SourceDeploymentView> {
        match version {
            SourceVersion::Now => self.now.as_ref(),
            SourceVersion::Then => self.then.as_ref(),
        }
    }
}

impl Platform {
    /// Tells how a run of a source can be done again.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such run of a source, `Conflict` for the run of a hook.
    pub async fn source_replay(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<SourceReplay, PlatformError> {
        Ok(self.found_replay(caller, id).await?.1)
    }

    /// Runs the source again, with the run's event or another one, on the code that it runs now, and waits until that is
    /// committed.
    ///
    /// # Errors
    /// As [`Platform::source_replay`] and [`Platform::run_source`]; `Invalid` where no event is given and the run's is
    /// not known.
    pub async fn replay_source_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: &InvocationId,
        event: Option<Value>,
    ) -> Result<RunReport, PlatformError> {
        let (source, replay) = self.found_replay(caller, id).await?;
        let event = event.or(replay.event).ok_or_else(no_event)?;
        let act = Act::on_source(AuditAction::SourceRun, &source);
        let act = act.with("replay_of", id.as_str());
        self.run_by_hand(caller, &source, Some(event), act).await
    }

    /// Tries the code and the values of then, with the run's event or another one and a copy of the source's key-value
    /// map. Its events go nowhere, and the map stays as it is.
    ///
    /// # Errors
    /// As [`Platform::source_replay`] and [`Platform::try_source`]; `Conflict` when the deployment of then is not kept, or
    /// its values do not fit any more; `Invalid` where no event is given and the run's is not known.
    pub async fn try_source_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: &InvocationId,
        event: Option<Value>,
    ) -> Result<TrialReport, PlatformError> {
        let (source, replay) = self.found_replay(caller, id).await?;
        let event = event.or(replay.event).ok_or_else(no_event)?;
        let then = replay.then.ok_or_else(|| {
            let reason = format!(
                "the deployment that run `{id}` ran is not kept any more; replay it on the code of now"
            );
            PlatformError::Conflict(reason)
        })?;
        let deployment = self
            .kept_deployment(&source.id, &then.deployment.id)
            .await?;
        let component = self.deployed_component(&deployment).await?;
        let values = self.props.opened(&deployment.configured_props);
        let trial = Trial {
            component,
            owner: source.owner.clone(),
            values: values.map_err(|error| unfit(error, &deployment.id))?,
            given: None,
            former: Some(&source),
            event: Some(event),
            key_values: self
                .core
                .store
                .key_values(&source.id.clone().into())
                .await?,
        };
        let tried = self.make_trial(caller, trial).await;
        tried.map_err(|error| unfit(error, &deployment.id))
    }

    /// The deployment that a run of a source ran, if it is still kept.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such source.
    pub async fn deployment_of_run(
        &self,
        caller: &Caller,
        run: &RunRecord,
    ) -> Result<Option<SourceDeploymentView>, PlatformError> {
        let RunnableId::Source(id) = &run.runnable else {
            return Ok(None);
        };
        let source = self.visible_source(caller, id).await?;
        let all = PageRequest::first(PAGE_LIMIT_MAX);
        let kept = self.core.store.source_deployments(id, &all).await?.items;
        let then = of_then(&kept, &run.ended.version, run.ended.started_at_ms);
        Ok(then.map(|one| SourceDeploymentView::new(one.clone(), &source)))
    }

    async fn found_replay(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<(Source, SourceReplay), PlatformError> {
        let run = self.visible_run(caller, id).await?;
        let trigger = run.ended.trigger;
        if trigger.of_invocation().is_none() {
            let reason = format!(
                "run `{id}` is one of a hook; a hook runs again when the source is updated, paused or resumed"
            );
            return Err(PlatformError::Conflict(reason));
        }
        let RunnableId::Source(source_id) = &run.runnable else {
            return Err(PlatformError::not_found("run", id));
        };
        let source = self.visible_source(caller, source_id).await?;
        let all = PageRequest::first(PAGE_LIMIT_MAX);
        let kept = self
            .core
            .store
            .source_deployments(source_id, &all)
            .await?
            .items;
        let now = kept
            .iter()
            .find(|one| Some(&one.id) == source.deployment_id.as_ref());
        let then = of_then(&kept, &run.ended.version, run.ended.started_at_ms);
        let shown = |one: &SourceDeployment| SourceDeploymentView::new(one.clone(), &source);
        let replay = SourceReplay {
            source_id: source_id.clone(),
            source_name: source.spec.name.clone(),
            trigger,
            event: self.known_event(caller, &source, &run).await?,
            now: now.map(shown),
            then: then.map(shown),
        };
        Ok((source, replay))
    }

    /// The event of a run, as far as it can be told.
    async fn known_event(
        &self,
        caller: &Caller,
        source: &Source,
        run: &RunRecord,
    ) -> Result<Option<Value>, PlatformError> {
        if let Some(cause) = &run.caused_by {
            return match self.event(caller, cause).await {
                Ok(logged) => Ok(serde_json::from_str(logged.event.event.get()).ok()),
                Err(PlatformError::EventGone { .. } | PlatformError::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            };
        }
        Ok(match (run.ended.trigger, source.spec.timers.as_slice()) {
            (RunTrigger::Timer, [timer]) => Some(timer.schedule.tick_event(run.ended.queued_at_ms)),
            _ => None,
        })
    }
}

/// The deployment that a source ran at a time, if it had that code.
fn of_then<'a>(
    oldest_first: &'a [SourceDeployment],
    version: &RunVersion,
    at_ms: EpochMs,
) -> Option<&'a SourceDeployment> {
    let mut until = oldest_first.iter().rev();
    let found = until.find(|deployment| deployment.created_at_ms <= at_ms)?;
    (found.component.id.as_str() == version.as_str()).then_some(found)
}

fn no_event() -> PlatformError {
    let reason = "`event` is required: give it as JSON, because a run keeps no event and this one's is not known from elsewhere";
    PlatformError::invalid("event", reason)
}
