//! `@pipedream/helper_functions`: actions that need no service, and one that calls whatever is configured.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::json;

fn action(name: &str) -> String {
    format!("npm:@pipedream/helper_functions@0.3.13/actions/{name}/{name}.mjs")
}

#[tokio::test]
async fn actions_that_need_no_service_return_what_they_say() {
    let node = Node::start().await;
    let teas = "<teas><tea kind=\"green\">Sencha</tea></teas>";
    for (name, props, expected) in [
        (
            "xml-to-json",
            json!({"input": teas}),
            json!({"teas": {"tea": {"_attributes": {"kind": "green"}, "_text": "Sencha"}}}),
        ),
        (
            "html-to-markdown",
            // The component hands on omitted options as undefined, which its converter takes at its word.
            json!({
                "input": "<h1>Teas</h1><ul><li><em>Sencha</em></li></ul>",
                "headingStyle": "atx", "bulletListMarker": "*", "emDelimiter": "_",
            }),
            json!("# Teas\n\n*   _Sencha_"),
        ),
        (
            "format-iso8601-datetime",
            json!({"iso8601": "2026-01-02T15:04:05"}),
            json!({"date_time": "01/02/2026 3:04:05 pm", "date": "01/02/2026", "time": "3:04:05 pm"}),
        ),
        (
            "compare-arrays",
            json!({"array1": ["a", "b"], "array2": ["b", "c"], "actionType": "symmetric difference"}),
            json!(["a", "c"]),
        ),
    ] {
        node.save_package(&action(name)).await;
        let key = format!("helper_functions-{name}");
        assert_eq!(node.returned(&key, props).await, expected, "{name}");
    }
    node.save_package(&action("export-variables")).await;
    let props = json!({"config": {"tea": "Sencha"}});
    let report = node
        .run_action("helper_functions-export-variables", props)
        .await;
    assert_eq!(
        report["exports"]["config"],
        json!({"tea": "Sencha"}),
        "{report}"
    );
}

#[tokio::test]
async fn a_configured_request_is_sent() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::json(&json!({"received": true})));
    node.save_package(&action("send-http-request")).await;
    let request = json!({
        "method": "POST", "url": format!("{}/orders?urgent=1", receiver.url()),
        "headers": [{"name": "x-kitchen", "value": "1"}],
        "body": {"contentType": "application/json", "mode": "raw", "raw": "{\"tea\": 2}"},
    });
    let answer = node
        .returned(
            "helper_functions-send-http-request",
            json!({"httpRequest": request}),
        )
        .await;
    assert_eq!(answer, json!({"received": true}));
    let received = &receiver.received()[0];
    assert_eq!(
        (&received.path[..], &received.query[..]),
        ("/orders", "urgent=1")
    );
    assert_eq!(received.headers["x-kitchen"], "1");
    assert_eq!(received.json(), json!({"tea": 2}));
}
