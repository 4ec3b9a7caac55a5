//! Attempts that fail, and what becomes of their deliveries and webhooks.

use std::{collections::BTreeMap, time::Duration};

use headwater_engine::network::NetworkPolicy;
use headwater_model::{
    id::{SourceId, WebhookId},
    webhook::{
        AttemptFailure,
        DeliveryState::{Dead, Delivered, Pending},
        RESPONSE_EXCERPT_BYTES,
    },
};
use headwater_store::{Attempt, ClaimLimit, LeaseTerm, NodeName, Sealed};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{
    engine::PATIENCE,
    receiver::{Receiver, answered, local, states},
    world::{T0, World, after},
};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A source with an event whose first attempt was answered with this status.
async fn failed(world: &World, receiver: &Receiver, status: u16) -> (SourceId, WebhookId) {
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!("first")]).await;
    receiver.next().await.status(status);
    world.attempted(&webhook, 1).await;
    (source, webhook)
}

#[tokio::test]
async fn a_failed_attempt_is_repeated_after_its_wait_under_the_same_id() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1)]).await;
    let post = receiver.next().await;
    let id = post.header("webhook-id").to_owned();
    post.answer(answered(503, "try later"));
    let waiting = world.attempted(&webhook, 1).await;
    assert_eq!(states(&waiting), [Pending]);
    let attempt = &waiting[0].attempts[0];
    assert_eq!(attempt.status, Some(503));
    assert_eq!(attempt.response_excerpt.as_deref(), Some("try later"));
    let due_ms = waiting[0].next_attempt_at_ms.unwrap();
    assert!((after(5_000)..=after(5_500)).contains(&due_ms), "{due_ms}");
    world.pass(due_ms.0 - T0.0);
    let post = receiver.next().await;
    assert_eq!(post.header("webhook-id"), id);
    assert_eq!(
        post.header("webhook-timestamp"),
        due_ms.to_seconds().0.to_string()
    );
    post.status(200);
    assert_eq!(states(&world.attempted(&webhook, 2).await), [Delivered]);
}

#[tokio::test]
async fn what_waits_to_be_attempted_again_holds_nothing_back() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = failed(&world, &receiver, 500).await;
    world.emit(&source, [json!(2), json!(3)]).await;
    // While it fails, order is lost: both are in flight.
    let (one, other) = (receiver.next().await, receiver.next().await);
    one.status(200);
    other.status(200);
    let deliveries = world.attempted(&webhook, 3).await;
    assert_eq!(states(&deliveries), [Pending, Delivered, Delivered]);
    // Healthy again, and in order again, also while a retry hangs.
    world.pass(5_500);
    let retry = receiver.next().await;
    assert_eq!(retry.body(), json!("first"));
    world.emit(&source, [json!(4), json!(5)]).await;
    for number in 4..6 {
        let post = receiver.next().await;
        assert_eq!(post.body(), json!(number));
        assert!(receiver.nothing_arrived().await);
        post.status(200);
    }
    retry.status(200);
    let deliveries = world.attempted(&webhook, 6).await;
    assert_eq!(states(&deliveries), [Delivered; 5]);
}

#[tokio::test]
async fn a_longer_retry_after_is_waited_for() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1)]).await;
    let mut response = answered(429, "");
    let hour = "3600".parse().unwrap();
    response.headers_mut().insert("retry-after", hour);
    receiver.next().await.answer(response);
    let waiting = world.attempted(&webhook, 1).await;
    assert_eq!(waiting[0].next_attempt_at_ms, Some(after(3_600_000)));
}

#[tokio::test]
async fn what_fails_on_every_attempt_is_a_dead_letter_and_nothing_else_is() {
    let world = World::with(|config| {
        config.deliveries.network = NetworkPolicy::All;
        config.deliveries.backoff = "1s,1s".parse().unwrap();
    })
    .await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    // Each event says how often it is refused.
    let refusals = [0, 3, 1, 2, 9, 0, 2, 3];
    let events = refusals.iter().enumerate();
    world
        .emit(
            &source,
            events.map(|(number, refused)| json!([number, refused])),
        )
        .await;
    let mut arrived: BTreeMap<String, u64> = BTreeMap::new();
    let mut made = 0;
    for round in 0..3 {
        let due = refusals.iter().filter(|refused| **refused >= round).count();
        for _ in 0..due {
            let post = receiver.next().await;
            let count = arrived.entry(post.text.clone()).or_default();
            *count += 1;
            let refused = post.body()[1].as_u64().unwrap() >= *count;
            post.status(if refused { 500 } else { 200 });
        }
        made += due;
        world.attempted(&webhook, made).await;
        world.pass(1_100);
    }
    assert_eq!(arrived.len(), refusals.len(), "everything has arrived");
    let deliveries = world.attempted(&webhook, made).await;
    let expected = refusals.map(|refused| if refused > 2 { Dead } else { Delivered });
    assert_eq!(states(&deliveries), expected);
    world.pass(DAY_MS);
    world.emit(&source, [json!(["last", 0])]).await;
    let post = receiver.next().await;
    assert_eq!(post.body()[0], "last", "the dead stay dead");
    post.status(200);
    world.attempted(&webhook, made + 1).await;
}

#[tokio::test]
async fn a_webhook_that_answers_410_is_disabled_at_once() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1), json!(2)]).await;
    receiver.next().await.status(410);
    let deliveries = world.attempted(&webhook, 1).await;
    assert_eq!(states(&deliveries), [Dead, Dead]);
    let record = world.record(&webhook).await;
    assert!(!record.active);
    assert!(record.disabled_reason.unwrap().contains("410"));
    let errors = world.errors(&source).await;
    assert_eq!(errors.len(), 1);
    let error = &errors[0]["error"];
    assert_eq!(error["code"], "webhook_disabled");
    let hint = format!("headwater webhooks activate {webhook}");
    assert!(error["message"].as_str().unwrap().contains(&hint));
    assert_eq!(errors[0]["original_event"], json!(1));
    assert_eq!(
        errors[0]["original_context"]["webhook_id"],
        webhook.as_str()
    );
    assert!(!errors[0].to_string().contains(&receiver.url()));
    world.pass(DAY_MS);
    // Active again it takes what comes from then on.
    world
        .change(&webhook, |webhook| webhook.active = true)
        .await;
    world.emit(&source, [json!(3)]).await;
    let post = receiver.next().await;
    assert_eq!(post.body(), json!(3));
    post.status(200);
    world.attempted(&webhook, 2).await;
}

#[tokio::test]
async fn what_a_former_receiver_answers_does_not_disable_a_webhook_that_was_moved() {
    let world = local().await;
    let (former, next) = (Receiver::new().await, Receiver::new().await);
    let (source, webhook) = failed(&world, &former, 500).await;
    world.clock.advance(6 * DAY_MS);
    world.emit(&source, [json!(1)]).await;
    let posts = [former.next().await, former.next().await];
    world
        .change(&webhook, |webhook| webhook.url = next.url())
        .await;
    for post in posts {
        post.status(410);
    }
    world.attempted(&webhook, 3).await;
    // Neither do former failures: the next receiver may have a hiccup.
    world.emit(&source, [json!(2)]).await;
    next.next().await.status(500);
    let deliveries = world.attempted(&webhook, 4).await;
    assert_eq!(states(&deliveries), [Pending; 3]);
    assert!(world.record(&webhook).await.active);
    world.pass(DAY_MS);
    for _ in 0..3 {
        next.next().await.status(200);
    }
    let deliveries = world.attempted(&webhook, 7).await;
    assert_eq!(states(&deliveries), [Delivered; 3]);
    assert!(world.errors(&source).await.is_empty());
}

/// The clock stands still: a lease that was kept would never end.
#[tokio::test]
async fn a_webhook_whose_secret_cannot_be_opened_keeps_no_lease() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    let secret = world.record(&webhook).await.secret;
    world
        .change(&webhook, |webhook| webhook.secret = Sealed(vec![9]))
        .await;
    world.emit(&source, [json!(1)]).await;
    let term = LeaseTerm {
        epoch: world.lease(&source).await.epoch,
        expires_at_ms: after(DAY_MS),
    };
    let limit = ClaimLimit {
        deliveries: 1,
        retries: 1,
        bytes: u64::MAX,
    };
    let given_back = async {
        let mut claimed_here = 0;
        loop {
            let claimed = world.store.claim_deliveries(&webhook, term, T0, limit);
            for claimed in claimed.await.unwrap().deliveries {
                world
                    .store
                    .release_deliveries(std::slice::from_ref(&claimed.lease))
                    .await
                    .unwrap();
                claimed_here += 1;
                if claimed.lease.number > claimed_here {
                    return;
                }
            }
            world.platform.nudge_deliveries();
            tokio::task::yield_now().await;
        }
    };
    let given_back = tokio::time::timeout(PATIENCE, given_back).await;
    given_back.expect("what the courier claimed can be claimed again");
    assert!(receiver.nothing_arrived().await);
    world
        .change(&webhook, |webhook| webhook.secret = secret)
        .await;
    world.platform.nudge_deliveries();
    receiver.next().await.status(200);
    world.attempted(&webhook, 1).await;
}

#[tokio::test]
async fn many_retries_are_claimed_as_room_comes_and_not_given_back() {
    const EVENTS: usize = 400;
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world
        .emit(&source, (0..EVENTS).map(|number| json!(number)))
        .await;
    for _ in 0..EVENTS {
        receiver.next().await.status(500);
    }
    world.pass(6_000);
    // More than wait in memory at once.
    for _ in 0..80 {
        receiver.next().await.status(200);
    }
    let app = std::sync::Arc::clone(&world.platform);
    let stopped = tokio::spawn(async move { app.stop().await });
    let arrived = async {
        loop {
            receiver.next().await.status(200);
        }
    };
    tokio::select! {
        stopped = stopped => stopped.unwrap(),
        () = arrived => {}
    }
    let epoch = world
        .store
        .start_node(&NodeName::new("node"), T0)
        .await
        .unwrap();
    let term = LeaseTerm {
        epoch,
        expires_at_ms: after(DAY_MS),
    };
    let limit = ClaimLimit {
        deliveries: 1_000,
        retries: 1_000,
        bytes: u64::MAX,
    };
    let left = world
        .store
        .claim_deliveries(&webhook, term, after(DAY_MS), limit);
    let left = left.await.unwrap().deliveries;
    assert!(left.len() > 256);
    // For the first attempt, for the second unless it was too early for that, and here.
    let most = left.iter().map(|left| left.lease.number).max();
    assert_eq!(most, Some(3));
}

#[tokio::test]
async fn what_was_in_flight_when_a_webhook_was_given_up_counts() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = failed(&world, &receiver, 500).await;
    world.emit(&source, [json!(2), json!(3), json!(4)]).await;
    let (one, two, three) = (
        receiver.next().await,
        receiver.next().await,
        receiver.next().await,
    );
    one.status(410);
    world.attempted(&webhook, 2).await;
    assert!(world.record(&webhook).await.active);
    two.status(200);
    three.status(500);
    let deliveries = world.attempted(&webhook, 4).await;
    let mut states = states(&deliveries);
    states.sort_by_key(|state| *state == Delivered);
    assert_eq!(states, [Dead, Dead, Dead, Delivered]);
    assert!(!world.record(&webhook).await.active);
}

#[tokio::test]
async fn a_webhook_that_fails_for_five_days_is_disabled() {
    let world = local().await;
    let receiver = Receiver::new().await;
    let (source, webhook) = failed(&world, &receiver, 500).await;
    for (passed_ms, active) in [(5 * DAY_MS - 1, true), (1, false)] {
        world.clock.advance(passed_ms);
        let made = world.deliveries(&webhook).await;
        let made: usize = made.iter().map(|each| each.attempts.len()).sum();
        world.emit(&source, [json!(passed_ms)]).await;
        // The first one is due again, too, the first time.
        let due = if active { 2 } else { 1 };
        for _ in 0..due {
            receiver.next().await.status(500);
        }
        world.attempted(&webhook, made + due).await;
        assert_eq!(world.record(&webhook).await.active, active);
    }
    let record = world.record(&webhook).await;
    assert!(record.disabled_reason.unwrap().contains("five days"));
    let deliveries = world.deliveries(&webhook).await;
    assert_eq!(states(&deliveries), [Dead; 3]);
    assert_eq!(world.errors(&source).await.len(), 1);
}

#[tokio::test]
async fn a_redirect_is_a_failure() {
    let world = local().await;
    let (receiver, target) = (Receiver::new().await, Receiver::new().await);
    let (source, webhook) = world.delivering_to(&receiver.url()).await;
    world.emit(&source, [json!(1)]).await;
    let mut response = answered(307, "");
    let location = target.url().parse().unwrap();
    response.headers_mut().insert("location", location);
    receiver.next().await.answer(response);
    let attempt = world.last_attempt(&webhook, 1).await;
    assert_eq!((attempt.status, attempt.error), (Some(307), None));
    assert!(target.nothing_arrived().await);
}

#[tokio::test]
async fn private_addresses_are_refused_as_literals_and_as_names() {
    let world = World::new().await;
    let receiver = Receiver::new().await;
    let port = receiver.address.port();
    for host in ["127.0.0.1", "localhost", "[::1]", "0x7f.1"] {
        let (source, webhook) = world.delivering_to(&format!("http://{host}:{port}/")).await;
        world.emit(&source, [json!(1)]).await;
        let attempt = world.last_attempt(&webhook, 1).await;
        let error = attempt.error.unwrap();
        assert!(error.contains("not a public address"), "{host}: {error}");
        assert_eq!(attempt.status, None);
    }
    assert!(receiver.nothing_arrived().await);
}

#[tokio::test]
async fn a_url_that_cannot_be_used_fails_and_says_so() {
    let world = local().await;
    for url in ["nonsense", "ftp://127.0.0.1/"] {
        let (source, webhook) = world.delivering_to(url).await;
        world.emit(&source, [json!(1)]).await;
        let attempt = world.last_attempt(&webhook, 1).await;
        assert!(attempt.error.is_some(), "{url}");
    }
}

/// A server that does with each connection what it likes.
async fn serving<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    format!("http://{address}/")
}

/// What the webhook at this URL makes of its only event.
async fn attempt_at(url: &str) -> Attempt {
    let world = World::with(|config| {
        config.deliveries.network = NetworkPolicy::All;
        config.deliveries.attempt_timeout = Duration::from_millis(500);
    })
    .await;
    let (source, webhook) = world.delivering_to(url).await;
    world.emit(&source, [Value::Null]).await;
    world.last_attempt(&webhook, 1).await
}

#[tokio::test]
async fn a_connection_that_is_reset_or_answers_garbage_is_a_failure() {
    let reset = serving(|stream| async move {
        let _ = stream.set_zero_linger();
        drop(stream);
    });
    let garbage = serving(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(&[0xff; 65_536]).await;
    });
    let nobody = format!("http://127.0.0.1:{}/", {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        listener.local_addr().unwrap().port()
    });
    for (url, failure) in [
        (reset.await, AttemptFailure::Broken),
        (garbage.await, AttemptFailure::Broken),
        (nobody, AttemptFailure::Refused),
    ] {
        let attempt = attempt_at(&url).await;
        assert_eq!((attempt.status, attempt.failure), (None, Some(failure)));
        let error = attempt.error.unwrap();
        assert!(!error.is_empty() && !error.contains("http://"), "{error}");
    }
}

#[tokio::test]
async fn a_receiver_that_never_answers_fails_when_the_time_is_up() {
    let silent = serving(|mut stream| async move {
        let mut buffer = [0; 4096];
        while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    });
    let attempt = attempt_at(&silent.await).await;
    assert_eq!(attempt.status, None);
    assert_eq!(attempt.error.as_deref(), Some("no answer within 500ms"));
    assert_eq!(attempt.failure, Some(AttemptFailure::Timeout));
}

#[tokio::test]
async fn an_endless_answer_is_cut_and_its_status_counts() {
    let endless = serving(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
        let _ = stream.write_all(head).await;
        while stream.write_all(&[b'x'; 8192]).await.is_ok() {}
    });
    let broken = serving(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\nshort";
        let _ = stream.write_all(head).await;
    });
    for (url, bytes) in [
        (endless.await, RESPONSE_EXCERPT_BYTES),
        (broken.await, "short".len()),
    ] {
        let attempt = attempt_at(&url).await;
        assert_eq!((attempt.status, attempt.error), (Some(200), None));
        assert_eq!(attempt.failure, None);
        assert_eq!(attempt.response_excerpt.unwrap().len(), bytes);
    }
}

#[tokio::test]
async fn endless_headers_are_a_failure() {
    let endless = serving(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
        while stream
            .write_all(b"x-more: and more and more\r\n")
            .await
            .is_ok()
        {}
    });
    let attempt = attempt_at(&endless.await).await;
    assert_eq!(attempt.status, None);
    assert!(attempt.error.is_some());
}
