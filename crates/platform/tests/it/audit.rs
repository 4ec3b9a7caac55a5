//! Audit records: of acts that had an effect, and from the moment on from which they cannot be undone.

use std::sync::Arc;

use headwater_model::{event::EventRef, page::PageRequest};
use headwater_platform::{
    AuditAction, PlatformError, ReplayEvents, ResumeRequest, WaitAnswer, WorkflowRunStatus,
};
use headwater_store::{AuditFilter, SourceState};
use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, PATIENCE},
    workflows::{Flow, step},
    world::{World, done},
};

impl World {
    /// The number of records of an action on a thing.
    pub(crate) async fn recorded(&self, action: AuditAction, target: &str) -> usize {
        let filter = AuditFilter {
            action: Some(action.name().to_owned()),
            target_id: Some(target.to_owned()),
            ..AuditFilter::default()
        };
        let page = PageRequest::first(10);
        let found = self.platform.audit(&self.caller, &filter, &page).await;
        found.unwrap().0.items.len()
    }
}

#[tokio::test]
async fn of_many_who_resume_a_run_the_one_who_did_is_recorded() {
    let world = World::new().await;
    let wait = "- namespace: pause\n  type: wait\n  timeout: 1h\n".to_owned();
    let flow = Flow::of(&[wait, step("after", &[])]).id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    let request = ResumeRequest::default();
    let resumed = (0..20).map(|_| world.platform.resume_run(&world.caller, &run, &request));
    let resumed = futures::future::join_all(resumed).await;
    let count = |wanted: WaitAnswer| {
        let answers = resumed.iter().flatten();
        answers.filter(|answer| **answer == wanted).count()
    };
    assert_eq!(count(WaitAnswer::Taken), 1, "{resumed:?}");
    // The run may have gone on before the last of them ask.
    let is_late = |answer: &&Result<_, _>| {
        matches!(
            answer,
            Ok(WaitAnswer::Before) | Err(PlatformError::Conflict(_))
        )
    };
    assert_eq!(resumed.iter().filter(is_late).count(), 19, "{resumed:?}");
    let records = world.recorded(AuditAction::RunResume, run.as_str()).await;
    assert_eq!(records, 1);
    world.step("after").await.returns();
    world.succeeded(&run).await;
}

/// However long the rest takes, and whatever becomes of it.
#[tokio::test]
async fn the_deletion_of_a_source_is_recorded_before_its_deactivate_runs() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    world.engine.hold("it", Call::Deactivate);
    let recorded = async || world.recorded(AuditAction::SourceDelete, id.as_str()).await;
    let deleting = async {
        world.delete(&id).await.unwrap();
    };
    let deactivating = async {
        let deactivate = world.engine.next().await;
        assert_eq!(recorded().await, 1);
        assert_eq!(world.state(&id).await, Some(SourceState::Deleting));
        deactivate.returns();
    };
    tokio::join!(deleting, deactivating);
    assert_eq!(recorded().await, 1);
    assert_eq!(world.state(&id).await, None);
}

#[tokio::test]
async fn all_events_are_sent_again_and_recorded_although_the_client_goes_away() {
    const EVENTS: usize = 100;
    let world = World::new().await;
    let emitter = world.deploy(&Component::named("emitter")).await;
    let listener = world.deploy(&Component::named("listener")).await;
    world.subscribe(&emitter, &listener, "").await;
    let (run, report) = world.manual(&emitter, json!({})).await;
    for at in 0..EVENTS {
        run.emit(json!(at));
    }
    run.returns();
    done(report).await.unwrap();
    for _ in 0..EVENTS {
        world.engine.next().await.returns();
    }
    world.barrier(&listener).await;
    let of = |id| EventRef {
        emitter: emitter.clone().into(),
        id,
    };
    let events = world.log(&emitter, None).await;
    let request = ReplayEvents {
        events: events.iter().map(|event| of(event.id)).collect(),
        only: None,
        is_dry: false,
    };
    let (platform, caller) = (Arc::clone(&world.platform), world.caller.clone());
    let client = tokio::spawn(async move { platform.replay_events(&caller, request).await });
    let mut heard = world.engine.next().await;
    client.abort();
    for at in 1..EVENTS {
        heard.returns();
        heard = world.engine.next().await;
        assert_eq!(heard.event, json!(at));
    }
    heard.returns();
    let recorded = async {
        let action = AuditAction::EventsReplay;
        while world.recorded(action, emitter.as_str()).await == 0 {}
    };
    tokio::time::timeout(PATIENCE, recorded).await.unwrap();
}
