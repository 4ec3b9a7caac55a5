//! `workflows run`, `runs`, `replay`, `resume`, `cancel` and `logs`: the requests to the node, and what people see.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::node::Node;

const RUNS: &str = "GET /v1/workflows/p_1/runs";
const RUN: &str = "GET /v1/runs/inv_1";
const REPLAY: &str = "POST /v1/runs/inv_1/replay";
const BEGAN_MS: i64 = 1_767_225_600_000;

fn summary(id: &str, status: &str) -> Value {
    json!({
        "id": id, "status": status, "trigger": "http", "deployment_id": "d_1", "queued_at_ms": BEGAN_MS,
        "started_at_ms": BEGAN_MS, "ended_at_ms": BEGAN_MS + 42, "error": "no such channel",
    })
}

fn step(path: &str, status: &str) -> Value {
    json!({
        "path": path, "namespace": path, "status": status, "attempts": 1, "started_at_ms": BEGAN_MS,
        "ended_at_ms": BEGAN_MS + 10, "return_value": {"n": 1}, "exports": {},
        "logs": [{"level": "info", "message": "hello", "ts": BEGAN_MS + 5}],
    })
}

fn failed_step() -> Value {
    let mut step = step("tell", "failed");
    step["return_value"] = Value::Null;
    step["error"] = json!({"name": "Error", "message": "no such channel", "stack": "Error: no such channel\n    at x"});
    step
}

fn wait() -> Value {
    json!({
        "path": "approve", "kind": "suspend", "resume_url": "http://node/w/t/resume",
        "cancel_url": "http://node/w/t/cancel", "expires_at_ms": BEGAN_MS + 86_400_000,
    })
}

/// A run as the node shows it whole.
fn run(status: &str, steps: Value) -> Value {
    let mut run = summary("inv_1", status);
    for (field, value) in [
        ("workflow_id", json!("p_1")),
        ("trace_id", json!("trace-1")),
        ("event", json!({"id": 7})),
        ("steps", steps),
        ("waits", json!([])),
        ("sends", json!([])),
    ] {
        run[field] = value;
    }
    if status != "failed" {
        run["error"] = Value::Null;
    }
    run
}

/// Answers with one after the other, and then with the last.
fn one_after_the_other(node: &Node, call: &str, answers: Vec<Value>) {
    let asked = AtomicUsize::new(0);
    node.on(call, move |_| {
        let number = asked.fetch_add(1, Ordering::Relaxed);
        let answer = &answers[number.min(answers.len() - 1)];
        match answer["status"].as_u64() {
            Some(status) => (status as u16, json!({"error": {"message": "busy"}})),
            None => (200, json!({"data": answer})),
        }
    });
}

#[tokio::test]
async fn a_run_is_started_with_an_event_and_its_id_is_the_data() {
    let node = Node::start().await;
    node.data("POST /v1/workflows/p_1/run", json!({"id": "inv_1"}));
    let seen = node
        .run(&["workflows", "run", "p_1", "--event", "{\"id\": 7}"])
        .await;
    assert_eq!((seen.code, &*seen.stdout), (0, "inv_1\n"));
    node.run(&["workflows", "run", "p_1"]).await;
    let sent = node.received("POST /v1/workflows/p_1/run");
    assert_eq!(sent[0].body, json!({"event": {"id": 7}}));
    assert_eq!(sent[1].body, json!({}));
    let seen = node.run(&["workflows", "run", "p_1", "--event", "{"]).await;
    assert_eq!(seen.code, 2);
}

#[tokio::test]
async fn a_run_is_followed_through_waits_and_a_busy_node_and_each_step_is_shown_once() {
    let node = Node::start().await;
    node.data("POST /v1/workflows/p_1/run", json!({"id": "inv_1"}));
    let begun = run("running", json!([step("enrich", "running")]));
    let mut waiting = run(
        "waiting",
        json!([step("enrich", "succeeded"), step("approve", "waiting")]),
    );
    waiting["waits"] = json!([wait()]);
    let ended = run(
        "succeeded",
        json!([step("enrich", "succeeded"), step("approve", "succeeded")]),
    );
    let answers = vec![
        begun,
        waiting.clone(),
        json!({"status": 503}),
        waiting,
        ended.clone(),
    ];
    one_after_the_other(&node, RUN, answers.clone());
    let arguments = ["workflows", "run", "p_1", "--wait"];
    let seen = node.run(&arguments).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(
        seen.stdout,
        "inv_1\n\
         2026-01-01T00:00:00.010Z  enrich  succeeded  10 ms  {\"n\":1}\n\
         2026-01-01T00:00:00.010Z  approve  succeeded  10 ms  {\"n\":1}\n\
         2026-01-01T00:00:00.042Z  succeeded  42 ms\n"
    );
    assert_eq!(
        seen.stderr,
        "2026-01-01T00:00:00.005Z  enrich  info   hello\n\
         2026-01-01T00:00:00.005Z  approve  info   hello\n\
         approve waits (suspend) until 2026-01-02T00:00:00.000Z\n\
         \x20 resume  http://node/w/t/resume\n\
         \x20 cancel  http://node/w/t/cancel\n\
         busy; still trying\n\
         connected again\n"
    );
    one_after_the_other(&node, RUN, answers);
    let seen = node.run(&[&arguments[..], &["--json"]].concat()).await;
    assert_eq!((seen.code, seen.json()), (0, ended));
}

#[tokio::test]
async fn a_run_that_fails_fails_the_command() {
    let node = Node::start().await;
    node.data("POST /v1/workflows/p_1/run", json!({"id": "inv_1"}));
    for status in ["failed", "cancelled"] {
        node.data(RUN, run(status, json!([failed_step()])));
        let seen = node.run(&["workflows", "run", "p_1", "--wait"]).await;
        assert_eq!(seen.code, 1);
        assert!(
            seen.stdout.contains(&format!("  {status}  42 ms")),
            "{}",
            seen.stdout
        );
        for told in [
            "tell: Error: no such channel\n    at x",
            "headwater runs describe inv_1",
        ] {
            assert!(seen.stderr.contains(told), "{}", seen.stderr);
        }
    }
}

#[tokio::test]
async fn each_try_is_shown_and_results_that_are_used_again_are_not() {
    let node = Node::start().await;
    node.data("POST /v1/workflows/p_1/run", json!({"id": "inv_1"}));
    let mut used_again = step("enrich", "succeeded");
    used_again["ended_at_ms"] = json!(BEGAN_MS - 60_000);
    let tried = |tries: usize, status: &str| {
        let mut tried = failed_step();
        tried["status"] = json!(status);
        tried["error"]["stack"] = json!(format!("Error: try {tries} failed"));
        tried["logs"] = (1..=tries)
            .map(|number| {
                let at = BEGAN_MS + i64::try_from(number).unwrap();
                json!({"level": "info", "message": format!("try {number}"), "ts": at})
            })
            .collect();
        tried
    };
    let waiting = |tries: usize| {
        let mut run = run("waiting", json!([used_again, tried(tries, "waiting")]));
        let ends = BEGAN_MS + 1_000 * i64::try_from(tries).unwrap();
        run["waits"] = json!([{
            "path": "tell", "kind": "retry", "resume_url": "http://node/w/t/resume", "expires_at_ms": ends,
        }]);
        run
    };
    let ended = run("failed", json!([used_again, tried(3, "failed")]));
    one_after_the_other(&node, RUN, vec![waiting(1), waiting(2), ended]);
    let seen = node.run(&["workflows", "run", "p_1", "--wait"]).await;
    assert!(!seen.stdout.contains("enrich"), "{}", seen.stdout);
    assert_eq!(
        seen.stderr.lines().take(11).collect::<Vec<_>>(),
        [
            "2026-01-01T00:00:00.001Z  tell  info   try 1",
            "tell: Error: try 1 failed",
            "tell waits (retry) until 2026-01-01T00:00:01.000Z",
            "  resume  http://node/w/t/resume",
            "2026-01-01T00:00:00.002Z  tell  info   try 2",
            "tell: Error: try 2 failed",
            "tell waits (retry) until 2026-01-01T00:00:02.000Z",
            "  resume  http://node/w/t/resume",
            "2026-01-01T00:00:00.003Z  tell  info   try 3",
            "tell: Error: try 3 failed",
            "error: run inv_1 has failed; `headwater runs describe inv_1` shows it",
        ]
    );
}

#[tokio::test]
async fn a_replay_from_a_name_that_is_no_path_tells_the_paths() {
    let node = Node::start().await;
    node.on(REPLAY, |_| {
        let message = "the deployment has no step `dbl`";
        (
            422,
            json!({"error": {"code": "invalid", "message": message, "param": "from"}}),
        )
    });
    let steps = json!([step("lp", "succeeded"), step("lp[0].dbl", "failed")]);
    node.data(RUN, run("failed", steps));
    let seen = node
        .run(&["workflows", "replay", "inv_1", "--from", "dbl"])
        .await;
    assert_eq!(seen.code, 2);
    assert!(
        seen.stderr
            .contains("no step with the path `dbl`; it has `lp[0].dbl`"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn runs_are_a_table_of_those_that_have_ended_or_have_not() {
    let node = Node::start().await;
    node.list(RUNS, json!([summary("inv_1", "failed")]));
    let seen = node.run(&["workflows", "runs", "p_1", "-n", "3"]).await;
    assert_eq!(
        seen.stdout,
        "ID      QUEUED                     TRIGGER   STATUS   TOOK    ERROR\n\
         inv_1   2026-01-01T00:00:00.000Z   http      failed   42 ms   no such channel\n"
    );
    // Those that have not ended are asked for, as the list leaves them out.
    assert!(seen.stderr.contains("--status open"), "{}", seen.stderr);
    for (given, field, asked) in [
        ("waiting", "status", "waiting"),
        ("open", "open", "true"),
        ("success", "status", "succeeded"),
        ("error", "status", "failed"),
        ("executing", "status", "running"),
        ("paused", "status", "waiting"),
    ] {
        let arguments = ["workflows", "runs", "p_1", "--status", given];
        assert_eq!(node.run(&arguments).await.code, 0, "{given}");
        let last = node.received(RUNS).pop().unwrap();
        assert_eq!(last.query[field], asked, "{given}");
    }
    let asked = node.received(RUNS);
    assert_eq!(asked[0].query["limit"], "3");
    assert!(!asked[0].query.contains_key("status"));
    assert_eq!(asked[1].query["open"], "true");
    let mut timed = summary("inv_1", "failed");
    timed["trigger"] = json!("timer");
    node.list(RUNS, json!([timed]));
    let seen = node.run(&["workflows", "runs", "p_1"]).await;
    assert!(seen.stdout.contains("  schedule  "), "{}", seen.stdout);
    node.list(RUNS, json!([]));
    let seen = node.run(&["workflows", "runs", "p_1"]).await;
    assert_eq!((seen.code, &*seen.stdout), (0, ""));
    assert!(seen.stderr.contains("--status open"), "{}", seen.stderr);
    let wrong = node
        .run(&["workflows", "runs", "p_1", "--status", "bad"])
        .await;
    assert_eq!(wrong.code, 2);
}

#[tokio::test]
async fn a_described_run_of_a_workflow_shows_steps_waits_sends_and_failures() {
    let node = Node::start().await;
    let mut shown = run(
        "failed",
        json!([step("enrich", "succeeded"), failed_step()]),
    );
    shown["waits"] = json!([wait()]);
    shown["sends"] = json!([{
        "path": "enrich", "number": 0, "way": "http", "state": "sent", "attempts": 1,
        "result": {"attempt": 1, "request": {"text": "x".repeat(300)}, "response": {"status": 204}},
    }, {
        "path": "tell", "number": 0, "way": "email", "state": "failed", "attempts": 3,
        "result": {"attempt": 3, "request": {"text": "x".repeat(300)}, "error": "550 no such mailbox"},
    }]);
    node.data(RUN, shown.clone());
    let seen = node.run(&["runs", "describe", "inv_1"]).await;
    assert_eq!(
        seen.stdout,
        "ID           inv_1\n\
         WORKFLOW     p_1\n\
         DEPLOYMENT   d_1\n\
         TRIGGER      http\n\
         STATUS       failed\n\
         ERROR        no such channel\n\
         QUEUED       2026-01-01T00:00:00.000Z\n\
         STARTED      2026-01-01T00:00:00.000Z\n\
         ENDED        2026-01-01T00:00:00.042Z\n\
         TOOK         42 ms\n\
         TRACE        trace-1\n\
         \n\
         EVENT\n{\n  \"id\": 7\n}\n\
         \n\
         STEP     STATUS      ATTEMPTS   TOOK    RESULT\n\
         enrich   succeeded   1          10 ms   {\"n\":1}\n\
         tell     failed      1          10 ms\n\
         \n\
         RESULTS\n\
         enrich.$return_value  {\"n\":1}\n\
         \n\
         WAIT      KIND      UNTIL                      URLS\n\
         approve   suspend   2026-01-02T00:00:00.000Z   http://node/w/t/resume\n\
         \x20                                              http://node/w/t/cancel\n\
         \n\
         SEND OF   WAY     STATE    ATTEMPTS   ANSWER\n\
         enrich    http    sent     1          {\"status\":204}\n\
         tell      email   failed   3          550 no such mailbox\n\
         \n\
         LOG\n\
         2026-01-01T00:00:00.005Z  enrich  info   hello\n\
         2026-01-01T00:00:00.005Z  tell  info   hello\n\
         \n\
         ERRORS\n\
         tell: Error: no such channel\n    at x\n"
    );
    let seen = node.run(&["runs", "describe", "inv_1", "--json"]).await;
    assert_eq!(seen.json(), shown);
    let seen = node.run(&["workflows", "logs", "inv_1"]).await;
    assert_eq!(seen.stdout.lines().count(), 2);
    assert!(
        seen.stdout
            .starts_with("2026-01-01T00:00:00.005Z  enrich  info   hello\n")
    );
}

#[tokio::test]
async fn a_replay_says_which_results_are_used_again() {
    let node = Node::start().await;
    node.on(REPLAY, |request| {
        let is_dry = request.body["dry_run"] == true;
        let id = if is_dry { Value::Null } else { json!("inv_2") };
        (
            200,
            json!({"data": {"id": id, "deployment_id": "d_2", "skips": ["enrich", "route"]}}),
        )
    });
    let seen = node
        .run(&["workflows", "replay", "inv_1", "--from", "tell", "--same"])
        .await;
    assert_eq!((seen.code, &*seen.stdout), (0, "inv_2\n"));
    assert_eq!(seen.stderr, "results used again: enrich, route\n");
    let seen = node
        .run(&["workflows", "replay", "inv_1", "--dry-run"])
        .await;
    assert_eq!(
        seen.stdout,
        "DEPLOYMENT   d_2\nUSED AGAIN   enrich\n             route\n"
    );
    let sent = node.received(REPLAY);
    assert_eq!(sent[0].body, json!({"from": "tell", "deployment": "same"}));
    assert_eq!(sent[1].body, json!({"dry_run": true}));
    for wrong in [
        &["workflows", "replay"][..],
        &["workflows", "replay", "inv_1", "--all"],
        &["workflows", "replay", "--all", "--status", "failed"],
        &["workflows", "replay", "inv_1", "--same", "--latest"],
        &["workflows", "replay", "inv_1", "--yes"],
    ] {
        assert_eq!(node.run(wrong).await.code, 2, "{wrong:?}");
    }
}

#[tokio::test]
async fn many_runs_are_counted_before_they_are_replayed() {
    let node = Node::start().await;
    let mut old = summary("inv_0", "failed");
    old["ended_at_ms"] = json!(1_000);
    let found = [summary("inv_2", "failed"), summary("inv_1", "failed"), old];
    node.list(RUNS, json!(found));
    node.data(REPLAY, json!({"id": "inv_3", "skips": []}));
    let all = [
        "workflows",
        "replay",
        "--all",
        "--workflow",
        "p_1",
        "--status",
        "failed",
        "--since",
        "2025-12-31",
    ];
    let seen = node.run(&all).await;
    assert_eq!((seen.code, &*seen.stdout), (1, ""));
    assert!(seen.stderr.contains("2 runs to replay"), "{}", seen.stderr);
    assert!(seen.stderr.contains("--yes"), "{}", seen.stderr);
    let seen = node.run(&[&all[..], &["--dry-run"]].concat()).await;
    assert_eq!((seen.code, seen.stdout.lines().count()), (0, 3));
    assert_eq!(node.received(REPLAY).len(), 0);
    // The other run is not to be replayed, which does not keep this one.
    let seen = node.run(&[&all[..], &["--yes"]].concat()).await;
    assert_eq!(
        (seen.code, &*seen.stdout),
        (1, "RUN     REPLAY\ninv_1   inv_3\n")
    );
    assert!(
        seen.stderr.contains("inv_2 is not replayed"),
        "{}",
        seen.stderr
    );
    assert_eq!(node.received(RUNS)[0].query["status"], "failed");
}

#[tokio::test]
async fn a_run_is_resumed_with_data_or_cancelled() {
    let node = Node::start().await;
    node.data("POST /v1/runs/inv_1/resume", json!({"taken": true}));
    node.on("POST /v1/runs/inv_1/cancel", |_| (204, Value::Null));
    let resume = ["workflows", "resume", "inv_1"];
    let seen = node
        .run(&[&resume[..], &["--path", "approve", "--data", "[1]"]].concat())
        .await;
    assert_eq!((seen.code, &*seen.stdout), (0, "inv_1\n"));
    let sent = &node.received("POST /v1/runs/inv_1/resume")[0].body;
    assert_eq!(sent, &json!({"path": "approve", "data": [1]}));
    node.on("POST /v1/runs/inv_1/resume", |_| {
        (
            409,
            json!({"error": {"code": "conflict", "message": "the wait is over"}}),
        )
    });
    let seen = node.run(&resume).await;
    assert_eq!((seen.code, &*seen.stderr), (1, "error: the wait is over\n"));
    for (status, told) in [
        ("waiting", "cancelled; a step at work comes to its end\n"),
        ("failed", "it has ended before, as failed\n"),
    ] {
        node.data(
            "GET /v1/runs/inv_1",
            json!({"id": "inv_1", "status": status}),
        );
        let seen = node.run(&["workflows", "cancel", "inv_1"]).await;
        assert_eq!((&*seen.stdout, &*seen.stderr), ("inv_1\n", told));
    }
}
