//! Workers that go away: what they were running is run again, not for ever, and nothing twice.

use headwater_model::{outcome::Outcome, time::EpochMs};
use serde_json::json;

use crate::{
    component::Component,
    world::{World, done},
};

#[tokio::test]
async fn a_run_whose_worker_is_lost_is_run_again_and_nothing_is_committed_twice() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({ "n": 1 })).await;
    run.emit(json!("once"));
    run.set("seen", json!(true));
    run.log("once");
    run.loses_worker(&world.engine);
    let again = world.engine.next().await;
    assert_eq!(again.event, json!({ "n": 1 }));
    assert_eq!(again.get("seen"), None);
    again.emit(json!("once"));
    again.log("once");
    for key in ["b", "a", "b"] {
        again.set(key, json!(1));
    }
    again.returns();
    let report = done(report).await.unwrap();
    assert!(matches!(report.outcome, Outcome::Returned { .. }));
    assert_eq!((report.events, report.logs.len()), (1, 1));
    assert_eq!(world.emitted(&id).await, [json!("once")]);
    assert_eq!(world.log(&id, Some("$logs")).await.len(), 1);
    assert!(world.errors(&id).await.is_empty());
    let kept = world.store.run(&report.invocation_id).await.unwrap();
    let facts = kept.unwrap().ended.facts;
    assert_eq!(facts.starts, 2);
    assert_eq!(
        (facts.changed.count, facts.changed.keys),
        (2, vec!["a".to_owned(), "b".to_owned()])
    );
    assert_eq!((facts.response, facts.time_limit_ms), (None, Some(60_000)));
}

#[tokio::test]
async fn a_run_that_loses_three_workers_is_given_up_and_reported() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    world
        .request(&world.token(&id).await, json!("poison"))
        .await
        .unwrap();
    for _ in 0..3 {
        let run = world.engine.next().await;
        assert_eq!(run.event, json!("poison"));
        run.emit(json!("each time"));
        run.loses_worker(&world.engine);
    }
    world.barrier(&id).await;
    assert!(world.engine.nothing_started());
    assert_eq!(world.emitted(&id).await.len(), 1);
    let errors = world.errors(&id).await;
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["error"]["code"], "WORKER_LOST");
    assert_eq!(errors[0]["original_event"], "poison");
    assert!(world.with_work(EpochMs(u64::MAX / 2)).await.is_empty());
}

#[tokio::test]
async fn all_runs_of_a_lost_worker_are_run_again() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    for number in [1, 2] {
        world.request(&token, json!(number)).await.unwrap();
    }
    let (first, _second) = (world.engine.next().await, world.engine.next().await);
    first.loses_worker(&world.engine);
    let mut again = Vec::new();
    for _ in 0..2 {
        let run = world.engine.next().await;
        again.push(run.event.clone());
        run.emit(run.event.clone());
        run.returns();
    }
    assert!(
        again.contains(&json!(1)) && again.contains(&json!(2)),
        "{again:?}"
    );
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await.len(), 2);
}

#[tokio::test]
async fn a_fresh_worker_knows_what_ended_runs_of_the_lost_one_stored() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    // Runs begin in their order once the worker is there.
    world.barrier(&id).await;
    for number in [1, 2] {
        world.request(&token, json!(number)).await.unwrap();
    }
    let (first, second) = (world.engine.next().await, world.engine.next().await);
    first.set("cursor", json!(1));
    first.returns();
    second.loses_worker(&world.engine);
    let again = world.engine.next().await;
    assert_eq!(
        (&again.event, again.get("cursor")),
        (&json!(2), Some(json!(1)))
    );
    again.returns();
}

#[tokio::test]
async fn a_worker_that_does_not_start_at_first_is_tried_again() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.engine.fail_starts(2);
    let (run, report) = world.manual(&id, json!({})).await;
    run.returns();
    assert!(matches!(
        done(report).await.unwrap().outcome,
        Outcome::Returned { .. }
    ));
}

#[tokio::test]
async fn a_worker_that_never_starts_fails_the_run_and_says_why() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.engine.fail_starts(3);
    let report = world
        .platform
        .run_source(&world.caller, &id, None)
        .await
        .unwrap();
    let error = report.outcome.error().unwrap();
    assert!(
        error.message.contains("no memory is left"),
        "{}",
        error.message
    );
    assert_eq!(world.errors(&id).await.len(), 1);
    world.barrier(&id).await;
}

#[tokio::test]
async fn an_acknowledged_request_waits_for_a_worker_however_often_none_starts() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    world.engine.fail_starts(3);
    let token = world.token(&id).await;
    world.request(&token, json!("owed")).await.unwrap();
    let run = world.engine.next().await;
    assert_eq!(run.event, json!("owed"));
    run.emit(json!("done"));
    run.returns();
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("done")]);
    assert!(world.errors(&id).await.is_empty());
}

#[tokio::test]
async fn a_run_that_lost_its_worker_starts_again_alone() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    for name in ["suspect", "neighbour"] {
        world.request(&token, json!(name)).await.unwrap();
    }
    // They start side by side, in either order.
    let mut runs = [world.engine.next().await, world.engine.next().await];
    runs.sort_by_key(|run| run.event.to_string());
    let [neighbour, suspect] = runs;
    suspect.ends(Outcome::Lost {
        message: "the worker is gone".to_owned(),
    });
    world.request(&token, json!("later")).await.unwrap();
    assert!(world.engine.nothing_started());
    neighbour.returns();
    let again = world.engine.next().await;
    assert_eq!(again.event, json!("suspect"));
    assert!(world.engine.nothing_started());
    again.returns();
    let later = world.engine.next().await;
    assert_eq!(later.event, json!("later"));
    later.returns();
    world.barrier(&id).await;
}
