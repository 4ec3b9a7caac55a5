//! Events with `delivery_ts`: held on `$in`, released at their time, cancelled by deleting.

use headwater_model::id::SourceId;
use headwater_platform::{EventRange, default_channels};
use serde_json::json;

use crate::{
    component::Component,
    world::{World, after, data, done},
};

const HOUR: u64 = 3_600_000;

/// A source that holds events back, heard by another.
async fn held(world: &World, component: &Component) -> (SourceId, SourceId) {
    let id = world.deploy(component).await;
    let listener = world.deploy(&Component::named("listener")).await;
    world.subscribe(&id, &listener, "").await;
    (id, listener)
}

/// Emits each of them, to be delivered so many hours from the beginning on.
async fn emit(world: &World, id: &SourceId, events: &[(&str, u64)]) -> u64 {
    let (run, report) = world.manual(id, json!({})).await;
    for (event, hours) in events {
        let options = json!({ "id": "same", "delivery_ts": after(hours * HOUR) });
        run.emit_with(json!(event), options);
    }
    run.returns();
    done(report).await.unwrap().events
}

#[tokio::test]
async fn an_event_is_held_until_its_time_and_then_heard() {
    let world = World::new().await;
    let (id, listener) = held(&world, &Component::named("it")).await;
    assert_eq!(emit(&world, &id, &[("later", 1)]).await, 1);
    assert!(world.emitted(&id).await.is_empty());
    assert_eq!(data(&world.log(&id, Some("$in")).await), [json!("later")]);

    world.clock.advance(HOUR - 1);
    world.barrier(&id).await;
    world.barrier(&listener).await;
    assert!(world.emitted(&id).await.is_empty());

    world.clock.advance(1);
    world.barrier(&id).await;
    let heard = world.engine.next().await;
    assert_eq!(
        (heard.source_id(), &heard.event),
        (&listener, &json!("later"))
    );
    heard.returns();
    let released = world.log(&id, None).await;
    assert_eq!(data(&released), [json!("later")]);
    assert_eq!(released[0].indexed_at_ms, after(HOUR));
    assert!(world.log(&id, Some("$in")).await.is_empty());
}

#[tokio::test]
async fn held_events_are_released_in_the_order_of_their_times() {
    let world = World::new().await;
    let (id, _) = held(&world, &Component::named("it")).await;
    emit(&world, &id, &[("third", 3), ("first", 1), ("second", 2)]).await;
    world.clock.advance(3 * HOUR);
    world.barrier(&id).await;
    for expected in ["first", "second", "third"] {
        let heard = world.engine.next().await;
        assert_eq!(heard.event, json!(expected));
        heard.returns();
    }
}

#[tokio::test]
async fn held_events_bypass_dedupe() {
    let world = World::new().await;
    let (id, _) = held(&world, &Component::named("it").dedupe("unique")).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(json!("now"), json!({ "id": "same" }));
    run.returns();
    done(report).await.unwrap();
    world.engine.next().await.returns();
    assert_eq!(emit(&world, &id, &[("later", 1), ("latest", 2)]).await, 2);
    world.clock.advance(2 * HOUR);
    world.barrier(&id).await;
    for expected in ["later", "latest"] {
        let heard = world.engine.next().await;
        assert_eq!(heard.event, json!(expected));
        heard.returns();
    }
    // Nor do they count as seen: what has not been emitted yet is new.
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(
        json!("held first"),
        json!({ "id": "other", "delivery_ts": after(9 * HOUR) }),
    );
    run.emit_with(json!("new"), json!({ "id": "other" }));
    run.returns();
    assert_eq!(done(report).await.unwrap().events, 2);
    let heard = world.engine.next().await;
    assert_eq!(heard.event, json!("new"));
    heard.returns();
}

#[tokio::test]
async fn a_held_event_is_released_on_the_channel_that_it_is_meant_for() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    world.subscribe(&id, &id, "self").await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(
        json!("poll"),
        json!({ "name": "self", "delivery_ts": after(HOUR) }),
    );
    run.returns();
    done(report).await.unwrap();
    world.clock.advance(HOUR);
    world.barrier(&id).await;
    let heard = world.engine.next().await;
    assert_eq!(heard.event, json!("poll"));
    heard.returns();
    assert_eq!(world.log(&id, Some("self")).await.len(), 1);
}

#[tokio::test]
async fn a_time_that_has_passed_is_now() {
    let world = World::new().await;
    let (id, _) = held(&world, &Component::named("it")).await;
    world.clock.advance(HOUR);
    emit(&world, &id, &[("past", 0)]).await;
    let heard = world.engine.next().await;
    assert_eq!(heard.event, json!("past"));
    heard.returns();
}

#[tokio::test]
async fn a_deleted_event_on_in_is_never_released() {
    let world = World::new().await;
    let (id, _) = held(&world, &Component::named("it")).await;
    emit(&world, &id, &[("cancelled", 1), ("kept", 2)]).await;
    let waiting = world.log(&id, Some("$in")).await;
    let only = EventRange {
        start: Some(waiting[0].id),
        end: Some(waiting[0].id),
    };
    let channel = default_channels(Some("$in"));
    world
        .platform
        .delete_source_events(&world.caller, &id, channel, only)
        .await
        .unwrap();
    assert_eq!(data(&world.log(&id, Some("$in")).await), [json!("kept")]);
    world.clock.advance(2 * HOUR);
    world.barrier(&id).await;
    let heard = world.engine.next().await;
    assert_eq!(heard.event, json!("kept"));
    heard.returns();
    assert_eq!(world.emitted(&id).await, [json!("kept")]);
}

#[tokio::test]
async fn deleting_ordinary_events_leaves_held_ones_alone() {
    let world = World::new().await;
    let (id, _) = held(&world, &Component::named("it")).await;
    emit(&world, &id, &[("later", 1)]).await;
    let all = EventRange::default();
    world
        .platform
        .delete_source_events(&world.caller, &id, default_channels(None), all)
        .await
        .unwrap();
    world.clock.advance(HOUR);
    world.barrier(&id).await;
    let heard = world.engine.next().await;
    assert_eq!(heard.event, json!("later"));
    heard.returns();
}

#[tokio::test]
async fn deleted_events_are_gone_at_once_and_later_ones_stay() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    for (number, cleared) in [(1, true), (2, false)] {
        let (run, report) = world.manual(&id, json!({})).await;
        run.emit(json!(number));
        run.returns();
        done(report).await.unwrap();
        if cleared {
            let all = EventRange::default();
            let channels = default_channels(None);
            world
                .platform
                .delete_source_events(&world.caller, &id, channels, all)
                .await
                .unwrap();
            assert!(world.emitted(&id).await.is_empty());
        }
    }
    assert_eq!(world.emitted(&id).await, [json!(2)]);
}
