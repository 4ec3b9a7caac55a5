//! The sources that share a worker: by the isolation, after harm, and with the platform package as one module.

use std::sync::atomic::Ordering;

use headwater_engine::{ComponentCode, Isolation, WorkerRoom, network::NetworkPolicy};
use headwater_model::outcome::{Limit, Outcome};
use serde_json::{Map, Value, json};

use crate::{
    harness::{Messages, Node, Source},
    support::{builder, files},
};

fn of_one_tenant(mut source: Source) -> Source {
    source.spec.tenant = "one".into();
    source
}

fn source(component: &str) -> Source {
    of_one_tenant(Source::named(component))
}

fn loads(source: &Source) -> usize {
    source.state.loads.load(Ordering::Relaxed)
}

async fn echo(node: &Node, source: &Source) -> Messages {
    let event = json!({"deed": "echo", "value": 1});
    let messages = node.run(source, event).await;
    assert_eq!(messages.returned(), 1);
    messages
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_share_a_worker_as_the_isolation_says() {
    for (isolation, workers) in [
        (Isolation::Owner, 1),
        (Isolation::Component, 2),
        (Isolation::Source, 3),
    ] {
        let node = Node::with(|config| config.isolation = isolation).await;
        let sources = [source("steer"), source("steer"), source("emit")];
        for source in &sources {
            node.run(source, json!({"deed": "echo", "value": 1})).await;
        }
        let status = node.engine.status();
        assert_eq!(status.source_workers, workers, "{isolation:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_that_want_other_heaps_share_no_worker() {
    let node = Node::sharing(|config| config.limits.heap_mib = 64).await;
    let (usual, mut large) = (source("steer"), source("steer"));
    large.spec.heap_mib = Some(512);
    echo(&node, &usual).await;
    echo(&node, &large).await;
    assert_eq!(node.engine.status().source_workers, 2);
    let grow = json!({"deed": "grow", "mib": 200});
    node.run(&large, grow.clone()).await.returned();
    let refused = node.run(&usual, grow).await;
    let is_kept = matches!(refused.outcome(), Outcome::Returned { .. });
    assert!(!is_kept, "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_full_gets_no_more_sources() {
    // Two sources of code that is called share a module.
    for (room, workers) in [
        (
            WorkerRoom {
                components: 2,
                ..WorkerRoom::default()
            },
            2,
        ),
        (
            WorkerRoom {
                modules: 1,
                ..WorkerRoom::default()
            },
            2,
        ),
    ] {
        let node = Node::sharing(|config| config.room = room).await;
        let artifact = built(COUNTS).await.artifact;
        let sources =
            [(); 2].map(|()| of_one_tenant(Source::of("counts", artifact.clone(), Map::new())));
        for source in &sources {
            node.run(source, Value::Null).await.returned();
        }
        assert_eq!(node.engine.status().source_workers, 1, "{room:?}");
        let other = source("steer");
        echo(&node, &other).await;
        assert_eq!(node.engine.status().source_workers, workers, "{room:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_takes_much_memory_gets_no_more_sources() {
    let node = Node::sharing(|config| config.limits.heap_mib = 64).await;
    let sources = [source("steer"), source("steer")];
    let [large, small] = &sources;
    echo(&node, large).await;
    node.run(large, json!({"deed": "keep", "mib": 64}))
        .await
        .returned();
    // The memory is looked at from time to time.
    let apart = async {
        loop {
            let evicted = node.engine.evict(&small.spec.owner);
            evicted.await;
            echo(&node, small).await;
            if node.engine.status().source_workers == 2 {
                return;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(60), apart)
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_holds_the_others_up_gets_and_keeps_a_worker_of_its_own() {
    let node = Node::sharing(|_| {}).await;
    let (holding, other) = (source("steer"), source("steer"));
    echo(&node, &other).await;
    echo(&node, &holding).await;
    let hold = json!({"deed": "hold", "ms": 2_500});
    node.run(&holding, hold).await.returned();
    assert_eq!(node.engine.status().source_workers, 1);
    for _ in 0..2 {
        echo(&node, &holding).await;
        assert_eq!(node.engine.status().source_workers, 2);
    }
    echo(&node, &other).await;
    assert_eq!((loads(&holding), loads(&other)), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_holds_the_others_up_moves_once_its_other_runs_have_ended() {
    let node = Node::sharing(|_| {}).await;
    let (holding, other) = (source("steer"), source("steer"));
    echo(&node, &other).await;
    let mut waiting = node.steer(&holding, "waitForRelease").await;
    waiting.has_begun().await;
    let hold = json!({"deed": "hold", "ms": 2_500});
    node.run(&holding, hold).await.returned();
    let mut moving = Box::pin(echo(&node, &holding));
    assert!(futures::poll!(&mut moving).is_pending());
    node.steer(&other, "release").await.collect().await;
    assert!(matches!(
        waiting.collect().await.outcome(),
        Outcome::Returned { .. }
    ));
    moving.await;
    assert_eq!(node.engine.status().source_workers, 2);
    assert_eq!((loads(&holding), loads(&other)), (2, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sources_that_may_have_done_harm_those_that_did_none_go_back() {
    let node = Node::sharing(|_| {}).await;
    let sources = [source("steer"), source("steer"), source("steer")];
    let [holding, innocent, idle] = &sources;
    for source in &sources {
        echo(&node, source).await;
    }
    // Both have a run while nobody's goes on.
    let hold = json!({"deed": "hold", "ms": 2_500});
    let held = node.start_run(holding, hold.clone()).await.unwrap();
    let hold_briefly = json!({"deed": "hold", "ms": 1});
    let brief = node.start_run(innocent, hold_briefly).await.unwrap();
    for run in [held, brief] {
        run.collect().await.returned();
    }
    echo(&node, innocent).await;
    assert_eq!(node.engine.status().source_workers, 2, "on trial");
    node.until(|status| status.source_workers == 1).await;
    echo(&node, innocent).await;
    assert_eq!(node.engine.status().source_workers, 1, "it is back");
    // The other one does it again, alone.
    node.run(holding, hold).await.returned();
    for _ in 0..2 {
        echo(&node, holding).await;
        assert_eq!(node.engine.status().source_workers, 2);
    }
    assert_eq!(
        (loads(innocent), loads(idle)),
        (3, 1),
        "there, apart, and back"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_another_keeps_from_going_on_is_not_blamed_for_its_time() {
    let node = Node::sharing(|config| config.limits.run_wall = std::time::Duration::from_secs(3));
    let node = node.await;
    let (looping, waiting) = (source("steer"), source("steer"));
    let waits = node.steer(&waiting, "wait").await;
    let loops = node.steer(&looping, "loop").await;
    assert!(waits.collect().await.is_lost() && loops.collect().await.is_lost());
    // Each alone is judged by what it does.
    let loops = node.steer(&looping, "loop").await;
    echo(&node, &waiting).await;
    assert_eq!(loops.collect().await.limit(), Limit::Wall);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_runs_than_a_worker_takes_at_a_time_wait_for_their_turn() {
    let node = Node::sharing(|_| {}).await;
    let source = source("steer");
    let runs = (0..400).map(|_| node.start_run(&source, json!({"deed": "echo", "value": 1})));
    for run in futures::future::join_all(runs).await {
        assert_eq!(run.unwrap().collect().await.returned(), 1);
    }
}

/// Counts the runs in its own module, and in the platform package's.
const COUNTS: &str = r#"
    import * as platform from "@pipedream/platform";
    let own = 0;
    export default { name: "Counts", version: "0.0.1", run(event) {
      if (event === "throws") throw new platform.ConfigurationError("not like this");
      if (event === "stack") return platform.axios(this, { url: "no url" }).catch((error) => error.stack);
      platform.axios.runs = (platform.axios.runs ?? 0) + 1;
      return [++own, platform.axios.runs];
    } };"#;

async fn built(code: &str) -> headwater_engine::Build {
    let builder = builder(NetworkPolicy::PublicOnly).await;
    let built = builder.build(ComponentCode::Text(code.into())).await;
    built.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_platform_package_is_one_module_for_all_and_each_has_its_own_code() {
    let build = built(COUNTS).await;
    let names = Vec::from_iter(files(&build).into_keys());
    assert_eq!(names.len(), 4, "{names:?}");
    assert!(
        names.iter().any(|name| name.starts_with("shared/")),
        "{names:?}"
    );
    let again = built(COUNTS).await;
    assert_eq!(again.artifact.hash, build.artifact.hash);
    let node = Node::sharing(|_| {}).await;
    let source = || of_one_tenant(Source::of("counts", build.artifact.clone(), Map::new()));
    let (one, other) = (source(), source());
    for (source, counts) in [(&one, [1, 1]), (&other, [1, 2]), (&one, [2, 3])] {
        let counted = node.run(source, Value::Null).await.returned();
        assert_eq!(counted, json!(counts));
    }
    let stack = node.run(&one, json!("stack")).await.returned();
    let stack = stack.as_str().unwrap();
    assert!(stack.contains("npm:@pipedream/platform/"), "{stack}");
    assert!(!stack.contains("/shared/"), "{stack}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_a_component_sets_up_is_its_own() {
    let build = built(
        r#"
        const { axios: usual } = require("@pipedream/platform");
        const axios = require("axios");
        module.exports = { name: "Own", version: "0.0.1", run(event) {
          if (event) axios.defaults.headers.common.authorization = event;
          return [typeof usual, axios.defaults.headers.common.authorization ?? null];
        } };"#,
    );
    let build = build.await;
    let names = Vec::from_iter(files(&build).into_keys());
    assert_eq!(names, ["component.mjs", "component.mjs.map"]);
    let node = Node::sharing(|_| {}).await;
    let source = || of_one_tenant(Source::of("own", build.artifact.clone(), Map::new()));
    let (one, other) = (source(), source());
    for (source, event, found) in [
        (&one, json!("mine"), json!("mine")),
        (&other, Value::Null, Value::Null),
    ] {
        let returned = node.run(source, event).await.returned();
        assert_eq!(returned, json!(["function", found]));
    }
}
