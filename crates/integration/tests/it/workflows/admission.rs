//! The settings that bound the work of a workflow, and requests that ask for something special, over HTTP.

use headwater_integration::{Answer, Method, Node};
use serde_json::{Value, json};

use super::{Folder, HTTP, Workflow, path_of, step, until, waiting};

/// A run has the only place until somebody answers, and another one may wait.
const ONE_WAITS: &str =
    "- type: http\nsettings:\n  concurrency: { limit: 1 }\n  queue: { size: 1 }\n";
const ASKING: &[(&str, &str)] = &[("ask", "$.flow.suspend();")];
/// Bytes of a body that an endpoint takes.
const BODY_BYTES_MAX: usize = 10 * 1024 * 1024;
const TELLING: &[(&str, &str)] = &[("tell", "return steps.trigger.event;")];

async fn sent(node: &Node, url: &str, body: Value) -> Answer {
    let request = node.with_key(None).request(Method::POST, url).json(&body);
    node.send(request).await
}

/// The runs of a workflow that have not ended.
async fn open(node: &Node, workflow: &Workflow) -> Vec<Value> {
    let path = format!("{}/runs?open=true", workflow.path());
    node.get(&path).await.is(200).items()
}

/// What the step `tell` of the only run returned: the event.
async fn told(node: &Node, workflow: &Workflow, count: usize) -> Value {
    let newest = workflow.ended(node, count).await.remove(0);
    let run = node.get(&path_of(&newest)).await.is(200).data();
    step(&run, "tell")["return_value"].clone()
}

#[tokio::test]
async fn a_request_over_the_queue_is_told_to_come_again() {
    let node = Node::start().await;
    let workflow = Folder::new(ONE_WAITS, ASKING).deployed(&node).await;
    let url = workflow.endpoint();
    for n in 0..2 {
        sent(&node, url, json!(n)).await.is(200);
    }
    let refused = sent(&node, url, json!(2)).await.is(429);
    assert_eq!(refused.error()["code"], "rate_limited");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
    assert_eq!(refused.header("access-control-allow-origin"), "*");
    let by_hand = node
        .post(&format!("{}/run", workflow.path()), json!({}))
        .await;
    by_hand.is(429);
    let runs = open(&node, &workflow).await;
    assert_eq!(runs.len(), 2, "{runs:?}");
    let first = path_of(&runs[1]);
    let resume = waiting(&node, &first).await["resume_url"].clone();
    node.get(resume.as_str().unwrap()).await.is(200);
    until(&node, &path_of(&runs[0]), "waiting").await;
    sent(&node, url, json!(3)).await.is(200);
}

#[tokio::test]
async fn a_request_that_comes_twice_starts_one_run() {
    let node = Node::start().await;
    let trigger = "- type: http\n  idempotency_key: '{{event.body.id}}'\n";
    let workflow = Folder::new(trigger, TELLING).deployed(&node).await;
    for id in [1, 1, 2, 1] {
        let answer = sent(&node, workflow.endpoint(), json!({ "id": id })).await;
        assert!(answer.is(200).text.contains("Success!"));
    }
    let runs = workflow.ended(&node, 2).await;
    sent(&node, workflow.endpoint(), json!({ "id": 3 }))
        .await
        .is(200);
    assert_eq!(workflow.ended(&node, 3).await.len(), 3, "{runs:?}");
}

#[tokio::test]
async fn only_the_record_is_kept_of_a_run_that_asks_for_it() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, TELLING).deployed(&node).await;
    let url = format!("{}?x-pd-nostore=1", workflow.endpoint());
    sent(&node, &url, json!({ "secret": 1 })).await.is(200);
    let listed = workflow.ended(&node, 1).await.remove(0);
    let run = node.get(&path_of(&listed)).await.is(200).data();
    assert_eq!(run["status"], "succeeded");
    assert_eq!(
        (&run["steps"], run.get("event")),
        (&json!([]), None),
        "{run:#}"
    );
    let replay = format!("{}/replay", path_of(&listed));
    node.post(&replay, json!({})).await.is(409);
    let url = format!("{}?x-pd-notrigger=1", workflow.endpoint());
    sent(&node, &url, json!({})).await.is(200);
    assert_eq!(open(&node, &workflow).await.len(), 0);
    assert_eq!(workflow.ended(&node, 1).await.len(), 1);
}

#[tokio::test]
async fn a_url_that_takes_posts_alone_asks_whoever_opens_it() {
    let node = Node::start().await;
    let triggers = "- type: http\nsettings:\n  resume_methods: [POST]\n";
    let workflow = Folder::new(triggers, ASKING).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    let wait = waiting(&node, &run).await;
    let (resume, cancel) = (&wait["resume_url"], &wait["cancel_url"]);
    for (url, asks) in [
        (resume, "Let the workflow go on?"),
        (cancel, "Cancel the run"),
    ] {
        let page = node.get(url.as_str().unwrap()).await.is(200);
        assert!(page.text.contains(asks), "{}", page.text);
        assert!(
            page.text.contains("<form method=\"post\">"),
            "{}",
            page.text
        );
        assert_eq!(page.header("cache-control"), "no-store");
    }
    let resume = resume.as_str().unwrap();
    for method in [Method::PUT, Method::HEAD] {
        let refused = node.send(node.request(method, resume)).await.is(405);
        assert_eq!(refused.header("allow"), "POST");
    }
    assert_eq!(waiting(&node, &run).await, wait);
    // As the page's form sends it.
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let mut request = node.with_key(None).request(Method::POST, resume);
    for (name, value) in form {
        request = request.header(name, value);
    }
    node.send(request).await.is(200);
    until(&node, &run, "succeeded").await;
}

#[tokio::test]
async fn a_body_may_be_kept_as_a_file() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, TELLING).deployed(&node).await;
    let bytes = b"\x00\xffraw".to_vec();
    for (count, (query, header)) in [
        ("", Some("x-pd-upload-body")),
        ("?pipedream_upload_body=1", None),
    ]
    .into_iter()
    .enumerate()
    {
        let url = format!("{}{query}", workflow.endpoint());
        let mut request = node.with_key(None).request(Method::POST, &url);
        request = request.body(bytes.clone());
        if let Some(header) = header {
            request = request.header(header, "1");
        }
        node.send(request).await.is(200);
        let event = told(&node, &workflow, count + 1).await;
        let url = event["body"]["raw_body_url"].as_str().unwrap();
        let file = node.with_key(None).get(url).await.is(200);
        assert!(file.text.ends_with("raw"), "{}", file.text);
    }
}

#[tokio::test]
async fn files_of_a_form_are_kept_as_files() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, TELLING).deployed(&node).await;
    let part = |disposition: &str, content: &str| {
        format!("--B\r\nContent-Disposition: form-data; {disposition}\r\n\r\n{content}\r\n")
    };
    let body = [
        part("name=\"name\"", "Ada"),
        part("name=\"photo\"; filename=\"a.txt\"", "first"),
        part("name=\"photo\"; filename=\"b.txt\"", "second"),
        "--B--\r\n".to_owned(),
    ];
    let request = node
        .with_key(None)
        .request(Method::POST, workflow.endpoint())
        .header("content-type", "multipart/form-data; boundary=B")
        .body(body.concat());
    node.send(request).await.is(200);
    let event = told(&node, &workflow, 1).await;
    assert_eq!(event["body"]["name"], "Ada");
    for (index, (filename, content)) in [("a.txt", "first"), ("b.txt", "second")]
        .into_iter()
        .enumerate()
    {
        let file = &event["body"]["photo"][index];
        assert_eq!(file["filename"], filename, "{event}");
        assert_eq!(file["mimetype"], "application/octet-stream");
        let found = node.with_key(None).get(file["url"].as_str().unwrap()).await;
        assert_eq!(found.is(200).text, content);
    }
}

#[tokio::test]
async fn pages_of_other_origins_may_send_requests() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, TELLING).deployed(&node).await;
    let asking = node
        .with_key(None)
        .request(Method::OPTIONS, workflow.endpoint())
        .header("origin", "https://shop.example")
        .header("access-control-request-headers", "content-type");
    let answer = node.send(asking).await.is(204);
    for (header, value) in [
        ("access-control-allow-origin", "*"),
        (
            "access-control-allow-methods",
            "GET,HEAD,PUT,PATCH,POST,DELETE",
        ),
        ("access-control-allow-headers", "content-type"),
    ] {
        assert_eq!(answer.header(header), value, "{header}");
    }
    let answer = sent(&node, workflow.endpoint(), json!({ "n": 1 }))
        .await
        .is(200);
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(told(&node, &workflow, 1).await["body"], json!({ "n": 1 }));
}

#[tokio::test]
async fn requests_that_no_workflow_takes_are_refused() {
    let node = Node::start().await;
    let workflow = Folder::new(HTTP, TELLING).deployed(&node).await;
    let url = workflow.endpoint();
    let path = url.strip_prefix(&node.url()).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: node\r\ncontent-length: {}\r\n\r\n",
        BODY_BYTES_MAX + 1
    );
    let mut large = node.raw().await;
    large.send(head.as_bytes()).await.unwrap();
    let refused = large.answer().await;
    assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
    let (before, _) = url.rsplit_once('/').unwrap();
    let unknown = format!("{before}/nobodys");
    for method in [Method::POST, Method::OPTIONS] {
        let request = node.with_key(None).request(method, &unknown);
        node.send(request).await.is(404);
    }
    let off = json!({ "active": false });
    node.patch(&workflow.path(), off).await.is(200);
    for method in [Method::POST, Method::OPTIONS] {
        let request = node.with_key(None).request(method, url);
        node.send(request).await.is(404);
    }
}
