//! The search: ids of every kind lead to their things, names to theirs, and nobody finds what is another's.

use headwater_integration::{Client, Method, Node, Source};
use serde_json::{Value, json};

use super::visitor::Visitor;
use crate::workflows::{Folder, HTTP};

const ORDERS: &str = "export default { name: 'Orders', version: '0.0.1', props: { http: '$.interface.http' }, \
    run(event) { this.$emit(event.body, { summary: `Order ${event.body.order}` }); \
      if (event.body.fails) throw new Error('no'); } }";
const REQUEST: &str = "5f0c31d2a7e84b6f9d10c2ab47e6f3d8";
/// An id as only a caller gives it: nobody is led by it at once.
const CHOSEN: &str = "request-7.of/today";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

fn query(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Sends an order under the id of a request and as a part of a trace, and waits for the end of its run.
async fn order(node: &Node, source: &Source, request: &str, body: Value) -> String {
    let sent = node
        .with_key(None)
        .request(Method::POST, source.endpoint())
        .header("x-request-id", request)
        .header("traceparent", PARENT)
        .json(&body);
    node.send(sent).await.is(200);
    let path = format!("/runs?source_id={}&origin={}", source.id, query(request));
    let ended = |all: &[Value]| all.iter().any(|run| run["ended_at_ms"].is_u64());
    let runs = node.list_until(&path, ended).await;
    id(&runs[0]).to_owned()
}

/// The place that a search leads to at once.
async fn led_to(visitor: &Visitor, words: &str) -> String {
    let path = format!("/search?q={}", query(words));
    let answer = visitor.get(&path).await.is(303);
    answer.header("location").to_owned()
}

/// The addresses that the palette finds.
async fn found(visitor: &Visitor, words: &str) -> Vec<String> {
    let path = format!("/search/names?q={}", query(words));
    let found = visitor.get(&path).await.is(200).json();
    let found = found["found"].as_array().unwrap().iter();
    found
        .map(|one| one["address"].as_str().unwrap().to_owned())
        .collect()
}

async fn deployment_of_workflow(node: &Client) -> (String, String) {
    let workflow = Folder::new(HTTP, &[("first", "return 1;")]);
    let workflow = workflow.deployed(node).await;
    let deployments = format!("{}/deployments", workflow.path());
    let deployments = node.get(&deployments).await.is(200).items();
    (workflow.path(), id(&deployments[0]).to_owned())
}

#[tokio::test]
async fn ids_of_every_kind_lead_to_their_things_for_their_owner_alone() {
    let node = Node::start().await;
    let source = node.deploy(ORDERS, json!({})).await;
    let run = order(&node, &source, REQUEST, json!({"order": 7})).await;
    let event = node.events(&source).await.remove(0);
    let deployment = source.record["deployment_id"].as_str().unwrap();
    let (workflow, of_workflow) = deployment_of_workflow(&node).await;
    let key = node.post("/keys", json!({"name": "another"})).await;
    let key = key.is(200).data();
    let base = format!("/sources/{}", source.id);
    let visitor = Visitor::of(&node).await;
    let places = [
        (id(&event), format!("{base}/events/{}", id(&event))),
        (REQUEST, format!("/runs/{run}")),
        (TRACE, format!("/runs/{run}")),
        (PARENT, format!("/runs/{run}")),
        (deployment, format!("{base}/versions/{deployment}")),
        (
            of_workflow.as_str(),
            format!("{workflow}/deployments/{of_workflow}"),
        ),
        (id(&key), format!("/settings/keys?key={}", id(&key))),
        (run.as_str(), format!("/runs/{run}")),
        (source.id.as_str(), base.clone()),
    ];
    for (words, place) in &places {
        assert_eq!(led_to(&visitor, words).await, *place, "{words}");
        let addresses = found(&visitor, words).await;
        assert_eq!(addresses, std::slice::from_ref(place), "{words}");
        visitor.get(place).await.is(200);
    }
    order(&node, &source, CHOSEN, json!({"order": 8})).await;
    let page = visitor.get(&format!("/search?q={}", query(CHOSEN))).await;
    let page = page.is(200).text;
    assert!(page.contains("request or trace"), "{page}");
    let other = node.user("bob").await;
    let other = other.post("/keys", json!({"name": "browser"})).await;
    let other = other.is(200).data();
    let other = Visitor::with(&node, other["key"].as_str().unwrap()).await;
    for (words, place) in &places[..7] {
        let nothing = found(&other, words).await;
        assert!(nothing.is_empty(), "{words}: {nothing:?}");
        let page = other.get(&format!("/search?q={}", query(words))).await;
        let page = page.is(200).text;
        assert!(page.contains("Nothing of yours has this id"), "{page}");
        assert!(!page.contains(place.as_str()), "{page}");
    }
}

#[tokio::test]
async fn an_id_of_several_things_is_a_list_of_them() {
    let node = Node::start().await;
    let source = node.deploy(ORDERS, json!({})).await;
    order(&node, &source, "request-1", json!({"order": 1})).await;
    let failed = json!({"order": 2, "fails": true});
    order(&node, &source, "request-2", failed).await;
    let visitor = Visitor::of(&node).await;
    let list = format!("/runs?status=any&origin={TRACE}");
    assert_eq!(led_to(&visitor, TRACE).await, list);
    let page = visitor.get(&list).await.is(200).text;
    assert_eq!(page.matches("href=\"/runs/inv_").count(), 2, "{page}");
    assert!(page.contains(&format!("--origin {TRACE}")), "{page}");
    let none = format!("/runs?status=any&origin={}", "0".repeat(32));
    let none = visitor.get(&none).await.is(200).text;
    assert!(none.contains("No kept run is like this."), "{none}");
    let listed = node.cli(&["runs", "list", "--origin", "request-2"]).await;
    let listed = listed.ok().stdout;
    assert!(listed.contains("threw"), "{listed}");
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

#[tokio::test]
async fn accounts_and_data_stores_are_found_by_words_of_their_names() {
    let node = Node::start().await;
    let account = json!({"app": "shop", "name": "Books of the shop", "fields": {"api_key": "k"}});
    let account = node.post("/accounts", account).await.is(200).data();
    let record = json!({"value": 1});
    let store = "/data_stores/shop%20orders/record?key=k";
    node.put(store, record).await.is(200);
    let visitor = Visitor::of(&node).await;
    let account = format!("/accounts/{}", id(&account));
    let store = "/data/shop%20orders".to_owned();
    // One's own things come before what could be connected or deployed.
    let addresses = found(&visitor, "SHOP").await;
    assert_eq!(addresses[..2], [account.clone(), store.clone()]);
    assert_eq!(found(&visitor, "the books").await[0], account);
    assert_eq!(found(&visitor, "orders").await[0], store);
    assert!(found(&visitor, "nothing-like-it").await.is_empty());
    // An act in words, on what has such a name.
    let act = format!("{account}/reconnect");
    assert_eq!(found(&visitor, "reconnect books").await[0], act);
    // Pages, apps of the catalog, and components.
    assert_eq!(found(&visitor, "audit").await[0], "/settings/audit");
    let github = found(&visitor, "github").await;
    for place in ["/accounts/new?app=github", "/deploy?q="] {
        assert!(
            github.iter().any(|one| one.starts_with(place)),
            "{github:?}"
        );
    }
    let page = visitor.get("/search?q=orders").await.is(200).text;
    for part in [store.as_str(), "data store", "/deploy?q=orders"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
