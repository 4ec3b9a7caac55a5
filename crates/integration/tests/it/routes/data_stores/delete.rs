//! `DELETE /data_stores/{name}`.

use headwater_integration::Node;
use serde_json::json;

use super::get::write;

#[tokio::test]
async fn a_deleted_data_store_is_gone_until_it_is_written_to_again() {
    let node = Node::start().await;
    write(&node, "s", None, json!({"k": 1})).await;
    let stranger = node.user("stranger").await;
    stranger.delete("/data_stores/s").await.is(404);
    assert_eq!(node.delete("/data_stores/s").await.is(204).text, "");
    node.delete("/data_stores/s").await.is(404);
    node.get("/data_stores/s/records").await.is(404);
    write(&node, "s", None, json!({"l": 2})).await;
    let records = node.get("/data_stores/s/records").await.is(200).items();
    assert_eq!((records.len(), &records[0]["key"]), (1, &json!("l")));
}

#[tokio::test]
async fn the_command_line_lists_shows_and_deletes_data_stores() {
    let node = Node::start().await;
    let none = node.cli(&["data-stores", "list"]).await.ok();
    assert!(
        none.stderr.contains("no data stores yet"),
        "{}",
        none.stderr
    );
    write(&node, "my orders", None, json!({"k": {"n": 1}})).await;
    let listed = node.cli(&["data-stores", "list"]).await.ok();
    assert!(listed.stdout.contains("my orders"), "{}", listed.stdout);
    let shown = node.cli(&["data-stores", "show", "my orders"]).await.ok();
    assert!(shown.stdout.contains("{\"n\":1}"), "{}", shown.stdout);
    let shown = node
        .cli(&["data-stores", "show", "my orders", "--json"])
        .await;
    assert_eq!(shown.ok().json()[0]["value"], json!({"n": 1}));
    node.cli(&["data-stores", "delete", "my orders"]).await.ok();
    let gone = node.cli(&["data-stores", "show", "my orders"]).await;
    assert_eq!(gone.code, 1, "{}", gone.stderr);
}
