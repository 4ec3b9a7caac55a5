//! `headwater users`, `workspaces` and `keys`.

use headwater_integration::{Node, Seen};

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

#[tokio::test]
async fn two_users_work_in_a_workspace_by_its_name() {
    let node = Node::start().await;
    let create = ["users", "create", "bob", "--email", "bob@example.com"];
    let made = node.cli(&create).await.ok();
    let bob = made.stdout.trim();
    node.cli(&["workspaces", "create", "team"]).await.ok();
    let add = ["workspaces", "members", "add", "team", "bob"];
    node.cli(&add).await.ok();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("shared.mjs"), crate::code::EMITTER).unwrap();
    let in_team = ["--workspace", "team"];
    let deploy = ["deploy", "shared.mjs", "--name", "Shared", "--json"];
    let deploy = [&deploy[..], &in_team].concat();
    let source = node.cli_in(folder.path(), &deploy).await.ok().json();
    let hook = [
        "webhooks",
        "create",
        "https://example.com",
        "--name",
        "Hook",
    ];
    node.cli(&[&hook[..], &in_team].concat()).await.ok();
    let account = [
        "accounts", "add", "shop", "--name", "work", "--field", "k=v",
    ];
    node.cli(&[&account[..], &in_team].concat()).await.ok();
    node.cli_in(folder.path(), &["deploy", "shared.mjs", "--name", "Mine"])
        .await
        .ok();

    let as_bob = ["--api-key", bob];
    let listed = node.cli(&[&["list"], &as_bob[..], &in_team].concat()).await;
    let listed = listed.ok().stdout;
    assert!(listed.contains("Shared"), "{listed}");
    assert!(!listed.contains("Mine"), "{listed}");
    let accounts = ["accounts", "list"];
    let accounts = node.cli(&[&accounts[..], &as_bob, &in_team].concat()).await;
    assert!(accounts.ok().stdout.contains("work"));
    let describe = ["describe", "Shared", "--json"];
    let alone = node.cli(&[&describe[..], &as_bob].concat()).await;
    assert_eq!(alone.code, 1, "{}", alone.stdout);
    let found = node.cli(&[&describe[..], &as_bob, &in_team].concat()).await;
    assert_eq!(found.ok().json()["id"], source["id"]);
    let pause = ["pause", "Shared"];
    let paused = node.cli(&[&pause[..], &as_bob, &in_team].concat()).await;
    paused.ok();
    let other = ["list", "--workspace", "others"];
    let refused = node.cli(&other).await;
    assert_eq!(refused.code, 1);
    assert!(
        refused.stderr.contains("workspaces list"),
        "{}",
        refused.stderr
    );
}

/// Runs a command with the key that the node keeps in its folder.
async fn with_kept_key(node: &Node, arguments: &[&str]) -> Seen {
    let mut command = node.command(arguments);
    command.env_remove("HEADWATER_API_KEY");
    command.output().await.unwrap().into()
}

#[tokio::test]
async fn revoking_the_kept_key_puts_another_in_its_place() {
    let node = Node::builder().without_key().start().await;
    with_kept_key(&node, &["keys", "revoke", "first"])
        .await
        .ok();
    node.get("/users/me").await.is(401);
    let listed = with_kept_key(&node, &["keys", "list", "--json"])
        .await
        .ok()
        .json();
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed[0]["name"], "first");
}

#[tokio::test]
async fn a_given_key_that_revokes_itself_is_asked_about() {
    let node = Node::start().await;
    node.cli(&["keys", "create", "spare"]).await.ok();
    let refused = node.cli(&["keys", "revoke", "first"]).await;
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    node.get("/users/me").await.is(200);
    node.cli(&["keys", "revoke", "first", "--yes"]).await.ok();
    node.get("/users/me").await.is(401);
}

#[tokio::test]
async fn an_operator_without_a_key_gets_one_on_the_stopped_node() {
    let mut node = Node::builder().own_address().start().await;
    let running = node.cli(&["keys", "reset"]).await;
    assert_eq!(running.code, 1);
    assert!(
        running.stderr.contains("stop the node"),
        "{}",
        running.stderr
    );
    node.terminate().await;
    let made = node.cli(&["keys", "reset"]).await.ok();
    let nowhere = tempfile::tempdir().unwrap();
    let missing = nowhere.path().join("none");
    let missing = missing.to_str().unwrap();
    let seen = node.cli(&["keys", "reset", "--data-dir", missing]).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("--data-dir"), "{}", seen.stderr);
    node.restart().await;
    let admin = node.with_key(Some(made.stdout.trim()));
    admin.get("/users").await.is(200);
    with_kept_key(&node, &["users", "list"]).await.ok();
}
