//! `runs` and `usage`: the requests to the node, and the text that people see.

use serde_json::{Value, json};

use crate::node::Node;

const RUNS: &str = "GET /v1/sources/dc_1/runs";

fn run() -> Value {
    json!({
        "id": "inv_1", "source_id": "dc_1", "component_id": "sc_1", "trigger": "timer",
        "outcome": "threw", "error": "no such board", "queued_at_ms": 1_767_225_600_000_i64,
        "started_at_ms": 1_767_225_600_010_i64, "ended_at_ms": 1_767_225_600_052_i64,
        "duration_ms": 42, "emitted": 2, "dropped": 3, "request_id": "req-1",
    })
}

fn detail() -> Value {
    let mut run = run();
    run["dropped_ids"] = json!(["7", "8"]);
    run["events"] = json!([
        {"id": "17-3", "summary": "two\nlines", "has_more_deliveries": true,
         "deliveries": [{"id": "dlv_1", "webhook_id": "wh_1", "state": "dead"},
                        {"id": "dlv_2", "webhook_id": "wh_2", "state": "pending"}]},
        {"id": "17-4", "event_name": "news", "deliveries": [], "has_more_deliveries": false},
    ]);
    run["logs"] = json!([{"level": "warn", "message": "slow", "ts": 1_767_225_600_020_i64}]);
    let error = json!({"name": "Error", "message": "no such board", "stack": "Error: no such board\n    at x"});
    run["errors"] = json!([{"id": "17-5", "error": error}]);
    run["has_more"] = json!(true);
    run
}

#[tokio::test]
async fn runs_are_a_table_and_filters_are_the_nodes() {
    let node = Node::start().await;
    node.list(RUNS, json!([run()]));
    let seen = node.run(&["runs", "dc_1", "--failed", "-n", "3"]).await;
    assert_eq!(
        seen.stdout,
        "ID      STARTED                    TRIGGER   OUTCOME   TOOK    EMITTED   DROPPED   ERROR\n\
         inv_1   2026-01-01T00:00:00.010Z   timer     threw     42 ms   2         3         no such board\n"
    );
    let sent = &node.received(RUNS)[0].query;
    assert_eq!((&*sent["outcome"], &*sent["limit"]), ("failed", "3"));
    assert!(!sent.contains_key("trigger") && !sent.contains_key("since"));

    let seen = node
        .run(&[
            "runs",
            "dc_1",
            "--outcome",
            "wall_limit",
            "--trigger",
            "http",
            "--since",
            "2026-01-31",
            "--json",
        ])
        .await;
    assert_eq!(seen.json(), json!([run()]));
    let sent = &node.received(RUNS)[1].query;
    assert_eq!(
        (&*sent["outcome"], &*sent["trigger"], &*sent["since"]),
        ("wall_limit", "http", "2026-01-31")
    );
    for wrong in [
        &["runs"][..],
        &["runs", "dc_1", "--outcome", "bad"],
        &["runs", "dc_1", "--failed", "--outcome", "threw"],
        &["runs", "--failed", "describe", "inv_1"],
    ] {
        assert_eq!(node.run(wrong).await.code, 2, "{wrong:?}");
    }
}

#[tokio::test]
async fn a_described_run_shows_its_consequences() {
    let node = Node::start().await;
    node.data("GET /v1/runs/inv_1", detail());
    let seen = node.run(&["runs", "describe", "inv_1"]).await;
    assert_eq!(
        seen.stdout,
        "ID          inv_1\n\
         SOURCE      dc_1\n\
         COMPONENT   sc_1\n\
         TRIGGER     timer\n\
         OUTCOME     threw\n\
         ERROR       no such board\n\
         QUEUED      2026-01-01T00:00:00.000Z\n\
         STARTED     2026-01-01T00:00:00.010Z\n\
         ENDED       2026-01-01T00:00:00.052Z\n\
         TOOK        42 ms\n\
         EMITTED     2\n\
         DROPPED     3: 7, 8\n\
         REQUEST     req-1\n\
         \n\
         EVENT   CHANNEL   SUMMARY     DELIVERIES\n\
         17-3    -         two lines   dlv_1 dead\n\
         \x20                             dlv_2 pending\n\
         \x20                             …\n\
         17-4    news\n\
         \n\
         LOG\n\
         2026-01-01T00:00:00.020Z  warn   slow\n\
         \n\
         ERRORS\n\
         Error: no such board\n    at x\n\
         \n\
         More events, log lines or errors are not shown.\n"
    );
    let seen = node.run(&["runs", "describe", "inv_1", "--json"]).await;
    assert_eq!(seen.json(), detail());
}

#[tokio::test]
async fn facts_that_are_out_of_the_ordinary_are_on_the_card() {
    let node = Node::start().await;
    let mut run = detail();
    let names: Vec<String> = (0..20).map(|number| format!("k{number}")).collect();
    for (field, value) in [
        ("starts", json!(2)),
        ("time_limit_ms", json!(60_000)),
        ("response", json!({"status": 404, "bytes": 12})),
        ("changed_keys", json!(31)),
        ("changed_key_names", json!(names)),
    ] {
        run[field] = value;
    }
    node.data("GET /v1/runs/inv_1", run);
    let seen = node.run(&["runs", "describe", "inv_1"]).await;
    for line in [
        "LIMIT       60000 ms",
        "STARTS      2: a worker or a node was lost, or credentials were renewed",
        "ANSWERED    404, 12 bytes",
        "CHANGED     31 of $.service.db: k0, k1, ",
        ", k19, …",
    ] {
        assert!(seen.stdout.contains(line), "{line}: {}", seen.stdout);
    }
}

#[tokio::test]
async fn a_run_is_cancelled_and_its_end_is_told() {
    let node = Node::start().await;
    node.on("POST /v1/runs/inv_1/cancel", |_| (204, Value::Null));
    for (ended, told) in [
        (
            json!({"outcome": "cancelled"}),
            "cancelled; requests that it has sent stay sent\n",
        ),
        (
            json!({"outcome": "returned"}),
            "it has ended before, as returned\n",
        ),
        (
            json!({"status": "running"}),
            "cancelled; a step at work comes to its end\n",
        ),
    ] {
        node.data("GET /v1/runs/inv_1", ended);
        let seen = node.run(&["runs", "cancel", "inv_1"]).await;
        assert_eq!(
            (seen.code, &*seen.stdout),
            (0, "inv_1\n"),
            "{}",
            seen.stderr
        );
        assert_eq!(seen.stderr, told);
    }
    assert_eq!(node.received("POST /v1/runs/inv_1/cancel").len(), 3);
}

#[tokio::test]
async fn usage_is_shown_by_day_or_by_source_with_what_is_left_of_the_quota() {
    let node = Node::start().await;
    let day =
        |date: &str, runs: u64| json!({"date": date, "invocations": runs, "compute_ms": 10 * runs});
    node.data(
        "GET /v1/usage",
        json!({
            "days": [day("2026-01-01", 3), day("2026-01-02", 50)],
            "daily_invocations_quota": 200,
            "resets_at_ms": 1_767_398_400_000_i64,
            "sources": [{
                "id": "dc_1", "name": "orders", "invocations": 45, "compute_ms": 450,
                "days": [day("2026-01-02", 44)],
            }],
            "others": {"invocations": 8, "compute_ms": 80},
        }),
    );
    let left = "150 of 200 runs are left today; the next day begins at midnight UTC\n";
    let seen = node.run(&["usage", "--days", "2"]).await;
    assert_eq!(
        (&*seen.stdout, &*seen.stderr),
        (
            "DAY          RUNS   TIME\n\
             2026-01-02   50     0.5 s\n\
             2026-01-01   3      0.0 s\n",
            left
        )
    );
    let seen = node.run(&["usage", "--by", "source"]).await;
    assert_eq!(
        seen.stdout,
        "NAME       ID     TODAY   OF QUOTA   RUNS   TIME\n\
         orders     dc_1   44      22.0 %     45     0.5 s\n\
         (others)                             8      0.1 s\n"
    );
    let sent = node.received("GET /v1/usage");
    assert_eq!(
        (&*sent[0].query["days"], sent[0].query.get("by")),
        ("2", None)
    );
    assert_eq!(sent[1].query["by"], "source");
}

#[tokio::test]
async fn where_there_is_nothing_to_show_people_are_told_where_to_look() {
    let node = Node::start().await;
    for call in [
        RUNS,
        "GET /v1/sources/dc_1/event_summaries",
        "GET /v1/sources/dc_1/logs",
    ] {
        node.list(call, json!([]));
    }
    for (arguments, told) in [
        (&["runs", "dc_1"][..], "`headwater describe dc_1`"),
        (&["runs", "dc_1", "--failed"], "`headwater runs dc_1`"),
        (&["events", "dc_1"], "`headwater runs dc_1`"),
        (&["logs", "dc_1"], "`headwater runs dc_1`"),
    ] {
        let seen = node.run(arguments).await;
        assert_eq!((seen.code, &*seen.stdout), (0, ""), "{arguments:?}");
        assert!(seen.stderr.contains(told), "{}", seen.stderr);
        let as_json = [arguments, &["--json"]].concat();
        let seen = node.run(&as_json).await;
        assert_eq!((seen.json(), &*seen.stderr), (json!([]), ""));
    }
}

#[tokio::test]
async fn a_run_of_a_source_is_replayed_and_its_trial_shown() {
    const REPLAY: &str = "POST /v1/runs/inv_1/replay";
    let node = Node::start().await;
    let report = json!({"invocation_id": "inv_2", "outcome": {"status": "returned"}, "emitted": 1, "logs": [],
                        "events": [{"event": {"a": 1}, "name": "", "summary": "One"}]});
    let replay =
        json!({"source_id": "dc_1", "deployment_id": "d_1", "event": {"n": 1}, "trial": report});
    node.data(REPLAY, replay);
    let arguments = [
        "runs",
        "replay",
        "inv_1",
        "--same",
        "--event",
        r#"{"n": 1}"#,
    ];
    let seen = node.run(&arguments).await;
    assert_eq!(
        seen.stdout,
        "INVOCATION   inv_2\nOUTCOME      returned\nEMITTED      1\n\nEVENT One\n{\n  \"a\": 1\n}\n"
    );
    assert!(
        seen.stderr.contains("its events went nowhere"),
        "{}",
        seen.stderr
    );
    let sent = json!({"deployment": "same", "event": {"n": 1}, "dry_run": false});
    assert_eq!(node.received(REPLAY)[0].body, sent);

    let plan = json!({"source_id": "dc_1", "deployment_id": null, "event": null});
    node.data(REPLAY, plan);
    let seen = node.run(&["runs", "replay", "inv_1", "--dry-run"]).await;
    assert_eq!(
        seen.stdout,
        "SOURCE       dc_1\nDEPLOYMENT   not kept any more\nEVENT        not known: give it with --event\n"
    );
    assert!(
        seen.stderr.contains("nothing was started"),
        "{}",
        seen.stderr
    );
}
