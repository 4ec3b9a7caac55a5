//! Sources of one tenant in one worker: things kept apart, things in common, and the ways out.

use std::sync::atomic::Ordering;

use headwater_engine::RunMessage;
use headwater_model::outcome::{Limit, Outcome};
use serde_json::{Map, Value, json};

use crate::harness::{Messages, Node, Source};

/// A source of the one tenant of these tests.
fn source(component: &str) -> Source {
    with(component, Map::new())
}

fn with(component: &str, key_values: Map<String, Value>) -> Source {
    let mut source = Source::with(component, key_values);
    source.spec.tenant = "one".into();
    source
}

fn loads(source: &Source) -> usize {
    source.state.loads.load(Ordering::Relaxed)
}

async fn echo(node: &Node, source: &Source, value: u32) -> Messages {
    node.run(source, json!({"deed": "echo", "value": value}))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_the_same_code_twice_meet_those_of_their_own_source_only() {
    let node = Node::sharing(|_| {}).await;
    let sources = [source("together"), source("together")];
    let mut waiting = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let event = json!({"name": format!("first {number}"), "of": 2});
        let mut running = node.start_run(source, event).await.unwrap();
        running.has_begun().await;
        waiting.push(running);
    }
    assert_eq!(node.engine.status().source_workers, 1);
    // Had they met, the second one would have let the first one go on.
    assert_eq!(node.engine.status().runs, 2);
    for (number, source) in sources.iter().enumerate() {
        let name = format!("second {number}");
        let second = node.run(source, json!({"name": name, "of": 2})).await;
        assert_eq!(second.emitted(), [name.as_str()]);
        let first = waiting.remove(0).collect().await;
        assert_eq!(first.returned(), format!("first {number}"));
        let lines: Vec<_> = first.logs().iter().map(|(_, text)| *text).collect();
        // The lines before its code began have been read.
        assert_eq!(lines, [format!("out first {number}")]);
    }
    assert_eq!((loads(&sources[0]), loads(&sources[1])), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_source_has_its_map_and_its_environment() {
    let node = Node::sharing(|_| {}).await;
    let map = |count: u32| Map::from_iter([("count".to_owned(), json!(count))]);
    let counting = [with("kv", map(41)), with("kv", map(7))];
    let mut other = source("steer");
    other
        .spec
        .env
        .insert("PD_COMPONENT".into(), "the other".into());
    for round in 0..2 {
        for (source, first) in counting.iter().zip([41, 7]) {
            let messages = node.run(source, Value::Null).await;
            assert_eq!(messages.returned(), first + round);
            let written = messages.0.iter().find_map(|message| match message {
                RunMessage::KvChanged(change) => Some(change),
                _ => None,
            });
            let written = written.expect("a write");
            // Each map's writes are counted by themselves.
            assert!(round > 0 || written.seq == 1, "{written:?}");
            let value = written.value.as_ref().unwrap().get();
            assert_eq!(value, (first + round + 1).to_string());
        }
        let environment = node.run(&other, json!({"deed": "environment"})).await;
        assert_eq!(environment.returned()["PD_COMPONENT"], "the other");
    }
    assert_eq!(node.engine.status().source_workers, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_code_of_each_comes_with_its_folders_and_links_and_each_has_its_tmp() {
    let node = Node::sharing(|_| {}).await;
    for _ in 0..2 {
        let written = node.run(&source("files"), Value::Null).await;
        assert_eq!(written.returned(), "linked");
    }
    let names = source("shared_tmp");
    assert_eq!(node.run(&names, Value::Null).await.returned(), json!([]));
    assert_eq!(node.engine.status().source_workers, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn tenants_never_share_whatever_is_decided() {
    let node = Node::sharing(|_| {}).await;
    let (own, mut other) = (source("steer"), source("steer"));
    other.spec.tenant = "another".into();
    echo(&node, &own, 1).await;
    echo(&node, &other, 2).await;
    assert_eq!(node.engine.status().source_workers, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn sources_that_begin_together_get_one_worker_and_one_place_of_their_tenant() {
    let node = Node::sharing(|config| {
        config.warm_workers = 3;
        config.workers_per_tenant = 1;
    })
    .await;
    let sources = Vec::from_iter((0..6).map(|_| source("steer")));
    let runs = sources.iter().enumerate().map(async |(number, source)| {
        let number = u32::try_from(number).unwrap();
        assert_eq!(echo(&node, source, number).await.returned(), number);
    });
    futures::future::join_all(runs).await;
    assert_eq!(node.engine.status().source_workers, 1);
    assert!(sources.iter().all(|source| loads(source) == 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_cannot_be_loaded_fails_alone() {
    let node = Node::sharing(|_| {}).await;
    let (steered, broken) = (source("steer"), source("unloadable"));
    let mut waiting = node.steer(&steered, "wait").await;
    waiting.has_begun().await;
    for _ in 0..2 {
        let failed = node.run(&broken, Value::Null).await;
        assert!(
            matches!(failed.outcome(), Outcome::Threw { .. }),
            "{failed:?}"
        );
    }
    assert_eq!(echo(&node, &steered, 1).await.returned(), 1);
    assert_eq!(node.engine.status().runs, 1);
    assert_eq!((loads(&steered), loads(&broken)), (1, 2));
    node.engine.evict(&steered.spec.owner).await;
    assert!(waiting.collect().await.is_lost());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_cannot_be_handed_over_leaves_the_others_alone() {
    let node = Node::sharing(|_| {}).await;
    let (staying, refused) = (source("steer"), source("emit"));
    assert_eq!(echo(&node, &staying, 1).await.returned(), 1);
    refused.state.is_broken.store(true, Ordering::Relaxed);
    let error = node.start_run(&refused, json!(1)).await.unwrap_err();
    assert!(error.to_string().contains("no map"), "{error}");
    assert_eq!(echo(&node, &staying, 2).await.returned(), 2);
    refused.state.is_broken.store(false, Ordering::Relaxed);
    let given = node.run(&refused, json!(3)).await.returned();
    assert_eq!(given, json!({"given": 3}));
    assert_eq!(loads(&staying), 1, "the worker goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_outside_the_awaited_path_is_nothing_to_other_sources() {
    let node = Node::sharing(|_| {}).await;
    let (failing, other) = (source("steer"), source("steer"));
    let mut waiting = node.steer(&other, "wait").await;
    waiting.has_begun().await;
    for (deed, message) in [
        ("reject", "unhandled"),
        ("exit", "process.exit(3) was called"),
    ] {
        let failed = node.steer(&failing, deed).await.collect().await;
        let said = failed.outcome().error().map(|error| error.message.clone());
        assert_eq!(said.as_deref(), Some(message), "{failed:?}");
    }
    assert_eq!(node.engine.status().runs, 1);
    node.engine.evict(&other.spec.owner).await;
    let ended = waiting.collect().await;
    assert!(ended.is_lost() && ended.logs().is_empty(), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_past_the_runtime_are_in_nobodys_log_and_no_frames() {
    let node = Node::sharing(|_| {}).await;
    let (noisy, other) = (source("steer"), source("steer"));
    let mut waiting = node.steer(&other, "wait").await;
    waiting.has_begun().await;
    for (deed, returned) in [("noise", "heard"), ("forge", "genuine")] {
        let messages = node.steer(&noisy, deed).await.collect().await;
        assert_eq!(messages.returned(), returned);
        assert_eq!(messages.logs(), []);
    }
    node.engine.evict(&other.spec.owner).await;
    let ended = waiting.collect().await;
    assert!(ended.is_lost() && ended.logs().is_empty(), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_one_run_costs_the_others_their_process() {
    let node = Node::sharing(|config| config.limits.output_bytes = 100_000).await;
    let (excessive, other) = (source("steer"), source("steer"));
    let mut waiting = node.steer(&other, "wait").await;
    waiting.has_begun().await;
    let event = json!({"deed": "bigEmits", "count": 3, "size": 50_000});
    assert_eq!(node.run(&excessive, event).await.limit(), Limit::Output);
    assert!(waiting.collect().await.is_lost());
    assert_eq!(echo(&node, &other, 1).await.returned(), 1);
    // The source that went over it is apart from now on.
    for number in 2..4 {
        assert_eq!(echo(&node, &excessive, number).await.returned(), number);
        assert_eq!(node.engine.status().source_workers, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_is_the_processs_until_its_only_runner_is_apart() {
    let node = Node::sharing(|config| config.limits.heap_mib = 64).await;
    let (hogging, other) = (source("steer"), source("steer"));
    echo(&node, &other, 1).await;
    // The other source may have left there the part that is too much.
    let hog = node.steer(&hogging, "hog").await.collect().await;
    assert!(hog.is_lost(), "{hog:?}");
    echo(&node, &other, 2).await;
    for deed in ["hog", "hogBuffers"] {
        let hog = node.steer(&hogging, deed).await.collect().await;
        assert_eq!(hog.limit(), Limit::Memory, "{deed}");
        echo(&node, &other, 3).await;
        assert_eq!(loads(&other), 2, "its worker goes on");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_source_leaves_and_the_others_stay() {
    let node = Node::sharing(|_| {}).await;
    let (leaving, staying) = (source("steer"), source("together"));
    let mut waiting = node
        .start_run(&staying, json!({"name": "first", "of": 2}))
        .await
        .unwrap();
    waiting.has_begun().await;
    for number in 0..3 {
        assert_eq!(echo(&node, &leaving, number).await.returned(), number);
        node.engine.evict(&leaving.spec.owner).await;
    }
    let second = node.run(&staying, json!({"name": "second", "of": 2})).await;
    assert_eq!(second.returned(), "second");
    assert_eq!(waiting.collect().await.returned(), "first");
    assert_eq!((loads(&leaving), loads(&staying)), (3, 1));
    assert_eq!(node.engine.status().source_workers, 1);
    node.engine.evict(&staying.spec.owner).await;
    assert_eq!(node.engine.status().source_workers, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_leaves_while_it_runs_takes_the_process_along() {
    let node = Node::sharing(|_| {}).await;
    let (leaving, other) = (source("steer"), source("steer"));
    let mut others = node.steer(&other, "wait").await;
    others.has_begun().await;
    let mut own = node.steer(&leaving, "wait").await;
    own.has_begun().await;
    node.engine.evict(&leaving.spec.owner).await;
    assert_eq!(node.engine.status().source_workers, 0);
    assert!(own.collect().await.is_lost() && others.collect().await.is_lost());
    assert_eq!(echo(&node, &other, 1).await.returned(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_code_is_loaded_beside_the_former_which_finishes_its_runs() {
    let node = Node::sharing(|_| {}).await;
    let (mut changing, staying, next) = (source("together"), source("steer"), source("emit"));
    assert_eq!(echo(&node, &staying, 1).await.returned(), 1);
    let event = json!({"name": "former", "of": 2});
    let mut former = node.start_run(&changing, event).await.unwrap();
    former.has_begun().await;
    let former_state = std::mem::replace(&mut changing.spec.state, next.spec.state);
    let former_hash = std::mem::replace(
        &mut changing.spec.artifact_hash,
        next.spec.artifact_hash.clone(),
    );
    let given = node.run(&changing, json!(1)).await.returned();
    assert_eq!(given, json!({"given": 1}));
    assert_eq!(node.engine.status().source_workers, 1);
    assert_eq!(node.engine.status().runs, 1, "the former goes on");
    // The former code once more is another instance, which knows nothing of the run that waits.
    (changing.spec.state, changing.spec.artifact_hash) = (former_state, former_hash);
    let event = json!({"name": "alone", "of": 1});
    assert_eq!(node.run(&changing, event).await.returned(), "alone");
    assert_eq!(node.engine.status().runs, 1);
    node.engine.evict(&changing.spec.owner).await;
    assert!(former.collect().await.is_lost());
}
