//! `POST /components`.

use headwater_integration::{Method, Node, Receiver, Reply};
use serde_json::{Value, json};

use crate::code::EMITTER;

const WITH_PROPS: &str = r#"
const app = {
  type: "app",
  app: "shop",
  propDefinitions: {
    city: { type: "string", label: "City", description: "Where", options: ["Wien", "Graz"] },
  },
};
export default {
  name: "With props",
  key: "shop-with-props",
  version: "1.2.3",
  props: {
    app,
    city: { propDefinition: [app, "city"], description: "Where exactly", optional: true },
    count: { type: "integer", default: 3, min: 1, max: 9 },
    timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
    db: "$.service.db",
  },
  run() {},
};
"#;

#[tokio::test]
async fn a_saved_component_shows_its_code_and_its_props() {
    let node = Node::start().await;
    let saved = node.save(WITH_PROPS).await;
    assert!(saved["id"].as_str().unwrap().starts_with("sc_"), "{saved}");
    assert_eq!(saved["code"], WITH_PROPS);
    assert_eq!(saved["name"], "With props");
    assert_eq!(saved["key"], "shop-with-props");
    assert_eq!(saved["version"], "1.2.3");
    assert!(
        saved["created_at"].is_u64() && saved["updated_at"].is_u64(),
        "{saved}"
    );
    let props = saved["configurable_props"].as_array().unwrap();
    let names: Vec<_> = props
        .iter()
        .map(|prop| prop["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["app", "city", "count", "timer", "db"]);
    assert_eq!(props[0]["type"], "app");
    assert_eq!(props[0]["app"], "shop");
    assert_eq!(props[1]["type"], "string");
    assert_eq!(props[1]["label"], "City");
    assert_eq!(props[1]["description"], "Where exactly");
    assert_eq!(props[1]["options"], json!(["Wien", "Graz"]));
    assert_eq!(props[2]["default"], 3);
    assert_eq!(props[4]["type"], "$.service.db");
}

#[tokio::test]
async fn the_hash_identifies_the_code() {
    let node = Node::start().await;
    let first = node.save(EMITTER).await;
    let again = node.save(EMITTER).await;
    let other = node.save(&EMITTER.replace("0.0.1", "0.0.2")).await;
    let hash = first["code_hash"].as_str().unwrap();
    assert!(
        hash.len() >= 32 && hash.chars().all(|digit| digit.is_ascii_hexdigit()),
        "{hash}"
    );
    assert_eq!(first["code_hash"], again["code_hash"]);
    assert_ne!(first["code_hash"], other["code_hash"]);
    // The same code is one component.
    assert_eq!(first["id"], again["id"]);
    assert_eq!(
        [&first["newly_saved"], &again["newly_saved"]],
        [true, false]
    );
}

#[tokio::test]
async fn code_or_a_url_is_required() {
    let node = Node::start().await;
    for (body, param) in [
        (json!({}), "component_code"),
        (json!({"component_code": " "}), "component_code"),
        (json!({"component_code": 7}), "component_code"),
        (
            json!({"component_url": "ftp://example.com/a.mjs"}),
            "component_url",
        ),
        (json!({"component_url": "no url"}), "component_url"),
    ] {
        let error = node.post("/components", body.clone()).await.is(400).error();
        assert_eq!(error["param"], param, "{body}: {error}");
    }
}

#[tokio::test]
async fn code_that_is_no_component_is_refused_and_says_why() {
    let node = Node::start().await;
    for (code, told) in [
        ("export default {", "expect"),
        (
            "import x from \"./missing.mjs\"; export default x;",
            "missing.mjs",
        ),
        (
            "import x from \"left-pad@99.0.0\"; export default x;",
            "left-pad",
        ),
        ("throw new Error(\"boom\");", "boom"),
        ("export default 7;", ""),
        ("export const x = 1;", ""),
    ] {
        let answer = node
            .post("/components", json!({"component_code": code}))
            .await;
        assert_eq!(answer.status, 422, "{code}: {}", answer.text);
        let message = answer.error()["message"].as_str().unwrap().to_lowercase();
        assert!(message.contains(told), "{code}: {message}");
    }
}

#[tokio::test]
async fn a_component_that_throws_while_it_is_read_is_told_with_its_stack() {
    let node = Node::start().await;
    let code =
        "function broken() {\n  throw new TypeError(\"boom\");\n}\nbroken();\nexport default {};";
    let error = node
        .post("/components", json!({"component_code": code}))
        .await
        .is(422)
        .error();
    assert!(
        error["message"].as_str().unwrap().contains("boom"),
        "{error}"
    );
    assert!(
        error["stack"].as_str().unwrap().contains("broken"),
        "{error}"
    );
}

#[tokio::test]
async fn a_url_is_fetched_with_its_relative_imports() {
    let node = Node::builder().private_network().start().await;
    let server = Receiver::start().await;
    server.answer(|request| match request.path.as_str() {
        "/sources/main.mjs" => Reply::module(
            "import { name } from \"../shared/name.mjs\";\n\
             export default { name, version: \"0.0.1\", run() {} };",
        ),
        "/shared/name.mjs" => Reply::module("export const name = \"From afar\";"),
        _ => Reply::status(404),
    });
    let url = format!("{}/sources/main.mjs", server.url());
    let saved = node
        .post("/components", json!({"component_url": url}))
        .await
        .is(200)
        .data();
    assert_eq!(saved["name"], "From afar");
    assert_eq!(saved["component_url"], json!(url));
    assert!(
        saved["code"]
            .as_str()
            .unwrap()
            .contains("../shared/name.mjs"),
        "{saved}"
    );
}

#[tokio::test]
async fn a_url_that_does_not_answer_with_a_module_is_refused() {
    let node = Node::builder().private_network().start().await;
    let server = Receiver::start().await;
    server.answer(|_| Reply::status(404));
    let url = format!("{}/missing.mjs", server.url());
    let error = node
        .post("/components", json!({"component_url": url}))
        .await
        .is(422)
        .error();
    assert!(
        error["message"].as_str().unwrap().contains("404"),
        "{error}"
    );
}

#[tokio::test]
async fn code_wins_over_a_url_which_is_kept_and_not_fetched() {
    let node = Node::builder().private_network().start().await;
    let server = Receiver::start().await;
    let url = format!("{}/a.mjs", server.url());
    let body = json!({"component_code": EMITTER, "component_url": url});
    let saved = node.post("/components", body).await.is(200).data();
    assert_eq!(saved["code"], EMITTER);
    assert_eq!(saved["component_url"], json!(url));
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn a_url_on_a_private_network_is_not_fetched_unless_allowed() {
    let node = Node::start().await;
    let server = Receiver::start().await;
    server.answer(|_| Reply::module(EMITTER));
    let url = format!("{}/a.mjs", server.url());
    node.post("/components", json!({"component_url": url}))
        .await
        .is(422)
        .error();
    assert_eq!(server.received().len(), 0);
}

#[tokio::test]
async fn fields_to_include_may_be_in_the_body() {
    let node = Node::start().await;
    let body = json!({"component_code": EMITTER, "include": "name,version"});
    let saved = node
        .send(node.request(Method::POST, "/components").json(&body))
        .await
        .is(200)
        .data();
    assert_eq!(saved, json!({"name": "Emitter", "version": "0.0.1"}));
}

#[tokio::test]
async fn an_action_can_be_saved() {
    let node = Node::start().await;
    let code = "export default { name: \"Act\", type: \"action\", version: \"0.0.1\", run() {} };";
    let saved = node.save(code).await;
    assert_eq!(saved["type"], "action");
    assert_eq!(saved["configurable_props"], Value::Array(Vec::new()));
}
