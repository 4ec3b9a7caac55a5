//! `GET /users/me/sources/`.

use headwater_integration::Node;
use serde_json::{Value, json};

use crate::code::EMITTER;

async fn deployed(node: &Node, names: &[&str]) {
    let saved = node.save(EMITTER).await;
    for name in names {
        let body = json!({"component_id": saved["id"], "name": name});
        node.post("/sources", body).await.is(200);
    }
}

fn names(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|source| source["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn sources_are_listed_in_the_order_of_their_creation() {
    let node = Node::start().await;
    let empty = node.get("/users/me/sources").await.is(200).json();
    assert_eq!(
        (&empty["data"], &empty["page_info"]["total_count"]),
        (&json!([]), &json!(0))
    );
    deployed(&node, &["a", "b", "c"]).await;
    let page = node.get("/users/me/sources/").await.is(200);
    assert_eq!(names(&page.items()), ["a", "b", "c"]);
    assert_eq!(page.json()["page_info"]["count"], 3);
}

#[tokio::test]
async fn a_list_is_reduced_by_name_and_state() {
    let node = Node::start().await;
    deployed(&node, &["Shop orders", "shop ÄPFEL", "mail"]).await;
    let all = node.get("/users/me/sources").await.is(200).items();
    let pause = format!("/sources/{}", all[2]["id"].as_str().unwrap());
    let paused = node.patch(&pause, json!({"active": false})).await;
    paused.is(200);
    let code =
        "export default { name: 'Broken', version: '0.0.1', run() { throw new Error('no') } }";
    let failing = json!({"component_code": code, "name": "broken shop"});
    let failing = node.post("/sources", failing).await.is(200).data();
    let run = format!("/sources/{}/run", failing["id"].as_str().unwrap());
    node.post(&run, json!({})).await.is(200);
    for (query, expected) in [
        ("q=SHOP", &["Shop orders", "shop ÄPFEL", "broken shop"][..]),
        ("q=%C3%A4pfel%20shop", &["shop ÄPFEL"]),
        ("state=paused", &["mail"]),
        ("state=active&q=m", &[]),
        ("state=failing", &["broken shop"]),
    ] {
        let page = node
            .get(&format!("/users/me/sources?{query}"))
            .await
            .is(200);
        assert_eq!(names(&page.items()), expected, "{query}");
        assert_eq!(page.json()["page_info"]["total_count"], expected.len());
    }
    let wrong = node.get("/users/me/sources?state=gone").await.is(400);
    assert!(wrong.text.contains("state"), "{}", wrong.text);
}

#[tokio::test]
async fn an_item_is_the_source_as_it_is_shown_by_itself() {
    let node = Node::start().await;
    let source = node.deploy(crate::code::INBOX, json!({})).await;
    assert_eq!(
        node.get("/users/me/sources").await.is(200).items(),
        [source.record]
    );
}

#[tokio::test]
async fn pages_lead_back_and_forth() {
    let node = Node::start().await;
    deployed(&node, &["a", "b", "c", "d", "e"]).await;
    let page = async |query: String| {
        node.get(&format!("/users/me/sources?limit=2{query}"))
            .await
            .is(200)
    };
    let cursor = |page: &Value, name: &str| page["page_info"][name].as_str().unwrap().to_owned();
    let first = page(String::new()).await;
    let second = page(format!("&after={}", cursor(&first.json(), "end_cursor"))).await;
    let third = page(format!("&after={}", cursor(&second.json(), "end_cursor"))).await;
    assert_eq!(names(&first.items()), ["a", "b"]);
    assert_eq!(names(&second.items()), ["c", "d"]);
    assert_eq!(names(&third.items()), ["e"]);
    assert_eq!(
        third.json()["page_info"],
        json!({
            "total_count": 5, "count": 1,
            "start_cursor": cursor(&third.json(), "end_cursor"), "end_cursor": cursor(&third.json(), "end_cursor"),
        })
    );
    let back = page(format!("&before={}", cursor(&third.json(), "start_cursor"))).await;
    assert_eq!(names(&back.items()), ["c", "d"]);
    let bare = first.items()[1]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        names(&page(format!("&after={bare}")).await.items()),
        ["c", "d"]
    );
}

#[tokio::test]
async fn a_wrong_page_is_told_and_not_guessed() {
    let node = Node::start().await;
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("after=!", "after"),
        ("before=1-0", "before"),
    ] {
        let error = node
            .get(&format!("/users/me/sources?{query}"))
            .await
            .is(400)
            .error();
        assert_eq!(error["param"], param, "{query}");
    }
}

#[tokio::test]
async fn each_source_of_a_page_is_listed_with_its_own_health() {
    let node = Node::start().await;
    deployed(&node, &["quiet", "busy"]).await;
    let path = "/users/me/sources?expand=health";
    let fresh = node.get(path).await.is(200).items();
    assert_eq!(fresh[0]["health"]["last_run"], json!(null));
    let busy = fresh[1]["id"].as_str().unwrap();
    let run = json!({"event": {"n": 1}});
    let report = node.post(&format!("/sources/{busy}/run"), run).await;
    let id = report.is(200).data()["invocation_id"].clone();
    let items = node.get(path).await.is(200).items();
    assert_eq!(items[0]["health"], fresh[0]["health"]);
    assert_eq!(items[1]["health"]["last_run"]["id"], id);
    assert_eq!(items[1]["health"]["last_24_hours"]["runs"], 1);
    let plain = node.get("/users/me/sources").await.is(200).items();
    assert!(plain.iter().all(|source| source.get("health").is_none()));
}
