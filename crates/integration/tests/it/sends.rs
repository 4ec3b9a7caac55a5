//! Sends of workflows leave the node, whatever happens to it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use headwater_integration::{Node, Receiver, Reply, S3};
use serde_json::{Value, json};

/// Far beyond what anything here takes.
const PATIENCE: Duration = Duration::from_secs(90);
/// Lets minutes pass in seconds.
const SPEED: u32 = 20;

fn fast_clock() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("{SPEED}@{}", now.as_millis())
}

/// Deploys a workflow with one step and returns its id.
async fn workflow(node: &Node, code: &str) -> String {
    let definition = "schema: workflow/2022.04\nname: Sending\ntriggers: []\nsteps:\n- namespace: notify\n  \
                      runtime: nodejs20.x\n  uses: \"./notify/entry.js\"\n";
    let code = format!(
        "export default {{ name: 'Notify', version: '1.0.0', async run({{ $, steps }}) {{ {code} }} }};"
    );
    let files = json!({"workflow.yaml": definition, "notify/entry.js": code});
    let deployed = node.post("/workflows", json!({ "files": files })).await;
    deployed.is(200).data()["id"].as_str().unwrap().to_owned()
}

/// Starts a run and returns its id.
async fn run(node: &Node, workflow: &str, event: Value) -> String {
    let path = format!("/workflows/{workflow}/run");
    let started = node.post(&path, json!({ "event": event })).await;
    started.is(200).data()["id"].as_str().unwrap().to_owned()
}

/// The sends of a run once none of them is pending.
async fn settled(node: &Node, run: &str) -> Vec<Value> {
    let settling = async {
        loop {
            let mut shown = node.get(&format!("/runs/{run}")).await.is(200).data();
            let sends = shown["sends"].as_array_mut().unwrap();
            let is_settled = |send: &Value| send["state"] != "pending";
            if !sends.is_empty() && sends.iter().all(is_settled) {
                return std::mem::take(sends);
            }
            tokio::task::yield_now().await;
        }
    };
    let settled = tokio::time::timeout(PATIENCE, settling).await;
    settled.expect("the sends come to an end")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_send_whose_node_was_killed_arrives_again_under_its_name() {
    let receiver = Receiver::start().await;
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .env("HEADWATER_TEST_CLOCK", &fast_clock())
        .start()
        .await;
    let code = "$.send.http({ method: 'POST', url: steps.trigger.event.url, data: { a: 1 } });";
    let id = workflow(&node, code).await;
    // The answer never comes: the node dies first.
    let (arrived, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
    receiver.answer_later(move |received| {
        let _ = arrived.send(received);
        std::future::pending()
    });
    let run = run(&node, &id, json!({"url": receiver.url()})).await;
    let first = arrivals.recv().await.unwrap();
    node.kill_9();
    receiver.answer(|_| Reply::status(204));
    node.restart().await;
    let again = receiver.until(|received| !received.is_empty()).await;
    let name = &first.headers["idempotency-key"];
    assert_eq!(name, &format!("{run}/notify/0"));
    assert_eq!(&again[0].headers["idempotency-key"], name);
    assert_eq!(again[0].json(), json!({"a": 1}));
    let sends = settled(&node, &run).await;
    assert_eq!(sends[0]["state"], "sent");
    assert_eq!(sends[0]["result"]["response"]["status"], 204);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_arrive_in_a_bucket() {
    let s3 = S3::start().await;
    let mut builder = Node::builder().env("HEADWATER_TEST_CLOCK", &fast_clock());
    for (name, value) in s3.environment() {
        builder = builder.env(name, &value);
    }
    let node = builder.start().await;
    let code = "for (const n of [1, 2, 3]) { \
                $.send.s3({ bucket: steps.trigger.event.bucket, prefix: 'in/box', payload: { n } }); }";
    let id = workflow(&node, code).await;
    let run_id = run(&node, &id, json!({"bucket": S3::BUCKET})).await;
    for send in settled(&node, &run_id).await {
        assert_eq!(send["state"], "sent", "{send:#}");
    }
    let objects = s3.objects();
    assert_eq!(objects.len(), 1, "{objects:?}");
    let (key, text) = &objects[0];
    assert!(
        key.starts_with("in/box/20") && key.ends_with(".gz"),
        "{key}"
    );
    assert_eq!(text, "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
    let nowhere = run(&node, &id, json!({"bucket": "nowhere"})).await;
    let sends = settled(&node, &nowhere).await;
    assert_eq!(sends[0]["state"], "failed");
    let error = sends[0]["result"]["error"].as_str().unwrap();
    assert!(error.contains("NoSuchBucket"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_a_mail_server_says_which_flags_it_lacks() {
    let node = Node::start().await;
    let id = workflow(&node, "$.send.email({ subject: 'hello', text: 'hello' });").await;
    let run = run(&node, &id, json!({})).await;
    let sends = settled(&node, &run).await;
    assert_eq!(sends[0]["state"], "failed");
    let error = sends[0]["result"]["error"].as_str().unwrap();
    assert!(error.contains("--smtp-url"), "{error}");
}
