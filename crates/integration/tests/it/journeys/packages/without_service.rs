//! `@pipedream/helper_functions`: actions that need no service, and one that calls whatever is configured.

use headwater_integration::{Node, Receiver, Reply};
use serde_json::{Value, json};

fn action(name: &str) -> String {
    format!("npm:@pipedream/helper_functions@0.3.13/actions/{name}/{name}.mjs")
}

/// With an account of the app, which is asked for whatever is in it, under the prop that the action has.
async fn with_account(node: &Node, prop: &str, mut props: Value) -> Value {
    let account = node
        .account("helper_functions", json!({"api_key": "none"}))
        .await;
    props[prop] = json!({"authProvisionId": account});
    props
}

#[tokio::test]
async fn actions_that_need_no_service_return_what_they_say() {
    let node = Node::start().await;
    let teas = "<teas><tea kind=\"green\">Sencha</tea></teas>";
    for (name, app, props, expected) in [
        (
            "xml-to-json",
            "helper_functions",
            json!({"input": teas}),
            json!({"teas": {"tea": {"_attributes": {"kind": "green"}, "_text": "Sencha"}}}),
        ),
        (
            "html-to-markdown",
            "helper_functions",
            json!({"input": "<h1>Teas</h1><ul><li><em>Sencha</em></li></ul>", "headingStyle": "atx"}),
            json!("# Teas\n\n*   _Sencha_"),
        ),
        (
            "format-iso8601-datetime",
            "helper_functions",
            json!({"iso8601": "2026-01-02T15:04:05"}),
            json!({"date_time": "01/02/2026 3:04:05 pm", "date": "01/02/2026", "time": "3:04:05 pm"}),
        ),
        (
            "compare-arrays",
            "helperFunctions",
            json!({"array1": ["a", "b"], "array2": ["b", "c"], "actionType": "symmetric difference"}),
            json!(["a", "c"]),
        ),
    ] {
        node.save_package(&action(name)).await;
        let key = format!("helper_functions-{name}");
        let props = with_account(&node, app, props).await;
        assert_eq!(node.returned(&key, props).await, expected, "{name}");
    }
    node.save_package(&action("export-variables")).await;
    let props = json!({"config": {"tea": "Sencha"}});
    let props = with_account(&node, "helperFunctions", props).await;
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
