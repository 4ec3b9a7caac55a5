//! Records of runs: one of each, whatever it did, with its consequences, as long as it is kept.

use futures::StreamExt as _;
use headwater_model::{
    id::{InvocationId, SourceId},
    origin::Origin,
    outcome::Limit,
    page::PageRequest,
    webhook::DeliveryState,
};
use headwater_platform::{
    EventRange, OutcomeFilter, PlatformError, RunFilter, RunOutcome, RunRecord, RunTrigger,
    RunVersion, SentResponse, default_channels, on_behalf_of,
};
use serde_json::json;

use crate::{
    component::Component,
    custom_response::asked,
    engine::{Call, PATIENCE, returned, thrown},
    leases::claimed_again,
    world::{NOWHERE, T0, World, after, done, replaced},
};

const TICK: u64 = 10_000;

/// The runs of a source, oldest first.
async fn runs_of(world: &World, id: &SourceId, filter: RunFilter) -> Vec<RunRecord> {
    let page = PageRequest::first(100);
    let (platform, caller) = (&world.platform, &world.caller);
    let listed = platform.source_runs(caller, id, filter, &page).await;
    let listed = listed.unwrap();
    assert_eq!(listed.total_count, listed.items.len() as u64);
    listed.items.into_iter().rev().collect()
}

/// The only run of a source with that cause.
async fn only(world: &World, id: &SourceId, trigger: RunTrigger) -> RunRecord {
    let filter = RunFilter {
        trigger: Some(trigger),
        ..RunFilter::default()
    };
    let mut runs = runs_of(world, id, filter).await;
    assert_eq!(runs.len(), 1, "{trigger:?}: {runs:?}");
    runs.remove(0)
}

/// Runs a source once by hand, at a moment of its own.
async fn run_once(world: &World, id: &SourceId) -> InvocationId {
    world.clock.advance(1);
    let (platform, caller) = (&world.platform, &world.caller);
    let report = platform.run_source(caller, id, Some(json!({}))).await;
    report.unwrap().invocation_id
}

#[tokio::test]
async fn a_tick_leaves_a_record_with_the_events_that_dedupe_left_out() {
    let world = World::new().await;
    let component = Component::named("poll").every(10).dedupe("unique");
    let id = world.deploy(&component).await;
    assert_eq!(runs_of(&world, &id, RunFilter::default()).await, []);
    world.clock.advance(TICK + 400);
    world.nudge().await;
    let run = world.engine.next().await;
    run.emit_with(json!("a"), json!({ "id": "one", "summary": "A" }));
    run.emit_with(json!("b"), json!({ "id": "one" }));
    run.emit_with(json!("c"), json!({ "id": 2, "name": "news" }));
    run.log("polling");
    world.clock.advance(50);
    run.returns();
    world.barrier(&id).await;

    let run = only(&world, &id, RunTrigger::Timer).await;
    let ended = &run.ended;
    assert_eq!((ended.outcome, &ended.error), (RunOutcome::Returned, &None));
    assert_eq!((ended.emitted, ended.dropped.count), (2, 1));
    assert_eq!(ended.queued_at_ms, after(TICK + 400));
    assert_eq!(ended.started_at_ms, after(TICK + 400));
    assert_eq!(ended.ended_at_ms, after(TICK + 450));
    assert_eq!(ended.origin, Origin::default());
    let source = world.store.source(&id).await.unwrap().unwrap();
    let version = RunVersion::Component(source.spec.component_id);
    assert_eq!(ended.version, version);

    let shown = world.platform.run(&world.caller, &run.id).await.unwrap();
    assert_eq!(shown.run, run);
    assert_eq!(shown.run.ended.dropped.keys, ["one"]);
    let events: Vec<_> = shown
        .events
        .iter()
        .map(|event| (event.channel.name(), event.summary.as_deref()))
        .collect();
    assert_eq!(events, [("", Some("A")), ("news", None)]);
    let logged: Vec<_> = shown.logs.iter().map(|log| &*log.line.message).collect();
    assert_eq!(logged, ["polling"]);
    assert!(shown.errors.is_empty() && !shown.has_more);
    let log = world.log(&id, None).await;
    assert!(
        log.iter()
            .all(|event| event.run_id.as_ref() == Some(&run.id))
    );
}

#[tokio::test]
async fn lines_are_seen_while_their_run_goes_on_and_are_committed_once() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    let runnable = id.clone().into();
    let page = PageRequest::first(9);
    let open = world.store.open_runs(&runnable, &page).await.unwrap();
    let open = open.items[0].id.clone();
    let mut changes = Box::pin(world.platform.changes(&world.caller, T0));
    run.log("so far");
    let (platform, caller) = (&world.platform, &world.caller);
    let logged = loop {
        changes.next().await.unwrap();
        let logged = platform.open_run_log(caller, &open).await.unwrap();
        if !logged.is_empty() {
            break logged;
        }
    };
    assert_eq!(logged[0].message, "so far");
    assert!(world.log(&id, Some("$logs")).await.is_empty());
    let log = platform.source_log(caller, &id, PageRequest::first(9));
    let log = log.await.unwrap();
    assert!(log.lines.items.is_empty());
    assert_eq!((&log.open[0].run_id, &log.open[0].lines), (&open, &logged));
    let stranger = world.stranger().await;
    let refused = platform.open_run_log(&stranger, &open).await;
    assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
    let refused = platform.open_source_log(&stranger, &id).await;
    assert!(matches!(refused, Err(PlatformError::NotFound { .. })));
    run.returns();
    done(report).await.unwrap();
    assert_eq!(world.log(&id, Some("$logs")).await.len(), 1);
    let log = platform.source_log(caller, &id, PageRequest::first(9));
    let log = log.await.unwrap();
    assert_eq!((log.lines.items.len(), log.open.len()), (1, 0));
    let ended = platform.open_run_log(caller, &open).await;
    assert!(matches!(ended, Err(PlatformError::NotFound { .. })));
}

#[tokio::test]
async fn a_request_that_was_answered_without_an_event_leaves_a_record() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    let run = world.engine.next().await;
    run.respond(200, "hello");
    run.returns();
    done(asking).await.unwrap();
    world.barrier(&id).await;
    let run = only(&world, &id, RunTrigger::Http).await;
    assert_eq!(run.ended.outcome, RunOutcome::Returned);
    assert_eq!((run.ended.emitted, run.ended.dropped.count), (0, 0));
    let sent = SentResponse {
        status: 200,
        bytes: 5,
    };
    assert_eq!(run.ended.facts.response, Some(sent));
    assert_eq!(run.ended.facts.starts, 1);
    let shown = world.platform.run(&world.caller, &run.id).await.unwrap();
    assert!(shown.events.is_empty() && shown.logs.is_empty() && shown.errors.is_empty());
}

#[tokio::test]
async fn an_event_that_was_scheduled_before_the_response_is_shown_with_its_run() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    let run = world.engine.next().await;
    run.emit_with(json!("later"), json!({ "delivery_ts": after(TICK) }));
    run.set("before", json!(1));
    run.respond(200, "hello");
    done(asking).await.unwrap();
    run.set("before", json!(2));
    run.set("after", json!(2));
    run.returns();
    world.barrier(&id).await;
    let run = only(&world, &id, RunTrigger::Http).await;
    assert_eq!(run.ended.emitted, 1);
    let facts = &run.ended.facts;
    assert_eq!(facts.response.unwrap().status, 200);
    assert_eq!(facts.changed.keys, ["after", "before"]);
    world.clock.advance(TICK);
    world.store.release_scheduled(after(TICK), 9).await.unwrap();
    let shown = world.platform.run(&world.caller, &run.id).await.unwrap();
    let channels: Vec<_> = shown.events.iter().map(|it| it.channel.name()).collect();
    assert_eq!(channels, [""]);
}

#[tokio::test]
async fn the_part_of_a_run_that_is_committed_counts_though_another_runs_commit_is_refused() {
    let (world, id, token) = asked().await;
    let asking = world.requesting(&token, json!({}));
    let asked = world.engine.next().await;
    asked.emit(json!("before"));
    asked.respond(200, "hello");
    done(asking).await.unwrap();
    let (refused, report) = world.manual(&id, json!({})).await;
    claimed_again(&world, &id).await;
    refused.returns();
    assert!(done(report).await.is_err());
    // The worker is gone, and the run is not started again.
    world.barrier(&id).await;
    let run = only(&world, &id, RunTrigger::Http).await;
    assert_eq!(
        (run.ended.outcome, run.ended.emitted),
        (RunOutcome::Lost, 1)
    );
}

#[tokio::test]
async fn a_run_that_failed_leaves_its_error_and_the_request_behind_it() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.engine.on("it", Call::Run, |run| {
        run.emit(json!("before"));
        thrown("no such board\nask somebody")
    });
    let origin = Origin {
        request_id: Some("req-1".into()),
        trace: None,
    };
    on_behalf_of(origin.clone(), run_once(&world, &id)).await;
    let run = only(&world, &id, RunTrigger::Manual).await;
    assert_eq!(run.ended.outcome, RunOutcome::Threw);
    assert_eq!(run.ended.error.as_deref(), Some("TypeError: no such board"));
    assert_eq!((run.ended.emitted, run.ended.origin), (1, origin));
    let shown = world.platform.run(&world.caller, &run.id).await.unwrap();
    assert_eq!(shown.events.len(), 1);
    let [error] = &shown.errors[..] else {
        panic!("{shown:?}");
    };
    assert_eq!(error.error.message, "no such board\nask somebody");
    assert_eq!(world.log(&id, Some("$errors")).await[0].id, error.id);

    world.engine.hold("it", Call::Run);
    world.clock.advance(1);
    let (late, report) = world.manual(&id, json!({})).await;
    late.times_out();
    done(report).await.unwrap();
    let wall = RunFilter {
        outcome: Some(OutcomeFilter::Exactly(RunOutcome::LimitExceeded(
            Limit::Wall,
        ))),
        ..RunFilter::default()
    };
    assert_eq!(runs_of(&world, &id, wall).await.len(), 1);
    let failed = RunFilter {
        outcome: Some(OutcomeFilter::Failed),
        since_ms: Some(T0),
        ..RunFilter::default()
    };
    assert_eq!(runs_of(&world, &id, failed).await.len(), 2);
}

#[tokio::test]
async fn hooks_leave_records() {
    let world = World::new().await;
    world.engine.on("it", Call::Deploy, |run| {
        run.emit(json!("first"));
        returned()
    });
    world
        .engine
        .on("it", Call::Deactivate, |_| thrown("still needed"));
    let id = world.deploy(&Component::named("it").hooks()).await;
    world.set_active(&id, false).await;
    let deploy = only(&world, &id, RunTrigger::Deploy).await;
    assert_eq!(deploy.ended.emitted, 1);
    let activate = only(&world, &id, RunTrigger::Activate).await;
    assert_eq!(activate.ended.outcome, RunOutcome::Returned);
    let deactivate = only(&world, &id, RunTrigger::Deactivate).await;
    assert_eq!(deactivate.ended.outcome, RunOutcome::Threw);
    assert_eq!(runs_of(&world, &id, RunFilter::default()).await.len(), 3);
    let shown = world.platform.run(&world.caller, &deploy.id).await.unwrap();
    assert_eq!(shown.events.len(), 1);
}

#[tokio::test]
async fn a_hook_of_an_update_that_failed_leaves_its_record_and_nothing_else() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("v1").hooks()).await;
    world.engine.on("v2", Call::Activate, |run| {
        run.emit(json!("half"));
        run.set("key", json!("half"));
        run.log("connecting");
        thrown("refused")
    });
    let v2 = replaced(&Component::named("v2").hooks());
    world.update(&id, v2).await.unwrap_err();
    let filter = RunFilter {
        trigger: Some(RunTrigger::Activate),
        ..RunFilter::default()
    };
    let ran = runs_of(&world, &id, filter).await;
    let (failed, returned): (Vec<_>, Vec<_>) =
        ran.iter().partition(|run| run.ended.outcome.is_failure());
    let ([failed], [first, again]) = (&failed[..], &returned[..]) else {
        panic!("{ran:?}");
    };
    assert_eq!(failed.ended.error.as_deref(), Some("TypeError: refused"));
    assert_eq!(first.ended.version, again.ended.version);
    assert_ne!(failed.ended.version, first.ended.version);
    assert_eq!(failed.ended.emitted, 0);
    let shown = world.platform.run(&world.caller, &failed.id).await.unwrap();
    assert_eq!((shown.logs.len(), shown.errors.len()), (1, 1));
    assert!(world.emitted(&id).await.is_empty());
    assert_eq!(world.key_values(&id).await, json!({}));
}

#[tokio::test]
async fn a_run_is_shown_with_the_deliveries_of_its_events_up_to_a_bound() {
    let world = World::new().await;
    let (id, first) = world.delivering_to(NOWHERE).await;
    for _ in 0..11 {
        let webhook = world.webhook(NOWHERE).await;
        world.deliver(&id, &webhook, "news").await;
    }
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit(json!(1));
    run.emit_with(json!(2), json!({ "name": "news" }));
    run.returns();
    let run_id = done(report).await.unwrap().invocation_id;
    // Harmless if the node's own dispatch was faster.
    let dispatched = world.store.dispatch(T0, 100, u32::MAX);
    dispatched.await.unwrap();
    let shown = world.platform.run(&world.caller, &run_id).await.unwrap();
    let [one, many] = &shown.events[..] else {
        panic!("{shown:?}");
    };
    let expected = world.deliveries(&first).await.remove(0);
    assert_eq!(one.deliveries.shown.len(), 1);
    assert_eq!(one.deliveries.shown[0].id, expected.id);
    assert_eq!(one.deliveries.shown[0].webhook_id, first);
    assert_eq!(one.deliveries.shown[0].state, DeliveryState::Pending);
    assert!(!one.deliveries.has_more);
    assert_eq!(many.deliveries.shown.len(), 10);
    assert!(many.deliveries.has_more);
}

#[tokio::test]
async fn of_a_run_with_very_many_events_the_first_are_shown() {
    let world = World::with(|config| config.retained_events = 1000).await;
    let id = world.deploy(&Component::named("it")).await;
    for (count, has_more) in [(500, false), (501, true)] {
        let (run, report) = world.manual(&id, json!({})).await;
        for number in 0..count {
            run.emit(json!(number));
        }
        run.returns();
        let run_id = done(report).await.unwrap().invocation_id;
        let shown = world.platform.run(&world.caller, &run_id).await.unwrap();
        assert_eq!((shown.events.len(), shown.has_more), (500, has_more));
        assert_eq!(shown.run.ended.emitted, count);
    }
}

#[tokio::test]
async fn retention_keeps_failures_however_many_successes_follow() {
    let world = World::with(|config| {
        config.retained_runs = 2;
        config.retained_failed_runs = 3;
    })
    .await;
    let id = world.deploy(&Component::named("it")).await;
    let mut kept = Vec::new();
    for (fails, count, keep) in [(true, 5, 3), (false, 6, 2)] {
        world.engine.on("it", Call::Run, move |_| match fails {
            true => thrown("no"),
            false => returned(),
        });
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(run_once(&world, &id).await);
        }
        kept.extend(ids.split_off(count - keep));
    }
    let channels = default_channels(None);
    let nudged =
        world
            .platform
            .delete_source_events(&world.caller, &id, channels, EventRange::default());
    nudged.await.unwrap();
    let trimmed = async {
        loop {
            let runs = runs_of(&world, &id, RunFilter::default()).await;
            let ids: Vec<_> = runs.into_iter().map(|run| run.id).collect();
            if ids.len() <= kept.len() {
                return ids;
            }
            tokio::task::yield_now().await;
        }
    };
    let left = tokio::time::timeout(PATIENCE, trimmed).await;
    assert_eq!(left.expect("the runs are trimmed"), kept);
}

#[tokio::test]
async fn another_tenants_runs_are_not_found() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.engine.on("it", Call::Run, |_| returned());
    let run_id = run_once(&world, &id).await;
    let stranger = world.stranger().await;
    let (platform, page) = (&world.platform, PageRequest::first(10));
    let listed = platform.source_runs(&stranger, &id, RunFilter::default(), &page);
    let listed = listed.await.unwrap_err();
    assert!(matches!(
        listed,
        PlatformError::NotFound { kind: "source", .. }
    ));
    let shown = platform.run(&stranger, &run_id).await.unwrap_err();
    assert!(matches!(shown, PlatformError::NotFound { kind: "run", id } if id == run_id.as_str()));
    assert!(platform.run(&world.caller, &run_id).await.is_ok());
    world.delete(&id).await.unwrap();
    let gone = platform.run(&world.caller, &run_id).await.unwrap_err();
    assert!(matches!(gone, PlatformError::NotFound { kind: "run", .. }));
}
