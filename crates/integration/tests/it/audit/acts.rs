//! Every act, done once over HTTP, and the records that they leave.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use headwater_integration::{Client, Method, Node, Receiver, Reply};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::{OF_CLUSTERS, expected};
use crate::{
    code::EMITTER,
    ui::visitor::{Visitor, sign_in, with_fields},
    workflows::{Folder, HTTP, until, waiting},
};

const ACTION: &str = "export default { key: 'audited', name: 'Audited', version: '0.0.1', type: 'action', run() { return 1; } };";

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

/// All records, newest first.
pub(crate) async fn records(client: &Client, query: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut after = String::new();
    loop {
        let path = format!("/audit?limit=100{query}{after}");
        let page = client.get(&path).await.is(200);
        let cursor = page.json()["page_info"]["end_cursor"].clone();
        let items = page.items();
        let is_last = items.len() < 100;
        all.extend(items);
        match cursor.as_str() {
            Some(cursor) if !is_last => after = format!("&after={cursor}"),
            _ => return all,
        }
    }
}

async fn of_sources(node: &Node) {
    let source = node.deploy(EMITTER, json!({})).await;
    let path = source.path();
    node.run(&source, json!({"emits": [["tea", {}]]})).await;
    let changed = json!({"component_code": EMITTER.replace("0.0.1", "0.0.2"), "name": "Other"});
    node.patch(&path, changed).await.is(200);
    let former = json!({"deployment_id": source.record["deployment_id"]});
    node.post(&format!("{path}/roll_back"), former)
        .await
        .is(200);
    for active in [false, true] {
        node.patch(&path, json!({"active": active})).await.is(200);
    }
    let event = json!({"emitter_id": source.id, "event_id": node.events(&source).await[0]["id"]});
    node.post("/events/replay", json!({"events": [event.clone()]}))
        .await
        .is(200);
    let mut once = event;
    once["url"] = json!("http://127.0.0.1:9/");
    node.post("/events/send", once).await.is(200);
    node.delete(&format!("{path}/events")).await.is(202);
    node.delete(&path).await.is(204);
    node.put("/event_views/mine", json!({"q": "tea"}))
        .await
        .is(200);
    node.delete("/event_views/mine").await.is(204);
    let code = json!({ "component_code": ACTION });
    let saved = node.post("/components", code.clone()).await.is(200).data();
    let run = format!("/components/{}/run", id(&saved));
    node.post(&run, json!({})).await.is(200);
    node.post("/components/registry", code).await.is(200);
    let unused = node.save(&ACTION.replace("0.0.1", "0.0.2")).await;
    node.delete(&format!("/components/{}", id(&unused)))
        .await
        .is(204);
}

async fn of_workflows(node: &Node) {
    let steps = [("ask", "$.flow.suspend();")];
    let workflow = Folder::new(HTTP, &steps).deployed(node).await;
    let state = workflow.record["state_file"].as_str().unwrap();
    let again = Folder::new(HTTP, &steps).with(".workflow.state", state);
    again.deployed(node).await;
    let former = json!({"deployment_id": workflow.record["deployment_id"]});
    node.post(&format!("{}/roll_back", workflow.path()), former)
        .await
        .is(200);
    let run = workflow.start(node, json!({})).await;
    waiting(node, &run).await;
    node.post(&format!("{run}/resume"), json!({})).await.is(200);
    until(node, &run, "succeeded").await;
    let replayed = node.post(&format!("{run}/replay"), json!({})).await;
    let replayed = format!("/runs/{}", replayed.is(200).data()["id"].as_str().unwrap());
    waiting(node, &replayed).await;
    node.post(&format!("{replayed}/cancel"), json!({}))
        .await
        .is(204);
    for active in [false, true] {
        node.patch(&workflow.path(), json!({"active": active}))
            .await
            .is(200);
    }
    node.delete(&workflow.path()).await.is(204);
    node.put("/variables/TOKEN", json!({"value": "hidden-value"}))
        .await
        .is(200);
    node.delete("/variables/TOKEN").await.is(204);
}

async fn of_webhooks(node: &Node) {
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::status(503));
    let source = node.deploy(EMITTER, json!({})).await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    node.run(&source, json!({"emits": [["tea", {}]]})).await;
    let deliveries = node.deliveries_until(&webhook, |all| all.len() == 1).await;
    let delivery = format!("/deliveries/{}", id(&deliveries[0]));
    node.post(&format!("{delivery}/retry"), json!({}))
        .await
        .is(200);
    node.post(&format!("{delivery}/discard"), json!({}))
        .await
        .is(200);
    let path = format!("/webhooks/{webhook}");
    let url = format!("{}/hidden-path", receiver.url());
    node.patch(&path, json!({ "url": url })).await.is(200);
    node.post(&format!("{path}/replay"), json!({"since": 0}))
        .await
        .is(200);
    node.post(&format!("{path}/test"), json!({})).await.is(200);
    node.post(&format!("{path}/rotate_secret"), json!({}))
        .await
        .is(200);
    let listens = format!("?emitter_id={}&listener_id={webhook}", source.id);
    node.delete(&format!("/subscriptions{listens}"))
        .await
        .is(204);
    node.delete(&path).await.is(204);
    node.delete(&source.path()).await.is(204);
}

async fn of_accounts(node: &Node) {
    let account = node
        .account("shop", json!({"api_key": "hidden-value"}))
        .await;
    let path = format!("/accounts/{account}");
    node.patch(&path, json!({"name": "other"})).await.is(200);
    node.post(&format!("{path}/check"), json!({})).await.is(200);
    node.delete(&path).await.is(200);
    let connect = json!({"app": "postgresql", "fields": {
        "host": "db", "port": "5432", "user": "me", "password": "hidden-value", "database": "shop",
    }});
    let link = node.post("/accounts/connect", connect).await.is(200).data();
    let connected = connected(node, &link).await;
    let again = format!("/accounts/{connected}/connect");
    let link = node.post(&again, json!({})).await.is(200).data();
    self::connected(node, &link).await;
}

/// The account of a link whose form somebody has sent.
async fn connected(node: &Node, link: &Value) -> String {
    let browser = node.with_key(None);
    let request = browser.request(Method::POST, link["url"].as_str().unwrap());
    let fields = [
        ("host", "db"),
        ("port", "5432"),
        ("user", "me"),
        ("password", "hidden-value"),
        ("database", "shop"),
    ];
    let request = with_fields(request, &fields);
    browser
        .send(request.header("user-agent", "form"))
        .await
        .is(200);
    let path = format!("/accounts/connect/{}", id(link));
    let status = node.get(&path).await.is(200).data();
    status["account_id"].as_str().unwrap().to_owned()
}

async fn of_people(node: &Node) {
    let record = "/data_stores/cache/record?key=k";
    node.put(record, json!({"value": "hidden-value"}))
        .await
        .is(200);
    node.delete(record).await.is(204);
    node.delete("/data_stores/cache").await.is(204);
    let key = node
        .post("/keys", json!({"name": "laptop"}))
        .await
        .is(200)
        .data();
    node.delete(&format!("/keys/{}", id(&key))).await.is(204);
    let ada = json!({"username": "ada", "email": "ada@example.com"});
    let ada = node.post("/users", ada).await.is(200).data();
    let team = node
        .post("/workspaces", json!({"orgname": "team"}))
        .await
        .is(200)
        .data();
    let members = format!("/workspaces/{}/members", id(&team));
    node.post(&members, json!({"username": "ada"}))
        .await
        .is(200);
    node.delete(&format!("{members}/{}", id(&ada)))
        .await
        .is(204);
    node.delete(&format!("/users/{}", id(&ada))).await.is(204);
    node.post("/sign_in_links", json!({})).await.is(200);
    node.post("/secret_key/rotate", json!({})).await.is(200);
    let visitor = Visitor::of(node).await;
    Visitor::of(node).await;
    visitor.post("/signout", &[]).await.is(303);
    let session = node.get("/sessions").await.is(200).items().remove(0);
    node.delete(&format!("/sessions/{}", id(&session)))
        .await
        .is(204);
    sign_in(&node.with_key(None), "hidden-value", "/")
        .await
        .is(401);
}

#[tokio::test]
async fn every_act_leaves_a_record_without_secrets() {
    let node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    of_sources(&node).await;
    of_workflows(&node).await;
    of_webhooks(&node).await;
    of_accounts(&node).await;
    of_people(&node).await;
    let records = records(&node, "").await;
    let seen: BTreeSet<_> = records
        .iter()
        .map(|one| one["action"].as_str().unwrap())
        .collect();
    let missing: Vec<_> = expected()
        .into_iter()
        .filter(|name| !seen.contains(name) && !OF_CLUSTERS.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?} left no record");
    let text = Value::from(records.clone()).to_string();
    for secret in ["hidden-value", "hidden-path", node.api_key()] {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    let find = |action: &str| records.iter().find(|one| one["action"] == action).unwrap();
    let (update, sign_in) = (find("source.update"), find("session.sign_in"));
    assert_eq!(update["details"]["fields"], json!(["component", "name"]));
    assert_eq!(update["target"]["name"], "Other");
    assert_eq!(update["address"], "127.0.0.1");
    let (actor, browser) = (&update["actor"], &sign_in["actor"]);
    assert_eq!(
        (&actor["via"], &actor["key_name"]),
        (&json!("key"), &json!("first"))
    );
    assert_eq!(
        (&browser["via"], &browser["session_id"]),
        (&json!("session"), &sign_in["target"]["id"])
    );
    let connected = find("account.connect");
    assert_eq!(
        (&connected["actor"]["via"], &connected["user_agent"]),
        (&json!("link"), &json!("form"))
    );
    assert_eq!(connected["actor"]["username"], actor["username"]);
    let refused = find("session.refuse");
    assert_eq!(
        (&refused["actor"]["via"], &refused["actor"]["user_id"]),
        (&json!("nobody"), &Value::Null)
    );
    assert_eq!(
        records.last().unwrap()["actor"]["via"],
        "node",
        "the first user"
    );
}

#[tokio::test]
async fn records_are_in_the_name_of_the_time_and_outlast_a_restart() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.patch(&source.path(), json!({"name": "Second"}))
        .await
        .is(200);
    node.delete(&source.path()).await.is(204);
    node.kill_9();
    node.restart().await;
    let found = records(&node, &format!("&target_id={}", source.id)).await;
    let told: Vec<_> = found
        .iter()
        .map(|one| {
            (
                one["action"].as_str().unwrap(),
                one["target"]["name"].as_str().unwrap(),
            )
        })
        .collect();
    let first = source.record["name"].as_str().unwrap();
    assert_eq!(
        told,
        [
            ("source.delete", "Second"),
            ("source.update", "Second"),
            ("source.deploy", first)
        ]
    );
}

#[tokio::test]
async fn nothing_is_kept_where_it_is_not_wanted() {
    let node = Node::builder()
        .flag("--retained-audit-days=0")
        .start()
        .await;
    node.deploy(EMITTER, json!({})).await;
    assert_eq!(records(&node, "").await, Vec::<Value>::new());
    let page = Visitor::of(&node)
        .await
        .get("/settings/audit")
        .await
        .is(200);
    assert!(
        page.text.contains("keeps no audit records"),
        "{}",
        page.text
    );
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_its_record() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let [came, gone] = [Arc::new(Notify::new()), Arc::new(Notify::new())];
    let (comes, waits) = (Arc::clone(&came), Arc::clone(&gone));
    receiver.answer_later(move |_| {
        let waits = Arc::clone(&waits);
        comes.notify_one();
        async move {
            waits.notified().await;
            Reply::status(200)
        }
    });
    let webhook = node.webhook(&receiver.url()).await;
    let path = format!("/webhooks/{}/test", id(&webhook));
    let request = node.request(Method::POST, &path).json(&json!({}));
    let sending = tokio::spawn(request.send());
    came.notified().await;
    sending.abort();
    assert!(sending.await.unwrap_err().is_cancelled());
    gone.notify_one();
    let recorded = async {
        while records(&node, "&action=webhook.test").await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let recorded = tokio::time::timeout(Duration::from_secs(90), recorded).await;
    recorded.expect("the act is recorded");
}
