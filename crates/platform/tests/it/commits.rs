//! What a run leaves behind: its events in order, dedupe, errors, logs, key-value pairs, usage.

use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, returned, thrown},
    world::{T0, World, data, done},
};

#[tokio::test]
async fn events_of_a_run_keep_their_order_and_channel() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(json!(1), json!({ "id": 7, "summary": "one" }));
    run.emit_with(json!(2), json!({ "name": "other" }));
    run.emit(json!(3));
    run.returns();
    assert_eq!(done(report).await.unwrap().events, 3);
    let events = world.log(&id, None).await;
    assert_eq!(data(&events), [json!(1), json!(2), json!(3)]);
    assert_eq!(events[0].summary.as_deref(), Some("one"));
    assert_eq!(data(&world.log(&id, Some("other")).await), [json!(2)]);
    assert_eq!(data(&world.log(&id, Some("")).await), [json!(1), json!(3)]);
}

#[tokio::test]
async fn nothing_of_a_run_is_in_the_log_before_it_ends() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit(json!(1));
    run.set("key", json!(1));
    assert!(world.emitted(&id).await.is_empty());
    assert_eq!(world.key_values(&id).await, json!({}));
    run.returns();
    done(report).await.unwrap();
    assert_eq!(world.emitted(&id).await.len(), 1);
}

#[tokio::test]
async fn events_with_a_timestamp_are_emitted_oldest_first() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(json!("newest"), json!({ "ts": 30 }));
    run.emit(json!("undated"));
    run.emit_with(json!("oldest"), json!({ "ts": 10 }));
    run.emit_with(json!("middle"), json!({ "ts": 20 }));
    run.returns();
    done(report).await.unwrap();
    let emitted = world.emitted(&id).await;
    assert_eq!(
        emitted,
        [
            json!("oldest"),
            json!("undated"),
            json!("middle"),
            json!("newest")
        ]
    );
}

#[tokio::test]
async fn a_duplicate_is_dropped_within_a_run_and_over_runs_and_restarts_of_the_worker() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").dedupe("unique")).await;
    world.engine.on("it", Call::Run, |run| {
        for key in run.event.as_array().into_iter().flatten() {
            run.emit_with(key.clone(), json!({ "id": key }));
        }
        returned()
    });
    for (keys, new) in [
        (json!(["a", "b", "a"]), 2),
        (json!(["b", "c"]), 1),
        (json!(["a"]), 0),
    ] {
        let report = world
            .platform
            .run_source(&world.caller, &id, Some(keys))
            .await
            .unwrap();
        assert_eq!(report.events, new);
    }
    world.set_active(&id, false).await;
    world.set_active(&id, true).await;
    let again = world
        .platform
        .run_source(&world.caller, &id, Some(json!(["c", "d"])))
        .await
        .unwrap();
    assert_eq!(again.events, 1);
    assert_eq!(
        world.emitted(&id).await,
        [json!("a"), json!("b"), json!("c"), json!("d")]
    );
}

#[tokio::test]
async fn another_strategy_begins_anew() {
    let world = World::new().await;
    let id = world
        .deploy(&Component::named("it").dedupe("greatest"))
        .await;
    let emit = |run: &crate::engine::Run| {
        run.emit_with(run.event.clone(), json!({ "id": run.event }));
        returned()
    };
    world.engine.on("it", Call::Run, emit);
    for (number, events) in [(5, 1), (4, 0), (6, 1)] {
        let report = world
            .platform
            .run_source(&world.caller, &id, Some(json!(number)))
            .await
            .unwrap();
        assert_eq!(report.events, events, "{number}");
    }
    let unique = Component::named("it").dedupe("unique");
    world
        .update(&id, crate::world::replaced(&unique))
        .await
        .unwrap();
    for (number, events) in [(4, 1), (4, 0), (6, 1)] {
        let report = world
            .platform
            .run_source(&world.caller, &id, Some(json!(number)))
            .await
            .unwrap();
        assert_eq!(report.events, events, "{number}");
    }
}

#[tokio::test]
async fn what_deploy_emitted_counts_for_dedupe() {
    let world = World::new().await;
    world.engine.on("it", Call::Deploy, |run| {
        run.emit_with(json!("history"), json!({ "id": 1 }));
        returned()
    });
    let id = world
        .deploy(&Component::named("it").hooks().dedupe("unique"))
        .await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(json!("history"), json!({ "id": 1 }));
    run.emit_with(json!("news"), json!({ "id": 2 }));
    run.returns();
    assert_eq!(done(report).await.unwrap().events, 1);
    assert_eq!(world.emitted(&id).await, [json!("history"), json!("news")]);
}

#[tokio::test]
async fn an_emit_without_id_under_a_strategy_fails_the_run_and_keeps_the_others() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").dedupe("unique")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(json!("good"), json!({ "id": 1 }));
    run.emit(json!("bad"));
    run.emit(json!("bad"));
    run.returns();
    let report = done(report).await.unwrap();
    assert_eq!(report.events, 1);
    let message = report.outcome.error().unwrap().message;
    assert!(
        message.contains("`id`") && message.contains("2 calls"),
        "{message}"
    );
    assert_eq!(world.emitted(&id).await, [json!("good")]);
    assert_eq!(
        world.errors(&id).await[0]["error"]["message"],
        json!(message)
    );
}

#[tokio::test]
async fn an_emit_without_id_before_respond_is_reported_too() {
    let world = World::new().await;
    let component = Component::named("it").dedupe("unique").custom_response();
    let id = world.deploy(&component).await;
    let asking = world.requesting(&world.token(&id).await, json!({}));
    let run = world.engine.next().await;
    run.emit(json!("bad"));
    run.respond(200, "");
    done(asking).await.unwrap();
    run.returns();
    world.barrier(&id).await;
    assert!(world.emitted(&id).await.is_empty());
    let errors = world.errors(&id).await;
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0]["error"]["name"], "EmitError");
}

#[tokio::test]
async fn components_may_not_emit_on_the_platforms_channels() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    for channel in ["$errors", "$logs", "$in"] {
        let (run, report) = world.manual(&id, json!({})).await;
        run.emit_with(json!("forged"), json!({ "name": channel }));
        run.returns();
        let report = done(report).await.unwrap();
        assert!(report.outcome.error().is_some() && report.events == 0);
    }
    assert_eq!(world.errors(&id).await.len(), 3);
    assert!(world.log(&id, Some("$in")).await.is_empty());
}

#[tokio::test]
async fn a_run_that_throws_still_commits_what_it_did_and_an_error_in_the_specs_shape() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    world
        .request(&world.token(&id).await, json!({ "body": "x" }))
        .await
        .unwrap();
    let run = world.engine.next().await;
    run.emit(json!("before"));
    run.set("key", json!(1));
    run.throws("cannot read properties of undefined");
    world.barrier(&id).await;
    assert_eq!(world.emitted(&id).await, [json!("before")]);
    assert_eq!(world.key_values(&id).await, json!({ "key": 1 }));

    let events = world.log(&id, Some("$errors")).await;
    assert_eq!(
        events[0].summary.as_deref(),
        Some("TypeError: cannot read properties of undefined")
    );
    let event = &data(&events)[0];
    let error = &event["error"];
    assert_eq!(error["code"], "TypeError");
    assert_eq!(error["name"], "TypeError");
    assert_eq!(error["message"], "cannot read properties of undefined");
    assert!(error["stack"].as_str().unwrap().contains("component.mjs"));
    assert_eq!(error["ts"], "2023-11-14T22:13:20.000Z");
    let component = world
        .store
        .source(&id)
        .await
        .unwrap()
        .unwrap()
        .spec
        .component_id;
    let cell = component.as_str().replace("sc_", "c_");
    assert_eq!(error["cellId"], cell);
    assert_eq!(event["original_event"], json!({ "body": "x" }));
    let context = &event["original_context"];
    assert_eq!(context["ts"], "2023-11-14T22:13:20.000Z");
    assert!(context["id"].as_str().unwrap().starts_with("inv_"));
    assert_eq!(context["source_id"], json!(id));
    assert_eq!(context["trigger"], "http");
    assert_eq!(context["owner_id"], json!(world.caller.user_id()));
    assert_eq!(context["verified"], json!(false));
    assert!(context["platform_version"].is_string());
}

#[tokio::test]
async fn a_run_over_its_time_is_an_error_with_a_code() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit(json!("before"));
    run.times_out();
    done(report).await.unwrap();
    assert_eq!(world.emitted(&id).await, [json!("before")]);
    assert_eq!(world.errors(&id).await[0]["error"]["code"], "LIMIT_WALL");
}

#[tokio::test]
async fn logs_are_on_their_channel_and_in_the_report() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.log("polling\nsecond line");
    run.returns();
    let report = done(report).await.unwrap();
    let expected = json!({
        "level": "info",
        "message": "polling\nsecond line",
        "ts": T0,
        "invocation_id": report.invocation_id,
    });
    let logs = world.log(&id, Some("$logs")).await;
    assert_eq!(data(&logs), [expected]);
    assert_eq!(logs[0].summary.as_deref(), Some("polling"));
    assert_eq!(report.logs[0].message, "polling\nsecond line");
    assert_eq!((report.events, world.emitted(&id).await.len()), (0, 0));
}

#[tokio::test]
async fn a_manual_run_gets_its_event_and_reports_how_it_ended() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({ "page": 2 })).await;
    assert_eq!(run.event, json!({ "page": 2 }));
    run.ends(headwater_model::outcome::Outcome::Returned {
        value: Some(json!("done")),
    });
    let report = done(report).await.unwrap();
    assert_eq!(
        serde_json::to_value(report.outcome).unwrap(),
        json!({ "status": "returned", "value": "done" })
    );

    let (run, report) = world.manual(&id, json!({})).await;
    run.throws("no");
    assert_eq!(
        done(report).await.unwrap().outcome.error().unwrap().message,
        "no"
    );
}

#[tokio::test]
async fn a_manual_run_without_event_gets_the_time() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.engine.on("it", Call::Run, |run| {
        run.emit(run.event.clone());
        returned()
    });
    world
        .platform
        .run_source(&world.caller, &id, None)
        .await
        .unwrap();
    assert_eq!(
        world.emitted(&id).await,
        [json!({ "timestamp": T0.to_seconds() })]
    );
}

#[tokio::test]
async fn every_run_is_counted_hooks_and_failures_too() {
    let world = World::new().await;
    let id = world
        .deploy(&Component::named("it").hooks().custom_response())
        .await;
    assert_eq!(world.invocations_used().await, 2);
    world
        .engine
        .on("it", Call::Run, |run| match run.event == json!("throw") {
            true => thrown("no"),
            false => returned(),
        });
    let token = world.token(&id).await;
    // The first leaves nothing behind and is counted with the next that does.
    world.request(&token, json!({})).await.unwrap();
    world.request(&token, json!("throw")).await.unwrap();
    world.barrier(&id).await;
    assert_eq!(world.invocations_used().await, 5);
}

#[tokio::test]
async fn usage_is_counted_by_day() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.barrier(&id).await;
    assert_eq!(world.invocations_used().await, 1);
    world.clock.advance(24 * 3_600_000);
    assert_eq!(world.invocations_used().await, 0);
    world.barrier(&id).await;
    assert_eq!(world.invocations_used().await, 1);
}

#[tokio::test]
async fn the_last_write_of_a_key_wins_in_whatever_order_the_runs_end() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    world.request(&token, json!(1)).await.unwrap();
    world.request(&token, json!(2)).await.unwrap();
    let (first, second) = (world.engine.next().await, world.engine.next().await);
    first.set("both", json!("first"));
    first.set("own", json!("first"));
    second.set("both", json!("second"));
    second.returns();
    world.barrier(&id).await;
    first.returns();
    world.barrier(&id).await;
    let expected = json!({ "both": "second", "own": "first" });
    assert_eq!(world.key_values(&id).await, expected);
}

#[tokio::test]
async fn the_last_write_of_a_key_wins_over_one_of_a_run_that_outlasts_thousands() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    world.request(&token, json!("long")).await.unwrap();
    let long = world.engine.next().await;
    long.set("both", json!("long"));
    for number in 0..3 {
        let (run, report) = world.manual(&id, json!({})).await;
        for key in 0..1_000 {
            run.set(&format!("{number}-{key}"), json!(0));
        }
        run.set("both", json!(number));
        run.returns();
        done(report).await.unwrap();
    }
    long.returns();
    world.barrier(&id).await;
    assert_eq!(world.key_values(&id).await["both"], json!(2));
}

#[tokio::test]
async fn a_later_deletion_of_a_key_wins_over_an_earlier_write() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").http()).await;
    let token = world.token(&id).await;
    world.request(&token, json!(1)).await.unwrap();
    world.request(&token, json!(2)).await.unwrap();
    let (first, second) = (world.engine.next().await, world.engine.next().await);
    first.set("key", json!("first"));
    second.set("key", json!(null));
    second.returns();
    world.barrier(&id).await;
    first.returns();
    world.barrier(&id).await;
    assert_eq!(world.key_values(&id).await, json!({}));
}

#[tokio::test]
async fn the_last_write_wins_over_the_end_of_a_deployment() {
    let world = World::new().await;
    world.engine.hold("it", Call::Activate);
    let deploying = world.deploying(&Component::named("it").hooks().http());
    let activate = world.engine.next().await;
    let token = crate::world::token_seen(&activate);
    world.request(&token, json!({})).await.unwrap();
    let run = world.engine.next().await;
    run.set("key", json!("earlier"));
    activate.set("key", json!("later"));
    activate.returns();
    let id = done(deploying).await.unwrap().source.id;
    assert_eq!(world.key_values(&id).await, json!({ "key": "later" }));
    run.returns();
    world.barrier(&id).await;
    assert_eq!(world.key_values(&id).await, json!({ "key": "later" }));
}

#[tokio::test]
async fn what_a_hook_stored_does_not_overtake_a_later_run() {
    let world = World::new().await;
    world.engine.hold("it", Call::Activate);
    let deploying = world.deploying(&Component::named("it").hooks().http());
    let activate = world.engine.next().await;
    activate.set("key", json!("earlier"));
    world
        .request(&crate::world::token_seen(&activate), json!({}))
        .await
        .unwrap();
    let run = world.engine.next().await;
    run.set("key", json!("later"));
    run.returns();
    activate.returns();
    let id = done(deploying).await.unwrap().source.id;
    world.barrier(&id).await;
    assert_eq!(world.key_values(&id).await, json!({ "key": "later" }));
}
