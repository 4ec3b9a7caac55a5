//! `@pipedream/slack`: messages to channels and events of the app that the user's account belongs to.
//! Slack's own client, over axios.

use headwater_integration::{Node, Slack, fields};
use serde_json::{Value, json};

const NEW_MESSAGE: &str =
    "npm:@pipedream/slack@0.10.3/sources/new-message-in-channels/new-message-in-channels.mjs";
const SEND_MESSAGE: &str = "npm:@pipedream/slack@0.10.3/actions/send-message/send-message.mjs";
const FIND_USER: &str =
    "npm:@pipedream/slack@0.10.3/actions/find-user-by-email/find-user-by-email.mjs";

async fn start(slack: &Slack) -> (Node, Value) {
    let node = Node::builder().private_network().reaching(slack.server());
    let node = node.start().await;
    let account = node.account("slack", Slack::account_fields()).await;
    (node, json!({"slack": {"authProvisionId": account}}))
}

#[tokio::test]
async fn a_message_is_sent_to_a_channel_of_a_later_page() {
    let slack = Slack::start(&["kitchen", "garden", "cellar"]).await;
    let (node, mut props) = start(&slack).await;
    node.save_package(SEND_MESSAGE).await;
    props["channelType"] = json!("Channels");
    let mut question = json!({"prop": "conversation", "configured_props": props});
    let first = node.options("slack-send-message", question.clone()).await;
    let labels: Vec<_> = first["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["label"])
        .collect();
    assert_eq!(
        labels,
        ["Public channel: kitchen", "Public channel: garden"]
    );
    question["prev_context"] = first["context"].clone();
    let second = node.options("slack-send-message", question.clone()).await;
    let channel = &second["options"][0]["value"];
    assert_eq!(channel, "C3");

    props["conversation"] = channel.clone();
    props["text"] = json!("*Wine* is out");
    let report = node.run_action("slack-send-message", props).await;
    assert_eq!(
        report["summary"], "Successfully sent a message to #cellar",
        "{report}"
    );
    assert_eq!(report["outcome"]["value"]["ts"], "1767323045.000001");
    let messages = slack.messages();
    let message = &messages[0];
    assert_eq!(
        (&message["channel"], &message["text"]),
        (&json!("C3"), &json!("*Wine* is out"))
    );
    let blocks: Value = serde_json::from_str(message["blocks"].as_str().unwrap()).unwrap();
    assert_eq!(
        blocks[0]["text"],
        json!({"type": "mrkdwn", "text": "*Wine* is out"})
    );

    slack.set_busy(true);
    let path = "/components/slack-send-message/options";
    let error = node.post(path, question).await.is(422).error();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("Rate limit exceeded"),
        "{error}"
    );
}

#[tokio::test]
async fn what_slack_answers_is_what_the_action_tells() {
    let slack = Slack::start(&[]).await;
    let (node, mut props) = start(&slack).await;
    node.save_package(FIND_USER).await;
    props["email"] = json!("ada@example.com");
    let report = node
        .run_action("slack-find-user-by-email", props.clone())
        .await;
    assert_eq!(
        report["summary"], "Successfully found user with ID U1",
        "{report}"
    );
    props["email"] = json!("nobody@example.com");
    let report = node.run_action("slack-find-user-by-email", props).await;
    assert_eq!(report["outcome"]["status"], "threw");
    let message = report["outcome"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("users_not_found"), "{message}");
}

#[tokio::test]
async fn an_event_that_is_handed_over_is_completed_with_names_that_are_remembered() {
    let slack = Slack::start(&["kitchen"]).await;
    let (node, mut props) = start(&slack).await;
    props["conversations"] = json!(["C1"]);
    props["resolveNames"] = json!(true);
    let source = node.deploy_package(NEW_MESSAGE, props).await;
    let message = |id: &str, text: &str| json!({"type": "message", "client_msg_id": id, "user": "U1", "channel": "C1", "text": text, "ts": "1767323045.1"});
    for (id, text) in [("m1", "tea?"), ("m1", "tea?"), ("m2", "milk!")] {
        let report = node.run(&source, message(id, text)).await;
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
    }
    node.run(&source, json!({"type": "reaction_added"})).await;
    let events = node.events(&source).await;
    assert_eq!(fields(&events, "text"), ["tea?", "milk!"]);
    assert_eq!(fields(&events, "user"), ["ada", "ada"]);
    assert_eq!(fields(&events, "channel"), ["kitchen", "kitchen"]);
    assert_eq!(
        (slack.calls("users.info"), slack.calls("conversations.info")),
        (1, 1)
    );
}
