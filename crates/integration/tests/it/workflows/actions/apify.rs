//! `@pipedream/apify`: a step that suspends and runs again, whichever comes first.

use headwater_integration::{Apify, Node};
use serde_json::{Value, json};

use super::{folder, returned, summary};
use crate::workflows::{Workflow, step, until, until_that, waiting};

async fn start(apify: &Apify) -> (Node, Workflow) {
    let node = Node::builder().private_network().reaching(apify.server());
    let node = node.start().await;
    let account = node.account("apify", Apify::account_fields()).await;
    let steps = format!(
        r#"- namespace: crawl
  uses: apify-run-task@0.0.1
  props:
    apify: {{ authProvisionId: {account} }}
    taskId: crawl-shops
    waitForFinish: "{{{{event.wait}}}}"
    overrideInput: '{{"shop": "{{{{event.shop}}}}"}}'
- namespace: tell
  code: |
    export default defineComponent({{ run({{ steps }}) {{ return steps.crawl; }} }});
"#
    );
    let workflow = folder(&steps).deployed(&node).await;
    (node, workflow)
}

fn only(webhooks: &[Value]) -> &Value {
    assert_eq!(webhooks.len(), 1, "{webhooks:?}");
    &webhooks[0]
}

/// The wait of the task that has run so often.
async fn waiting_after(node: &Node, run: &str, tries: u32) -> Value {
    let has_run =
        |shown: &Value| shown["status"] == "waiting" && step(shown, "crawl")["attempts"] == tries;
    until_that(node, run, has_run).await["waits"][0].clone()
}

#[tokio::test]
async fn a_task_is_awaited_by_its_webhook_or_asked_again() {
    let apify = Apify::start().await;
    let (node, workflow) = start(&apify).await;

    // The URL that `suspend` gave is Apify's; the step itself runs again, because it said so.
    let run = workflow
        .start(&node, json!({"wait": true, "shop": "tea"}))
        .await;
    let wait = waiting(&node, &run).await;
    assert_eq!(wait["kind"], "rerun", "{wait}");
    let webhook = only(&apify.webhooks()).clone();
    assert_eq!(webhook["condition"], json!({"actorRunId": "run-1"}));
    assert_eq!(apify.runs()[0]["input"], r#"{"shop":"tea"}"#);
    apify.end("run-1", "SUCCEEDED");
    apify.call_webhook(&webhook, "run-1").await.is(200);
    let ended = until(&node, &run, "succeeded").await;
    assert_eq!(summary(&ended, "crawl"), "Task crawl-shops succeeded.");
    assert_eq!(step(&ended, "crawl")["attempts"], 2);
    let told = returned(&ended, "tell");
    assert_eq!(told["$return_value"]["status"], "SUCCEEDED", "{told}");
    assert_eq!(apify.webhooks(), [Value::Null; 0]);
    apify.call_webhook(&webhook, "run-1").await.is(410);

    // Nobody calls: the task is asked about, and what the step knew is in its context.
    let run = workflow
        .start(&node, json!({"wait": true, "shop": "milk"}))
        .await;
    for (tries, status) in [(1, "RUNNING"), (2, "FAILED")] {
        let wait = waiting_after(&node, &run, tries).await;
        apify.end("run-2", status);
        let ask_again = wait["rerun_url"].as_str().unwrap();
        node.get(ask_again).await.is(200);
    }
    let ended = until(&node, &run, "failed").await;
    let error = &step(&ended, "crawl")["error"]["message"];
    let told = "Apify run run-2 finished with status FAILED";
    assert!(error.as_str().unwrap().starts_with(told), "{error}");
    assert_eq!(apify.webhooks(), [Value::Null; 0]);

    let run = workflow.run(&node, json!({"wait": false, "shop": "salt"}), "succeeded");
    let started = json!({"runId": "run-3", "status": "RUNNING"});
    assert_eq!(returned(&run.await, "crawl"), &started);
}
