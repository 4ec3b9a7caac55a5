//! What the node counts of runs and of what they leave behind.

use serde_json::json;

use crate::{
    component::Component,
    engine::{Call, returned, thrown},
    world::{World, after, done},
};

/// The value of a metric, named as it is shown.
#[track_caller]
fn shown(text: &str, metric: &str) -> f64 {
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix(metric)?.strip_prefix(' '));
    let value = value.unwrap_or_else(|| panic!("{metric} is not in {text}"));
    value.parse().unwrap()
}

#[tokio::test]
async fn runs_are_counted_by_trigger_and_outcome() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").hooks()).await;
    for fails in [false, true, false] {
        let (run, report) = world.manual(&id, json!({})).await;
        run.ends(if fails { thrown("no") } else { returned() });
        done(report).await.unwrap();
    }
    let text = world.platform.metrics().await;
    for (labels, count) in [
        (r#"trigger="manual",outcome="returned""#, 2.0),
        (r#"trigger="manual",outcome="threw""#, 1.0),
        (r#"trigger="hook",outcome="returned""#, 2.0),
        (r#"trigger="http",outcome="returned""#, 0.0),
    ] {
        let metric = format!("headwater_runs_total{{{labels}}}");
        assert_eq!(shown(&text, &metric), count, "{metric}");
    }
    let metric = r#"headwater_run_duration_seconds_count{trigger="manual"}"#;
    assert_eq!(shown(&text, metric), 3.0);
}

#[tokio::test]
async fn a_run_that_breaks_a_rule_is_counted_as_failed() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it").dedupe("unique")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit(json!("without an id"));
    run.returns();
    done(report).await.unwrap();
    let text = world.platform.metrics().await;
    let metric = r#"headwater_runs_total{trigger="manual",outcome="threw"}"#;
    assert_eq!(shown(&text, metric), 1.0);
    assert_eq!(shown(&text, "headwater_dedupe_drops_total"), 0.0);
}

#[tokio::test]
async fn events_are_counted_by_class_and_duplicates_apart() {
    let world = World::new().await;
    world.engine.on("it", Call::Deploy, |run| {
        run.emit_with(json!("from deploy"), json!({ "id": 1 }));
        returned()
    });
    let id = world
        .deploy(&Component::named("it").hooks().dedupe("unique"))
        .await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(json!("again"), json!({ "id": 1 }));
    run.emit_with(json!("new"), json!({ "id": 2, "name": "other" }));
    run.emit_with(
        json!("later"),
        json!({ "id": 2, "delivery_ts": after(60_000) }),
    );
    run.log("a line");
    run.ends(thrown("no"));
    done(report).await.unwrap();
    let text = world.platform.metrics().await;
    for (metric, count) in [
        (r#"headwater_events_total{channel="ordinary"}"#, 2.0),
        (r#"headwater_events_total{channel="scheduled"}"#, 1.0),
        (r#"headwater_events_total{channel="errors"}"#, 1.0),
        (r#"headwater_events_total{channel="logs"}"#, 1.0),
        ("headwater_dedupe_drops_total", 1.0),
        (r#"headwater_commits_total{result="refused"}"#, 0.0),
    ] {
        assert_eq!(shown(&text, metric), count, "{metric}");
    }
}

#[tokio::test]
async fn what_has_not_ended_waits_in_the_queue_and_grows_old() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    world.clock.advance(2_500);
    let text = world.platform.metrics().await;
    assert_eq!(shown(&text, "headwater_queue_invocations"), 1.0);
    let age = shown(&text, "headwater_queue_oldest_age_seconds");
    assert_eq!(age, 2.5);
    run.returns();
    done(report).await.unwrap();
    let text = world.platform.metrics().await;
    assert_eq!(shown(&text, "headwater_queue_invocations"), 0.0);
    let age = shown(&text, "headwater_queue_oldest_age_seconds");
    assert_eq!(age, 0.0);
}

#[tokio::test]
async fn no_label_names_what_users_made() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("telltale").http()).await;
    let token = world.token(&id).await;
    world.request(&token, json!({})).await.unwrap();
    world.engine.next().await.returns();
    world.barrier(&id).await;
    let text = world.platform.metrics().await;
    for secret in [id.as_str(), token.as_str(), "telltale"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
}
