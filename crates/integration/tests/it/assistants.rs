//! An assistant works with a node: the tools of `/mcp` and of `headwater mcp`, asked for by the protocol's own client.

use headwater_integration::{Assistant, Method, Node, Protocol};
use serde_json::json;

use crate::code::EMITTER;

const GREETER: &str = r#"
export default {
  key: "greeter-greet",
  name: "Greet",
  description: "Greets somebody.",
  version: "0.0.1",
  type: "action",
  props: {
    who: { type: "string", label: "Whom to greet" },
    times: { type: "integer", optional: true },
  },
  run({ $ }) {
    if (this.times === 0) throw new Error("never greets nobody");
    $.export("$summary", `Greeted ${this.who}`);
    return { greeting: `Hello ${this.who}` };
  },
};
"#;

const ASKS: &str = r#"
export default {
  name: "Asks",
  version: "0.0.1",
  type: "action",
  props: {
    app: { type: "app", app: "postgresql" },
    size: { type: "string", options: ["small", "large"], default: "small" },
    colour: { type: "string", async options({ query }) { return ["red", "green"].filter((c) => !query || c === query); }, useQuery: true },
  },
  run() { return this.size; },
};
"#;

/// The ways to be connected: over each transport, by each generation of the protocol.
async fn connected(node: &Node, query: &str, arguments: &[&str]) -> Vec<Assistant> {
    let mut all = Vec::new();
    for protocol in [Protocol::Handshake, Protocol::Newest] {
        all.push(Assistant::over_http(node, node.api_key(), query, protocol).await);
        all.push(Assistant::over_streams(node, arguments, protocol).await);
    }
    all
}

#[tokio::test]
async fn a_component_on_npm_is_found_by_words_and_by_its_app() {
    let node = Node::start().await;
    for mut assistant in connected(&node, "", &[]).await {
        let asked = json!({ "query": "new row", "app": "postgresql", "type": "source" });
        let found = assistant.call("search_packages", asked).await.ok();
        let found = found["data"].as_array().unwrap();
        let row = found
            .iter()
            .find(|one| one["key"] == "postgresql-new-row")
            .expect("the index has it");
        let specifier = row["specifier"].as_str().unwrap();
        assert!(specifier.starts_with("npm:@pipedream/postgresql/"), "{row}");
        let none = json!({ "query": "no component is called like this" });
        let none = assistant.call("search_packages", none).await.ok();
        assert_eq!(none["data"], json!([]));
    }
}

#[tokio::test]
async fn tools_say_what_they_are_for_and_what_they_take() {
    let node = Node::start().await;
    let mut versions = Vec::new();
    for mut assistant in connected(&node, "", &[]).await {
        let server = assistant.server().await;
        assert_eq!(server["name"], "headwater");
        assert!(
            server["instructions"]
                .as_str()
                .unwrap()
                .contains("deploy_source")
        );
        versions.push(server["protocol"].clone());
        let tools = assistant.tools().await;
        assert!(tools.len() >= 25, "{}", tools.len());
        for tool in tools {
            assert!(!tool["description"].as_str().unwrap().is_empty(), "{tool}");
            assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
            assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
            let fields = tool["inputSchema"]["properties"]
                .as_object()
                .into_iter()
                .flatten();
            for (name, field) in fields {
                assert!(field["description"].is_string(), "{}.{name}", tool["name"]);
            }
        }
    }
    assert_eq!(versions[0], versions[1]);
    assert_eq!(versions[2], versions[3]);
    assert_ne!(versions[0], versions[2], "both generations are spoken");
}

#[tokio::test]
async fn an_assistant_deploys_a_source_and_waits_for_what_it_emits() {
    let node = Node::start().await;
    for mut assistant in connected(&node, "", &[]).await {
        let asked = json!({ "code": EMITTER, "name": "watched" });
        let source = assistant.call("deploy_source", asked).await.ok();
        let id = source["id"].as_str().unwrap();
        let listed = assistant
            .call("list_sources", json!({ "query": "watched" }))
            .await
            .ok();
        assert_eq!(listed["data"][0]["id"], id);

        let none = json!({ "source": "watched", "timeout_s": 0 });
        let watched = assistant.call("watch_source", none).await.ok();
        assert_eq!(watched, json!({ "events": [], "last_event_id": null }));

        let event = json!({ "emits": [[{ "n": 1 }, { "summary": "One" }], [{ "n": 2 }, {}]] });
        let run = json!({ "source": "watched", "event": event });
        assistant.call("run_source", run).await.ok();
        let read = assistant
            .call("read_events", json!({ "source": "watched" }))
            .await
            .ok();
        assert_eq!(read["data"][0]["event"], json!({ "n": 2 }));
        let first = read["data"][1]["id"].as_str().unwrap();
        let later = json!({ "source": id, "after": first });
        let watched = assistant.call("watch_source", later).await.ok();
        assert_eq!(watched["events"][0]["event"], json!({ "n": 2 }));
        assert_eq!(watched["last_event_id"], read["data"][0]["id"]);
        let one = json!({ "source": id, "event": first });
        let shown = assistant.call("show_event", one).await.ok();
        assert_eq!(shown["event"], json!({ "n": 1 }), "{shown}");

        let runs = assistant
            .call("list_runs", json!({ "source": "watched" }))
            .await
            .ok();
        let run = json!({ "run": runs["data"][0]["id"] });
        let shown = assistant.call("show_run", run).await.ok();
        assert_eq!(shown["outcome"], "returned", "{shown}");
        let pause = json!({ "source": "watched", "active": false });
        let paused = assistant.call("update_source", pause).await.ok();
        assert_eq!(paused["active"], false);
        let deleted = assistant
            .call("delete_source", json!({ "source": "watched" }))
            .await
            .ok();
        assert_eq!(deleted["deleted"], id);
        let gone = assistant
            .call("show_source", json!({ "source": "watched" }))
            .await
            .refused();
        assert_eq!(
            gone,
            "no source is called watched; `list_sources` shows those that there are"
        );
    }
}

#[tokio::test]
async fn the_next_event_ends_the_wait_for_it() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let key = node.api_key();
    let mut assistant = Assistant::over_http(&node, key, "", Protocol::Newest).await;
    assistant.server().await;
    let asked = json!({ "source": source.id, "timeout_s": 55 });
    let mut watched = std::pin::pin!(assistant.call("watch_source", asked));
    // Nobody tells from outside when the wait has begun; it ends by the first event after that.
    let watched = loop {
        let emits = json!({ "emits": [[{ "n": 1 }, {}]] });
        tokio::select! {
            watched = &mut watched => break watched.ok(),
            _ = node.run(&source, emits) => {}
        }
    };
    assert_eq!(watched["events"][0]["event"], json!({ "n": 1 }));
}

#[tokio::test]
async fn actions_are_described_asked_about_and_run() {
    let node = Node::start().await;
    let published = json!({ "component_code": GREETER });
    node.post("/components/registry", published).await.is(200);
    let query = "?actions=greeter-greet";
    for mut assistant in connected(&node, query, &["--action", "greeter-greet"]).await {
        let tools = assistant.tools().await;
        let tool = tools
            .iter()
            .find(|tool| tool["name"] == "greeter-greet")
            .unwrap();
        assert_eq!(tool["description"], "Greets somebody.");
        assert_eq!(tool["inputSchema"]["required"], json!(["who"]));
        assert_eq!(
            tool["inputSchema"]["properties"]["times"]["type"],
            "integer"
        );
        let greeted = assistant
            .call("greeter-greet", json!({ "who": "you" }))
            .await
            .ok();
        assert_eq!(
            greeted["outcome"]["value"],
            json!({ "greeting": "Hello you" })
        );

        let described = json!({ "component": "greeter-greet" });
        let described = assistant.call("describe_component", described).await.ok();
        assert_eq!(described["props_schema"]["required"], json!(["who"]));
        assert_eq!(described.get("code"), None);
        let asked = json!({ "component": "greeter-greet", "props": { "who": "me", "times": 0 } });
        let refused = assistant.call("run_action", asked).await.refused();
        assert!(refused.contains("never greets nobody"), "{refused}");
        let asked = json!({ "component": "greeter-greet", "props": {} });
        let refused = assistant.call("run_action", asked).await.refused();
        assert!(refused.contains("who"), "{refused}");
        let unknown = assistant.call("greeter-thank", json!({})).await.refused();
        assert!(
            unknown.contains("there is no tool `greeter-thank`"),
            "{unknown}"
        );
    }
}

#[tokio::test]
async fn accounts_are_chosen_by_id_and_options_asked_for() {
    let node = Node::start().await;
    let component = node
        .post("/components", json!({ "component_code": ASKS }))
        .await;
    let id = component.data()["id"].as_str().unwrap().to_owned();
    let key = node.api_key();
    let mut assistant = Assistant::over_http(&node, key, "", Protocol::Newest).await;
    let link = assistant
        .call("connect_account", json!({ "app": "postgresql" }))
        .await
        .ok();
    assert!(
        link["url"]
            .as_str()
            .unwrap()
            .contains("/connect/postgresql?token=")
    );
    let state = json!({ "connect": link["id"] });
    assert_eq!(
        assistant.call("connect_status", state).await.ok()["status"],
        "pending"
    );
    let fields =
        json!({ "host": "127.0.0.1", "port": 1, "user": "u", "database": "d", "password": "p" });
    let account = json!({ "app": "postgresql", "fields": fields });
    let account = node.post("/accounts", account).await;
    let account = account.data()["id"].clone();
    let listed = assistant.call("list_accounts", json!({})).await.ok();
    assert_eq!(listed["data"][0]["id"], account);

    let described = assistant
        .call("describe_component", json!({ "component": id }))
        .await
        .ok();
    let properties = &described["props_schema"]["properties"];
    assert!(
        properties["app"]["description"]
            .as_str()
            .unwrap()
            .contains("`postgresql`")
    );
    assert_eq!(properties["size"]["enum"], json!(["small", "large"]));
    let asked =
        json!({ "component": id, "prop": "colour", "props": { "app": account }, "query": "green" });
    let options = assistant.call("list_options", asked).await.ok();
    assert!(
        options.to_string().contains("green") && !options.to_string().contains("red"),
        "{options}"
    );
    let asked = json!({ "component": id, "props": { "app": account, "colour": "red" } });
    let run = assistant.call("run_action", asked).await.ok();
    assert_eq!(run["outcome"]["value"], "small");
}

#[tokio::test]
async fn tools_do_what_their_caller_may() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let ada = json!({ "username": "ada", "email": "ada@example.com" });
    let ada = node.post("/users", ada).await;
    let key = ada.data()["api_key"].as_str().unwrap().to_owned();
    let mut assistant = Assistant::over_http(&node, &key, "", Protocol::Newest).await;
    assert_eq!(
        assistant.call("list_sources", json!({})).await.ok()["data"],
        json!([])
    );
    let refused = assistant
        .call("delete_source", json!({ "source": source.id }))
        .await
        .refused();
    assert_eq!(refused, format!("there is no source `{}`", source.id));
    let refused = assistant
        .call("show_source", json!({ "name": "x" }))
        .await
        .refused();
    assert!(refused.contains("unknown field `name`"), "{refused}");

    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for unknown in [None, Some("hw_unknown")] {
        let client = node.with_key(unknown);
        let request = client.request(Method::POST, "//mcp").json(&begin);
        client.send(request).await.is(401);
    }
}

#[tokio::test]
async fn acts_are_recorded_with_the_place_they_came_from() {
    let node = Node::builder()
        .flag("--trusted-proxies")
        .flag("127.0.0.0/8")
        .start()
        .await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "deploy_source", "arguments": { "code": EMITTER } },
    });
    let request = node
        .request(Method::POST, "//mcp")
        .header("accept", "application/json, text/event-stream")
        .header("user-agent", "assistant/1")
        .header("x-forwarded-for", "203.0.113.7");
    node.send(request.json(&call)).await.is(200);
    let records = node.get("/audit?action=source.deploy").await.items();
    assert_eq!(records[0]["address"], "203.0.113.7", "{records:?}");
    assert_eq!(records[0]["user_agent"], "assistant/1");
}

#[tokio::test]
async fn a_server_works_in_the_workspace_that_it_is_told_to() {
    let node = Node::start().await;
    let team = json!({ "name": "Team", "orgname": "team" });
    let team = node.post("/workspaces", team).await;
    let id = team.data()["id"].as_str().unwrap().to_owned();
    node.deploy(EMITTER, json!({})).await;
    let query = format!("?workspace_id={id}");
    for mut assistant in connected(&node, &query, &["--workspace", "team"]).await {
        let source = assistant
            .call("deploy_source", json!({ "code": EMITTER }))
            .await
            .ok();
        let listed = assistant.call("list_sources", json!({})).await.ok();
        assert_eq!(listed["data"].as_array().unwrap().len(), 1);
        assert_eq!(listed["data"][0]["id"], source["id"]);
        assert_eq!(listed["data"][0]["workspace_id"], id.as_str());
        assistant
            .call("delete_source", json!({ "source": source["id"] }))
            .await
            .ok();
    }
}

#[tokio::test]
async fn a_node_that_is_away_is_said_to_be() {
    let node = Node::start().await;
    let mut assistant = Assistant::over_streams(&node, &[], Protocol::Newest).await;
    assistant.call("list_sources", json!({})).await.ok();
    drop(node);
    let refused = assistant.call("list_sources", json!({})).await.refused();
    assert!(refused.contains("cannot reach the node"), "{refused}");
    assert!(refused.contains("headwater serve"), "{refused}");
}
