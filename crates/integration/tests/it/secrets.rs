//! Secrets and credentials: given to the code, shown to nobody, unreadable on disk.

use std::os::unix::fs::PermissionsExt as _;

use headwater_integration::{Node, Receiver, Source, payloads, standard_webhooks::verify};
use serde_json::{Value, json};

const SECRETIVE: &str = r#"
export default {
  name: "Secretive",
  version: "0.0.1",
  props: {
    shop: { type: "app", app: "shop" },
    password: { type: "string", secret: true },
    plain: { type: "string" },
  },
  run() {
    const { password, plain, shop } = this;
    const key = shop.$auth.api_key;
    this.$emit({ password: password.length, plain: plain.length, key: key.length, last: password.slice(-4) });
  },
};
"#;
const PASSWORD: &str = "correct-horse-battery-staple";
const PLAIN: &str = "nothing-to-hide-here";
const API_KEY: &str = "sesame-open-up-at-once";

/// Whether any file of the store holds this text.
fn is_on_disk(node: &Node, text: &str) -> bool {
    node.store_files().iter().any(|path| {
        let bytes = std::fs::read(path).unwrap();
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
async fn secrets_reach_the_code_but_neither_answers_nor_the_disk() {
    let mut node = Node::builder().own_address().start().await;
    let account = node.account("shop", json!({"api_key": API_KEY})).await;
    let props = json!({"shop": {"authProvisionId": account}, "password": PASSWORD, "plain": PLAIN});
    let answer = node.try_deploy(SECRETIVE, props).await.is(200);
    let source = Source::new(answer.data());
    assert_eq!(source.record["configured_props"]["password"], Value::Null);
    assert!(
        source.record["configured_props"]
            .as_object()
            .unwrap()
            .contains_key("password")
    );
    assert_eq!(source.record["configured_props"]["plain"], PLAIN);

    node.run(&source, json!({})).await;
    let seen = json!({"password": PASSWORD.len(), "plain": PLAIN.len(), "key": API_KEY.len(), "last": "aple"});
    assert_eq!(
        payloads(&node.events(&source).await),
        std::slice::from_ref(&seen)
    );
    for path in [
        source.path(),
        "/users/me/sources".to_owned(),
        "/accounts".to_owned(),
    ] {
        let answer = node.get(&path).await.is(200);
        for secret in [PASSWORD, API_KEY] {
            assert!(!answer.text.contains(secret), "{path}: {}", answer.text);
        }
    }

    assert!(
        is_on_disk(&node, PLAIN),
        "the search finds what is not secret"
    );
    for secret in [PASSWORD, API_KEY, node.api_key()] {
        assert!(!is_on_disk(&node, secret), "{secret}");
    }
    assert!(!node.output().contains(PASSWORD) && !node.output().contains(API_KEY));

    node.restart().await;
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await)[1], seen);
}

#[tokio::test]
async fn an_update_keeps_a_secret_that_it_does_not_name() {
    let node = Node::start().await;
    let account = node.account("shop", json!({"api_key": API_KEY})).await;
    let props = json!({"shop": {"authProvisionId": account}, "password": PASSWORD, "plain": PLAIN});
    let source = node.deploy(SECRETIVE, props).await;
    node.patch(&source.path(), json!({"configured_props": {"plain": "x"}}))
        .await
        .is(200);
    node.run(&source, json!({})).await;
    let event = node.events(&source).await[0]["event"].clone();
    assert_eq!(
        (&event["last"], &event["plain"]),
        (&json!("aple"), &json!(1))
    );
}

#[tokio::test]
async fn without_its_key_the_data_folder_keeps_the_secrets() {
    let mut node = Node::builder().own_address().start().await;
    let account = node.account("shop", json!({"api_key": API_KEY})).await;
    let props = json!({"shop": {"authProvisionId": account}, "password": PASSWORD, "plain": PLAIN});
    let source = node.deploy(SECRETIVE, props).await;
    node.kill_9();
    std::fs::write(node.data_dir().join("secret-key"), "0".repeat(64)).unwrap();
    node.restart().await;
    let answer = node
        .post(&format!("{}/run", source.path()), json!({}))
        .await;
    assert!(
        !answer.text.contains(PASSWORD) && !answer.text.contains(API_KEY),
        "{}",
        answer.text
    );
    assert_eq!(payloads(&node.events(&source).await), [Value::Null; 0]);
}

const GUARDED: &str = r#"
export default {
  name: "Guarded",
  version: "0.0.1",
  props: {
    first: { type: "string", secret: true },
    second: { type: "string", secret: true },
  },
  activate() {},
  run() {
    this.$emit(`${this.first} ${this.second}`);
  },
};
"#;

/// Runs fail with the reason, an update that gives the lost values again is enough, and one rotation of a webhook's secret.
#[tokio::test]
async fn secrets_whose_key_was_lost_are_entered_again() {
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    let receiver = Receiver::start().await;
    let source = node
        .deploy(GUARDED, json!({"first": "one", "second": "two"}))
        .await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    node.kill_9();
    std::fs::write(node.data_dir().join("secret-key"), "0".repeat(64)).unwrap();
    node.restart().await;

    let report = node.run(&source, json!({})).await;
    let error = &report["outcome"]["error"];
    assert_eq!(error["name"], "ConfigurationError", "{report}");
    let message = error["message"].as_str().unwrap();
    for told in ["`first`", "another secret key", "update the source"] {
        assert!(message.contains(told), "{told}: {message}");
    }
    let half = json!({"configured_props": {"first": "three"}});
    let refused = node.patch(&source.path(), half).await.is(409).error();
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("`second`"), "{message}");
    let whole = json!({"configured_props": {"first": "three", "second": "four"}});
    node.patch(&source.path(), whole).await.is(200);
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), ["three four"]);

    let rotated = node
        .post(&format!("/webhooks/{webhook}/rotate_secret"), json!({}))
        .await
        .is(200)
        .data();
    let requests = receiver.until(|requests| requests.len() == 1).await;
    let secret = rotated["secret"].as_str().unwrap();
    assert_eq!(verify(&[(secret, &requests[0])]).await, [true]);
}

#[tokio::test]
async fn the_data_folder_is_its_owners_alone() {
    let node = Node::start().await;
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(node.data_dir()), 0o700);
    for name in ["secret-key", "api-key"] {
        assert_eq!(mode(&node.data_dir().join(name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_lost_secret_key_is_not_replaced_without_a_word() {
    let mut node = Node::builder().own_address().start().await;
    node.account("shop", json!({"api_key": API_KEY})).await;
    let file = node.data_dir().join("secret-key");
    let key = std::fs::read(&file).unwrap();
    node.terminate().await;
    std::fs::remove_file(&file).unwrap();

    let refused = node.cli(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    for told in [&*file.display().to_string(), "--new-secret-key", "backup"] {
        assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
    }
    assert!(!file.exists());

    node.add_env("HEADWATER_NEW_SECRET_KEY", "true");
    node.restart().await;
    let seen = node.cli(&["doctor", "--json"]).await;
    assert_eq!(seen.code, 1);
    let checks = seen.json();
    let mut checks = checks.as_array().unwrap().iter();
    let check = checks
        .find(|check| check["check"] == "ready: secret_key")
        .unwrap();
    assert_eq!(check["result"], "failed");
    assert!(
        check["next"].as_str().unwrap().contains("restore"),
        "{check}"
    );

    std::fs::write(&file, key).unwrap();
    node.restart().await;
    node.cli(&["doctor"]).await.ok();
}

#[tokio::test]
async fn a_node_without_accounts_misses_its_key_too_as_it_signs_with_it() {
    let mut node = Node::builder().own_address().start().await;
    node.deploy(crate::code::EMITTER, json!({})).await;
    let file = node.data_dir().join("secret-key");
    node.terminate().await;
    std::fs::remove_file(&file).unwrap();
    let refused = node.cli(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    for told in ["signs URLs", "--new-secret-key"] {
        assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
    }
    assert!(!file.exists());

    node.add_env("HEADWATER_NEW_SECRET_KEY", "true");
    node.restart().await;
    node.cli(&["doctor"]).await.ok();
    // Its signing key is a new one, too, which is not given up again at the next start.
    node.add_env("HEADWATER_NEW_SECRET_KEY", "false");
    node.restart().await;
    node.cli(&["doctor"]).await.ok();
}

#[tokio::test]
async fn the_files_of_the_store_are_the_owners_alone() {
    let mut node = Node::builder().own_address().start().await;
    for round in ["made", "mended"] {
        let files = node.store_files();
        assert!(files.len() >= 3, "{files:?}");
        for file in files {
            let mode = std::fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{round}: {}", file.display());
        }
        // As an earlier release left them.
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(node.data_dir().join("headwater.db"), open).unwrap();
        node.restart().await;
    }
}
