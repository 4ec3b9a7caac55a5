//! The worker that a run gets, and the life of workers.

use std::{ffi::OsStr, path::Path, process::Stdio, sync::atomic::Ordering, time::Duration};

use headwater_engine::{EngineError, Entry, Invocation};
use headwater_model::hash::ArtifactHash;
use serde_json::{Map, json, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
    sync::mpsc,
};

use crate::harness::{Node, Source};

/// Names the folder for the workers of [`a_node_to_be_killed`].
const KILLED_NODE_DIR: &str = "HEADWATER_TEST_KILLED_NODE_DIR";

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_first_invocations_share_one_worker() {
    let node = Node::with(|config| config.warm_workers = 3).await;
    let source = Source::named("steer");
    let runs = (0..20).map(|number| node.run(&source, json!({"deed": "echo", "value": number})));
    for (number, messages) in futures::future::join_all(runs).await.iter().enumerate() {
        assert_eq!(messages.returned(), number);
    }
    assert_eq!(source.state.loads.load(Ordering::Relaxed), 1);
    assert_eq!(node.engine.status().source_workers, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_worker_ends_and_the_next_run_gets_another() {
    let node = Node::with(|config| config.worker_idle = Duration::ZERO).await;
    let source = Source::named("steer");
    for number in 0..2 {
        assert_eq!(
            node.run(&source, json!({"deed": "echo", "value": number}))
                .await
                .returned(),
            number
        );
        node.until(|status| status.source_workers == 0).await;
    }
    assert_eq!(source.state.loads.load(Ordering::Relaxed), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_beyond_the_memory_end_unless_they_run() {
    let node = Node::with(|config| config.workers_memory_mib = 1).await;
    let (busy, idle) = (Source::named("steer"), Source::named("emit"));
    let mut waiting = node.steer(&busy, "wait").await;
    waiting.has_begun().await;
    node.run(&idle, json!(1)).await;
    node.until(|status| status.source_workers == 1).await;
    assert_eq!(node.engine.status().runs, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn evicting_ends_runs_as_lost_and_the_source_can_run_again() {
    let node = Node::start().await;
    let source = Source::named("steer");
    let mut looping = node.steer(&source, "loop").await;
    looping.has_begun().await;
    node.engine.evict(&source.spec.owner).await;
    assert_eq!(node.engine.status().source_workers, 0);
    assert!(looping.collect().await.is_lost());
    assert_eq!(
        node.run(&source, json!({"deed": "echo", "value": 1}))
            .await
            .returned(),
        1
    );
    node.engine.evict(&Source::named("emit").spec.owner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_code_gets_another_worker_and_the_former_finishes_its_runs() {
    let node = Node::start().await;
    let (mut source, next) = (Source::named("together"), Source::named("emit"));
    let mut former = node
        .invoke(
            &source,
            Entry::Run,
            json!({"name": "former", "of": 2}),
            json!({}),
        )
        .await;
    former.has_begun().await;
    let former_hash = std::mem::replace(
        &mut source.spec.artifact_hash,
        next.spec.artifact_hash.clone(),
    );
    source.spec.state = next.spec.state;
    assert_eq!(
        node.run(&source, json!(1)).await.returned(),
        json!({"given": 1})
    );
    assert_eq!(node.engine.status().source_workers, 2);
    assert_ne!(former_hash, source.spec.artifact_hash);
    node.engine.evict(&source.spec.owner).await;
    assert!(former.collect().await.is_lost());
    assert_eq!(node.engine.status().source_workers, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_ends_runs_removes_folders_and_refuses_more() {
    let node = Node::with(|config| config.warm_workers = 2).await;
    let source = Source::named("steer");
    let mut waiting = node.steer(&source, "wait").await;
    waiting.has_begun().await;
    node.engine.shutdown().await;
    assert!(waiting.collect().await.is_lost());
    assert_eq!(std::fs::read_dir(node.work_dir.path()).unwrap().count(), 0);
    let (sink, mut messages) = mpsc::unbounded_channel();
    let invocation = Invocation {
        run: 1,
        entry: Entry::Run,
        event: RawValue::NULL.to_owned().into(),
        props: Map::new(),
        wall: None,
    };
    let refused = node.engine.invoke(&source.spec, invocation, sink).await;
    assert!(
        matches!(refused, Err(EngineError::WorkerLost(_))),
        "{refused:?}"
    );
    assert!(messages.recv().await.is_none());
}

/// The process that is noted in a worker's folder, if there is a worker.
fn noted_process(work_dir: &Path) -> Option<u32> {
    let mut folders = std::fs::read_dir(work_dir).unwrap().flatten();
    let mark = folders.find_map(|it| std::fs::read_to_string(it.path().join("process")).ok())?;
    mark.split(' ').next()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_waits_for_a_worker_that_is_being_started() {
    let node = Node::with(|config| config.warm_workers = 1).await;
    let process = loop {
        if let Some(process) = noted_process(node.work_dir.path()) {
            break process;
        }
        tokio::task::yield_now().await;
    };
    node.engine.shutdown().await;
    assert!(!Path::new(&format!("/proc/{process}")).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_that_is_another_is_refused() {
    let node = Node::start().await;
    let mut source = Source::named("emit");
    for (hash, complaint) in [
        ("0".repeat(64), "not 000"),
        ("../../etc".to_owned(), "is not a hash"),
    ] {
        source.spec.artifact_hash = ArtifactHash::new(hash);
        let (sink, _messages) = mpsc::unbounded_channel();
        let invocation = Invocation {
            run: 1,
            entry: Entry::Run,
            event: RawValue::NULL.to_owned().into(),
            props: Map::new(),
            wall: None,
        };
        let refused = node
            .engine
            .invoke(&source.spec, invocation, sink)
            .await
            .unwrap_err();
        assert!(refused.to_string().contains(complaint), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_former_node_left_behind_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("w-old").join("tmp")).unwrap();
    std::fs::write(
        folder.path().join("w-old").join("process"),
        "1 not-its-start",
    )
    .unwrap();
    let node = Node::with(|config| {
        config.work_dir = folder.path().to_owned();
        config.warm_workers = 0;
    })
    .await;
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    drop(node);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_never_reads_dies_with_its_node_all_the_same() {
    let node = Node::with(|config| config.warm_workers = 0).await;
    if node.engine.status().sandbox.get("dies_with_node") != Some(&true) {
        return;
    }
    let work_dir = tempfile::tempdir().unwrap();
    let mut killed = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "run::lifecycle::a_node_to_be_killed"])
        .args(["--ignored", "--nocapture"])
        .env(KILLED_NODE_DIR, work_dir.path())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(killed.stdout.take().unwrap()).lines();
    while !said.next_line().await.unwrap().unwrap().contains("loops") {}
    let workers = processes_of(work_dir.path());
    assert!(!workers.is_empty() && workers.iter().all(is_alive));
    killed.kill().await.unwrap();
    let gone = async {
        while workers.iter().any(is_alive) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), gone)
        .await
        .expect("the workers to die");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the other half of the test before it, which starts it"]
async fn a_node_to_be_killed() {
    let Some(work_dir) = std::env::var_os(KILLED_NODE_DIR) else {
        return;
    };
    let node = Node::with(|config| config.work_dir = work_dir.into()).await;
    let mut looping = node.steer(&Source::named("steer"), "loop").await;
    looping.has_begun().await;
    println!("\nit loops");
    std::future::pending().await
}

/// The processes that the workers' folders name.
fn processes_of(work_dir: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(work_dir).unwrap();
    let marks = folders
        .filter_map(|folder| std::fs::read_to_string(folder.unwrap().path().join("process")).ok());
    marks
        .map(|mark| mark.split(' ').next().unwrap().to_owned())
        .collect()
}

/// Tells whether the process runs: one that nobody waits for stays as a zombie.
fn is_alive(id: impl AsRef<OsStr>) -> bool {
    let stat = Path::new("/proc").join(id.as_ref()).join("stat");
    let stat = std::fs::read_to_string(stat).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
