//! Apps, methods and props as the code sees them.

use headwater_integration::{Node, payloads};
use serde_json::json;

const SHOP: &str = r#"
const shop = {
  type: "app",
  app: "shop",
  propDefinitions: {
    city: { type: "string", label: "City", default: "Wien", optional: true },
  },
  methods: {
    _key() { return this.$auth.api_key; },
    greet(name) { return `${name} with ${this._key()}`; },
  },
};
export default {
  name: "Shop",
  version: "0.0.1",
  props: {
    shop,
    city: { propDefinition: [shop, "city"] },
    ratio: { type: "object", optional: true },
    loud: { type: "boolean", default: false },
  },
  methods: {
    shout(text) { return this.loud ? text.toUpperCase() : text; },
  },
  run() {
    this.$emit({ text: this.shout(this.shop.greet(this.city)), ratio: this.ratio });
  },
};
"#;

#[tokio::test]
async fn apps_have_methods_credentials_and_prop_definitions() {
    let node = Node::start().await;
    let account = node.account("shop", json!({"api_key": "k"})).await;
    let shop = json!({"authProvisionId": account});
    let plain = node.deploy(SHOP, json!({"shop": shop})).await;
    node.run(&plain, json!({})).await;
    assert_eq!(
        payloads(&node.events(&plain).await),
        [json!({"text": "Wien with k"})]
    );
    let loud = node
        .deploy(
            SHOP,
            json!({"shop": shop, "city": "Graz", "loud": true, "ratio": {"a": 1}}),
        )
        .await;
    node.run(&loud, json!({})).await;
    assert_eq!(
        payloads(&node.events(&loud).await),
        [json!({"text": "GRAZ WITH K", "ratio": {"a": 1}})]
    );
}

#[tokio::test]
async fn module_state_of_one_source_never_reaches_another() {
    let node = Node::start().await;
    let code = r#"
let runs = 0;
export default {
  name: "Stateful",
  version: "0.0.1",
  run() { globalThis.leaked = (globalThis.leaked ?? 0) + 1; this.$emit([++runs, globalThis.leaked]); },
};
"#;
    let saved = node.save(code).await;
    let mut sources = Vec::new();
    for _ in 0..2 {
        let body = json!({"component_id": saved["id"]});
        sources.push(headwater_integration::Source::new(
            node.post("/sources", body).await.is(200).data(),
        ));
    }
    for source in sources.iter().chain(&sources) {
        node.run(source, json!({})).await;
    }
    for source in &sources {
        assert_eq!(
            payloads(&node.events(source).await),
            [json!([1, 1]), json!([2, 2])]
        );
    }
}
