//! `headwater users`, `workspaces` and `keys`.

use headwater_integration::Node;

#[tokio::test]
async fn a_colleague_gets_a_user_a_workspace_and_a_key() {
    let node = Node::start().await;
    let create = ["users", "create", "bob", "--email", "bob@example.com"];
    let made = node.cli(&create).await.ok();
    let bob = node.with_key(Some(made.stdout.trim()));
    assert_eq!(bob.get("/users/me").await.is(200).data()["username"], "bob");

    node.cli(&["workspaces", "create", "team"]).await.ok();
    let add = ["workspaces", "members", "add", "team", "bob"];
    node.cli(&add).await.ok();
    let workspaces = bob.get("/workspaces").await.is(200).items();
    assert_eq!(workspaces[0]["orgname"], "team");
    let remove = ["workspaces", "members", "remove", "team", "bob"];
    node.cli(&remove).await.ok();
    let workspaces = bob.get("/workspaces").await.is(200).items();
    assert!(workspaces.is_empty(), "{workspaces:?}");

    let made = node.cli(&["keys", "create", "server"]).await.ok();
    let server = node.with_key(Some(made.stdout.trim()));
    server.get("/users/me").await.is(200);
    let listed = node.cli(&["keys", "list"]).await.ok();
    assert!(listed.stdout.contains("server"), "{}", listed.stdout);
    assert!(!listed.stdout.contains("hw_"), "{}", listed.stdout);
    node.cli(&["keys", "revoke", "server"]).await.ok();
    server.get("/users/me").await.is(401);

    node.cli(&["users", "delete", "bob"]).await.ok();
    bob.get("/users/me").await.is(401);
    assert_eq!(node.cli(&["users", "delete", "bob"]).await.code, 1);
}
