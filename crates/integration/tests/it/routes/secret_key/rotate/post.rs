//! `POST /secret_key/rotate`: secrets stay what they are, and the former key opens nothing any more.

use headwater_integration::{Node, Receiver, Source, payloads, standard_webhooks::verify};
use serde_json::{Value, json};

const CODE: &str = r#"
export default {
  name: "Sealed",
  version: "0.0.1",
  props: {
    shop: { type: "app", app: "shop" },
    password: { type: "string", secret: true },
  },
  run() {
    this.$emit(`${this.password} and ${this.shop.$auth.api_key}`);
  },
};
"#;
const OPENED: &str = "correct-horse and sesame";
const FIRST: &str = "1111111111111111111111111111111111111111111111111111111111111111";
const SECOND: &str = "2222222222222222222222222222222222222222222222222222222222222222";

async fn deploy(node: &Node) -> Source {
    let account = node.account("shop", json!({"api_key": "sesame"})).await;
    let props = json!({"shop": {"authProvisionId": account}, "password": "correct-horse"});
    node.deploy(CODE, props).await
}

async fn rotate(node: &Node) -> Value {
    node.post("/secret_key/rotate", json!({}))
        .await
        .is(200)
        .data()
}

/// The event of the next run of the source.
async fn emitted(node: &Node, source: &Source) -> Value {
    node.run(source, json!({})).await;
    payloads(&node.events(source).await).pop().unwrap()
}

fn key_file(node: &Node) -> String {
    std::fs::read_to_string(node.data_dir().join("secret-key")).unwrap()
}

fn write_key_file(node: &Node, text: &str) {
    std::fs::write(node.data_dir().join("secret-key"), text).unwrap();
}

#[tokio::test]
async fn accounts_props_and_webhooks_work_on_with_the_new_key() {
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    let (receiver, source) = (Receiver::start().await, deploy(&node).await);
    let webhook = node.webhook(&receiver.url()).await;
    let secret = webhook["secret"].as_str().unwrap();
    let webhook_id = webhook["id"].as_str().unwrap();
    node.subscribe(&source.id, webhook_id, "").await;
    let former = key_file(&node);

    assert_eq!(rotate(&node).await, json!({"resealed": 4, "unreadable": 0}));
    assert_eq!(emitted(&node, &source).await, OPENED);
    assert_eq!(rotate(&node).await, json!({"resealed": 4, "unreadable": 0}));
    assert_eq!(key_file(&node).lines().count(), 3);
    // A delivery that the restart meets would be made twice.
    node.deliveries_in(webhook_id, "delivered", 1).await;

    node.restart().await;
    let keys = key_file(&node);
    assert!(keys.starts_with("3:") && keys.lines().count() == 1);
    assert_eq!(emitted(&node, &source).await, OPENED);
    let requests = receiver.until(|requests| requests.len() == 2).await;
    let claims: Vec<_> = requests.iter().map(|request| (secret, request)).collect();
    assert_eq!(verify(&claims).await, [true, true]);

    node.kill_9();
    write_key_file(&node, &former);
    node.restart().await;
    let report = node
        .post(&format!("{}/run", source.path()), json!({}))
        .await;
    assert!(!report.text.contains("correct-horse"), "{}", report.text);
    assert_eq!(node.events(&source).await.len(), 2);
}

#[tokio::test]
async fn a_rotation_that_a_crash_cut_short_ends_at_the_next_start() {
    let mut node = Node::builder().own_address().start().await;
    let source = deploy(&node).await;
    node.kill_9();
    let former = key_file(&node);
    write_key_file(&node, &format!("2:{SECOND}\n{former}"));
    node.restart().await;
    assert_eq!(key_file(&node), format!("2:{SECOND}\n"));
    assert_eq!(emitted(&node, &source).await, OPENED);
}

#[tokio::test]
async fn a_key_that_the_node_is_given_is_rotated_by_who_gives_it() {
    let builder = Node::builder().own_address();
    let mut node = builder.env("HEADWATER_SECRET_KEY", FIRST).start().await;
    let source = deploy(&node).await;
    let refused = node.post("/secret_key/rotate", json!({})).await.is(409);
    let message = refused.error()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("2:<new key>,1:<present key>"), "{message}");

    for keys in [format!("2:{SECOND},1:{FIRST}"), format!("2:{SECOND}")] {
        node.add_env("HEADWATER_SECRET_KEY", &keys);
        node.restart().await;
        assert_eq!(emitted(&node, &source).await, OPENED, "{keys}");
    }
    assert!(!node.data_dir().join("secret-key").exists());
}

#[tokio::test]
async fn what_no_key_opens_is_counted_and_harms_nothing_else() {
    let mut node = Node::builder().own_address().start().await;
    let lost = node.account("shop", json!({"api_key": "lost"})).await;
    node.kill_9();
    write_key_file(&node, SECOND);
    node.restart().await;
    let source = deploy(&node).await;
    assert_eq!(rotate(&node).await, json!({"resealed": 3, "unreadable": 1}));
    let output = node.output_with("are encrypted with another secret key");
    assert!(output.contains(&lost), "{output}");
    assert_eq!(emitted(&node, &source).await, OPENED);
}

#[tokio::test]
async fn it_is_for_the_administrator() {
    let node = Node::start().await;
    let former = key_file(&node);
    let bob = node.user("bob").await;
    bob.post("/secret_key/rotate", json!({})).await.is(403);
    assert_eq!(key_file(&node), former);
}
