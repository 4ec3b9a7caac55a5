//! Timers: what a tick brings, and when there is none. How ticks are counted is tested in `model`
//! and in the store's suite, under a clock of their own.

use headwater_integration::{Node, payloads};
use serde_json::{Value, json};

const TICKING: &str = r#"
export default {
  name: "Ticking",
  version: "0.0.1",
  props: { timer: "$.interface.timer" },
  run(event) { this.$emit(event); },
};
"#;

#[tokio::test]
async fn an_interval_ticks_with_its_time_and_length() {
    let node = Node::start().await;
    let source = node
        .deploy(TICKING, json!({"timer": {"intervalSeconds": 1}}))
        .await;
    assert_eq!(
        source.record["configured_props"]["timer"],
        json!({"cron": null, "interval_seconds": 1})
    );
    let ticks = payloads(&node.events_until(&source, |events| events.len() >= 3).await);
    assert!(
        ticks.iter().all(|tick| tick["interval_seconds"] == 1),
        "{ticks:?}"
    );
    let times: Vec<_> = ticks.iter().map(timestamp).collect();
    assert!(
        times.windows(2).all(|pair| pair[0] < pair[1]),
        "no tick comes twice: {times:?}"
    );
    assert!(
        times[0] >= source.record["created_at"].as_u64().unwrap(),
        "{times:?}"
    );
}

#[tokio::test]
async fn cron_ticks_in_its_time_zone() {
    let node = Node::start().await;
    let cron = json!({"cron": "* * * * * *", "timezone": "Europe/Vienna"});
    let source = node.deploy(TICKING, json!({"timer": cron})).await;
    let shown =
        json!({"cron": "* * * * * *", "interval_seconds": null, "timezone": "Europe/Vienna"});
    assert_eq!(source.record["configured_props"]["timer"], shown);
    let ticks = payloads(&node.events_until(&source, |events| events.len() >= 2).await);
    assert_eq!(
        (&ticks[0]["cron"], &ticks[0]["timezone"]),
        (&json!("* * * * * *"), &json!("Europe/Vienna"))
    );
    assert!(
        ticks[0]["timestamp"].as_u64() < ticks[1]["timestamp"].as_u64(),
        "{ticks:?}"
    );
}

#[tokio::test]
async fn without_value_and_default_it_is_a_quarter_of_an_hour() {
    let node = Node::start().await;
    let source = node.deploy(TICKING, json!({})).await;
    let timer = json!({"cron": null, "interval_seconds": 900});
    assert_eq!(source.record["configured_props"]["timer"], timer);
}

#[tokio::test]
async fn a_time_zone_that_is_none_is_refused() {
    let node = Node::start().await;
    let props = json!({"timer": {"cron": "0 9 * * *", "timezone": "Atlantis"}});
    let error = node.try_deploy(TICKING, props).await.is(422).error();
    assert!(
        error["param"].as_str().unwrap().contains("timer"),
        "{error}"
    );
}

#[tokio::test]
async fn an_inactive_source_does_not_tick_and_a_deleted_one_neither() {
    let node = Node::start().await;
    let every_second = json!({"timer": {"intervalSeconds": 1}});
    let paused = node.deploy(TICKING, every_second.clone()).await;
    let clock = node.deploy(TICKING, every_second).await;
    node.events_until(&paused, |events| !events.is_empty())
        .await;
    node.put(&paused.path(), json!({"active": false}))
        .await
        .is(200);
    let before = node.events(&paused).await;
    let ticked = node.events(&clock).await.len();
    // The other one goes on meanwhile.
    node.events_until(&clock, |events| events.len() >= ticked + 3)
        .await;
    assert_eq!(node.events(&paused).await, before);
    node.put(&paused.path(), json!({"active": true}))
        .await
        .is(200);
    node.events_until(&paused, |events| events.len() > before.len())
        .await;
}

#[tokio::test]
async fn a_new_interval_is_shown_and_kept() {
    let node = Node::start().await;
    let source = node
        .deploy(TICKING, json!({"timer": {"intervalSeconds": 3600}}))
        .await;
    let body = json!({"configured_props": {"timer": {"interval_seconds": 1}}});
    let updated = node.patch(&source.path(), body).await.is(200).data();
    assert_eq!(updated["configured_props"]["timer"]["interval_seconds"], 1);
    let ticks = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    assert_eq!(ticks[0]["event"]["interval_seconds"], 1);
}

fn timestamp(tick: &Value) -> u64 {
    tick["timestamp"].as_u64().unwrap()
}

fn last_tick(events: &[Value]) -> Option<u64> {
    payloads(events).iter().map(timestamp).max()
}

#[tokio::test]
async fn missed_ticks_are_one() {
    let mut node = Node::builder().own_address().start().await;
    let source = node
        .deploy(TICKING, json!({"timer": {"intervalSeconds": 1}}))
        .await;
    let clock = Node::start().await;
    let other = clock
        .deploy(TICKING, json!({"timer": {"intervalSeconds": 1}}))
        .await;
    node.events_until(&source, |events| !events.is_empty())
        .await;
    let before = clock.events_until(&other, |events| !events.is_empty());
    let before = last_tick(&before.await);
    node.kill_9();
    let goes_on = |events: &[Value]| last_tick(events) >= before.map(|tick| tick + 6);
    clock.events_until(&other, goes_on).await;
    node.restart().await;
    // A slow node may have had several ticks before it was killed.
    let ticks = payloads(&node.events_until(&source, goes_on).await);
    let times: Vec<_> = ticks.iter().map(timestamp).collect();
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
    // Several seconds went by without the node; had each missed tick been made up for, no gap would be left.
    assert!(gaps.iter().any(|gap| *gap >= 3), "{times:?}");
    assert_eq!(node.channel(&source, "$errors").await, [Value::Null; 0]);
}
