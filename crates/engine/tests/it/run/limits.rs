//! Limits of runs, and the fate of those that use more, and of others.

use std::{sync::atomic::Ordering, time::Duration};

use headwater_engine::LogLevel;
use headwater_model::outcome::{Limit, Outcome};
use serde_json::{Value, json};

use crate::harness::{Node, Source};

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_loop_ends_at_its_time_and_other_sources_do_not_notice() {
    let node = Node::with(|config| {
        config.limits.run_wall = Duration::from_secs(2);
        config.warm_workers = 2;
    })
    .await;
    let (looping, other) = (Source::named("steer"), Source::named("emit"));
    let mut run = node.steer(&looping, "loop").await;
    run.has_begun().await;
    for number in 0..20 {
        assert_eq!(
            node.run(&other, json!(number)).await.returned(),
            json!({"given": number})
        );
    }
    assert_eq!(run.collect().await.limit(), Limit::Wall);
    let again = node
        .run(&looping, json!({"deed": "echo", "value": 1}))
        .await;
    assert_eq!(again.returned(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_beside_one_that_takes_too_long_are_lost() {
    let node = Node::with(|config| config.limits.run_wall = Duration::from_secs(2)).await;
    let source = Source::named("steer");
    let mut first = node.steer(&source, "wait").await;
    first.has_begun().await;
    let second = node.steer(&source, "wait").await;
    let (first, second) = tokio::join!(first.collect(), second.collect());
    assert_eq!(first.limit(), Limit::Wall);
    // Their deadlines may fall together: the worker goes at the first.
    assert!(second.is_lost(), "{second:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_heap_is_the_only_runs_fault_and_nobodys_among_several() {
    let node = Node::with(|config| config.limits.heap_mib = 64).await;
    let source = Source::named("steer");
    assert_eq!(
        node.steer(&source, "hog").await.collect().await.limit(),
        Limit::Memory
    );
    let mut waiting = node.steer(&source, "wait").await;
    waiting.has_begun().await;
    let hog = node.steer(&source, "hog").await;
    let (waiting, hog) = tokio::join!(waiting.collect(), hog.collect());
    assert!(waiting.is_lost() && hog.is_lost(), "{waiting:?} {hog:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_outside_the_heap_is_bounded_too() {
    let node = Node::with(|config| config.limits.heap_mib = 64).await;
    let messages = node
        .steer(&Source::named("steer"), "hogBuffers")
        .await
        .collect()
        .await;
    assert_eq!(messages.limit(), Limit::Memory);
    assert_eq!(messages.emitted(), ["before hogBuffers"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_bounded_however_fast_it_is_taken() {
    let node = Node::with(|config| config.limits.heap_mib = 64).await;
    let source = Source::named("steer");
    let messages = node.steer(&source, "burst").await.collect().await;
    // Whoever is faster: the pool that looks, or the kernel that gives no more.
    let is_refused = match messages.outcome() {
        Outcome::LimitExceeded { limit, .. } => *limit == Limit::Memory,
        Outcome::Threw { error } => error.name == "RangeError",
        Outcome::Returned { .. } | Outcome::Lost { .. } | Outcome::Cancelled { .. } => false,
    };
    assert!(is_refused, "{messages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_files_are_bounded_one_and_all() {
    let node = Node::start().await;
    let source = Source::named("steer");
    for deed in ["largeFile", "manyFiles"] {
        let messages = node.steer(&source, deed).await.collect().await;
        assert_eq!(messages.limit(), Limit::Output, "{deed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_goes_away_takes_its_run_along_and_says_how() {
    let node = Node::start().await;
    let source = Source::named("steer");
    let exit = node.steer(&source, "exit").await.collect().await;
    assert!(
        matches!(exit.outcome(), Outcome::Threw { error } if error.message.contains("exit")),
        "{exit:?}"
    );
    let aborted = node.steer(&source, "abort").await.collect().await;
    assert!(
        matches!(aborted.outcome(), Outcome::Threw { .. }),
        "{aborted:?}"
    );
    let fine = node.run(&source, json!({"deed": "echo", "value": 1})).await;
    assert_eq!(fine.returned(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unhandled_rejection_fails_the_run_that_it_can_only_belong_to() {
    let node = Node::start().await;
    let source = Source::named("steer");
    let rejected = node.steer(&source, "reject").await.collect().await;
    assert!(
        matches!(rejected.outcome(), Outcome::Threw { error } if error.message == "unhandled"),
        "{rejected:?}"
    );
    assert_eq!(
        node.run(&source, json!({"deed": "echo", "value": 1}))
            .await
            .returned(),
        1
    );
    assert_eq!(
        source.state.loads.load(Ordering::Relaxed),
        1,
        "the worker goes on"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_are_cut_at_their_limit() {
    let node = Node::with(|config| config.limits.log_bytes = 64 * 1024).await;
    let messages = node
        .steer(&Source::named("steer"), "manyLogs")
        .await
        .collect()
        .await;
    assert_eq!(messages.returned(), Value::Null);
    let logs = messages.logs();
    let bytes: usize = logs.iter().map(|(_, text)| text.len()).sum();
    assert!(bytes <= 70 * 1024, "{bytes}");
    assert_eq!(logs.last().unwrap().0, LogLevel::Warn);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_nothing_are_cut_too() {
    let node = Node::start().await;
    let messages = node
        .steer(&Source::named("steer"), "emptyLogs")
        .await
        .collect()
        .await;
    assert_eq!(messages.returned(), Value::Null);
    let logs = messages.logs();
    assert!((1..20_000).contains(&logs.len()), "{}", logs.len());
    assert_eq!(logs.last().unwrap().0, LogLevel::Warn);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_frame_are_logs_up_to_their_limit() {
    let node = Node::with(|config| config.limits.log_bytes = 256 * 1024).await;
    let messages = node
        .steer(&Source::named("steer"), "noise")
        .await
        .collect()
        .await;
    assert_eq!(messages.returned(), "heard");
    let logs = messages.logs();
    let bytes: usize = logs.iter().map(|(_, text)| text.len()).sum();
    assert!(bytes > 1024 && bytes <= 257 * 1024, "{bytes}");
    assert_eq!(logs.last().unwrap().0, LogLevel::Warn);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forged_frame_is_only_noise() {
    let node = Node::start().await;
    let messages = node
        .steer(&Source::named("steer"), "forge")
        .await
        .collect()
        .await;
    assert_eq!(messages.returned(), "genuine");
    assert!(
        messages
            .logs()
            .iter()
            .any(|(_, text)| text.contains("forged")),
        "{messages:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn output_over_the_limit_ends_the_run_and_keeps_what_came_before() {
    let node = Node::with(|config| config.limits.output_bytes = 256 * 1024).await;
    let source = Source::named("steer");
    for (count, size, kept) in [(10, 100_000, 3), (1, 10_000_000, 1)] {
        let event = json!({"deed": "bigEmits", "count": count, "size": size});
        let messages = node.run(&source, event).await;
        assert_eq!(messages.limit(), Limit::Output);
        assert_eq!(
            messages.emitted().len(),
            kept,
            "with the one that every run begins with"
        );
    }
    let value = node
        .run(&source, json!({"deed": "bigValue", "size": 10_000_000}))
        .await;
    assert_eq!(value.limit(), Limit::Output);
}
