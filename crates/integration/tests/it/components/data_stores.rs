//! Data stores as components use them: from several sources and actions, over restarts.

use headwater_integration::{Node, payloads};
use serde_json::{Value, json};

const COUNTER: &str = r#"
export default {
  name: "Counter",
  version: "0.0.1",
  props: { store: { type: "data_store" } },
  hooks: {
    async activate() { await this.store.set("activated", true); },
  },
  async run({ key = "count", value, ttl }) {
    const next = value ?? (await this.store.get(key) ?? 0) + 1;
    await this.store.set(key, next, { ttl });
    this.$emit({ next, keys: await this.store.keys() });
  },
};
"#;

/// As the published actions use theirs: the store comes from an app's prop definition, and options from its keys.
const READER: &str = r#"
const app = {
  type: "app",
  app: "data_stores",
  propDefinitions: {
    dataStore: { type: "data_store", label: "Data Store" },
    key: { type: "string", async options({ dataStore }) { return dataStore.keys(); } },
  },
};
export default {
  name: "Reader",
  version: "0.0.1",
  type: "action",
  props: {
    app,
    dataStore: { propDefinition: [app, "dataStore"] },
    key: { propDefinition: [app, "key", ({ dataStore }) => ({ dataStore })] },
  },
  async run({ $ }) {
    const all = {};
    for await (const [key, value] of this.dataStore) all[key] = value;
    const [exists, value] = await Promise.all([
      this.dataStore.has(this.key), this.dataStore.get(this.key),
    ]);
    const size = await this.dataStore.size();
    $.export("$summary", `${size} records`);
    return { all, exists, value };
  },
};
"#;

async fn read(node: &Node, id: &Value, key: &str) -> Value {
    let props = json!({"dataStore": "shared", "key": key});
    let path = format!("/components/{}/run", id.as_str().unwrap());
    let answer = node.post(&path, json!({"configured_props": props})).await;
    answer.is(200).data()
}

#[tokio::test]
async fn sources_and_actions_share_a_store_by_its_name() {
    let node = Node::start().await;
    let store = json!({"store": "shared"});
    let (first, second) = (
        node.deploy(COUNTER, store.clone()).await,
        node.deploy(COUNTER, store).await,
    );
    for source in [&first, &second, &first] {
        node.run(source, json!({})).await;
    }
    let keys = json!(["activated", "count"]);
    assert_eq!(
        payloads(&node.events(&first).await),
        [
            json!({"next": 1, "keys": keys}),
            json!({"next": 3, "keys": keys})
        ]
    );
    let reader = node.save(READER).await;
    let report = read(&node, &reader["id"], "count").await;
    let all = json!({"activated": true, "count": 3});
    assert_eq!(
        report["outcome"]["value"],
        json!({"all": all, "exists": true, "value": 3})
    );
    assert_eq!(report["summary"], "2 records");
    let path = format!("/components/{}/options", reader["id"].as_str().unwrap());
    let asked = json!({"prop": "key", "configured_props": {"dataStore": "shared"}});
    let options = node.post(&path, asked).await.is(200).data();
    let values: Vec<_> = options["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["value"].clone())
        .collect();
    assert_eq!(values, [json!("activated"), json!("count")]);
}

#[tokio::test]
async fn a_record_that_was_written_survives_the_run_that_threw_and_the_node() {
    let mut node = Node::builder().own_address().start().await;
    let code = COUNTER.replace("this.$emit(", "throw new Error(");
    let source = node.deploy(&code, json!({"store": "shared"})).await;
    node.run(&source, json!({})).await;
    node.restart().await;
    let reader = node.save(READER).await;
    let report = read(&node, &reader["id"], "count").await;
    assert_eq!(report["outcome"]["value"]["value"], 1);
}

#[tokio::test]
async fn a_value_over_the_limit_fails_the_call_and_not_the_worker() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Large",
  version: "0.0.1",
  props: { store: { type: "data_store" } },
  async run() {
    const failure = await this.store.set("é", "é".repeat(600_000)).catch((error) => error.message);
    this.$emit({ failure, size: await this.store.size() });
  },
};
"#;
    let source = node.deploy(code, json!({"store": "s"})).await;
    node.run(&source, json!({})).await;
    let failure =
        r#"data store "s": the value of `é` is 1200002 bytes; a record may have at most 1048576"#;
    assert_eq!(
        payloads(&node.events(&source).await),
        [json!({"failure": failure, "size": 0})]
    );
}

/// Code of a package needs no token to ask: it can import the module of the runtime that asks.
const INTRUDER: &str = r#"
export default {
  name: "Intruder",
  version: "0.0.1",
  props: { own: { type: "data_store" } },
  async run() {
    const folder = /file:\S+\/worker\//.exec(new Error().stack)[0];
    const load = new Function("specifier", "return import(specifier)");
    const { createDataStore } = await load(folder + "data_store.ts");
    const { currentInvocation } = await load(folder + "scope.ts");
    const tried = [];
    for (const name of ["shared", "own"]) {
      const store = createDataStore(name, currentInvocation());
      tried.push(await store.set("count", 7).then(() => store.get("count")).catch((error) => error.message));
    }
    this.$emit(tried);
  },
};
"#;

#[tokio::test]
async fn a_store_that_no_prop_names_cannot_be_reached_through_the_runtime() {
    let node = Node::start().await;
    let keeper = node.deploy(COUNTER, json!({"store": "shared"})).await;
    node.run(&keeper, json!({})).await;
    let intruder = node.deploy(INTRUDER, json!({"own": "own"})).await;
    node.run(&intruder, json!({})).await;
    let refusal = "data store \"shared\": none of the component's props is configured with this data store; \
                   add a prop of type data_store";
    assert_eq!(
        payloads(&node.events(&intruder).await),
        [json!([refusal, 7])]
    );
    node.run(&keeper, json!({})).await;
    let events = payloads(&node.events(&keeper).await);
    assert_eq!(events.last().unwrap()["next"], 2);
}
