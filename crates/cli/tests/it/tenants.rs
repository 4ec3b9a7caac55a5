//! The commands on users, workspaces and keys: what is sent and what is printed.

use serde_json::{Value, json};

use crate::node::Node;

fn user(id: &str, username: &str, is_admin: bool) -> Value {
    json!({
        "id": id, "username": username, "email": format!("{username}@example.com"),
        "is_admin": is_admin, "created_at": 1_767_225_600,
    })
}

fn workspace() -> Value {
    json!({
        "id": "o_1", "orgname": "team", "name": "The Team", "email": "team@example.com",
        "daily_credits_used": 7,
    })
}

#[tokio::test]
async fn a_new_users_key_is_the_only_thing_on_standard_output() {
    let node = Node::start().await;
    let mut made = user("u_2", "bob", false);
    made["api_key"] = json!("hw_secret");
    node.data("POST /v1/users", made.clone());
    let create = ["users", "create", "bob", "--email", "bob@example.com"];
    let seen = node.run(&create).await;
    assert_eq!((seen.code, seen.stdout.as_str()), (0, "hw_secret\n"));
    assert!(seen.stderr.contains("u_2"), "{}", seen.stderr);
    let sent = node.received("POST /v1/users").remove(0).body;
    assert_eq!(sent, json!({"username": "bob", "email": "bob@example.com"}));
    let seen = node.run(&[&create[..], &["--json"]].concat()).await;
    assert_eq!(seen.json(), made);
    let seen = node.run(&["users", "create", "bob"]).await;
    assert_eq!(seen.code, 2);
    assert!(
        seen.stderr
            .contains("headwater users create bob --email bob@example.com"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn users_are_listed_and_found_by_username() {
    let node = Node::start().await;
    let users = json!([user("u_1", "admin", true), user("u_2", "bob", false)]);
    node.list("GET /v1/users", users);
    let seen = node.run(&["users", "list"]).await;
    assert_eq!(
        seen.stdout,
        "ID    USERNAME   EMAIL               ROLE            CREATED\n\
         u_1   admin      admin@example.com   administrator   2026-01-01T00:00:00Z\n\
         u_2   bob        bob@example.com                     2026-01-01T00:00:00Z\n"
    );
    node.on("DELETE /v1/users/u_2", |_| (204, Value::Null));
    for called in ["bob", "u_2"] {
        let seen = node.run(&["users", "delete", called]).await;
        assert_eq!((seen.code, seen.stdout.as_str()), (0, "u_2\n"), "{called}");
    }
    let seen = node.run(&["users", "delete", "eve"]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr.contains("no user is called eve"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn workspaces_are_made_listed_and_described() {
    let node = Node::start().await;
    node.data("POST /v1/workspaces", workspace());
    node.list("GET /v1/workspaces", json!([workspace()]));
    node.data("GET /v1/workspaces/o_1", workspace());
    let create = ["workspaces", "create", "team", "--name", "The Team"];
    let seen = node.run(&create).await;
    let table = "ID    ORGNAME   NAME       USED TODAY\no_1   team      The Team   7\n";
    assert_eq!((seen.code, seen.stdout.as_str()), (0, table));
    let sent = node.received("POST /v1/workspaces").remove(0).body;
    assert_eq!(sent, json!({"orgname": "team", "name": "The Team"}));
    assert_eq!(node.run(&["workspaces", "list"]).await.stdout, table);
    let seen = node.run(&["workspaces", "describe", "team"]).await;
    assert!(
        seen.stdout.contains("CREDITS USED TODAY   7"),
        "{}",
        seen.stdout
    );
    let seen = node.run(&["workspaces", "describe", "o_1", "--json"]).await;
    assert_eq!(seen.json(), workspace());
}

#[tokio::test]
async fn members_are_added_and_removed_by_username_or_id() {
    let node = Node::start().await;
    node.list("GET /v1/workspaces", json!([workspace()]));
    let members = json!([user("u_1", "admin", true), user("u_2", "bob", false)]);
    node.list("GET /v1/workspaces/o_1/members", members.clone());
    node.data("POST /v1/workspaces/o_1/members", user("u_2", "bob", false));
    node.on("DELETE /v1/workspaces/o_1/members/u_2", |_| {
        (204, Value::Null)
    });
    let members_of =
        |verb: &'static str, user: &'static str| ["workspaces", "members", verb, "team", user];
    for user in ["bob", "u_2"] {
        assert_eq!(node.run(&members_of("add", user)).await.code, 0);
        let seen = node.run(&members_of("remove", user)).await;
        assert_eq!((seen.code, seen.stdout.as_str()), (0, "u_2\n"), "{user}");
    }
    let sent = node.received("POST /v1/workspaces/o_1/members");
    let sent: Vec<_> = sent.into_iter().map(|request| request.body).collect();
    assert_eq!(
        sent,
        [json!({"username": "bob"}), json!({"user_id": "u_2"})]
    );
    let list = ["workspaces", "members", "list", "team", "--json"];
    assert_eq!(node.run(&list).await.json(), members);
}

#[tokio::test]
async fn keys_are_made_listed_and_revoked() {
    let node = Node::start().await;
    let key = |id: &str, name: &str, last_used_at: Value| {
        json!({
            "id": id, "user_id": "u_1", "name": name,
            "created_at": 1_767_225_600, "last_used_at": last_used_at,
        })
    };
    let mut made = key("key_2", "laptop", Value::Null);
    made["key"] = json!("hw_secret");
    node.data("POST /v1/keys", made);
    let seen = node.run(&["keys", "create", "laptop"]).await;
    assert_eq!((seen.code, seen.stdout.as_str()), (0, "hw_secret\n"));
    let keys = json!([
        key("key_1", "first", json!(1_767_225_660)),
        key("key_2", "laptop", Value::Null),
    ]);
    node.list("GET /v1/keys", keys);
    let seen = node.run(&["keys", "list"]).await;
    assert_eq!(
        seen.stdout,
        "ID      NAME     CREATED                LAST USED\n\
         key_1   first    2026-01-01T00:00:00Z   2026-01-01T00:01:00Z\n\
         key_2   laptop   2026-01-01T00:00:00Z   never\n"
    );
    node.on("DELETE /v1/keys/key_2", |_| (204, Value::Null));
    for called in ["laptop", "key_2"] {
        let seen = node.run(&["keys", "revoke", called]).await;
        assert_eq!(
            (seen.code, seen.stdout.as_str()),
            (0, "key_2\n"),
            "{called}"
        );
    }
    let users = json!([user("u_2", "bob", false)]);
    node.list("GET /v1/users", users);
    let create = ["keys", "create", "laptop", "--user", "bob"];
    assert_eq!(node.run(&create).await.code, 0);
    let sent = node.received("POST /v1/keys").pop().unwrap().body;
    assert_eq!(sent, json!({"name": "laptop", "user_id": "u_2"}));
    let list = ["keys", "list", "--user", "bob"];
    assert_eq!(node.run(&list).await.code, 0);
    assert_eq!(
        node.received("GET /v1/keys").pop().unwrap().query["user_id"],
        "u_2"
    );
}

#[tokio::test]
async fn a_chosen_workspace_is_named_in_what_is_listed_and_made() {
    let node = Node::start().await;
    node.list("GET /v1/workspaces", json!([workspace()]));
    node.list("GET /v1/users/me/sources", json!([]));
    node.list("GET /v1/users/me/webhooks", json!([]));
    node.list("GET /v1/accounts", json!([]));
    node.data("GET /v1/workspaces/o_1/subscriptions", json!([]));
    let made = json!({"id": "apn_1", "app": "shop", "name": "work", "created_at": 0});
    node.data("POST /v1/accounts", made);
    for command in [
        &["list"][..],
        &["webhooks", "list"],
        &["accounts", "list"],
        &["subscriptions", "list"],
        &["accounts", "add", "shop", "--field", "k=v"],
    ] {
        let seen = node
            .run(&[command, &["--workspace", "team"]].concat())
            .await;
        assert_eq!(seen.code, 0, "{command:?}: {}", seen.stderr);
    }
    for list in ["users/me/sources", "users/me/webhooks", "accounts"] {
        let asked = node.received(&format!("GET /v1/{list}")).remove(0);
        assert_eq!(asked.query["workspace_id"], "o_1", "{list}");
    }
    let sent = node.received("POST /v1/accounts").remove(0).body;
    assert_eq!(sent["workspace_id"], "o_1");
    // An id is taken as it is.
    let asked = node.received("GET /v1/workspaces").len();
    node.run(&["list", "--workspace", "o_2"]).await;
    assert_eq!(node.received("GET /v1/workspaces").len(), asked);
}
