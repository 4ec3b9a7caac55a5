//! Replays: a run that has ended is done again, whole or from a step (docs/guide/workflow-errors.md, "Replay").

use std::{collections::BTreeMap, sync::Arc};

use headwater_model::id::{DeploymentId, InvocationId};
use headwater_store::Trigger;
use headwater_workflow::{path::Path, run::Replay};
use serde_json::value::RawValue;

use super::{cancel::on_run, runs::FoundRun};
use crate::{
    audit::AuditAction,
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    workflows::{Content, Head, ReplayOf, RunDetails, place_of},
};

/// `POST /runs/{id}/replay`.
#[derive(Debug, Clone, Default)]
pub struct ReplayRequest {
    /// The path of the step to begin with, with or without the indices of loops; all is done again without.
    pub from: Option<String>,
    /// Whether it follows the deployment of the replayed run, not the workflow's current one.
    pub is_same: bool,
}

/// A replay as it would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayPlan {
    /// The deployment that it follows.
    pub deployment_id: DeploymentId,
    /// The places whose results are used again, in the order in which they began.
    pub kept: Vec<Path>,
}

/// A replay that can begin.
struct Prepared {
    run: FoundRun,
    plan: ReplayPlan,
    head: Head,
    event: Box<RawValue>,
}

impl Platform {
    /// Tells what a replay would skip, and starts nothing.
    ///
    /// # Errors
    /// As [`Platform::replay_run`].
    pub async fn replay_plan(
        &self,
        caller: &Caller,
        id: &InvocationId,
        request: &ReplayRequest,
    ) -> Result<ReplayPlan, PlatformError> {
        Ok(self.prepared_replay(caller, id, request).await?.plan)
    }

    /// Starts a replay, durably, and returns its id.
    ///
    /// # Errors
    /// `Conflict` for a run that has not ended, and for a step that it never began; `QuotaExceeded` when its user has had
    /// its invocations of the day.
    pub async fn replay_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
        request: &ReplayRequest,
    ) -> Result<(InvocationId, ReplayPlan), PlatformError> {
        let Prepared {
            run,
            plan,
            head,
            event,
        } = self.prepared_replay(caller, id, request).await?;
        let started = self
            .start_run(run.workflow(), Trigger::Replay, event, Some(head))
            .await?;
        let act = on_run(AuditAction::RunReplay, id, run.workflow());
        let act = act.with_some("from", request.from.as_deref());
        self.record(caller, act.with("run_id", started.as_str()))
            .await;
        Ok((started, plan))
    }

    async fn prepared_replay(
        &self,
        caller: &Caller,
        id: &InvocationId,
        request: &ReplayRequest,
    ) -> Result<Prepared, PlatformError> {
        let run = self.found_run(caller, id).await?;
        if let FoundRun::Open(..) = run {
            let reason = format!("run `{id}` has not ended; wait for its end, or cancel it first");
            return Err(PlatformError::Conflict(reason));
        }
        let gone =
            || PlatformError::Conflict(format!("the event of run `{id}` is not kept any more"));
        let RunDetails {
            head: old, event, ..
        } = self.details_of(id).await?.ok_or_else(gone)?;
        let event = event.ok_or_else(gone)?;
        let deployment_id = match (request.is_same, old.deployment_id) {
            (true, Some(id)) => id,
            _ => run.workflow().deployment_id.clone(),
        };
        let kept = match &request.from {
            Some(from) => self.kept_by(&run, id, &deployment_id, from).await?,
            None => Vec::new(),
        };
        let head = Head {
            deployment_id: Some(deployment_id.clone()),
            trace_id: Some(old.trace_id.unwrap_or_else(|| id.to_string())),
            replay: Some(ReplayOf {
                run_id: id.clone(),
                from: request.from.clone(),
            }),
            ..Head::default()
        };
        let plan = ReplayPlan {
            deployment_id,
            kept,
        };
        Ok(Prepared {
            run,
            plan,
            head,
            event,
        })
    }

    async fn kept_by(
        &self,
        run: &FoundRun,
        id: &InvocationId,
        deployment_id: &DeploymentId,
        from: &str,
    ) -> Result<Vec<Path>, PlatformError> {
        let deployment = self.core.store.deployment(deployment_id).await?;
        let deployment = deployment.ok_or_else(|| {
            let workflow = &run.workflow().id;
            PlatformError::Internal(format!("the deployment of workflow `{workflow}` is gone"))
        })?;
        let definition = Content::of(&deployment)?.definition()?;
        let places = self.core.store.run_places(id).await?;
        let places = places
            .iter()
            .map(place_of)
            .collect::<Result<BTreeMap<_, _>, _>>()?;
        let from: Path = from
            .parse()
            .map_err(|error| PlatformError::invalid("from", error))?;
        let replay = Replay::from_step(Arc::new(definition), &places, &from);
        Ok(replay
            .map_err(|error| PlatformError::Conflict(error.to_string()))?
            .kept)
    }
}
