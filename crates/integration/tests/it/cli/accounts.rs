//! `headwater accounts`.

use headwater_integration::{
    Browser, Decision, Dialogue, NODE_URL, Node, OAuthProvider, node_with,
};
use serde_json::{Value, json};

#[tokio::test]
async fn accounts_are_added_listed_and_deleted_and_never_shown() {
    let node = Node::start().await;
    let add = [
        "accounts",
        "add",
        "shop",
        "--field",
        "api_key=sesame-open-up",
        "--name",
        "work",
        "--json",
    ];
    let added = node.cli(&add).await.ok();
    assert_eq!(
        (&added.json()["app"], &added.json()["name"]),
        (&json!("shop"), &json!("work"))
    );
    let listed = node.cli(&["accounts", "list"]).await.ok();
    assert!(
        listed.stdout.contains("shop") && listed.stdout.contains("work"),
        "{}",
        listed.stdout
    );
    for seen in [&added, &listed] {
        assert!(
            !seen.stdout.contains("sesame") && !seen.stderr.contains("sesame"),
            "{}{}",
            seen.stdout,
            seen.stderr
        );
    }
    node.cli(&["accounts", "delete", "work"]).await.ok();
    assert_eq!(
        node.cli(&["accounts", "list", "--json"]).await.ok().json(),
        json!([])
    );
    assert_eq!(node.cli(&["accounts", "delete", "work"]).await.code, 1);
    assert_eq!(node.cli(&["accounts", "add", "shop"]).await.code, 2);
}

/// The link that a command prints before it waits.
async fn link(command: &mut Dialogue) -> String {
    command.expect("waiting for the account").await;
    let printed = command.transcript();
    let at = printed.find(NODE_URL).expect("it prints a link");
    let link = printed[at..].split_whitespace().next();
    link.expect("it prints a link").to_owned()
}

#[tokio::test]
async fn an_account_is_connected_checked_and_connected_again_over_links() {
    let provider = OAuthProvider::start().await;
    let node = node_with(&provider).await;
    let folder = tempfile::tempdir().unwrap();
    let connect = [
        "accounts",
        "connect",
        "acme",
        "--name",
        "work",
        "--no-browser",
        "--json",
    ];
    let mut connecting = node.start_cli(folder.path(), &connect);
    let mut browser = Browser::new(&node);
    browser.consent(&link(&mut connecting).await).await.is(200);
    assert!(connecting.end().await.success());
    let account: Value = serde_json::from_str(&connecting.data()).unwrap();
    assert_eq!(account["health"]["status"], "healthy", "{account}");
    let listed = node.cli(&["accounts", "list"]).await.ok();
    assert!(listed.stdout.contains("healthy"), "{}", listed.stdout);
    node.cli(&["accounts", "check", "work"]).await.ok();

    provider.end_access().await;
    provider.end_refresh().await;
    let refused = node.cli(&["accounts", "check", "work"]).await;
    assert_eq!(refused.code, 1);
    assert!(refused.stdout.contains("refused"), "{}", refused.stdout);
    assert!(
        refused.stderr.contains("accounts reconnect"),
        "{}",
        refused.stderr
    );

    let reconnect = ["accounts", "reconnect", "work", "--no-browser"];
    let mut denied = node.start_cli(folder.path(), &reconnect);
    let back = Browser::new(&node)
        .decide(&link(&mut denied).await, Decision::Deny)
        .await;
    Browser::new(&node).open(&back).await;
    denied.expect("nothing was connected").await;
    assert_eq!(denied.end().await.code(), Some(1));

    let mut again = node.start_cli(folder.path(), &reconnect);
    browser.consent(&link(&mut again).await).await.is(200);
    assert!(again.end().await.success());
    assert!(
        again.data().contains(account["id"].as_str().unwrap()),
        "{}",
        again.data()
    );
    let deleted = node.cli(&["accounts", "delete", "work"]).await.ok();
    assert!(deleted.stderr.contains("given back"), "{}", deleted.stderr);
}

#[tokio::test]
async fn apps_are_listed_and_searched() {
    let node = Node::start().await;
    let found = node.cli(&["apps", "SHOPI"]).await.ok();
    assert!(
        found.stdout.contains("shopify") && found.stdout.contains("shop_id"),
        "{}",
        found.stdout
    );
    assert!(!found.stdout.contains("apify"), "{}", found.stdout);
    let all = node.cli(&["apps", "--json"]).await.ok().json();
    assert!(all.as_array().unwrap().len() >= 30);
    let none = node.cli(&["apps", "no-such-app"]).await.ok();
    assert!(none.stderr.contains("accounts add"), "{}", none.stderr);
}
