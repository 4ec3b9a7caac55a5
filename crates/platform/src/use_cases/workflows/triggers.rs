//! The triggers of a deployment: their ids, and what each needs in the store.

use std::collections::{BTreeMap, HashSet};

use headwater_model::{
    endpoint::EndpointToken,
    id::{EmitterId, SourceId, SubscriptionId, TriggerId, TriggerKind, WorkflowId},
    subscription::EmitterPattern,
};
use headwater_store::{EndpointKind, WorkflowEndpoint, WorkflowFeed, WorkflowTimer};
use headwater_workflow::{
    definition::{Definition, Trigger, TriggerConfig},
    state_file::StateFile,
};

use super::{TriggerView, WorkflowView};
use crate::{
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    workflows::{Content, bearer},
};

/// The triggers of a deployment, as the store takes them.
#[derive(Default)]
pub(super) struct Planned {
    pub(super) endpoints: Vec<WorkflowEndpoint>,
    pub(super) timers: Vec<WorkflowTimer>,
    pub(super) feeds: Vec<WorkflowFeed>,
}

impl Platform {
    /// The ids of all triggers, in the order of the file: those that the files have, and new ones, which go into the
    /// state file. Ids of triggers that are no longer there leave it.
    pub(super) fn trigger_ids(
        &self,
        definition: &Definition,
        state: &mut StateFile,
    ) -> Vec<TriggerId> {
        let mut ids = Vec::new();
        for trigger in &definition.triggers {
            let known = trigger
                .id
                .clone()
                .or_else(|| state.triggers.get(&trigger.key).cloned());
            let id = known.unwrap_or_else(|| {
                let kind = kind(&trigger.config);
                self.core
                    .env
                    .id(|now_ms, entropy| TriggerId::new(kind, now_ms, entropy))
            });
            if trigger.id.is_none() {
                state.triggers.insert(trigger.key.clone(), id.clone());
            }
            ids.push(id);
        }
        let keys: HashSet<&str> = definition
            .triggers
            .iter()
            .map(|trigger| trigger.key.as_str())
            .collect();
        state.triggers.retain(|key, _| keys.contains(key.as_str()));
        ids
    }

    /// Plans the triggers; endpoints that are there keep their tokens.
    ///
    /// # Errors
    /// `Invalid` for a bearer token that cannot be known, and for emitters that the caller cannot see.
    pub(super) async fn planned_triggers(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        definition: &Definition,
        ids: &[TriggerId],
        sources: &BTreeMap<TriggerId, SourceId>,
    ) -> Result<Planned, PlatformError> {
        let there = self.core.store.workflow_endpoints(id).await?;
        let mut planned = Planned::default();
        for (trigger, id) in definition.triggers.iter().zip(ids) {
            let endpoint = |kind| {
                let known = there
                    .iter()
                    .find(|endpoint| endpoint.trigger == *id && endpoint.kind == kind);
                known.cloned().unwrap_or_else(|| WorkflowEndpoint {
                    trigger: id.clone(),
                    kind,
                    token: EndpointToken::new(self.core.env.token()),
                })
            };
            match &trigger.config {
                TriggerConfig::Http(http) => {
                    bearer::check(http.bearer.as_ref())?;
                    planned.endpoints.push(endpoint(EndpointKind::Http));
                }
                TriggerConfig::Email => planned.endpoints.push(endpoint(EndpointKind::Email)),
                TriggerConfig::Schedule(schedule) => planned.timers.push(WorkflowTimer {
                    trigger: id.clone(),
                    schedule: schedule.clone(),
                }),
                TriggerConfig::Source(_) => {
                    let emitter = sources.get(id).cloned().map(EmitterId::from);
                    let feed =
                        emitter.map(|emitter| self.feed(id, EmitterPattern::One(emitter), None));
                    planned.feeds.extend(feed);
                }
                TriggerConfig::Events(events) => {
                    self.check_emitter(caller, &events.emitter).await?;
                    let channel = events.channel.as_deref();
                    planned
                        .feeds
                        .push(self.feed(id, events.emitter.clone(), channel));
                }
                // The check of the definition refuses it.
                TriggerConfig::NotInFile => {}
            }
        }
        Ok(planned)
    }

    fn feed(
        &self,
        trigger: &TriggerId,
        emitter: EmitterPattern,
        channel: Option<&str>,
    ) -> WorkflowFeed {
        WorkflowFeed {
            subscription: self.core.env.id(SubscriptionId::new),
            trigger: trigger.clone(),
            emitter,
            channel: channel.unwrap_or_default().to_owned(),
        }
    }

    /// A workflow with its triggers.
    pub(super) async fn workflow_view(
        &self,
        workflow: headwater_store::Workflow,
    ) -> Result<WorkflowView, PlatformError> {
        let deployment = self.core.store.deployment(&workflow.deployment_id).await?;
        let deployment = deployment.ok_or_else(|| {
            PlatformError::Internal(format!(
                "the deployment of workflow `{}` is gone",
                workflow.id
            ))
        })?;
        let content = Content::of(&deployment)?;
        let definition = content.definition()?;
        let endpoints = self.core.store.workflow_endpoints(&workflow.id).await?;
        let triggers = definition.triggers.iter().zip(&content.triggers);
        let triggers =
            triggers.map(|(trigger, id)| self.trigger_view(trigger, id, &content, &endpoints));
        Ok(WorkflowView {
            triggers: triggers.collect(),
            workflow,
        })
    }

    fn trigger_view(
        &self,
        trigger: &Trigger,
        id: &TriggerId,
        content: &Content,
        endpoints: &[WorkflowEndpoint],
    ) -> TriggerView {
        let endpoint = endpoints.iter().find(|endpoint| endpoint.trigger == *id);
        let token = |kind| {
            endpoint
                .filter(|endpoint| endpoint.kind == kind)
                .map(|endpoint| &endpoint.token)
        };
        let url = token(EndpointKind::Http).map(|token| self.core.config.endpoint_url(token));
        let mail_host = &self.core.config.mail_host;
        let mailbox =
            token(EndpointKind::Email).map(|token| format!("{}@{mail_host}", token.as_str()));
        let (schedule, emitter) = match &trigger.config {
            TriggerConfig::Schedule(schedule) => (Some(schedule.to_value()), None),
            TriggerConfig::Events(events) => (None, Some(events.emitter.to_string())),
            TriggerConfig::Http(_)
            | TriggerConfig::Email
            | TriggerConfig::Source(_)
            | TriggerConfig::NotInFile => (None, None),
        };
        TriggerView {
            id: id.clone(),
            kind: trigger.config.as_str().unwrap_or("unknown"),
            endpoint_url: url,
            mailbox,
            schedule,
            source_id: content.sources.get(id).cloned(),
            emitter,
        }
    }
}

fn kind(config: &TriggerConfig) -> TriggerKind {
    match config {
        TriggerConfig::Http(_) => TriggerKind::Http,
        TriggerConfig::Schedule(_) => TriggerKind::Timer,
        TriggerConfig::Email => TriggerKind::Email,
        TriggerConfig::Source(_) => TriggerKind::Source,
        TriggerConfig::Events(_) | TriggerConfig::NotInFile => TriggerKind::Events,
    }
}
