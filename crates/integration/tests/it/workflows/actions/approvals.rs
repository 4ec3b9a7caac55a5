//! Actions that suspend the run, and hand out the URLs that let it go on or end it.

use headwater_integration::{Node, Receiver, Reply, Slack};
use serde_json::{Value, json};

use super::{folder, returned, summary};
use crate::workflows::{step, until, waiting};

/// The URLs of the buttons of the newest message.
fn buttons(slack: &Slack) -> Vec<String> {
    let messages = slack.messages();
    let blocks = messages.last().unwrap()["blocks"].as_str().unwrap();
    let blocks: Value = serde_json::from_str(blocks).unwrap();
    let buttons = blocks[1]["elements"].as_array().unwrap().iter();
    buttons
        .map(|button| button["url"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_button_or_a_link_lets_the_run_go_on_or_ends_it() {
    let slack = Slack::with_ids(&[("C0SALES", "sales")]).await;
    let outlook = Receiver::secure(&["graph.microsoft.com"]).await;
    outlook.answer(|_| Reply::status(202));
    let node = Node::builder().private_network().reaching(slack.server());
    let node = node.reaching(&outlook).start().await;
    let by_slack = node.account("slack", Slack::account_fields()).await;
    let fields = json!({"oauth_access_token": "outlook-access-token"});
    let by_mail = node.account("microsoft_outlook", fields).await;
    let steps = format!(
        r#"- namespace: approve
  uses: slack-approve-workflow@0.0.5
  props:
    slack: {{ authProvisionId: {by_slack} }}
    channelType: Channels
    conversation: C0SALES
    message: "Order {{{{event.id}}}}. Ship?"
- namespace: confirm
  uses: microsoft_outlook-approve-workflow@0.0.10
  props:
    microsoftOutlook: {{ authProvisionId: {by_mail} }}
    recipients: ["ada@example.com"]
    subject: "Order {{{{event.id}}}}"
- namespace: tell
  code: |
    export default defineComponent({{
      run({{ steps }}) {{ return [steps.approve.$resume_data.body, steps.confirm.$resume_data.query]; }},
    }});
"#
    );
    let workflow = folder(&steps).deployed(&node).await;
    let anybody = node.with_key(None);

    let run = workflow.start(&node, json!({"id": 7})).await;
    let wait = waiting(&node, &run).await;
    let urls = buttons(&slack);
    assert_eq!(json!(urls), json!([wait["resume_url"], wait["cancel_url"]]));
    anybody.post(&urls[0], json!({"by": "Ada"})).await.is(200);
    let wait = waiting(&node, &run).await;
    assert_eq!(
        (&wait["path"], &wait["kind"]),
        (&json!("confirm"), &json!("suspend"))
    );
    let mail = &outlook.received()[0];
    assert_eq!(
        (&mail.method[..], &mail.path[..]),
        ("POST", "/v1.0/me/sendMail")
    );
    assert_eq!(mail.headers["authorization"], "Bearer outlook-access-token");
    // This version of the action spreads a promise into its message, so that the mail itself is empty.
    assert_eq!(mail.json(), json!({"message": {}}));
    let resume = format!("{}?ok=1", wait["resume_url"].as_str().unwrap());
    anybody.get(&resume).await.is(200);
    let ended = until(&node, &run, "succeeded").await;
    assert_eq!(
        returned(&ended, "tell"),
        &json!([{"by": "Ada"}, {"ok": "1"}])
    );
    assert_eq!(summary(&ended, "approve"), "Successfully sent message");
    assert_eq!(summary(&ended, "confirm"), "Email has been sent.");

    let run = workflow.start(&node, json!({"id": 8})).await;
    waiting(&node, &run).await;
    let urls = buttons(&slack);
    anybody.get(&urls[1]).await.is(200);
    let ended = until(&node, &run, "cancelled").await;
    assert_eq!(step(&ended, "approve")["attempts"], 1);
    anybody.get(&urls[0]).await.is(410);
    assert_eq!(outlook.received().len(), 1);
}
