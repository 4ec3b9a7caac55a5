//! Runs that fail, and the events that workflows emit.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::json;

use super::{Folder, HTTP, path_of, paths, step};

#[tokio::test]
async fn a_step_that_throws_fails_its_run_and_is_shown_with_its_error() {
    let node = Node::start().await;
    let steps = [
        ("fine", "return 1;"),
        (
            "broken",
            "console.warn('about to'); throw new TypeError(`no ${steps.trigger.event.thing}`);",
        ),
        ("never", "return 2;"),
    ];
    let workflow = Folder::new(HTTP, &steps).deployed(&node).await;
    let run = workflow.run(&node, json!({"thing": "tea"}), "failed").await;
    assert_eq!(paths(&run), ["fine", "broken"]);
    assert_eq!(step(&run, "fine")["return_value"], 1);
    let broken = step(&run, "broken");
    assert_eq!(broken["status"], "failed");
    assert_eq!(broken["attempts"], 1);
    assert!(broken.get("return_value").is_none(), "{broken}");
    assert_eq!(broken["logs"][0]["level"], "warn");
    let error = &broken["error"];
    assert_eq!(
        (&error["name"], &error["message"]),
        (&json!("TypeError"), &json!("no tea"))
    );
    assert!(
        error["stack"].as_str().unwrap().contains("entry.js"),
        "{error}"
    );
    let told = run["error"].as_str().unwrap();
    assert!(told.contains("TypeError: no tea"), "{told}");

    let errors = format!("{}/$errors/event_summaries", workflow.path());
    let errors = node.get(&errors).await.is(200).items();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        errors[0]["event"]["original_event"],
        json!({"thing": "tea"})
    );
    assert_eq!(errors[0]["event"]["error"]["message"], "no tea");
}

#[tokio::test]
async fn emitted_events_are_listed() {
    let node = Node::start().await;
    let emit = "$.send.emit({ n: 1 }); $.send.emit({ raw_event: 2 }, 'news');";
    let workflow = Folder::new(HTTP, &[("emit", emit)]).deployed(&node).await;
    let run = workflow.run(&node, json!({}), "succeeded").await;
    let emitted = run["emitted"].as_array().unwrap().iter();
    let emitted: Vec<_> = emitted
        .map(|event| (&event["metadata"]["name"], &event["event"]["raw_event"]))
        .collect();
    assert_eq!(
        emitted,
        [(&json!(""), &json!({"n": 1})), (&json!("news"), &json!(2))]
    );
    assert_eq!(run["has_more_emitted"], false);
    let path = format!("{}/event_summaries", workflow.path());
    let listed = node.get(&path).await.is(200).items();
    let shown: Vec<_> = listed.iter().map(|item| &item["event"]).collect();
    assert_eq!(
        shown,
        [&json!({"raw_event": 2}), &json!({"raw_event": {"n": 1}})]
    );
    assert_eq!(listed[0]["metadata"]["emitter_id"], workflow.id());
    let news = node.get(&format!("{path}?event_name=news")).await.is(200);
    assert_eq!(news.items().len(), 1);
}

/// Ways to fail, each with the lines of its step, its code, the name of the error, and whether `on: [<kind>]` of it is
/// tried again.
const WAYS: [(&str, &str, &str, &str); 5] = [
    ("thrown", "", "throw new RangeError('no');", "RangeError"),
    (
        "configuration",
        "",
        "throw Object.assign(new Error('no account'), { name: 'ConfigurationError' });",
        "ConfigurationError",
    ),
    (
        "timeout",
        "  timeout: 1s\n",
        "await new Promise(() => setInterval(() => {}, 1000));",
        "TimeoutError",
    ),
    (
        "out_of_memory",
        "",
        "const kept = []; for (;;) kept.push(new Array(1_000_000).fill(Math.random()));",
        "MemoryError",
    ),
    (
        "too_much",
        "",
        "return 'x'.repeat(17 << 20);",
        "OutputError",
    ),
];

#[tokio::test]
async fn each_way_to_fail_has_its_name_and_others_are_not_tried_again() {
    let node = Node::start().await;
    for (kind, lines, code, name) in WAYS {
        let others = match kind {
            "thrown" => "timeout, out_of_memory, worker_lost",
            _ => "thrown",
        };
        for (on, attempts) in [(kind, 2), (others, 1)] {
            let is_kind = ["thrown", "timeout", "out_of_memory"].contains(&kind);
            if on == kind && !is_kind {
                continue;
            }
            let retry = format!("  retry: {{ attempts: 2, initial: 1ms, on: [{on}] }}\n");
            let definition = format!(
                "schema: workflow/2022.04\nname: Fails\ntriggers:\n{HTTP}steps:\n- namespace: bad\n{lines}{retry}- namespace: never\n"
            );
            let steps = [("bad", code), ("never", "return 1;")];
            let folder = Folder::new(HTTP, &steps).with("workflow.yaml", &definition);
            let workflow = folder.deployed(&node).await;
            let run = workflow.run(&node, json!({}), "failed").await;
            assert_eq!(paths(&run), ["bad"], "{kind}");
            let bad = step(&run, "bad");
            assert_eq!(bad["error"]["name"], name, "{kind}: {bad:#}");
            assert_eq!(bad["attempts"], attempts, "{kind} on {on}: {bad:#}");
            let message = bad["error"]["message"].as_str().unwrap();
            assert!(!message.is_empty(), "{kind}");
        }
    }
}

/// Workers that go away, the failure that is tried again, how the run ends, and the attempts that count.
const LOSSES: [(usize, &str, &str, u32); 4] = [
    (3, "thrown", "succeeded", 1),
    (4, "thrown", "failed", 1),
    (4, "worker_lost", "succeeded", 2),
    (8, "worker_lost", "failed", 2),
];

#[tokio::test(flavor = "multi_thread")]
async fn three_workers_that_are_killed_under_a_step_do_not_count_and_then_its_policy_does() {
    let node = Node::builder().private_network().start().await;
    let gate = Receiver::start().await;
    let code = format!(
        "const called = {{ method: 'POST', body: crypto.randomUUID() }};
         while (!(await fetch('{}', called)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
         return 'at last';",
        gate.url()
    );
    for (kills, on, status, attempts) in LOSSES {
        let case = format!("{kills} kills, on: [{on}]");
        gate.answer(|_| Reply::status(503));
        gate.clear();
        let definition = format!(
            "schema: workflow/2022.04\nname: Killed\ntriggers:\n{HTTP}steps:\n- namespace: before\n- namespace: killed\n  \
             retry: {{ attempts: 2, initial: 1ms, on: [{on}] }}\n"
        );
        let steps = [
            ("before", "return crypto.randomUUID();"),
            ("killed", &*code),
        ];
        let folder = Folder::new(HTTP, &steps).with("workflow.yaml", &definition);
        let workflow = folder.deployed(&node).await;
        let (run, ()) = tokio::join!(workflow.run(&node, json!({}), status), async {
            node.kill_begun(&gate, kills).await;
            gate.answer(|_| Reply::status(200));
        });
        let killed = step(&run, "killed");
        assert_eq!(killed["attempts"], attempts, "{case}: {killed:#}");
        assert_eq!(step(&run, "before")["attempts"], 1, "{case}");
        match status {
            "succeeded" => assert_eq!(killed["return_value"], "at last", "{case}"),
            _ => {
                let error = &killed["error"];
                assert_eq!(error["name"], "WorkerLostError", "{case}: {error:#}");
                let message = error["message"].as_str().unwrap();
                assert!(message.contains("signal 9"), "{case}: {message}");
            }
        }
    }
}

#[tokio::test]
async fn an_automatic_subscription_hears_the_errors_of_later_workflows() {
    let node = Node::start().await;
    let bad = [("bad", "throw new Error('spilt');")];
    let earlier = Folder::new(HTTP, &bad).deployed(&node).await;
    let hear = "return steps.trigger.event.error.message;";
    let alarm = Folder::new(HTTP, &[("hear", hear)]).deployed(&node).await;
    let wanted = json!({ "event_name": "$errors", "listener_id": alarm.id() });
    node.post("/auto_subscriptions", wanted).await.is(200);
    let later = Folder::new(HTTP, &bad).deployed(&node).await;
    earlier.run(&node, json!({}), "failed").await;
    later.run(&node, json!({}), "failed").await;
    let heard = alarm.ended(&node, 1).await;
    assert_eq!(heard.len(), 1, "{heard:?}");
    let heard = node.get(&path_of(&heard[0])).await.is(200).data();
    assert_eq!(step(&heard, "hear")["return_value"], "spilt");
}
