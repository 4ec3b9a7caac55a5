//! `@pipedream/slack`: messages with values of the run, and requests that Slack has signed.

use headwater_integration::{Answer, Method, Node, Slack};
use serde_json::{Value, json};

use super::{folder, returned, summary, with_trigger};
use crate::workflows::{Workflow, path_of};

const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
const TIMESTAMP: &str = "1531420618";

async fn start(slack: &Slack) -> (Node, String) {
    let node = Node::builder().private_network().reaching(slack.server());
    let node = node.start().await;
    let account = node.account("slack", Slack::account_fields()).await;
    (node, account)
}

#[tokio::test]
async fn messages_have_values_of_the_run() {
    let slack = Slack::with_ids(&[("C0SALES", "sales"), ("C0ORDERS", "orders")]).await;
    let (node, account) = start(&slack).await;
    let steps = format!(
        r#"- namespace: note
  uses: slack-send-message@0.0.20
  props:
    slack: {{ authProvisionId: {account} }}
    channelType: Channels
    conversation: {{ __lv: {{ label: "Public channel: orders", value: C0ORDERS }} }}
    text: "{{{{`Order ${{event.id}}: ${{event.total}} EUR`}}}}"
- namespace: tell_sales
  uses: slack-send-message-to-channel@0.0.5
  _props_cursor: dyp_MeUXlgy
  props:
    slack: {{ authProvisionId: {account} }}
    conversation: C0SALES
    text: "{{{{steps.trigger.event.lines}}}}"
    mrkdwn: "{{{{event.id > 100}}}}"
    customizeBotSettings: true
    username: "Order {{{{event.id}}}}"
    include_sent_via_pipedream_flag: "false"
- namespace: follow_up
  uses: slack-reply-to-a-message@0.1.29
  props:
    slack: {{ authProvisionId: {account} }}
    conversation: "{{{{steps.note.$return_value.channel}}}}"
    thread_ts: "{{{{steps.note.$return_value.ts}}}}"
    text: "It has {{{{event.lines.length}}}} lines"
"#
    );
    let workflow = folder(&steps).deployed(&node).await;
    let event = json!({"id": 7, "total": 1200.5, "lines": ["A", "B"]});
    let run = workflow.run(&node, event, "succeeded").await;

    let messages = slack.messages();
    let seen = |field: &str| -> Value {
        let values = messages.iter().map(|message| message[field].clone());
        values.collect()
    };
    assert_eq!(seen("channel"), json!(["C0ORDERS", "C0SALES", "C0ORDERS"]));
    let texts = json!(["Order 7: 1200.5 EUR", "[\"A\",\"B\"]", "It has 2 lines"]);
    assert_eq!(seen("text"), texts);
    assert_eq!(seen("username"), json!([null, "Order 7", null]));
    let ts = &returned(&run, "note")["ts"];
    assert_eq!(seen("thread_ts"), json!([null, null, ts]));
    let blocks = |message: usize| -> Value {
        serde_json::from_str(messages[message]["blocks"].as_str().unwrap()).unwrap()
    };
    // Registry actions know the workflow from the environment.
    let sent_via = &blocks(0)[1]["elements"][0]["text"];
    let link = format!("https://pipedream.com/@/{}?o=a&a=slack", workflow.id());
    assert_eq!(sent_via, &json!(format!("Sent via <{link}|Pipedream>")));
    let plain =
        json!([{"type": "section", "text": {"type": "plain_text", "text": "[\"A\",\"B\"]"}}]);
    assert_eq!(blocks(1), plain);
    let told = summary(&run, "tell_sales");
    assert_eq!(told, "Successfully sent a message to #sales");
}

/// The signature of a body, as Slack computes it.
async fn signature(node: &Node, body: &str) -> String {
    let code = format!(
        "import crypto from 'node:crypto'; export default {{ type: 'action', key: 'sign', name: 'Sign', version: '0.0.1', \
         props: {{ body: 'string' }}, run() {{ const mac = crypto.createHmac('sha256', '{SECRET}'); \
         return 'v0=' + mac.update('v0:{TIMESTAMP}:' + this.body).digest('hex'); }} }};"
    );
    node.save(&code).await;
    let signed = node.returned("sign", json!({ "body": body })).await;
    signed.as_str().unwrap().to_owned()
}

async fn call(node: &Node, url: &str, kind: &str, body: &str, signature: &str) -> Answer {
    let request = node.with_key(None).request(Method::POST, url);
    let request = request.header("content-type", kind).body(body.to_owned());
    let signed = request
        .header("x-slack-request-timestamp", TIMESTAMP)
        .header("x-slack-signature", signature);
    node.send(signed).await
}

/// The newest run, as soon as so many have ended.
async fn newest(node: &Node, workflow: &Workflow, count: usize) -> Value {
    let run = workflow.ended(node, count).await.remove(0);
    node.get(&path_of(&run)).await.is(200).data()
}

#[tokio::test]
async fn requests_are_told_from_forged_ones_by_their_signature() {
    let slack = Slack::start(&[]).await;
    let (node, account) = start(&slack).await;
    node.put("/variables/SIGNING_SECRET", json!({"value": SECRET}))
        .await
        .is(200);
    let steps = format!(
        r#"- namespace: body
  code: |
    export default defineComponent({{
      async run({{ steps }}) {{
        const {{ body }} = steps.trigger.event;
        return body.raw_body_url ? await (await fetch(body.raw_body_url)).text() : body;
      }},
    }});
- namespace: verify
  uses: slack-verify-slack-signature@0.0.17
  props:
    slack: {{ authProvisionId: {account} }}
    slackSigningSecret: "{{{{process.env.SIGNING_SECRET}}}}"
    slackSignature: "{{{{event.headers['x-slack-signature']}}}}"
    slackRequestTimestamp: "{{{{event.headers['x-slack-request-timestamp']}}}}"
    requestBody: "{{{{steps.body.$return_value}}}}"
"#
    );
    let workflow = with_trigger("- type: http\n  respond: default\n", &steps);
    let workflow = workflow.deployed(&node).await;
    let url = workflow.endpoint();
    let raw = format!("{url}?pipedream_upload_body=1");
    let event = r#"{"type":"event_callback","event":{"text":"ü"}}"#;
    let command = "command=%2Fship&text=order+7&trigger_id=13345224609.738474920";
    let json = "application/json";
    let form = "application/x-www-form-urlencoded";
    let mut runs = 0;
    for (url, kind, body) in [(url, json, event), (&raw[..], form, command)] {
        let right = signature(&node, body).await;
        let wrong = signature(&node, "another").await;
        for (signature, is_genuine) in [(&right, true), (&wrong, false)] {
            call(&node, url, kind, body, signature).await.is(200);
            runs += 1;
            let run = newest(&node, &workflow, runs).await;
            let verified = json!({ "success": is_genuine });
            assert_eq!(returned(&run, "verify"), &verified, "{kind}: {run:#}");
        }
    }
}
