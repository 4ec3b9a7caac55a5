//! Secrets of accounts: code has them, and nothing that a run leaves does.

use headwater_integration::{Node, Receiver};
use serde_json::{Value, json};

use super::{Folder, HTTP, step, until, waiting};

const KEY: &str = "sk_live_4eC39HqLyjWDarjtT1zdp7dc";
/// Has other characters in JSON.
const PASSWORD: &str = "back\\slash and \"quote\"";

/// Tells in reverse that it has the key: that is not masked.
const REVERSED: &str = "[...KEY].reverse().join('')";

const ONE: &str = r#"
export default defineComponent({
  props: { shop: { type: "app", app: "shop" } },
  async run({ $ }) {
    const { api_key: key, password } = this.shop.$auth;
    $.export("key", key);
    console.log(`with ${key}`);
    $.send.http({ method: "POST", url: "RECEIVER/sent", headers: { authorization: `Bearer ${key}` }, data: { password } });
    $.send.emit({ key });
    return this.shop.$auth;
  },
});
"#;

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// A workflow whose steps get a key of the account that its first one has, and one that it calls.
async fn run_of(node: &Node, receiver: &Receiver) -> (Value, Value) {
    let fields = json!({ "api_key": KEY, "password": PASSWORD, "region": "eu-west-1" });
    let account = node.account("shop", fields).await;
    let of_event = format!(
        "return {};",
        REVERSED.replace("KEY", "steps.trigger.event.key")
    );
    let other = Folder::new("", &[("called", &*of_event)]).with(
        "workflow.yaml",
        "schema: workflow/2022.04\nname: Other\ntriggers: []\nsteps:\n- namespace: called\n",
    );
    let other = other.deployed(node).await;
    let definition = format!(
        "schema: workflow/2022.04\nname: Shop\ntriggers:\n{HTTP}steps:\n- namespace: one\n  props:\n    \
         shop: {{ authProvisionId: {account} }}\n- namespace: two\n- namespace: call\n  type: call\n  \
         workflow: {}\n  event: {{ key: '{{{{steps.two.again}}}}' }}\n- namespace: broken\n",
        other.id()
    );
    let two = format!(
        "const {{ key }} = steps.one; $.export('again', key); return {};",
        REVERSED.replace("KEY", "key")
    );
    let steps = [
        ("two", &*two),
        ("broken", "throw new Error(`no ${steps.one.key}`);"),
    ];
    let folder = Folder::new(HTTP, &steps)
        .with("workflow.yaml", &definition)
        .with("one/entry.js", &ONE.replace("RECEIVER", &receiver.url()));
    let workflow = folder.deployed(node).await;
    let run = workflow.run(node, json!({}), "failed").await;
    receiver.until(|received| !received.is_empty()).await;
    (workflow.record, run)
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_of_accounts_are_marked_in_what_a_run_leaves_and_code_has_them() {
    let receiver = Receiver::start().await;
    let node = Node::builder().private_network().start().await;
    let (workflow, run) = run_of(&node, &receiver).await;

    let sent = &receiver.received()[0];
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(sent.json()["password"], PASSWORD);
    let one = &step(&run, "one")["return_value"];
    assert_eq!(one["region"], "eu-west-1");
    for field in ["api_key", "password"] {
        let shown = one[field].as_str().unwrap();
        assert!(shown.starts_with(&format!("***{field}:apn_")), "{shown}");
    }
    assert_eq!(step(&run, "two")["return_value"], reversed(KEY));
    let of_other = &step(&run, "call")["return_value"]["$return_value"];
    assert_eq!(*of_other, reversed(KEY), "{run:#}");
    let error = step(&run, "broken")["error"]["message"].as_str().unwrap();
    assert!(error.starts_with("no ***api_key:apn_"), "{error}");

    let path = format!("/runs/{}", run["id"].as_str().unwrap());
    let delivered = async {
        loop {
            let run = node.get(&path).await.is(200).data();
            if run["sends"][0]["state"] != "pending" {
                return run;
            }
            tokio::task::yield_now().await;
        }
    };
    let run = tokio::time::timeout(super::PATIENCE, delivered).await;
    let events = format!(
        "/workflows/{}/event_summaries?expand=event",
        workflow["id"].as_str().unwrap()
    );
    let events = node.get(&events).await.is(200).json();
    for shown in [run.unwrap(), events] {
        let shown = shown.to_string();
        assert!(shown.contains("***api_key:apn_"), "{shown}");
        let is_hidden = !shown.contains(KEY) && !shown.contains("back\\\\slash");
        assert!(is_hidden, "{shown}");
    }
    for file in node.store_files() {
        let bytes = std::fs::read(&file).unwrap();
        let has = |text: &str| {
            bytes
                .windows(text.len())
                .any(|part| part == text.as_bytes())
        };
        assert!(!has(KEY) && !has("back\\\\slash"), "{}", file.display());
    }
}

/// Whoever has seen a mark sends it back to whatever echoes.
#[tokio::test]
async fn a_mark_from_outside_opens_nothing() {
    let node = Node::start().await;
    let secret = json!({ "value": KEY });
    node.put("/variables/STOCK_KEY", secret).await.is(200);
    let keeper = Folder::new(HTTP, &[("one", "return process.env.STOCK_KEY;")]);
    let keeper = keeper.deployed(&node).await;
    let run = keeper.run(&node, json!({}), "succeeded").await;
    let mark = step(&run, "one")["return_value"].as_str().unwrap();
    assert!(mark.starts_with("***STOCK_KEY:"), "{mark}");

    let tell = |what: &str| format!("return [...({what})].reverse().join('');");
    let steps = [
        ("event", &*tell("steps.trigger.event.text")),
        ("wait", "$.flow.suspend();"),
        ("answer", &tell("steps.wait.$resume_data.text")),
        (
            "fetched",
            "return steps.trigger.event.half + steps.trigger.event.rest;",
        ),
        ("after", &tell("steps.fetched.$return_value")),
    ];
    let echo = Folder::new(HTTP, &steps).deployed(&node).await;
    let (half, rest) = mark.split_at(8);
    let event = json!({ "text": mark, "half": half, "rest": rest });
    let run = echo.start(&node, event).await;
    waiting(&node, &run).await;
    let answer = json!({ "data": { "text": mark } });
    node.post(&format!("{run}/resume"), answer).await.is(200);
    let run = until(&node, &run, "succeeded").await;
    for place in ["event", "answer", "after"] {
        assert_eq!(
            step(&run, place)["return_value"],
            reversed("(STOCK_KEY)"),
            "{place}"
        );
    }
    assert!(!run.to_string().contains(&reversed(KEY)), "{run:#}");
}
