//! `headwater accounts`.

use headwater_integration::{
    Browser, Decision, Dialogue, NODE_URL, Node, OAuthProvider, Seen, node_with,
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

#[tokio::test]
async fn an_app_that_asks_nobody_who_they_are_is_used_without_a_field() {
    let node = Node::start().await;
    let code = r#"export default { name: "Search", key: "pushshift-search", version: "0.0.1", type: "action",
      props: { app: { type: "app", app: "pushshift_reddit_search" } },
      run() { return this.app.$auth; } };"#;
    let saved = node.save(code).await;
    let path = format!("/components/{}/run", saved["id"].as_str().unwrap());
    let without = node.post(&path, json!({"configured_props": {}})).await;
    assert_eq!(without.is(200).data()["outcome"]["value"], json!({}));
    let add = ["accounts", "add", "pushshift_reddit_search", "--json"];
    let account = node.cli(&add).await.ok().json();
    let props = json!({"app": {"authProvisionId": account["id"]}});
    let with = node.post(&path, json!({"configured_props": props})).await;
    assert_eq!(
        with.is(200).data()["outcome"]["value"],
        json!({"oauth_uid": account["id"]})
    );
}

/// Shows what is in its account.
const TELLING: &str = r#"export default { name: "Tell", key: "shop-tell", version: "0.0.1", type: "action",
  props: { shop: { type: "app", app: "shop" } },
  run() { const { pem, key, note } = this.shop.$auth; return { pem, key, note }; } };"#;

#[tokio::test]
async fn fields_come_from_files_and_standard_input_too() {
    let node = Node::start().await;
    node.save(TELLING).await;
    let folder = tempfile::tempdir().unwrap();
    let pem = "-----BEGIN KEY-----\nabc\n-----END KEY-----";
    std::fs::write(folder.path().join("key.pem"), format!("{pem}\n")).unwrap();
    let fields = [
        "--field",
        "pem=@key.pem",
        "--field",
        "key=@-",
        "--field",
        "note=@@home",
    ];
    let mut add = vec!["accounts", "add", "shop", "--json"];
    add.extend(fields);
    std::fs::write(folder.path().join("stdin"), "piped\n").unwrap();
    let stdin = std::fs::File::open(folder.path().join("stdin")).unwrap();
    let mut command = node.command(&add);
    let added = command.current_dir(folder.path()).stdin(stdin).output();
    let added = Seen::from(added.await.unwrap()).ok().json();
    let props = json!({"shop": {"authProvisionId": added["id"]}});
    let body = json!({"configured_props": props});
    let ran = node
        .post("/components/shop-tell/run", body)
        .await
        .is(200)
        .data();
    let expected = json!({"pem": pem, "key": "piped", "note": "@home"});
    assert_eq!(ran["outcome"]["value"], expected);

    let missing = ["accounts", "add", "shop", "--field", "note=@home"];
    let seen = node.cli_in(folder.path(), &missing).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr.contains("field note") && seen.stderr.contains("@@home"),
        "{}",
        seen.stderr
    );
    let twice = [
        "accounts", "add", "shop", "--field", "a=@-", "--field", "b=@-",
    ];
    assert_eq!(node.cli(&twice).await.code, 2);
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
    assert!(
        deleted.stderr.contains("its tokens revoked at the app"),
        "{}",
        deleted.stderr
    );
}

#[tokio::test]
async fn the_fields_that_an_app_has_are_asked_for() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key.pem"), "-----\nsesame\n-----\n").unwrap();
    let add = ["accounts", "add", "sftp", "--json"];
    let mut adding = node.cli_at_terminal(folder.path(), &add);
    for (asked, typed) in [
        ("Host:", "sftp.example\r"),
        ("User:", "\r"),
        ("This is required.", "me\r"),
        ("Private key, the file that it is in:", "key.pem\r"),
    ] {
        adding.expect(asked).await;
        adding.send(typed);
    }
    assert!(adding.end().await.success(), "{}", adding.transcript());
    let account: Value = serde_json::from_str(&adding.data()).unwrap();
    assert_eq!(account["app"], "sftp");

    let refused = node.cli(&add).await;
    assert_eq!(refused.code, 2);
    let usage = "--field host=… --field username=… --field privateKey=@FILE";
    assert!(refused.stderr.contains(usage), "{}", refused.stderr);
    let refused = node.cli(&["accounts", "add", "slack"]).await;
    assert!(
        refused.stderr.contains("accounts connect slack"),
        "{}",
        refused.stderr
    );
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
