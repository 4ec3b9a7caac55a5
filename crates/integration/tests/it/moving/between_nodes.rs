//! From one node to another.

use headwater_integration::{Node, Receiver, Source, payloads};
use serde_json::{Value, json};

use super::{counts, import, left, sources, thing};
use crate::code::{EMITTER, INBOX};

const TICKER: &str = r#"
export default {
  name: "Ticker",
  version: "0.0.1",
  props: { timer: "$.interface.timer", label: "string", lists: { type: "string[]", optional: true } },
  run() {
    this.$emit({ label: this.label, lists: this.lists });
  },
};
"#;

const SECRETIVE: &str = r#"
export default {
  name: "Secretive",
  version: "0.0.1",
  props: { shop: { type: "app", app: "shop" }, password: { type: "string", secret: true } },
  run() {
    this.$emit({ password: this.password, key: this.shop.$auth.api_key });
  },
};
"#;

async fn into(here: &Node, there: &Node, more: &[&str]) -> headwater_integration::Seen {
    import(here, &there.url(), there.api_key(), more).await
}

#[tokio::test]
async fn sources_come_over_with_their_values_states_webhooks_and_subscriptions() {
    let receiver = Receiver::start().await;
    let there = Node::builder().private_network().start().await;
    let here = Node::builder().private_network().start().await;
    let inbox = there.deploy(INBOX, json!({})).await;
    let named = EMITTER.replace("version:", "key: \"test-emitter\", version:");
    there.save(&named).await;
    let ticker = json!({"timer": {"cron": "0 0 1 1 *"}, "label": "yearly", "lists": ["a", "b"]});
    let ticker = there.deploy(TICKER, ticker).await;
    there
        .patch(&ticker.path(), json!({"active": false, "name": "Yearly"}))
        .await
        .is(200);
    let webhook = there.webhook_for(&inbox.id, &receiver.url()).await;
    there.subscribe("dc_*", &ticker.id, "$errors").await;
    let off = there.webhook(&format!("{}/off", receiver.url())).await;
    let off = format!("/webhooks/{}", off["id"].as_str().unwrap());
    there
        .patch(&off, json!({"active": false, "name": "Off"}))
        .await
        .is(200);

    let report = into(&here, &there, &[]).await.ok().json();
    assert_eq!(counts(&report, "source"), [2, 0, 0], "{report:#}");
    assert_eq!(counts(&report, "webhook"), [2, 0, 0], "{report:#}");
    assert_eq!(counts(&report, "subscription"), [2, 0, 0], "{report:#}");

    let key = here.get("/components/test-emitter").await.is(200).data();
    assert_eq!(key["code"], named);

    let copied = sources(&here).await;
    let yearly = copied.iter().find(|one| one["name"] == "Yearly").unwrap();
    assert_eq!(yearly["active"], false);
    let there_yearly = there.get(&ticker.path()).await.is(200).data();
    assert_eq!(yearly["configured_props"], there_yearly["configured_props"]);
    let copy = copied.iter().find(|one| one["name"] == "inbox").unwrap();
    let copy = Source::new(copy.clone());
    assert_eq!(copy.record["active"], true);
    assert_ne!(copy.endpoint(), inbox.endpoint());
    let [(kind, text)] = left(thing(&report, "source", "inbox"))[..] else {
        panic!("{report:#}");
    };
    assert_eq!(kind, "tell");
    assert!(
        text.contains(inbox.endpoint()) && text.contains(copy.endpoint()),
        "{text}"
    );

    let webhooks = here.get("/users/me/webhooks").await.is(200).items();
    let state =
        |url: &str| webhooks.iter().find(|one| one["url"] == url).unwrap()["active"].clone();
    assert_eq!(state(&format!("{}/off", receiver.url())), false);
    receiver.clear();
    here.get(copy.endpoint()).await.is(200);
    receiver.until(|received| received.len() == 1).await;
    assert_ne!(webhook, webhooks[0]["id"], "the copy has an id of its own");
}

#[tokio::test]
async fn running_it_again_keeps_all_that_came_over() {
    let there = Node::start().await;
    let here = Node::start().await;
    for name in ["Same", "Same", "Other"] {
        let source = there.deploy(EMITTER, json!({})).await;
        there
            .patch(&source.path(), json!({"name": name}))
            .await
            .is(200);
    }
    into(&here, &there, &[]).await.ok();
    let first = sources(&here).await;
    assert_eq!(first.len(), 3);
    // What changes here stays changed.
    let changed = Source::new(first[2].clone());
    here.patch(&changed.path(), json!({"name": "Renamed", "active": false}))
        .await
        .is(200);
    let report = into(&here, &there, &[]).await.ok().json();
    assert_eq!(counts(&report, "source"), [0, 3, 0], "{report:#}");

    // What was deleted comes over once more, and what is new comes over too.
    here.delete(&changed.path()).await.is(204);
    there.deploy(INBOX, json!({})).await;
    let report = into(&here, &there, &[]).await.ok().json();
    assert_eq!(counts(&report, "source"), [2, 2, 0], "{report:#}");

    // Nothing comes over twice if nothing is remembered.
    std::fs::remove_dir_all(here.data_dir().join("imports")).unwrap();
    let report = into(&here, &there, &[]).await.ok().json();
    assert_eq!(counts(&report, "source"), [0, 4, 0], "{report:#}");
    assert_eq!(sources(&here).await.len(), 4);
}

#[tokio::test]
async fn a_source_waits_until_its_secrets_and_accounts_are_here() {
    let there = Node::start().await;
    let here = Node::start().await;
    let account = there.account("shop", json!({"api_key": "sesame"})).await;
    let props = json!({"shop": {"authProvisionId": account}, "password": "swordfish"});
    there.deploy(SECRETIVE, props).await;

    let seen = into(&here, &there, &[]).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    assert_eq!(sources(&here).await, [Value::Null; 0]);
    let report = seen.json();
    let source = thing(&report, "source", "secretive");
    assert_eq!(source["state"], "missing");
    let kinds: Vec<_> = left(source).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["account", "value"], "{report:#}");
    assert!(
        left(source)[1]
            .1
            .contains("--prop secretive.password=VALUE"),
        "{report:#}"
    );
    assert!(!seen.stdout.contains("swordfish") && !seen.stdout.contains("sesame"));

    here.account("shop", json!({"api_key": "open"})).await;
    let report = into(&here, &there, &["--prop", "secretive.password=herring"])
        .await
        .ok()
        .json();
    assert_eq!(counts(&report, "source"), [1, 0, 0], "{report:#}");
    let copy = Source::new(sources(&here).await[0].clone());
    here.run(&copy, json!({})).await;
    let emitted = payloads(&here.events(&copy).await);
    assert_eq!(emitted, [json!({"password": "herring", "key": "open"})]);
}

#[tokio::test]
async fn workflows_and_variables_are_named() {
    let there = Node::start().await;
    let here = Node::start().await;
    let folder = json!({"files": {
        "workflow.yaml": "name: Greeting\ntriggers:\n- type: http\nsteps:\n- namespace: greet\n",
        "greet/entry.js": "export default { run() { return 1 } }",
    }});
    let workflow = there
        .post("/workflows", folder.clone())
        .await
        .is(200)
        .data();
    let source = there.deploy(EMITTER, json!({})).await;
    there
        .subscribe(&source.id, workflow["id"].as_str().unwrap(), "")
        .await;
    there
        .put("/variables/TOKEN", json!({"value": "hush"}))
        .await;

    let seen = into(&here, &there, &[]).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    let report = seen.json();
    assert_eq!(
        left(thing(&report, "workflow", "Greeting"))[0].0,
        "elsewhere"
    );
    assert_eq!(left(thing(&report, "variable", "TOKEN"))[0].0, "value");
    assert_eq!(counts(&report, "subscription"), [0, 0, 1], "{report:#}");

    here.post("/workflows", folder).await.is(200);
    here.put("/variables/TOKEN", json!({"value": "hush"})).await;
    let report = into(&here, &there, &[]).await.ok().json();
    assert_eq!(counts(&report, "workflow"), [0, 1, 0], "{report:#}");
    assert_eq!(counts(&report, "subscription"), [1, 0, 0], "{report:#}");
}

#[tokio::test]
async fn the_report_is_for_people_too() {
    let there = Node::start().await;
    let here = Node::start().await;
    let account = there.account("shop", json!({"api_key": "sesame"})).await;
    let props = json!({"shop": {"authProvisionId": account}, "password": "swordfish"});
    let source = there.deploy(SECRETIVE, props).await;
    let from = there.url();
    let key = there.api_key().to_owned();
    let seen = here
        .cli(&["import", "--from", &from, "--from-key", &key])
        .await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    let named = format!("- source secretive ({}) is missing: ", source.id);
    assert!(
        seen.stdout
            .contains(&format!("Accounts to connect:\n{named}")),
        "{}",
        seen.stdout
    );
    assert!(
        seen.stdout.contains(&format!("Values to enter:\n{named}")),
        "{}",
        seen.stdout
    );

    let unknown = here
        .cli(&[
            "import",
            "--from",
            &from,
            "--from-key",
            &key,
            "--prop",
            "nobody.a=1",
        ])
        .await;
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("nobody"), "{}", unknown.stderr);
    let wrong = here
        .cli(&["import", "--from", &from, "--from-key", "hw_wrong"])
        .await;
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("--from-key"), "{}", wrong.stderr);
    let none = here.cli(&["import", "--from", &from]).await;
    assert_eq!(none.code, 2);
    assert!(
        none.stderr.contains("HEADWATER_IMPORT_KEY"),
        "{}",
        none.stderr
    );
    let own = here
        .cli(&["import", "--from", &here.url(), "--from-key", &key])
        .await;
    assert_eq!(own.code, 2, "{}", own.stderr);
}

#[tokio::test]
async fn a_workspace_comes_over_into_a_workspace() {
    let receiver = Receiver::start().await;
    let there = Node::builder().private_network().start().await;
    let here = Node::builder().private_network().start().await;
    let mut workspaces = Vec::new();
    for node in [&there, &here] {
        let team = json!({"name": "Team", "orgname": "team"});
        let team = node.post("/workspaces", team).await.is(200).data();
        workspaces.push(team["id"].as_str().unwrap().to_owned());
    }
    let of_team = |body: Value| {
        let mut body = body;
        body["workspace_id"] = workspaces[0].clone().into();
        body
    };
    let source = json!({"component_code": INBOX});
    there.post("/sources", of_team(source)).await.is(200);
    there.deploy(EMITTER, json!({})).await;
    let webhook = json!({"url": receiver.url()});
    let webhook = there
        .post("/webhooks", of_team(webhook))
        .await
        .is(200)
        .data();
    let everything = json!({"emitter_id": workspaces[0], "listener_id": webhook["id"]});
    there
        .post("/subscriptions", of_team(everything))
        .await
        .is(200);

    let more = ["--from-workspace", &workspaces[0], "--workspace", "team"];
    let report = into(&here, &there, &more).await.ok().json();
    assert_eq!(counts(&report, "source"), [1, 0, 0], "{report:#}");
    assert_eq!(counts(&report, "subscription"), [1, 0, 0], "{report:#}");
    let path = format!("/orgs/{}/sources", workspaces[1]);
    let copied = here.get(&path).await.is(200).items();
    assert_eq!(copied.len(), 1);
    assert_eq!(sources(&here).await, copied, "nothing else came over");
    here.get(Source::new(copied[0].clone()).endpoint())
        .await
        .is(200);
    receiver.until(|received| received.len() == 1).await;

    let report = into(&here, &there, &[]).await.ok().json();
    assert_eq!(counts(&report, "source"), [1, 0, 0], "{report:#}");
    assert_eq!(thing(&report, "source", "emitter")["state"], "imported");
}
