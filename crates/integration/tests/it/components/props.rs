//! Apps, methods and props as the code sees them.

use headwater_integration::{Node, Receiver, Reply, Source, payloads};
use serde_json::json;

const SHOP: &str = r#"
const shop = {
  type: "app",
  app: "shop",
  propDefinitions: {
    city: { type: "string", label: "City", default: "Wien", optional: true },
  },
  methods: {
    _key() { return this.$auth.api_key; },
    greet(name) { return `${name} with ${this._key()}`; },
  },
};
export default {
  name: "Shop",
  version: "0.0.1",
  props: {
    shop,
    city: { propDefinition: [shop, "city"] },
    ratio: { type: "object", optional: true },
    loud: { type: "boolean", default: false },
  },
  methods: {
    shout(text) { return this.loud ? text.toUpperCase() : text; },
  },
  run() {
    this.$emit({ text: this.shout(this.shop.greet(this.city)), ratio: this.ratio });
  },
};
"#;

#[tokio::test]
async fn apps_have_methods_credentials_and_prop_definitions() {
    let node = Node::start().await;
    let account = node.account("shop", json!({"api_key": "k"})).await;
    let shop = json!({"authProvisionId": account});
    let plain = node.deploy(SHOP, json!({"shop": shop})).await;
    node.run(&plain, json!({})).await;
    assert_eq!(
        payloads(&node.events(&plain).await),
        [json!({"text": "Wien with k"})]
    );
    let loud = node
        .deploy(
            SHOP,
            json!({"shop": shop, "city": "Graz", "loud": true, "ratio": {"a": 1}}),
        )
        .await;
    node.run(&loud, json!({})).await;
    assert_eq!(
        payloads(&node.events(&loud).await),
        [json!({"text": "GRAZ WITH K", "ratio": {"a": 1}})]
    );
}

#[tokio::test]
async fn module_state_of_one_source_never_reaches_another() {
    for (isolation, global) in [("component", [1, 3]), ("source", [1, 2])] {
        let isolated = Node::builder().flag(&format!("--isolation={isolation}"));
        let node = isolated.start().await;
        let code = r#"
let runs = 0;
export default {
  name: "Stateful",
  version: "0.0.1",
  run() { globalThis.left = (globalThis.left ?? 0) + 1; this.$emit([++runs, globalThis.left]); },
};
"#;
        let saved = node.save(code).await;
        let mut sources = Vec::new();
        for _ in 0..2 {
            let body = json!({"component_id": saved["id"]});
            sources.push(Source::new(
                node.post("/sources", body).await.is(200).data(),
            ));
        }
        for source in sources.iter().chain(&sources) {
            node.run(source, json!({})).await;
        }
        // The global object is the process's.
        let [first, second] = global;
        assert_eq!(
            payloads(&node.events(&sources[0]).await),
            [json!([1, first]), json!([2, second])],
            "{isolation}"
        );
    }
}

#[tokio::test]
async fn an_isolated_source_has_a_worker_of_its_own_until_it_is_marked_otherwise() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Counts",
  version: "0.0.1",
  run() { this.$emit(globalThis.runs = (globalThis.runs ?? 0) + 1); },
};
"#;
    let saved = node.save(code).await;
    let deploy = async |isolated: bool| {
        let body = json!({"component_id": saved["id"], "isolated": isolated});
        Source::new(node.post("/sources", body).await.is(200).data())
    };
    let (shared, isolated) = (deploy(false).await, deploy(true).await);
    let shown = |source: &Source| source.record.get("isolated").cloned();
    assert_eq!(
        (shown(&shared), shown(&isolated)),
        (None, Some(json!(true)))
    );
    let runs_seen = async |source: &Source| {
        node.run(source, json!({})).await;
        payloads(&node.events(source).await).pop().unwrap()
    };
    assert_eq!(runs_seen(&shared).await, 1);
    assert_eq!(runs_seen(&isolated).await, 1);
    let described = node.cli(&["describe", &isolated.id]).await.ok();
    assert!(
        described.stdout.contains("its own (isolated)"),
        "{described:?}"
    );
    // Another change leaves the mark.
    node.cli(&["update", &isolated.id, "--name", "Alone"])
        .await
        .ok();
    assert_eq!(runs_seen(&isolated).await, 2);
    node.cli(&["update", &isolated.id, "--isolated=false"])
        .await
        .ok();
    assert_eq!(
        runs_seen(&isolated).await,
        2,
        "of the worker that both share"
    );
    node.cli(&["update", &shared.id, "--isolated"]).await.ok();
    assert_eq!(runs_seen(&shared).await, 1);
}

#[tokio::test]
async fn a_configured_request_is_made_with_what_the_component_proposes() {
    let api = Receiver::start().await;
    api.answer(|_| Reply::json(&json!({"id":7})).with_status(201));
    let node = Node::builder().private_network().start().await;
    let code = r#"
export default {
  name: "Sender",
  version: "0.0.1",
  type: "action",
  props: {
    httpRequest: { type: "http_request", label: "HTTP Request Configuration", default: { method: "POST" } },
  },
  async run({ $ }) {
    const response = await this.httpRequest.execute();
    $.export("headers", response.headers);
    return [response, response.status];
  },
};
"#;
    let saved = node.save(code).await;
    let path = format!("/components/{}/run", saved["id"].as_str().unwrap());
    let request = json!({
        "url": api.url(),
        "headers": [{"name": "x-key", "value": "k"}],
        "params": {"page": 2},
        "body": {"type": "fields", "contentType": "application/json", "fields": [{"name": "a", "value": "1"}]},
    });
    let props = json!({"configured_props": {"httpRequest": request}});
    let report = node.post(&path, props).await.is(200).data();
    assert_eq!(report["outcome"]["value"], json!([{"id": 7}, 201]));
    assert_eq!(
        report["exports"]["headers"]["content-type"],
        "application/json"
    );
    let received = api.received().remove(0);
    assert_eq!(
        (&*received.method, &*received.query, received.json()),
        ("POST", "page=2", json!({"a": "1"}))
    );
    assert_eq!(received.headers["x-key"], "k");
    for (request, field) in [
        (json!({}), "url"),
        (json!({"url": "a.example"}), "url"),
        (
            json!({"url": "https://a.example", "headers": [{"value": "1"}]}),
            "headers[0].name",
        ),
    ] {
        let props = json!({"configured_props": {"httpRequest": request}});
        let refused = node.post(&path, props).await.is(422).error();
        assert_eq!(
            refused["param"],
            format!("configured_props.httpRequest.{field}")
        );
    }
}

#[tokio::test]
async fn a_secret_is_null_and_named_as_one() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Keeper",
  version: "0.0.1",
  props: {
    token: { type: "string", secret: true },
    other: { type: "string", secret: true, optional: true },
    plain: "string",
  },
  run() { this.$emit(this.token.length); },
};
"#;
    let props = json!({"token": "hunter2", "plain": "p"});
    let deployed = node.try_deploy(code, props).await.is(200).data();
    let path = format!("/sources/{}", deployed["id"].as_str().unwrap());
    let listed = node.get("/users/me/sources").await.is(200).items();
    for source in [&deployed, &node.get(&path).await.is(200).data(), &listed[0]] {
        assert_eq!(
            source["configured_props"],
            json!({"token": null, "plain": "p"})
        );
        assert_eq!(source["secret_props"], json!({"token": {"secret": true}}));
    }
    // Props that were read may be sent back.
    let props = json!({"configured_props": deployed["configured_props"]});
    node.put(&path, props).await.is(200);
    let source = Source::new(deployed);
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), [json!(7)]);
}

#[tokio::test]
async fn props_that_nobody_is_asked_for_are_recognised_and_what_does_not_work_is_told() {
    let node = Node::start().await;
    let code = r#"
const chat = { type: "app", app: "chat", propDefinitions: { db: { type: "$.service.db" } } };
export default {
  name: "Listener",
  version: "0.0.1",
  props: {
    chat: { ...chat, optional: true },
    db: { propDefinition: [chat, "db"] },
    info: { type: "alert", alertType: "info", content: "Read me" },
    syncDir: { type: "dir", accessMode: "write", sync: true },
    chatApphook: { type: "$.interface.apphook", appProp: "chat", eventNames() { return ["message"]; } },
    hiddenOne: { type: "string", hidden: true },
    fixed: { type: "integer", disabled: true, default: 4 },
    flags: "boolean[]", numbers: { type: "integer[]", min: 1 }, things: "object[]", all: "any[]",
    query: { type: "sql", auth: { app: "chat" }, optional: true },
  },
  sampleEmit: { text: "hello" },
  async run(event) {
    const { flags, numbers, things, all, fixed, hiddenOne } = this;
    this.db.set("seen", (this.db.get("seen") ?? 0) + 1);
    this.$emit({ event, flags, numbers, things, all, fixed, hidden: typeof hiddenOne, seen: this.db.get("seen") });
  },
};
"#;
    let values =
        json!({"flags": [true], "numbers": [1, 2], "things": [{"a": 1}], "all": ["x", 1, null]});
    let mut props = values.clone();
    props["fixed"] = json!("ignored");
    props["syncDir"] = json!({});
    let deployed = node.try_deploy(code, props).await.is(200).data();
    let warnings = deployed["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].as_str().unwrap().contains("`chatApphook`"),
        "{warnings:?}"
    );
    let component = format!("/components/{}", deployed["component_id"].as_str().unwrap());
    let component = node.get(&component).await.is(200).data();
    assert_eq!(component["sample_emit"], json!({"text": "hello"}));
    assert_eq!(component["warnings"], deployed["warnings"]);
    let described = component["configurable_props"].as_array().unwrap();
    let alert = described.iter().find(|prop| prop["name"] == "info");
    assert_eq!(
        alert.unwrap(),
        &json!({"name": "info", "type": "alert", "alertType": "info", "content": "Read me"})
    );
    let source = Source::new(deployed);
    node.run(&source, json!({"n": 1})).await;
    let mut expected = values;
    for (name, value) in [
        ("event", json!({"n": 1})),
        ("fixed", json!(4)),
        ("hidden", json!("undefined")),
        ("seen", json!(1)),
    ] {
        expected[name] = value;
    }
    assert_eq!(payloads(&node.events(&source).await), [expected]);
    for (name, value) in [
        ("numbers", json!([1, 0])),
        ("flags", json!(["yes"])),
        ("things", json!([1])),
        ("all", json!("no list")),
    ] {
        let mut props = json!({"flags": [], "numbers": [], "things": [], "all": []});
        props[name] = value;
        let refused = node.try_deploy(code, props).await.is(422).error();
        assert_eq!(refused["param"], format!("configured_props.{name}"));
    }
}
