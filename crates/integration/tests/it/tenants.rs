//! Two users of one node: what one has is not there for the other, unless a workspace shares it.

use headwater_integration::{Client, Method, Node, Source};
use serde_json::{Value, json};

use crate::code::EMITTER;

/// Everything that answers about a source, with what it needs to get as far as looking for it.
const OF_A_SOURCE: &[(&str, &str)] = &[
    ("GET", ""),
    ("PUT", ""),
    ("PATCH", ""),
    ("POST", "/run"),
    ("GET", "/logs"),
    ("GET", "/runs"),
    ("GET", "/event_summaries"),
    ("DELETE", "/events"),
    ("DELETE", ""),
];

async fn answers(client: &Client, source: &Source) -> Vec<u16> {
    let mut answers = Vec::new();
    for (method, rest) in OF_A_SOURCE {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = client.request(method, &format!("{}{rest}", source.path()));
        answers.push(client.send(request).await.status);
    }
    answers
}

#[tokio::test]
async fn what_a_user_has_is_not_there_for_another() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let mine = node.deploy(EMITTER, json!({})).await;
    let account = node.account("shop", json!({"k": "v"})).await;
    let component = node.save(EMITTER).await;
    let theirs = bob.post("/sources", json!({"component_code": EMITTER}));
    let theirs = Source::new(theirs.await.is(200).data());

    assert_eq!(answers(&bob, &mine).await, vec![404; OF_A_SOURCE.len()]);
    bob.delete(&format!("/accounts/{account}")).await.is(404);
    let component = component["id"].as_str().unwrap();
    bob.get(&format!("/components/{component}")).await.is(404);
    let body = json!({"component_id": component});
    bob.post("/sources", body).await.is(404);
    for (emitter, listener) in [(&mine, &theirs), (&theirs, &mine)] {
        let body = json!({"emitter_id": emitter.id, "listener_id": listener.id});
        bob.post("/subscriptions", body.clone()).await.is(404);
        node.post("/subscriptions", body).await.is(404);
    }
    for list in ["/accounts", "/users/me/subscriptions", "/workspaces"] {
        assert_eq!(
            bob.get(list).await.is(200).items(),
            [Value::Null; 0],
            "{list}"
        );
    }
    let listed = bob.get("/users/me/sources").await.is(200).items();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["id"], theirs.id);
    node.get(&mine.path()).await.is(200);
}

#[tokio::test]
async fn a_workspace_shares_what_lives_in_it_as_long_as_the_membership_lasts() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let workspace = workspace["id"].as_str().unwrap();
    let members = format!("/workspaces/{workspace}/members");
    let body = json!({"component_code": EMITTER, "workspace_id": workspace});
    let shared = Source::new(node.post("/sources", body).await.is(200).data());
    let private = node.deploy(EMITTER, json!({})).await;
    let bobs = node
        .post(&members, json!({"username": "bob"}))
        .await
        .is(200);
    let bobs = bobs.data()["id"].as_str().unwrap().to_owned();

    bob.get(&shared.path()).await.is(200);
    bob.get(&private.path()).await.is(404);
    let run = json!({"event": {"emits": [["hello", {}]]}});
    bob.post(&format!("{}/run", shared.path()), run)
        .await
        .is(200);
    let events = bob.get(&format!("{}/event_summaries", shared.path())).await;
    assert_eq!(events.is(200).items()[0]["event"], "hello");
    for list in ["workspace_id", "org_id"] {
        let list = format!("/users/me/sources?{list}={workspace}");
        let listed = bob.get(&list).await.is(200).items();
        assert_eq!(listed[0]["id"], shared.id);
    }

    // A source that the member created there stays there.
    let body = json!({"component_code": EMITTER, "org_id": workspace});
    let made = Source::new(bob.post("/sources", body).await.is(200).data());
    node.delete(&format!("{members}/{bobs}")).await.is(204);
    for source in [&shared, &made] {
        assert_eq!(answers(&bob, source).await, vec![404; OF_A_SOURCE.len()]);
        node.get(&source.path()).await.is(200);
    }
    let list = format!("/users/me/sources?workspace_id={workspace}");
    bob.get(&list).await.is(403);
    let listed = bob.get("/users/me/sources").await.is(200).items();
    assert_eq!(listed, [Value::Null; 0]);
}

#[tokio::test]
async fn either_name_selects_the_workspace_in_query_or_body() {
    let node = Node::start().await;
    let bob = node.user("bob").await;
    let made = bob.post("/workspaces", json!({"orgname": "bobs"})).await;
    let made = made.is(200).data();
    let theirs = made["id"].as_str().unwrap();
    let account = json!({"app": "shop", "fields": {"k": "v"}});
    let source = json!({"component_code": EMITTER});
    let component = json!({"component_code": EMITTER});
    for name in ["workspace_id", "org_id"] {
        for (path, body) in [
            ("/accounts", &account),
            ("/sources", &source),
            ("/components", &component),
        ] {
            let query = format!("{path}?{name}={theirs}");
            let mut with_field = body.clone();
            with_field[name] = json!(theirs);
            node.post(&query, body.clone()).await.is(403);
            node.post(path, with_field.clone()).await.is(403);
            bob.post(&query, body.clone()).await.is(200);
            bob.post(path, with_field).await.is(200);
        }
        node.get(&format!("/accounts?{name}={theirs}"))
            .await
            .is(403);
        let listed = bob.get(&format!("/accounts?{name}={theirs}")).await;
        assert!(!listed.is(200).items().is_empty());
    }
    let sources = bob.get(&format!("/orgs/{theirs}/sources")).await.is(200);
    assert_eq!(sources.items().len(), 4);
}
