//! `POST /runs/{id}/replay` and `POST /runs/replay`.

use headwater_integration::Node;
use serde_json::json;

use crate::{
    code::{COUNTING, unknown},
    workflows::{Folder, HTTP, Workflow, path_of, step, until, waiting},
};

/// A run of it fails at the second of three steps.
async fn failing(node: &Node) -> (Workflow, String) {
    let steps = [
        ("roll", "return Math.random();"),
        ("broken", "throw new Error('not yet');"),
        ("tell", "return steps.broken.$return_value;"),
    ];
    let workflow = Folder::new(HTTP, &steps).deployed(node).await;
    let run = workflow.start(node, json!({"id": 7})).await;
    until(node, &run, "failed").await;
    (workflow, run)
}

/// Deploys the workflow with its second step mended.
async fn mended(node: &Node, workflow: &Workflow) -> Workflow {
    let steps = [
        ("roll", "return 'rolled again';"),
        (
            "broken",
            "return ['mended', steps.roll.$return_value, $.context.replay];",
        ),
        ("tell", "return steps.broken.$return_value;"),
    ];
    let state = workflow.record["state_file"].as_str().unwrap();
    Folder::new(HTTP, &steps)
        .with(".workflow.state", state)
        .deployed(node)
        .await
}

#[tokio::test]
async fn a_replay_from_a_step_uses_the_results_before_it() {
    let node = Node::start().await;
    let (workflow, failed) = failing(&node).await;
    let mended = mended(&node, &workflow).await;
    let replay = format!("{failed}/replay");
    let body = json!({"from": "broken", "dry_run": true});
    let plan = node.post(&replay, body).await.is(200).data();
    let deployment = &mended.record["deployment_id"];
    let expected = json!({"id": null, "deployment_id": deployment, "skips": ["roll"]});
    assert_eq!(plan, expected);
    assert_eq!(workflow.ended(&node, 1).await.len(), 1);

    let started = node
        .post(&replay, json!({"from": "broken"}))
        .await
        .is(200)
        .data();
    assert_eq!(started["skips"], json!(["roll"]));
    let run = until(&node, &path_of(&started), "succeeded").await;
    let first = node.get(&failed).await.is(200).data();
    let rolled = &step(&first, "roll")["return_value"];
    assert!(rolled.is_number(), "{first:#}");
    assert_eq!(&step(&run, "roll")["return_value"], rolled);
    assert_eq!(
        step(&run, "tell")["return_value"],
        json!(["mended", rolled, true])
    );
    let listed = workflow.ended(&node, 2).await;
    let listed = listed.iter().find(|listed| listed["id"] == run["id"]);
    assert_eq!(listed.unwrap()["replay_of"], first["id"]);
    for (field, expected) in [
        ("trigger", &json!("replay")),
        ("replay_of", &first["id"]),
        ("trace_id", &first["trace_id"]),
        ("event", &json!({"id": 7})),
        ("deployment_id", deployment),
    ] {
        assert_eq!(&run[field], expected, "{field}: {run:#}");
    }
}

#[tokio::test]
async fn a_replay_follows_the_deployment_that_is_asked_for() {
    let node = Node::start().await;
    let (workflow, failed) = failing(&node).await;
    mended(&node, &workflow).await;
    let replay = format!("{failed}/replay");
    let same = node
        .post(&replay, json!({"deployment": "same"}))
        .await
        .is(200)
        .data();
    assert_eq!(same["deployment_id"], workflow.record["deployment_id"]);
    assert_eq!(same["skips"], json!([]));
    until(&node, &path_of(&same), "failed").await;
    let latest = node
        .post(&replay, json!({"deployment": "latest"}))
        .await
        .is(200)
        .data();
    let run = until(&node, &path_of(&latest), "succeeded").await;
    assert_eq!(step(&run, "roll")["return_value"], "rolled again");
}

#[tokio::test]
async fn what_cannot_be_replayed_is_told() {
    let node = Node::start().await;
    let (_, failed) = failing(&node).await;
    let replay = format!("{failed}/replay");
    for (body, status, told) in [
        (json!({"from": "tell"}), 409, "tell"),
        (json!({"from": "nowhere"}), 409, "nowhere"),
        (json!({"from": "a..b"}), 400, "a..b"),
        (json!({"deployment": "next"}), 400, "`same`"),
    ] {
        let error = node.post(&replay, body).await.is(status).error();
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
    }
    let asking = Folder::new(HTTP, &[("ask", "$.flow.suspend();")])
        .deployed(&node)
        .await;
    let open = asking.start(&node, json!({})).await;
    waiting(&node, &open).await;
    let error = node
        .post(&format!("{open}/replay"), json!({}))
        .await
        .is(409)
        .error();
    assert!(
        error["message"].as_str().unwrap().contains("has not ended"),
        "{error}"
    );
    let unknown = format!("/runs/{}/replay", unknown("inv_"));
    node.post(&unknown, json!({})).await.is(404);
}

#[tokio::test]
async fn all_that_a_search_finds_begin_again_and_only_those() {
    let node = Node::start().await;
    let (workflow, first) = failing(&node).await;
    let second = workflow.run(&node, json!({"id": 8}), "failed").await;
    let asking = Folder::new(HTTP, &[("ask", "$.flow.suspend();")])
        .deployed(&node)
        .await;
    waiting(&node, &asking.start(&node, json!({})).await).await;
    let replay = async |body| node.post("/runs/replay", body).await.is(200).data();
    let dry = async |filter| replay(json!({"filter": filter, "dry_run": true})).await;
    let counted = |found: u64, others: u64, count: u64| json!({"found": found, "others": others, "count": count, "refused": 0, "refusals": [], "untried": 0});
    assert_eq!(dry(json!({})).await, counted(2, 1, 0), "one has not ended");
    let of_none = json!({"workflow_id": asking.record["id"], "status": "failed"});
    assert_eq!(dry(of_none).await, counted(0, 0, 0));
    let source = node.deploy(COUNTING, json!({})).await;
    node.run(&source, json!({})).await;
    let of_source = json!({"source_id": source.id});
    assert_eq!(dry(of_source).await, counted(0, 1, 0), "it keeps no event");
    let stranger = node.user("stranger").await;
    let body = json!({"filter": {}});
    let theirs = stranger.post("/runs/replay", body).await.is(200).data();
    assert_eq!(theirs, counted(0, 0, 0), "nothing is theirs");
    let older = json!({"filter": {"status": "failed"}, "after": second["id"], "dry_run": true});
    assert_eq!(replay(older).await, counted(1, 0, 0));
    assert_eq!(workflow.ended(&node, 2).await.len(), 2, "nothing began");

    mended(&node, &workflow).await;
    let failed = json!({"status": "failed", "until": second["queued_at_ms"]});
    let done = replay(json!({"filter": failed})).await;
    assert_eq!(done, counted(2, 0, 2));
    let runs = workflow.ended(&node, 4).await;
    let first = first.rsplit('/').next().unwrap();
    let replays = runs.iter().filter(|run| run["trigger"] == "replay");
    let mut replayed: Vec<_> = replays
        .map(|run| {
            (
                run["status"].as_str().unwrap(),
                run["replay_of"].as_str().unwrap(),
            )
        })
        .collect();
    replayed.reverse();
    let expected = [
        ("succeeded", first),
        ("succeeded", second["id"].as_str().unwrap()),
    ];
    assert_eq!(replayed, expected, "oldest first, on the code of now");
    assert_eq!(
        dry(failed.clone()).await,
        counted(2, 0, 0),
        "the replays are later"
    );
    replay(json!({"filter": failed, "deployment": "same"})).await;
    let runs = workflow.ended(&node, 6).await;
    let again = runs.iter().filter(|run| run["status"] == "failed");
    assert_eq!(again.count(), 4, "on the code of then");
}

#[tokio::test]
async fn a_search_for_runs_to_replay_that_is_misspelt_finds_none() {
    let node = Node::start().await;
    for (body, named) in [
        (json!({}), "filter"),
        (json!({"filter": {"state": "failed"}}), "state"),
        (json!({"filter": {}, "dryrun": true}), "dryrun"),
        (json!({"filter": {}, "status": "failed"}), "status"),
        (json!({"filter": {"status": "broken"}}), "status"),
        (json!({"filter": {}, "deployment": "next"}), "next"),
    ] {
        let error = node.post("/runs/replay", body).await.is(400).error();
        assert!(error.to_string().contains(named), "{error}");
    }
}

/// Says with each event which version it is, what it was given, and how often it has run.
fn counting(version: &str) -> String {
    format!(
        "export default {{ name: 'Counting', version: '{version}', props: {{ db: '$.service.db', plain: 'string' }}, \
         run(event) {{ const runs = (this.db.get('runs') ?? 0) + 1; this.db.set('runs', runs); \
         if (event.bad) throw new Error('no'); this.$emit(['{version}', this.plain, event.n, runs]); }} }};"
    )
}

#[tokio::test]
async fn a_run_of_a_source_runs_again_on_the_code_of_now_and_is_tried_on_that_of_then() {
    let node = Node::start().await;
    let source = node
        .deploy(&counting("1.0.0"), json!({"plain": "one"}))
        .await;
    let run = node.run(&source, json!({"n": 7})).await;
    let replay = format!("/runs/{}/replay", run["invocation_id"].as_str().unwrap());
    let body = json!({"component_code": counting("2.0.0"), "configured_props": {"plain": "two"}});
    let updated = node.put(&source.path(), body).await.is(200).data();

    let dry = json!({"dry_run": true, "deployment": "same"});
    let plan = node.post(&replay, dry).await.is(200).data();
    let then = &source.record["deployment_id"];
    let expected = json!({"source_id": source.id, "deployment_id": then, "event": null});
    assert_eq!(plan, expected);
    let refused = node.post(&replay, json!({})).await.is(400);
    assert!(
        refused.text.contains("`event` is required"),
        "{}",
        refused.text
    );
    let refused = node.post(&replay, json!({"from": "a"})).await.is(400);
    assert!(refused.text.contains("`from`"), "{}", refused.text);

    let body = json!({"deployment": "same", "event": {"n": 8}});
    let tried = node.post(&replay, body).await.is(200).data();
    assert_eq!(&tried["deployment_id"], then);
    let trial = &tried["trial"];
    assert_eq!(trial["events"][0]["event"], json!(["1.0.0", "one", 8, 2]));
    let again = node.post(&replay, json!({"event": {"n": 9}})).await;
    let again = again.is(200).data();
    assert_eq!(again["deployment_id"], updated["deployment_id"]);
    assert_eq!(again["run"]["events"], 1);
    let events = node.events(&source).await;
    let emitted: Vec<_> = events.iter().map(|event| &event["event"]).collect();
    // The trial emitted nothing, and left the key-value map as it was.
    let expected = [json!(["2.0.0", "two", 9, 2]), json!(["1.0.0", "one", 7, 1])];
    assert_eq!(emitted.len(), 2, "{emitted:?}");
    assert!(
        expected.iter().all(|one| emitted.contains(&one)),
        "{emitted:?}"
    );

    let id = run["invocation_id"].as_str().unwrap();
    let told = [
        "runs",
        "replay",
        id,
        "--same",
        "--event",
        r#"{"bad": true}"#,
    ];
    let told = node.cli(&told).await;
    assert_eq!(told.code, 1, "{}", told.stdout);
    assert!(told.stderr.contains("a trial"), "{}", told.stderr);
}

#[tokio::test]
async fn the_event_of_a_run_is_known_where_another_source_emitted_it() {
    let node = Node::start().await;
    let echo =
        "export default { name: 'Echo', version: '0.0.1', run(event) { this.$emit(event); } }";
    let [from, to] = [
        node.deploy(echo, json!({})).await,
        node.deploy(echo, json!({})).await,
    ];
    node.subscribe(&from.id, &to.id, "").await;
    node.run(&from, json!({"n": 1})).await;
    node.events_until(&to, |all| all.len() == 1).await;
    let runs = node.get(&format!("{}/runs?trigger=event", to.path())).await;
    let run = runs.is(200).items().remove(0);
    let replay = format!("/runs/{}/replay", run["id"].as_str().unwrap());
    let again = node.post(&replay, json!({})).await.is(200).data();
    assert_eq!(again["event"], json!({"n": 1}));
    node.events_until(&to, |all| all.len() == 2).await;
    let hook =
        "export default { name: 'Hooked', version: '0.0.1', hooks: { activate() {} }, run() {} }";
    let hooked = node.deploy(hook, json!({})).await;
    let runs = node.get(&format!("{}/runs", hooked.path())).await;
    let of_hook = runs.is(200).items().remove(0);
    let replay = format!("/runs/{}/replay", of_hook["id"].as_str().unwrap());
    let refused = node.post(&replay, json!({})).await.is(409);
    assert!(refused.text.contains("hook"), "{}", refused.text);
    let bob = node.user("bob").await;
    bob.post(&replay, json!({})).await.is(404);
}
