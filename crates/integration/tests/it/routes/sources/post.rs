//! `POST /sources/`: deploying.

use std::collections::BTreeSet;

use headwater_integration::{Answer, Node, Receiver, Source, payloads};
use serde_json::{Value, json};

use crate::code::{EMITTER, INBOX, hooked, unknown};

const EVERY_PROP: &str = r#"
export default {
  name: "Every Prop / of them",
  version: "0.0.1",
  props: {
    http: "$.interface.http",
    timer: { type: "$.interface.timer", default: { intervalSeconds: 3600 } },
    db: "$.service.db",
    city: { type: "string" },
    count: { type: "integer", default: 3, max: 9 },
    tags: { type: "string[]", optional: true },
  },
  run() {
    this.$emit({ city: this.city, count: this.count, tags: this.tags, endpoint: this.http.endpoint });
  },
};
"#;

#[tokio::test]
async fn a_deployed_source_has_the_specified_shape() {
    let node = Node::start().await;
    let source = node
        .deploy(EVERY_PROP, json!({"city": "Wien"}))
        .await
        .record;
    let text = |name: &str| {
        source[name]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {source}"))
    };
    assert!(text("id").starts_with("dc_"));
    assert!(text("user_id").starts_with("u_"));
    assert!(text("component_id").starts_with("sc_"));
    assert_eq!(text("name_slug"), "every-prop-of-them");
    assert_eq!(text("name"), "every-prop-of-them");
    assert_eq!(source["active"], true);
    assert!(
        source["created_at"].is_u64() && source["updated_at"].is_u64(),
        "{source}"
    );
    // Seconds, not milliseconds.
    assert!(
        source["created_at"].as_u64().unwrap() < 100_000_000_000,
        "{source}"
    );
    let props = &source["configured_props"];
    assert_eq!(props["city"], "Wien");
    assert_eq!(
        props["timer"],
        json!({"cron": null, "interval_seconds": 3600})
    );
    let endpoint = props["http"]["endpoint_url"].as_str().unwrap();
    let token = endpoint
        .strip_prefix(&format!("{}/e/", node.url()))
        .unwrap();
    // 128 bits at least, at up to 6 bits a character.
    assert!(token.len() >= 22, "{token}");
}

#[tokio::test]
async fn the_code_sees_values_defaults_and_its_endpoint() {
    let node = Node::start().await;
    let source = node
        .deploy(EVERY_PROP, json!({"city": "Wien", "tags": ["a", "b"]}))
        .await;
    node.run(&source, json!({})).await;
    let expected =
        json!({"city": "Wien", "count": 3, "tags": ["a", "b"], "endpoint": source.endpoint()});
    assert_eq!(payloads(&node.events(&source).await), [expected]);
}

#[tokio::test]
async fn endpoints_of_two_sources_differ() {
    let node = Node::start().await;
    let first = node.deploy(INBOX, json!({})).await;
    let second = node.deploy(INBOX, json!({})).await;
    assert_ne!(first.endpoint(), second.endpoint());
}

#[tokio::test]
async fn slugs_are_unique_and_names_are_kept() {
    let node = Node::start().await;
    let first = node.deploy(EMITTER, json!({})).await.record;
    let second = node.deploy(EMITTER, json!({})).await.record;
    assert_eq!(first["name_slug"], "emitter");
    assert_ne!(second["name_slug"], "emitter");
    assert!(
        second["name_slug"]
            .as_str()
            .unwrap()
            .starts_with("emitter-"),
        "{second}"
    );
    assert_eq!(second["name"], second["name_slug"]);
    let body = json!({"component_code": EMITTER, "name": "My own"});
    let named = node.post("/sources", body).await.is(200).data();
    assert_eq!(named["name"], "My own");
}

#[tokio::test]
async fn slugs_are_unique_among_sources_deployed_at_once() {
    let node = Node::start().await;
    let saved = node.save(EMITTER).await;
    let body = json!({"component_id": saved["id"]});
    let deployments = (0..6).map(|_| node.post("/sources", body.clone()));
    let deployed = futures::future::join_all(deployments).await;
    let slug = |answer: Answer| answer.is(200).data()["name_slug"].to_string();
    let slugs: BTreeSet<_> = deployed.into_iter().map(slug).collect();
    assert_eq!(slugs.len(), 6, "{slugs:?}");
}

#[tokio::test]
async fn a_saved_component_wins_over_code() {
    let node = Node::start().await;
    let saved = node.save(EMITTER).await;
    let body = json!({"component_id": saved["id"], "component_code": INBOX});
    let source = node.post("/sources", body).await.is(200).data();
    assert_eq!(source["component_id"], saved["id"]);
    assert_eq!(source["configured_props"], json!({}));
}

#[tokio::test]
async fn a_component_must_be_named() {
    let node = Node::start().await;
    node.post("/sources", json!({})).await.is(400).error();
    for unknown in ["no-such-key", "no-such-key@1.0.0", &unknown("sc_")] {
        let body = json!({"component_id": unknown});
        let error = node.post("/sources", body).await.is(404).error();
        assert!(
            error["message"].as_str().unwrap().contains(unknown),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_published_component_is_deployed_by_its_key() {
    let node = Node::start().await;
    let v1 = EMITTER.replace(
        "version: \"0.0.1\"",
        "key: \"test-emitter\", version: \"1.0.0\"",
    );
    let v2 = v1.replace("1.0.0", "2.0.0");
    for code in [&v2, &v1] {
        let body = json!({"component_code": code});
        node.post("/components/registry", body).await.is(200);
    }
    for (reference, version) in [("test-emitter", "2.0.0"), ("test-emitter@1.0.0", "1.0.0")] {
        let body = json!({"component_id": reference});
        let source = node.post("/sources", body).await.is(200).data();
        let path = format!("/components/{}", source["component_id"].as_str().unwrap());
        assert_eq!(node.get(&path).await.is(200).data()["version"], version);
    }
}

#[tokio::test]
async fn an_action_is_no_source() {
    let node = Node::start().await;
    let code = "export default { name: \"Act\", type: \"action\", version: \"0.0.1\", run() {} };";
    let error = node.try_deploy(code, json!({})).await.is(400).error();
    assert!(
        error["message"].as_str().unwrap().contains("action"),
        "{error}"
    );
}

#[tokio::test]
async fn values_that_do_not_fit_name_their_prop() {
    let node = Node::start().await;
    for (props, param) in [
        (json!({}), "city"),
        (json!({"city": 7}), "city"),
        (json!({"city": null}), "city"),
        (json!({"city": "Wien", "count": 10}), "count"),
        (json!({"city": "Wien", "count": "many"}), "count"),
        (json!({"city": "Wien", "tags": "a"}), "tags"),
        (json!({"city": "Wien", "cuont": 1}), "cuont"),
        (
            json!({"city": "Wien", "timer": {"cron": "nonsense"}}),
            "timer",
        ),
        (
            json!({"city": "Wien", "timer": {"intervalSeconds": 0}}),
            "timer",
        ),
        (json!({"city": "x".repeat(70_000)}), "city"),
    ] {
        let answer = node.try_deploy(EVERY_PROP, props.clone()).await;
        assert_eq!(answer.status, 422, "{param}: {}", answer.text);
        let error = answer.error();
        assert_eq!(error["code"], "invalid_props");
        let named = error["param"].as_str().unwrap();
        assert!(
            named.starts_with(&format!("configured_props.{param}")),
            "{param}: {error}"
        );
    }
    assert_eq!(
        node.get("/users/me/sources").await.is(200).items(),
        [Value::Null; 0]
    );
}

#[tokio::test]
async fn deploy_runs_before_activate() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    node.deploy(&hooked("1"), json!({"url": receiver.url()}))
        .await;
    assert_eq!(receiver.bodies(), ["1 deploy", "1 activate"]);
}

#[tokio::test]
async fn a_hook_that_throws_leaves_nothing() {
    let node = Node::builder().private_network().start().await;
    for (fails, calls) in [
        // They stored nothing that `deactivate` could go by.
        ("deploy", &["1 deploy"][..]),
        ("activate", &["1 deploy", "1 activate"]),
    ] {
        let receiver = Receiver::start().await;
        let props = json!({"url": receiver.url(), "fails": fails});
        let error = node.try_deploy(&hooked("1"), props).await.is(422).error();
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains(&format!("{fails} fails")),
            "{error}"
        );
        assert!(error["stack"].as_str().unwrap().contains("tell"), "{error}");
        assert_eq!(receiver.bodies(), calls);
        assert_eq!(
            node.get("/users/me/sources").await.is(200).items(),
            [Value::Null; 0]
        );
    }
}

#[tokio::test]
async fn what_hooks_emit_and_store_is_there_when_the_deployment_is_answered() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Historical",
  version: "0.0.1",
  props: { db: "$.service.db" },
  hooks: {
    deploy() { this.$emit("old", { summary: "An old one" }); this.db.set("from", "deploy"); },
    activate() { this.$emit("newer"); this.db.set("from", this.db.get("from") + " and activate"); },
  },
  run() { this.$emit(this.db.get("from")); },
};
"#;
    let source = node.deploy(code, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), ["old", "newer"]);
    node.run(&source, json!({})).await;
    assert_eq!(
        payloads(&node.events(&source).await)[2],
        "deploy and activate"
    );
}

#[tokio::test]
async fn the_endpoint_answers_before_the_hooks_run() {
    let node = Node::builder().private_network().start().await;
    let code = r#"
export default {
  name: "Verified",
  version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  hooks: {
    async activate() {
      const response = await fetch(`${this.http.endpoint}/verify?challenge=42`);
      this.db.set("answer", await response.text());
    },
  },
  run({ path, query }) {
    if (path === "/verify") return this.http.respond({ status: 200, body: query.challenge });
    this.$emit(this.db.get("answer"));
  },
};
"#;
    let source = node.deploy(code, json!({})).await;
    node.run(&source, json!({"path": "/"})).await;
    assert_eq!(payloads(&node.events(&source).await), ["42"]);
}

#[tokio::test]
async fn an_app_prop_needs_an_account_of_that_app() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "With account",
  version: "0.0.1",
  props: { shop: { type: "app", app: "shop" } },
  run() { this.$emit(this.shop.$auth); },
};
"#;
    let shop = node
        .account("shop", json!({"api_key": "k", "port": 5}))
        .await;
    let other = node.account("other", json!({"api_key": "k"})).await;
    for props in [
        json!({}),
        json!({"shop": "text"}),
        json!({"shop": {"authProvisionId": "nonsense"}}),
        json!({"shop": {"authProvisionId": other}}),
        json!({"shop": {"authProvisionId": unknown("apn_")}}),
    ] {
        let answer = node.try_deploy(code, props.clone()).await;
        assert_eq!(answer.status, 422, "{props}: {}", answer.text);
        assert_eq!(answer.error()["param"], "configured_props.shop", "{props}");
    }
    let source = node
        .deploy(code, json!({"shop": {"authProvisionId": shop}}))
        .await;
    assert_eq!(
        source.record["configured_props"]["shop"],
        json!({"authProvisionId": shop})
    );
    node.run(&source, json!({})).await;
    let auth = &node.events(&source).await[0]["event"];
    assert_eq!((&auth["api_key"], &auth["port"]), (&json!("k"), &json!(5)));
}

#[tokio::test]
async fn a_source_may_live_in_ones_workspace_but_in_none_that_is_not_there() {
    let node = Node::start().await;
    let user = node.get("/users/me").await.is(200).data();
    let workspace = &user["orgs"][0]["id"];
    let body = json!({"component_code": EMITTER, "org_id": workspace});
    let source = Source::new(node.post("/sources", body).await.is(200).data());
    let path = format!("/orgs/{}/sources", workspace.as_str().unwrap());
    assert_eq!(
        node.get(&path).await.is(200).items()[0]["id"],
        json!(source.id)
    );
    let body = json!({"component_code": EMITTER, "workspace_id": unknown("o_")});
    assert_eq!(
        node.post("/sources", body).await.is(404).error()["code"],
        "not_found"
    );
}

#[tokio::test]
async fn a_deployment_of_nothing_names_what_can_be_deployed() {
    let node = Node::start().await;
    let error = node.post("/sources", json!({})).await.is(400).error();
    assert_eq!(error["param"], "component_id");
    let message = error["message"].as_str().unwrap();
    for way in ["component_id", "component_code", "component_url"] {
        assert!(message.contains(way), "{message}");
    }
}
