//! Following a source's events: each once and in order, whatever happens meanwhile.

use std::pin::Pin;

use futures::{Stream, StreamExt as _, stream};
use headwater_model::{
    event::Event,
    id::{EmitterId, EventId, SourceId, WorkflowId},
    time::EpochMs,
};
use headwater_platform::{Caller, EventRange, Follow, PlatformError, Portion, default_channels};
use serde_json::{Value, json};

use crate::{
    component::Component,
    engine::PATIENCE,
    world::{World, deployment, done, life, memory},
};

/// A reader of a source's events, in the test's words.
struct Reader(Pin<Box<dyn Stream<Item = Event> + Send>>);

impl Reader {
    fn new(portions: impl Stream<Item = Portion> + Send + 'static) -> Self {
        let events = |portion: Portion| stream::iter(portion.events().cloned().collect::<Vec<_>>());
        Self(Box::pin(portions.flat_map(events)))
    }

    async fn next(&mut self) -> Option<(EventId, Value)> {
        let next = tokio::time::timeout(PATIENCE, self.0.next()).await;
        let event = next.expect("an event or the end")?;
        let data = serde_json::from_str(event.event.get()).unwrap();
        Some((event.id, data))
    }

    async fn numbers(&mut self, count: usize) -> Vec<u64> {
        let mut numbers = Vec::new();
        while numbers.len() < count {
            let (_, data) = self.next().await.expect("the stream goes on");
            numbers.push(data.as_u64().unwrap());
        }
        numbers
    }
}

fn follow(id: &SourceId, event_name: Option<&str>, after: Option<EventId>) -> Follow {
    Follow {
        emitter: EmitterId::from(id.clone()),
        channels: default_channels(event_name),
        after,
    }
}

async fn reader(world: &World, id: &SourceId, after: Option<EventId>) -> Reader {
    reader_of(world, &world.caller, follow(id, None, after)).await
}

async fn reader_of(world: &World, caller: &Caller, follow: Follow) -> Reader {
    Reader::new(world.platform.follow(caller, follow).await.unwrap())
}

const BEGINNING: Option<EventId> = Some(EventId {
    ms: EpochMs(0),
    sequence: 0,
});

/// Emits these numbers in one run, which is one commit.
async fn emit(world: &World, id: &SourceId, numbers: std::ops::Range<u64>) {
    let (run, report) = world.manual(id, json!({})).await;
    for number in numbers {
        run.emit(json!(number));
    }
    run.returns();
    done(report).await.unwrap();
}

/// Lets retention look, with something of its own to do.
async fn nudge_retention(world: &World, other: &SourceId) {
    world
        .platform
        .delete_source_events(
            &world.caller,
            other,
            default_channels(None),
            EventRange::default(),
        )
        .await
        .unwrap();
}

#[tokio::test]
async fn a_reader_without_a_last_event_gets_only_new_ones() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    emit(&world, &id, 0..3).await;
    let mut reader = reader(&world, &id, None).await;
    emit(&world, &id, 3..5).await;
    assert_eq!(reader.numbers(2).await, [3, 4]);
}

#[tokio::test]
async fn a_burst_over_retention_reaches_every_reader_whole() {
    let world = World::with(|config| config.retained_events = 10).await;
    let id = world.deploy(&Component::named("it")).await;
    let other = world.deploy(&Component::named("other")).await;
    let mut readers = Vec::new();
    for _ in 0..20 {
        readers.push(reader(&world, &id, None).await);
    }
    for burst in 0..3 {
        emit(&world, &id, burst * 1200..(burst + 1) * 1200).await;
        nudge_retention(&world, &other).await;
    }
    for reader in &mut readers {
        let numbers = reader.numbers(3600).await;
        assert!(numbers.into_iter().eq(0..3600));
    }
}

#[tokio::test]
async fn a_reader_that_comes_again_misses_nothing_and_gets_nothing_twice() {
    let world = World::with(|config| config.retained_events = 1000).await;
    let id = world.deploy(&Component::named("it")).await;
    let emitting = async {
        for burst in 0..30 {
            emit(&world, &id, burst * 20..(burst + 1) * 20).await;
        }
    };
    let reading = async {
        let (mut after, mut read) = (BEGINNING, 0);
        // Longer each time, so that some end in a replay and some behind it.
        for patience in 1.. {
            let mut reader = reader(&world, &id, after).await;
            for _ in 0..patience {
                let (event_id, data) = reader.next().await.unwrap();
                assert_eq!(data, json!(read));
                (after, read) = (Some(event_id), read + 1);
                if read == 600 {
                    return;
                }
            }
        }
    };
    futures::join!(emitting, reading);
}

#[tokio::test]
async fn a_reader_that_hangs_is_dropped_and_the_others_go_on() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let mut hanging = reader(&world, &id, None).await;
    let mut reading = reader(&world, &id, None).await;
    let megabytes = "x".repeat(4 << 20);
    for number in 0..10 {
        let (run, report) = world.manual(&id, json!({})).await;
        run.emit(json!([number, megabytes]));
        run.returns();
        done(report).await.unwrap();
        assert_eq!(reading.next().await.unwrap().1[0], json!(number));
    }
    assert!(hanging.next().await.is_none());
    // It lost its place and no event: it comes again.
    let mut again = reader(&world, &id, BEGINNING).await;
    for number in 0..10 {
        assert_eq!(again.next().await.unwrap().1[0], json!(number));
    }
}

#[tokio::test]
async fn channels_are_followed_apart() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let named = world
        .platform
        .follow(&world.caller, follow(&id, Some("orders"), None));
    let mut named = Reader::new(named.await.unwrap());
    let errors = world
        .platform
        .follow(&world.caller, follow(&id, Some("$errors"), None));
    let mut errors = Reader::new(errors.await.unwrap());
    let mut all = reader(&world, &id, None).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit(json!(1));
    run.emit_with(json!(2), json!({ "name": "orders" }));
    run.throws("boom");
    done(report).await.unwrap();
    assert_eq!(all.numbers(2).await, [1, 2]);
    assert_eq!(named.numbers(1).await, [2]);
    assert!(errors.next().await.unwrap().1.to_string().contains("boom"));
}

#[tokio::test]
async fn a_scheduled_event_is_followed_when_it_is_released() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let mut reader = reader(&world, &id, None).await;
    let (run, report) = world.manual(&id, json!({})).await;
    run.emit_with(
        json!(2),
        json!({ "delivery_ts": crate::world::after(1000) }),
    );
    run.emit(json!(1));
    run.returns();
    done(report).await.unwrap();
    assert_eq!(reader.numbers(1).await, [1]);
    world.clock.advance(1000);
    world.barrier(&id).await;
    assert_eq!(reader.numbers(1).await, [2]);
    let waiting = follow(&id, Some("$in"), None);
    let refused = world.platform.follow(&world.caller, waiting).await;
    assert!(matches!(refused.err(), Some(PlatformError::Invalid(_))));
}

#[tokio::test]
async fn a_stream_ends_with_its_source() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let other = world.deploy(&Component::named("other")).await;
    let mut ending = reader(&world, &id, BEGINNING).await;
    let mut going_on = reader(&world, &other, None).await;
    world.delete(&id).await.unwrap();
    assert!(ending.next().await.is_none());
    emit(&world, &other, 0..1).await;
    assert_eq!(going_on.numbers(1).await, [0]);
}

#[tokio::test]
async fn streams_end_when_the_node_is_asked_to_stop() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let mut reader = reader(&world, &id, None).await;
    world.platform.stop().await;
    assert!(reader.next().await.is_none());
}

#[test]
fn a_reader_goes_on_where_it_was_on_another_start_of_the_node() {
    let store = memory();
    let (id, last) = life(async {
        let world = World::on(&store).await;
        let id = world.deploy(&Component::named("it")).await;
        let mut reader = reader(&world, &id, BEGINNING).await;
        emit(&world, &id, 0..3).await;
        let (last, _) = reader.next().await.unwrap();
        (id, last)
    });
    life(async {
        let world = World::on(&store).await;
        let mut reader = reader(&world, &id, Some(last)).await;
        assert_eq!(reader.numbers(2).await, [1, 2]);
        emit(&world, &id, 3..4).await;
        assert_eq!(reader.numbers(1).await, [3]);
    });
}

#[tokio::test]
async fn who_may_no_longer_read_is_turned_away_at_once() {
    let world = World::new().await;
    let (platform, me) = (&world.platform, &world.caller);
    let workspace = me.identity.workspaces[0].id.clone();
    let mut request = deployment(&Component::named("it"), json!({}));
    request.workspace_id = Some(workspace.clone());
    let id = platform.deploy_source(me, request).await.unwrap().source.id;
    let mut others = Vec::new();
    for name in ["leaves", "deleted", "revoked"] {
        let other = world.user(name).await;
        platform.add_member(me, &workspace, name).await.unwrap();
        others.push(world.again(&other).await);
    }
    let mut mine = reader(&world, &id, None).await;
    let mut live = Vec::new();
    let mut replaying = Vec::new();
    for other in &others {
        live.push(reader_of(&world, other, follow(&id, None, None)).await);
        replaying.push(reader_of(&world, other, follow(&id, None, BEGINNING)).await);
    }
    let [leaves, deleted, revoked] = others.try_into().unwrap();
    platform
        .remove_member(me, &workspace, leaves.user_id())
        .await
        .unwrap();
    platform.delete_user(me, deleted.user_id()).await.unwrap();
    platform
        .revoke_key(me, &revoked.identity.key.id)
        .await
        .unwrap();
    emit(&world, &id, 0..2).await;
    assert_eq!(mine.numbers(2).await, [0, 1]);
    for reader in live.iter_mut().chain(&mut replaying) {
        assert!(reader.next().await.is_none());
    }
    // A request that was let in just before does not find its place afterwards either.
    for late in [&leaves, &deleted, &revoked] {
        let refused = platform.follow(late, follow(&id, None, None)).await.err();
        assert!(matches!(
            refused,
            Some(PlatformError::NotFound { .. } | PlatformError::Unauthenticated)
        ));
    }
}

#[tokio::test]
async fn what_the_caller_cannot_see_is_not_followed() {
    let world = World::new().await;
    let id = world.deploy(&Component::named("it")).await;
    let workflow = Follow {
        emitter: EmitterId::Workflow(WorkflowId::new(EpochMs(1), 1)),
        ..follow(&id, None, None)
    };
    for (caller, wanted) in [
        (&world.stranger().await, follow(&id, None, None)),
        (&world.caller, workflow),
    ] {
        let refused = world.platform.follow(caller, wanted).await.err();
        assert!(matches!(refused, Some(PlatformError::NotFound { .. })));
    }
}
