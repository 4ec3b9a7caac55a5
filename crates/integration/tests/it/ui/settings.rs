//! The pages of data stores and of the settings over HTTP.

use headwater_integration::Node;
use serde_json::json;

use super::visitor::Visitor;

#[tokio::test]
async fn records_are_written_shown_and_deleted() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let record = [
        ("key", "user:1"),
        ("value", "{\"a\": [\"<b>\"]}"),
        ("ttl", ""),
    ];
    let wrong = [("key", "user:1"), ("value", "{"), ("ttl", "")];
    visitor.post("/data/cache/record", &wrong).await.is(422);
    visitor.post("/data/cache/record", &record).await.is(303);
    // A change that is refused stays one of that record.
    let wrong = [wrong.as_slice(), &[("is_change", "true")]].concat();
    let refused = visitor.post("/data/cache/record", &wrong).await.is(422);
    assert!(
        refused.text.contains("<h1><bdi>user:1</bdi></h1>"),
        "{}",
        refused.text
    );
    assert!(refused.text.contains(" readonly"), "{}", refused.text);
    let other = [("key", "other"), ("value", "7"), ("ttl", "60")];
    visitor.post("/data/cache/record", &other).await.is(303);
    for (path, shown) in [
        ("/data", "cache"),
        ("/data/cache?prefix=user", "user:1"),
        ("/data/cache?prefix=none", "No key begins with that"),
        ("/data/cache/record?key=user%3A1", "&lt;b&gt;"),
        (
            "/data/cache/record/delete?key=user%3A1",
            "Delete the record",
        ),
        ("/data/cache/delete", "Type the name"),
    ] {
        let page = visitor.get(path).await.is(200);
        assert!(page.text.contains(shown), "{path}: {}", page.text);
        assert!(!page.text.contains("<b>\""), "{path}: {}", page.text);
    }
    let stored = node.get("/data_stores/cache/records").await.is(200).items();
    assert_eq!(stored[1]["value"], json!({"a": ["<b>"]}));
    let key = [("key", "user:1")];
    visitor
        .post("/data/cache/record/delete", &key)
        .await
        .is(303);
    visitor.get("/data/cache/record?key=user%3A1").await.is(404);
    visitor
        .post("/data/cache/delete", &[("name", "cach")])
        .await
        .is(422);
    visitor
        .post("/data/cache/delete", &[("name", "cache")])
        .await
        .is(303);
    visitor.get("/data/cache").await.is(404);
}

#[tokio::test]
async fn a_key_is_shown_once_and_revoked() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let only = visitor.get("/settings/keys").await.is(200);
    assert!(only.text.contains("your only key"), "{}", only.text);
    visitor
        .post("/settings/keys", &[("name", " ")])
        .await
        .is(422);
    let new = visitor
        .post("/settings/keys", &[("name", "laptop")])
        .await
        .is(200);
    let start = new.text.find("hw_").expect("the key is shown");
    let end = new.text[start..].find(['<', '"']).unwrap();
    let secret = new.text[start..start + end].to_owned();
    let theirs = Visitor::with(&node, &secret).await;
    let listed = visitor.get("/settings/keys").await.is(200);
    assert!(listed.text.contains("laptop") && !listed.text.contains(&secret));
    let keys = node.get("/keys").await.is(200).items();
    let id = keys[1]["id"].as_str().unwrap();
    let revoke = format!("/settings/keys/{id}/revoke");
    visitor.get(&revoke).await.is(200);
    visitor.post(&revoke, &[]).await.is(303);
    let gone = theirs.get("/settings").await.is(303);
    assert!(gone.header("location").starts_with("/signin"));
}

#[tokio::test]
async fn settings_are_shown_and_changed() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    for (tab, shown) in [
        ("profile", "administrator of this node"),
        ("sessions", "this browser"),
        ("members", "the last member stays"),
        ("variables", "no variables here yet"),
        ("usage", "midnight UTC"),
        ("users", "Create a user"),
        ("node", "Checks"),
    ] {
        let page = visitor.get(&format!("/settings/{tab}")).await.is(200);
        assert!(page.text.contains(shown), "{tab}: {}", page.text);
    }
    let node_page = visitor.get("/settings/node").await.is(200);
    assert!(node_page.text.contains("Deliveries pending"));
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let members = format!(
        "/settings/members?workspace={}",
        workspace["id"].as_str().unwrap()
    );
    let unknown = visitor.post(&members, &[("user", "nobody")]).await.is(422);
    assert!(unknown.text.contains("has no user"), "{}", unknown.text);
    assert!(
        unknown.text.contains("value=\"nobody\""),
        "{}",
        unknown.text
    );
    let bad = [("name", "1A"), ("value", "x")];
    visitor.post("/settings/variables", &bad).await.is(422);
    let good = [("name", "TOKEN"), ("value", "hunter2")];
    visitor.post("/settings/variables", &good).await.is(303);
    let page = visitor.get("/settings/variables").await.is(200);
    assert!(page.text.contains("TOKEN") && !page.text.contains("hunter2"));
    let name = [("name", "TOKEN")];
    visitor
        .post("/settings/variables/delete", &name)
        .await
        .is(303);
    visitor
        .post("/settings/variables/delete", &name)
        .await
        .is(404);
}

#[tokio::test]
async fn other_browsers_are_signed_out() {
    let node = Node::start().await;
    let other = Visitor::of(&node).await;
    let of_other = node.get("/sessions").await.is(200).items().remove(0);
    let visitor = Visitor::of(&node).await;
    let id = of_other["id"].as_str().unwrap();
    visitor
        .post(&format!("/settings/sessions/{id}/end"), &[])
        .await
        .is(303);
    other.get("/settings").await.is(303);
    visitor.get("/settings").await.is(200);
}

#[tokio::test]
async fn only_the_administrator_sees_users_and_the_node() {
    let node = Node::start().await;
    let admin = Visitor::of(&node).await;
    let fields = [("username", "ada"), ("email", "ada@example.com")];
    let new = admin.post("/settings/users", &fields).await.is(200);
    let start = new.text.find("hw_").expect("the key is shown");
    let end = new.text[start..].find(['<', '"']).unwrap();
    let user = Visitor::with(&node, &new.text[start..start + end]).await;
    admin.post("/settings/users", &fields).await.is(422);
    for path in ["/settings/users", "/settings/node"] {
        user.get(path).await.is(403);
        admin.get(path).await.is(200);
    }
    let profile = user.get("/settings").await.is(200);
    assert!(!profile.text.contains("/settings/node"), "{}", profile.text);
    user.post("/settings/users", &fields).await.is(403);
}

#[tokio::test]
async fn acts_are_listed_with_their_things_and_filtered_by_the_address() {
    let node = Node::start().await;
    let source = node.deploy(crate::code::EMITTER, json!({})).await;
    node.put("/variables/TOKEN", json!({"value": "v"}))
        .await
        .is(200);
    let visitor = Visitor::of(&node).await;
    let page = visitor.get("/settings/audit").await.is(200);
    for shown in [
        "source.deploy",
        "variable.set",
        "session.sign_in",
        "127.0.0.1",
        "key ",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let link = format!("href=\"/sources/{}\"", source.id);
    assert!(page.text.contains(&link), "{}", page.text);
    let history = format!("/settings/audit?target={}", source.id);
    let head = visitor.get(&source.path()).await.is(200);
    assert!(head.text.contains(&history), "{}", head.text);
    let page = visitor.get(&history).await.is(200);
    assert!(page.text.contains("1 record"), "{}", page.text);
    assert!(!page.text.contains("TOKEN"), "{}", page.text);
    let none = visitor
        .get("/settings/audit?actor=nobody-here")
        .await
        .is(200);
    assert!(none.text.contains("No act is like this"), "{}", none.text);
    let unread = visitor
        .get("/settings/audit?since=x&actor=ada")
        .await
        .is(422);
    assert!(unread.text.contains("is not a time"), "{}", unread.text);
    assert!(unread.text.contains("value=\"ada\""), "{}", unread.text);
    // Nothing of another user, whatever the address says.
    let bob = json!({"username": "bob", "email": "bob@example.com"});
    let bob = node.post("/users", bob).await.is(200).data();
    let bob = Visitor::with(&node, bob["api_key"].as_str().unwrap()).await;
    for path in ["/settings/audit", &history] {
        let page = bob.get(path).await.is(200);
        assert!(!page.text.contains(&link), "{path}: {}", page.text);
        assert!(!page.text.contains("TOKEN"), "{path}: {}", page.text);
    }
}

#[tokio::test]
async fn records_and_audit_records_are_files_of_lines() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    for at in 0..120 {
        let path = format!("/data_stores/cache/record?key=k{at:03}");
        let record = json!({"value": {"at": at, "price": 1.10}});
        node.put(&path, record).await.is(200);
    }
    let lines = |text: &str| -> Vec<serde_json::Value> {
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<_, _>>().unwrap()
    };
    let shown = visitor.get("/data/cache").await.is(200).text;
    assert!(shown.contains("/data/cache/export\""), "{shown}");
    let file = visitor.get("/data/cache/export").await.is(200);
    assert_eq!(file.header("content-type"), "application/x-ndjson");
    let name = file.header("content-disposition");
    assert_eq!(name, "attachment; filename=\"cache.ndjson\"");
    let records = lines(&file.text);
    assert_eq!(records.len(), 120);
    assert_eq!(records[119]["key"], "k119");
    assert_eq!(records[119]["value"]["at"], 119);
    let file = visitor.get("/data/cache/export?prefix=k11").await.is(200);
    assert_eq!(lines(&file.text).len(), 10);
    visitor.get("/data/nothing/export").await.is(404);

    let shown = visitor.get("/settings/audit").await.is(200).text;
    assert!(shown.contains("/settings/audit/export?"), "{shown}");
    let wanted = "/settings/audit/export?action=data_store.set";
    let written = lines(&visitor.get(wanted).await.is(200).text);
    assert_eq!(written.len(), 120, "all pages of the search");
    assert_eq!(written[0]["action"], "data_store.set");
    assert_eq!(written[0]["actor"]["via"], "key");
    let listed = node.get("/audit?action=data_store.set&limit=1").await;
    assert_eq!(written[0], listed.is(200).items()[0], "as the API has it");
    let wrong = "/settings/audit/export?since=nonsense";
    visitor.get(wrong).await.is(400);
}

#[tokio::test]
async fn accounts_are_listed_by_app_with_those_who_connected_them() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    for app in ["shop", "shop", "forge"] {
        node.account(app, json!({"api_key": "k"})).await;
    }
    let list = visitor.get("/accounts").await.is(200).text;
    assert_eq!(list.matches("scope=\"rowgroup\"").count(), 2, "{list}");
    assert!(
        list.contains("2 accounts") && list.contains("1 account<"),
        "{list}"
    );
    assert_eq!(
        list.matches("<td data-label=\"Connected by\">you</td>")
            .count(),
        3
    );
}
