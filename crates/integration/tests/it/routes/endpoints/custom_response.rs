//! `{public-url}/e/{token}` of an interface with `customResponse`: the component answers.

use headwater_integration::{Method, Node, Receiver, payloads};
use serde_json::{Value, json};

/// Answers with what the body of `run` says.
fn responding(run: &str) -> String {
    format!(
        "export default {{\n  name: \"Responding\", version: \"0.0.1\",\n  props: {{\n    \
         http: {{ type: \"$.interface.http\", customResponse: true }},\n    url: {{ type: \"string\", optional: true }},\n  }},\n  \
         async run(event) {{ {run} }},\n}};"
    )
}

#[tokio::test]
async fn status_headers_and_body_are_the_components() {
    let node = Node::start().await;
    let code = responding(
        "this.http.respond({ status: 418, headers: { 'X-Tea': 'Earl Grey', 'content-type': 'text/tea' }, body: 'short' });",
    );
    let source = node.deploy(&code, json!({})).await;
    let answer = node.get(source.endpoint()).await.is(418);
    assert_eq!(
        (answer.header("x-tea"), answer.header("content-type")),
        ("Earl Grey", "text/tea")
    );
    assert_eq!(answer.text, "short");
}

#[tokio::test]
async fn a_body_is_text_an_object_or_bytes() {
    let node = Node::start().await;
    let code = responding(
        "const bodies = { '/text': 'text', '/object': { a: [1] }, '/bytes': Buffer.from([104, 105]), '/none': undefined };\
         this.http.respond({ status: 200, body: bodies[event.path] });",
    );
    let source = node.deploy(&code, json!({})).await;
    for (path, body) in [
        ("/text", "text"),
        ("/object", "{\"a\":[1]}"),
        ("/bytes", "hi"),
        ("/none", ""),
    ] {
        let answer = node
            .get(&format!("{}{path}", source.endpoint()))
            .await
            .is(200);
        assert_eq!(answer.text, body, "{path}");
    }
    let object = node.get(&format!("{}/object", source.endpoint())).await;
    assert!(
        object
            .header("content-type")
            .starts_with("application/json"),
        "{}",
        object.header("content-type")
    );
}

#[tokio::test]
async fn a_head_request_gets_the_head_only() {
    let node = Node::start().await;
    let source = node
        .deploy(
            &responding("this.http.respond({ status: 200, body: event.method });"),
            json!({}),
        )
        .await;
    let answer = node
        .send(node.request(Method::HEAD, source.endpoint()))
        .await
        .is(200);
    assert_eq!(answer.text, "");
}

#[tokio::test]
async fn the_answer_is_sent_while_the_run_goes_on() {
    let node = Node::builder().private_network().start().await;
    let gate = Receiver::start().await;
    let code = responding(
        "this.http.respond({ status: 200, body: 'first' });\n\
         await fetch(this.url, { method: 'POST', body: 'responded' });\n\
         while (!(await (await fetch(this.url)).text())) await new Promise((resolve) => setTimeout(resolve, 10));\n\
         this.$emit('afterwards');",
    );
    let source = node.deploy(&code, json!({"url": gate.url()})).await;
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "first");
    // The run is still going on: it waits for the gate.
    gate.until(|received| received.iter().any(|request| request.method == "GET"))
        .await;
    assert_eq!(node.events(&source).await, [Value::Null; 0]);
    gate.answer(|_| headwater_integration::Reply::module("open"));
    let events = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    assert_eq!(payloads(&events), ["afterwards"]);
}

#[tokio::test]
async fn what_was_emitted_before_the_answer_is_there_with_the_answer() {
    let node = Node::start().await;
    let code = responding("this.$emit('before'); this.http.respond({ status: 200, body: 'ok' });");
    let source = node.deploy(&code, json!({})).await;
    node.get(source.endpoint()).await.is(200);
    assert_eq!(payloads(&node.events(&source).await), ["before"]);
}

#[tokio::test]
async fn only_the_first_answer_counts() {
    let node = Node::start().await;
    let code = responding(
        "this.http.respond({ status: 201, body: 'first' }); this.http.respond({ status: 202, body: 'second' }); \
         throw new Error('late');",
    );
    let source = node.deploy(&code, json!({})).await;
    assert_eq!(node.get(source.endpoint()).await.is(201).text, "first");
    let errors = node
        .channel_until(&source, "$errors", |events| !events.is_empty())
        .await;
    assert_eq!(errors[0]["event"]["error"]["message"], "late");
}

#[tokio::test]
async fn without_an_answer_a_run_that_returned_is_empty_and_one_that_threw_is_an_error() {
    let node = Node::start().await;
    let source = node
        .deploy(
            &responding("if (event.path === '/throw') throw new Error('no');"),
            json!({}),
        )
        .await;
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "");
    let answer = node
        .get(&format!("{}/throw", source.endpoint()))
        .await
        .is(500);
    assert_eq!(answer.error()["code"], "component_failed");
    let errors = node
        .channel_until(&source, "$errors", |events| !events.is_empty())
        .await;
    assert_eq!(errors[0]["event"]["error"]["message"], "no");
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_ended_and_the_request_told() {
    let node = Node::builder().flag("--run-timeout=2s").start().await;
    let code = responding(
        "if (event.path === '/hang') await new Promise(() => setInterval(() => {}, 1000)); \
                           this.http.respond({ status: 200, body: 'ok' });",
    );
    let source = node.deploy(&code, json!({})).await;
    let answer = node
        .get(&format!("{}/hang", source.endpoint()))
        .await
        .is(504);
    assert_eq!(answer.error()["code"], "component_timed_out");
    let errors = node
        .channel_until(&source, "$errors", |events| !events.is_empty())
        .await;
    assert_eq!(errors[0]["event"]["error"]["code"], "LIMIT_WALL");
    assert_eq!(node.get(source.endpoint()).await.is(200).text, "ok");
}

#[tokio::test]
async fn requests_are_answered_side_by_side() {
    let node = Node::builder().private_network().start().await;
    let gate = Receiver::start().await;
    let code = responding(
        "if (event.path === '/wait') {\n\
           await fetch(this.url, { method: 'POST' });\n\
           while (!(await (await fetch(this.url)).text())) await new Promise((resolve) => setTimeout(resolve, 10));\n\
         }\n\
         this.http.respond({ status: 200, body: event.path });",
    );
    let source = node.deploy(&code, json!({"url": gate.url()})).await;
    let endpoint = source.endpoint().to_owned();
    let client = node.with_key(None);
    let waiting =
        tokio::spawn(async move { client.get(&format!("{endpoint}/wait")).await.is(200).text });
    gate.until(|received| !received.is_empty()).await;
    assert_eq!(
        node.get(&format!("{}/other", source.endpoint()))
            .await
            .is(200)
            .text,
        "/other"
    );
    gate.answer(|_| headwater_integration::Reply::module("open"));
    assert_eq!(waiting.await.unwrap(), "/wait");
}

#[tokio::test]
async fn an_answer_that_is_none_is_the_components_error() {
    let node = Node::start().await;
    let source = node
        .deploy(
            &responding("this.http.respond({ status: 1000 });"),
            json!({}),
        )
        .await;
    node.get(source.endpoint()).await.is(500);
    let errors = node
        .channel_until(&source, "$errors", |events| !events.is_empty())
        .await;
    assert!(
        errors[0]["event"]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("status"),
        "{}",
        errors[0]
    );
}
