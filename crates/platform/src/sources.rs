//! Sources: deploying, updating, pausing, deleting and running them (spec "States and transitions").
//!
//! Every change of one source's life is serialized by its lifecycle lock, and is all or nothing:
//! the record changes only after the hooks succeeded.

mod change;
mod deploy;
mod plan;
mod recover;

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use headwater_model::{
    id::SourceId,
    prop::{self, ConfiguredProps},
};
use headwater_store::{NewInvocation, SavedComponent, Source, SourceState, Trigger};
use parking_lot::Mutex;
use serde_json::{Value, json, value::RawValue};
use tokio::sync::OwnedMutexGuard;

use crate::{
    access::Caller,
    components::ComponentInput,
    error::PlatformError,
    origin,
    platform::Platform,
    prop_warnings::prop_warnings,
    runner::{Command, Reply, RunReport, Work},
    secrets,
};

/// `POST /sources/`.
#[derive(Debug, Clone, Default)]
pub struct DeploySource {
    /// The component.
    pub component: ComponentInput,
    /// The source's name; the slug when absent.
    pub name: Option<String>,
    /// Values by prop.
    pub configured_props: ConfiguredProps,
    /// The workspace it is to live in.
    pub workspace_id: Option<headwater_model::id::WorkspaceId>,
}

/// `PUT` and `PATCH /sources/{id}`: what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct UpdateSource {
    /// Other code; empty keeps the code.
    pub component: ComponentInput,
    /// Another name.
    pub name: Option<String>,
    /// Whether its triggers are on.
    pub active: Option<bool>,
    /// Values by prop, merged into the former ones; null takes one away.
    pub configured_props: Option<ConfiguredProps>,
    /// Whether the packages of its code are to be the latest allowed.
    pub refresh_deps: bool,
}

/// A source as responses show it.
#[derive(Debug, Clone)]
pub struct SourceView {
    /// The record; its `configured_props` hold secrets and are not to be shown.
    pub source: Source,
    /// What to show instead: secrets are null, endpoints and timers filled in.
    pub configured_props: ConfiguredProps,
    /// Props whose values are secret, and therefore null in the above.
    pub secrets: Vec<String>,
    /// What of the component does not work on this node; told when it is deployed or updated.
    pub warnings: Vec<String>,
}

impl SourceView {
    pub(crate) fn new(platform: &Platform, source: Source) -> Self {
        let mut shown = source.spec.configured_props.clone();
        let mut secrets = Vec::new();
        for (name, value) in &mut shown {
            if secrets::is_sealed(value) {
                *value = Value::Null;
                secrets.push(name.clone());
            }
        }
        for endpoint in &source.spec.endpoints {
            shown.insert(
                endpoint.prop.clone(),
                json!({ "endpoint_url": platform.endpoint_url(&endpoint.token) }),
            );
        }
        for timer in &source.spec.timers {
            shown.insert(timer.prop.clone(), timer.schedule.to_value());
        }
        Self {
            source,
            configured_props: shown,
            secrets,
            warnings: Vec::new(),
        }
    }

    /// The same, with what of this component does not work on this node.
    fn of_component(self, component: &SavedComponent) -> Self {
        let definitions = prop::merge(
            &component.description.props,
            &self.source.spec.dynamic_props,
        );
        Self {
            warnings: prop_warnings(&definitions),
            ..self
        }
    }

    /// Whether its triggers are on. During an update it is what it was before.
    pub fn active(&self) -> bool {
        matches!(
            self.source.state,
            SourceState::Active | SourceState::Updating | SourceState::Deploying
        )
    }
}

/// One lock per source whose life is being changed.
#[derive(Default)]
pub(crate) struct Lifecycles {
    locks: Mutex<HashMap<SourceId, Weak<tokio::sync::Mutex<()>>>>,
}

impl Lifecycles {
    /// Waits for its turn to change the source's life.
    pub(crate) async fn lock(&self, id: &SourceId) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock();
            locks.retain(|_, lock| lock.strong_count() > 0);
            let known = locks.get(id).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::new(tokio::sync::Mutex::new(()));
                locks.insert(id.clone(), Arc::downgrade(&lock));
                lock
            })
        };
        lock.lock_owned().await
    }
}

impl Platform {
    /// The URL of an HTTP interface.
    pub fn endpoint_url(&self, token: &str) -> String {
        match &self.config.endpoint_domain {
            Some(domain) => format!("https://{token}.{domain}"),
            None => format!("{}/e/{token}", self.config.public_url),
        }
    }

    /// A source that the caller may see.
    pub async fn source(
        &self,
        caller: &Caller,
        id: &SourceId,
    ) -> Result<SourceView, PlatformError> {
        Ok(SourceView::new(
            self,
            self.visible_source(caller, id).await?,
        ))
    }

    /// Runs a source now with that event and waits until the run is committed.
    ///
    /// # Errors
    /// `Conflict` when the source is not active, `QuotaExceeded` when its user has had its invocations of
    /// the day.
    pub async fn run_source(
        self: &Arc<Self>,
        caller: &Caller,
        id: &SourceId,
        event: Option<Value>,
    ) -> Result<RunReport, PlatformError> {
        let source = self.visible_source(caller, id).await?;
        if source.state == SourceState::Inactive {
            return Err(PlatformError::Conflict(format!(
                "source `{id}` is not active; activate it first"
            )));
        }
        let event = event.unwrap_or_else(|| json!({ "timestamp": self.env.now_at() }));
        let event = serde_json::value::to_raw_value(&event)
            .map_err(|error| PlatformError::Internal(error.to_string()))?;
        let user_id = &source.owner.user_id;
        self.take_invocation(user_id).await?;
        let (reply, report) = tokio::sync::oneshot::channel();
        self.start_work(id, Trigger::Manual, event, Reply::Report(reply))
            .await
            .inspect_err(|_| self.give_invocation_back(user_id))?;
        report.await.map_err(|_| {
            PlatformError::Unavailable("the node is stopping; the run goes on later".to_owned())
        })
    }

    /// Queues an invocation durably, leased to this node, and hands it to the source's runner. A caller
    /// that goes away meanwhile does not leave it leased but not running.
    pub(crate) async fn start_work(
        self: &Arc<Self>,
        id: &SourceId,
        trigger: Trigger,
        event: Box<RawValue>,
        reply: Reply,
    ) -> Result<(), PlatformError> {
        let invocation = NewInvocation {
            id: self.env.id(headwater_model::id::InvocationId::new),
            source_id: id.clone(),
            trigger,
            event: event.into(),
            hops: 0,
            now_ms: self.env.now_ms(),
            origin: origin::origin(),
        };
        // What finds no room in memory waits in the store, but somebody waits for a manual run.
        let has_room = trigger == Trigger::Manual || self.runners.has_room(id);
        let term = (has_room && !self.stopping.is_cancelled()).then(|| self.lease_term());
        let (platform, id) = (Arc::clone(self), id.clone());
        let queued = tokio::spawn(async move {
            let lease = platform.store.enqueue(invocation.clone(), term).await?;
            match lease.is_some() {
                true => platform.run_work(
                    &id,
                    Work {
                        lease,
                        ..Work::new(invocation, reply)
                    },
                ),
                false => drop(platform.tell_runner(&id, Command::Claim)),
            }
            Ok(())
        });
        queued
            .await
            .map_err(|error| PlatformError::Internal(error.to_string()))?
    }
}
