//! Background work that begins at its time, or because somebody said that there is some, and not only when the node
//! looks for it anyway.
//!
//! Timers stand still, and go on when the test says so: whatever waits for the period of its loop never happens.

use std::{sync::mpsc, time::Duration};

use headwater_engine::network::NetworkPolicy;
use headwater_model::webhook::DeliveryState::Delivered;
use headwater_store::KeptRuns;
use serde_json::json;
use tokio::time::Instant;

use crate::{
    engine::PATIENCE,
    receiver::{Receiver, states},
    world::{T0, World, with_faults},
};

/// Holds the timers of a test with paused time where they are, also while everything awaits a socket or the store.
/// A test that waits for a timer nevertheless goes on after its patience, and sees that time has passed.
struct Held {
    _until: mpsc::Sender<()>,
    begin: Instant,
}

impl Held {
    fn new() -> Self {
        let (_until, let_go) = mpsc::channel::<()>();
        // As long as something blocks, the runtime lets no time pass.
        tokio::task::spawn_blocking(move || {
            let _ = let_go.recv_timeout(PATIENCE);
        });
        Self {
            _until,
            begin: Instant::now(),
        }
    }

    fn passed(&self) -> Duration {
        self.begin.elapsed()
    }
}

/// Returns when the node shows this among its metrics.
async fn shown(world: &World, line: &str) {
    // Patience is of the world outside: inside no time passes.
    let begin = std::time::Instant::now();
    loop {
        let text = world.platform.metrics().await;
        if text.lines().any(|shown| shown == line) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{line} is not in {text}");
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_made_when_it_is_due() {
    let held = Held::new();
    let world = World::with(|config| {
        config.deliveries.network = NetworkPolicy::All;
        config.deliveries.backoff = "1s,1s".parse().unwrap();
    })
    .await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1)]).await;
    let arrived = async |passed_ms| {
        let post = receiver.next().await;
        let passed = Duration::from_millis(passed_ms);
        assert_eq!(held.passed(), passed, "it was found later");
        post
    };
    let mut passed_ms = 0;
    for attempts in 1..=2 {
        arrived(passed_ms).await.status(503);
        let waiting = world.attempted(&webhook, attempts).await;
        let due_ms = waiting[0].next_attempt_at_ms.unwrap().0 - T0.0;
        // The courier has gone, so that nobody but the loop knows of it.
        shown(&world, "headwater_couriers 0").await;
        world.clock.advance(due_ms - passed_ms);
        tokio::time::advance(Duration::from_millis(due_ms - passed_ms)).await;
        passed_ms = due_ms;
    }
    arrived(passed_ms).await.status(200);
    assert_eq!(states(&world.attempted(&webhook, 3).await), [Delivered]);
}

#[tokio::test(start_paused = true)]
async fn whatever_a_disabled_webhook_has_not_taken_is_given_up_without_delay() {
    /// More than is given up in the step that disables it.
    const EVENTS: u64 = 1_100;
    let held = Held::new();
    let world = World::with(|config| {
        config.deliveries.network = NetworkPolicy::All;
        // Nothing else is to be trimmed.
        config.retained_events = 10_000;
    })
    .await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    let items =
        |chore, count| format!(r#"headwater_background_items_total{{chore="{chore}"}} {count}"#);
    let events = (0..EVENTS).map(|number| json!(number));
    world.emit(&source, events).await;
    let post = receiver.next().await;
    shown(&world, &items("dispatch", EVENTS)).await;
    post.status(410);
    // A thousand were given up when it was disabled.
    shown(&world, &items("retention", EVENTS - 1_000)).await;
    assert!(!world.record(&webhook).await.active);
    shown(&world, "headwater_couriers 0").await;
    assert!(receiver.nothing_arrived().await);
    assert_eq!(held.passed(), Duration::ZERO, "it was done later");
}

#[tokio::test]
async fn a_look_that_finds_nothing_to_do_writes_nothing() {
    let (store, sqlite) = with_faults();
    // The first steps note how much is kept.
    for is_away in [false, true] {
        sqlite.faults().set_away(is_away);
        for step in [
            store.run_deletions(9).await,
            store.trim(100, 9, None).await,
            store
                .trim_runs(
                    KeptRuns {
                        successes: 100,
                        failures: 100,
                    },
                    9,
                )
                .await,
            store.trim_deliveries(100, T0, 9).await,
            store.release_scheduled(T0, 9).await,
            store.fire_timers(T0, 9).await,
            store.dispatch(T0, 9, 9).await,
        ] {
            assert_eq!(step.unwrap().done, 0);
        }
    }
}
