//! A run that one node after the other ends of.

use headwater_integration::{Node, Receiver};
use serde_json::json;

use crate::workflows::{Folder, HTTP, paths, step, until};

/// Nodes that may end of it.
const NODES: usize = 10;

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_ten_nodes_ended_of_fails_and_the_next_node_stays() {
    let receiver = Receiver::start().await;
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    let begins = format!(
        "await fetch('{}', {{ method: 'POST', body: '' }}); await new Promise(() => setInterval(() => {{}}, 1000));",
        receiver.url()
    );
    let steps = [
        ("fine", "return 1;"),
        ("bad", &*begins),
        ("never", "return 2;"),
    ];
    let workflow = Folder::new(HTTP, &steps).deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    for begun in 1..=NODES {
        receiver.until(|received| received.len() >= begun).await;
        node.kill_9();
        node.restart().await;
    }
    let run = until(&node, &run, "failed").await;
    assert_eq!(paths(&run), ["fine", "bad"]);
    let error = &step(&run, "bad")["error"];
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("nodes ended 10 times in a row"),
        "{error}"
    );
    assert_eq!(receiver.received().len(), NODES);
}
