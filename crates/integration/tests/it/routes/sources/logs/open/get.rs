//! `GET /sources/{id}/logs/open`, and the page of the log.

use std::sync::Arc;

use headwater_integration::{Node, Receiver, Reply};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::{
    code::{LOGS_AND_WAITS, unknown},
    ui::visitor::Visitor,
};

#[tokio::test]
async fn lines_are_there_while_their_run_goes_on_and_once_when_it_has_ended() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let (arrived, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let waits = (Arc::clone(&arrived), Arc::clone(&go_on));
    receiver.answer_later(move |_| {
        let (arrived, go_on) = waits.clone();
        async move {
            arrived.notify_one();
            go_on.notified().await;
            Reply::status(200)
        }
    });
    let props = json!({ "url": receiver.url() });
    let source = node.deploy(LOGS_AND_WAITS, props).await;
    let visitor = Visitor::of(&node).await;
    let path = format!("{}/logs/open", source.path());
    let page = format!("/sources/{}/logs", source.id);
    let lines_of =
        |text: &str| text.matches("<b>one</b>").count() + text.matches("&lt;b&gt;one").count();
    assert_eq!(node.get(&path).await.is(200).data(), json!([]));
    let run = format!("{}/run", source.path());
    let running = async { node.post(&run, json!({})).await.is(200).data() };
    let looking = async {
        arrived.notified().await;
        // The line was logged before the request; the runner hears of it in that order.
        let open = loop {
            let open = node.get(&path).await.is(200).data();
            if open != json!([]) {
                break open;
            }
        };
        let shown = visitor.get(&page).await.is(200).text;
        assert!(shown.contains("1 run under way"), "{shown}");
        assert_eq!(lines_of(&shown), 1, "{shown}");
        assert!(!shown.contains("<b>one"), "{shown}");
        let committed = format!("{}/logs", source.path());
        assert!(node.get(&committed).await.is(200).items().is_empty());
        node.user("bob").await.get(&path).await.is(404);
        go_on.notify_one();
        open
    };
    let (report, open) = tokio::join!(running, looking);
    let messages = |lines: &Value| -> Vec<String> {
        let lines = lines.as_array().unwrap().iter();
        let messages = lines.map(|line| line["message"].as_str().unwrap());
        messages.map(str::to_owned).collect()
    };
    assert_eq!(open[0]["run_id"], report["invocation_id"]);
    assert_eq!(messages(&open[0]["lines"]), ["<b>one</b>"]);
    assert_eq!(open[0]["lines"][0]["level"], "info");
    assert_eq!(messages(&report["logs"]), ["<b>one</b>", "two"]);
    assert_eq!(node.get(&path).await.is(200).data(), json!([]));
    let shown = visitor.get(&page).await.is(200).text;
    assert!(!shown.contains("under way:"), "{shown}");
    assert_eq!(lines_of(&shown), 1, "{shown}");
    let nobody = format!("/sources/{}/logs/open", unknown("dc_"));
    node.get(&nobody).await.is(404);
}
