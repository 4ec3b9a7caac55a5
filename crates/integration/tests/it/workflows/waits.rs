//! The URLs of waits: whoever has one answers the run, once.

use headwater_integration::{Method, Node};
use serde_json::{Value, json};

use super::{Folder, HTTP, step, until, waiting};

/// Two steps that wait for an answer, one after the other, and one that tells both.
const ASKING: &[(&str, &str)] = &[
    ("first", "$.flow.suspend();"),
    ("second", "$.flow.suspend();"),
    (
        "tell",
        "return [steps.first.$resume_data, steps.second.$resume_data];",
    ),
];

fn url<'a>(wait: &'a Value, action: &str) -> &'a str {
    wait[format!("{action}_url")].as_str().unwrap()
}

#[tokio::test]
async fn a_url_counts_once_and_not_after_the_end() {
    let node = Node::start().await;
    let anybody = node.with_key(None);
    let workflow = Folder::new(HTTP, ASKING).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    let first = waiting(&node, &run).await;
    assert_eq!(
        (&first["path"], &first["kind"]),
        (&json!("first"), &json!("suspend"))
    );
    assert!(first["expires_at_ms"].is_u64(), "{first}");
    assert!(first.get("rerun_url").is_none(), "{first}");

    let page = anybody.get(url(&first, "resume")).await.is(200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert!(page.text.contains("Success!"), "{}", page.text);
    for action in ["resume", "cancel"] {
        anybody.get(url(&first, action)).await.is(409);
    }
    let second = waiting(&node, &run).await;
    assert_eq!(second["path"], "second");
    let answer = json!({"approved": true});
    let resume = format!("{}?by=Ada", url(&second, "resume"));
    anybody.post(&resume, answer.clone()).await.is(200);
    let ended = until(&node, &run, "succeeded").await;
    let told = &step(&ended, "tell")["return_value"];
    assert_eq!(told[0]["method"], "GET");
    for (field, expected) in [
        ("method", json!("POST")),
        ("path", json!("/resume")),
        ("query", json!({"by": "Ada"})),
        ("body", answer),
        ("client_ip", json!("127.0.0.1")),
        ("url", json!(resume)),
    ] {
        assert_eq!(told[1][field], expected, "{field}: {told}");
    }
    for wait in [&first, &second] {
        anybody.get(url(wait, "resume")).await.is(410);
    }
}

#[tokio::test]
async fn programs_that_look_at_a_url_do_not_answer() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, ASKING).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    let wait = waiting(&node, &run).await;
    let cancel = url(&wait, "cancel");
    for method in [Method::HEAD, Method::OPTIONS] {
        let refused = node.send(node.request(method, cancel)).await.is(405);
        assert_eq!(refused.header("allow"), "GET, POST, PUT, PATCH, DELETE");
    }
    for header in ["purpose", "sec-purpose"] {
        let request = node.request(Method::GET, cancel).header(header, "prefetch");
        node.send(request).await.is(204);
    }
    assert_eq!(waiting(&node, &run).await, wait);
    node.get(cancel).await.is(200);
    let ended = until(&node, &run, "cancelled").await;
    assert_eq!(ended["waits"], json!([]));
    node.get(cancel).await.is(410);
}

#[tokio::test]
async fn a_url_that_nobody_was_given_leads_nowhere() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, ASKING).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    let wait = waiting(&node, &run).await;
    let resume = url(&wait, "resume");
    // A token is base64: its first letter belongs to the signature.
    let forged = match resume.contains("/w/A") {
        true => resume.replacen("/w/A", "/w/B", 1),
        false => {
            let (before, token) = resume.split_once("/w/").unwrap();
            format!("{before}/w/A{}", &token[1..])
        }
    };
    for unknown in [forged.as_str(), "//w/nonsense/resume"] {
        let page = node.get(unknown).await.is(404);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert!(!page.text.contains("nonsense"), "{}", page.text);
    }
    let elsewhere = resume.replace("/resume", "/sideways");
    assert_eq!(
        node.get(&elsewhere).await.is(404).error()["code"],
        "not_found"
    );
    assert_eq!(waiting(&node, &run).await, wait);
}

#[tokio::test]
async fn a_step_runs_again_as_soon_as_its_rerun_url_is_called() {
    let node = Node::start().await;
    let ask = "const { runs, context, callback_request } = $.context.run; \
               if (callback_request) return [runs, context, callback_request.body]; \
               $.flow.rerun(3_600_000, { job: 7 });";
    let workflow = Folder::new(HTTP, &[("ask", ask)]).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    let wait = waiting(&node, &run).await;
    assert_eq!(wait["kind"], "rerun");
    node.post(url(&wait, "rerun"), json!({"done": 1}))
        .await
        .is(200);
    let ended = until(&node, &run, "succeeded").await;
    let ask = step(&ended, "ask");
    assert_eq!(ask["return_value"], json!([2, {"job": 7}, {"done": 1}]));
    assert_eq!(ask["attempts"], 2);
}

#[tokio::test]
async fn a_wait_outlives_the_node() {
    let mut node = Node::builder().own_address().start().await;
    let workflow = Folder::new(HTTP, ASKING).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    let wait = waiting(&node, &run).await;
    node.kill_9();
    node.restart().await;
    node.get(url(&wait, "resume")).await.is(200);
    assert_eq!(waiting(&node, &run).await["path"], "second");
}

#[tokio::test]
async fn tokens_are_not_logged() {
    let node = Node::builder().env("HEADWATER_LOG", "debug").start().await;
    node.get("//w/tell-nobody/resume").await.is(404);
    let output = node.output_with("/w/{token}");
    assert!(!output.contains("tell-nobody"), "{output}");
}
