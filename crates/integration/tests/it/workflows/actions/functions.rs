//! `@pipedream/helper_functions`: actions that use what the node itself offers.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::json;

use super::{folder, returned};
use crate::workflows::{paths, step};

const TO_S3: &str = r#"- namespace: archive
  uses: helper_functions-send-to-s3@0.2.1
  props:
    bucket: orders
    prefix: paid/
    payload: "{{event}}"
"#;

#[tokio::test]
async fn values_are_picked_exported_and_sent() {
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::json(&json!({"received": true})));
    let node = Node::builder().private_network().start().await;
    let steps = format!(
        r#"- namespace: pick
  uses: helper_functions-random-item-from-list@0.0.3
  props:
    list: "{{{{event.teas}}}}"
    quantity: "{{{{event.teas.length}}}}"
- namespace: settings
  uses: helper_functions-export-variables@0.0.1
  props:
    config: {{ shop: "{{{{event.shop}}}}", teas: "{{{{steps.pick.$return_value.toSorted()}}}}" }}
- namespace: order
  uses: helper_functions-send-http-request@1.0.0
  props:
    httpRequest:
      method: POST
      url: "{}/{{{{steps.settings.config.shop}}}}"
      headers: [{{ name: x-shop, value: "{{{{event.shop}}}}" }}]
      body: {{ contentType: application/json, mode: raw, raw: "{{{{JSON.stringify(steps.settings.config.teas)}}}}" }}
{TO_S3}"#,
        receiver.url()
    );
    let workflow = folder(&steps).deployed(&node).await;
    let event = json!({"teas": ["Sencha", "Assam"], "shop": "corner"});
    let run = workflow.run(&node, event.clone(), "succeeded").await;
    assert_eq!(returned(&run, "pick").as_array().unwrap().len(), 2);
    let exported = json!({"shop": "corner", "teas": ["Assam", "Sencha"]});
    assert_eq!(step(&run, "settings")["exports"]["config"], exported);
    assert_eq!(returned(&run, "order"), &json!({"received": true}));
    let received = &receiver.received()[0];
    assert_eq!(received.path, "/corner");
    assert_eq!(received.headers["x-shop"], "corner");
    assert_eq!(received.json(), json!(["Assam", "Sencha"]));
    let sends = run["sends"].as_array().unwrap();
    assert_eq!(sends.len(), 1, "{sends:?}");
    assert_eq!(
        (&sends[0]["path"], &sends[0]["way"]),
        (&json!("archive"), &json!("s3"))
    );
    let line = json!({"bucket": "orders", "prefix": "paid/", "payload": event.to_string()});
    assert_eq!(sends[0]["value"], line);
}

#[tokio::test]
async fn no_new_stories_end_the_run() {
    let node = Node::start().await;
    // With feeds, this version of the action assigns to a variable that it does not declare, and throws.
    let steps = r#"- namespace: stories
  uses: helper_functions-retrieve-new-rss-stories@0.2.1
  props:
    rss_feeds: "{{event.feeds}}"
- namespace: tell
  code: |
    export default defineComponent({ run({ steps }) { return steps.stories.$return_value; } });
"#;
    let workflow = folder(steps).deployed(&node).await;
    for _ in 0..2 {
        let run = workflow.run(&node, json!({"feeds": []}), "succeeded").await;
        assert_eq!(paths(&run), ["stories"]);
        assert_eq!(returned(&run, "stories"), &json!([]));
        assert_eq!(run["reason"], "No new stories", "{run:#}");
    }
}
