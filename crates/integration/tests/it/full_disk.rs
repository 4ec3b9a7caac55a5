//! A disk without room: nothing is accepted, that is said, and it ends by itself.

use headwater_integration::Node;
use serde_json::json;

use crate::code::INBOX;

/// A file that takes up the room.
const FILLER: &str = "filler";

/// Fills the disk of the node's data folder to the last byte.
fn fill(node: &Node) {
    let mut file = std::fs::File::create(node.data_dir().join(FILLER)).unwrap();
    let block = [b'x'; 4096];
    while std::io::Write::write_all(&mut file, &block).is_ok() {}
}

fn make_room(node: &Node) {
    std::fs::remove_file(node.data_dir().join(FILLER)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_shows_and_is_over_when_there_is_room() {
    let Some(builder) = Node::builder().small_disk(160) else {
        eprintln!("skipped: this process may not mount a file system");
        return;
    };
    let node = builder.start().await;
    let source = node.deploy(INBOX, json!({})).await;
    node.get("//readyz").await.is(200);
    fill(&node);
    // Room that was reserved for writing before is used up first.
    let large = "x".repeat(500_000);
    let (refused, ready) = loop {
        let request = node.request(headwater_integration::Method::POST, source.endpoint());
        let answer = node.send(request.body(large.clone())).await;
        let ready = node.get("//readyz").await;
        if answer.status != 200 && ready.status != 200 {
            break (answer.is(503), ready.is(503));
        }
    };
    for text in [&refused.text, &ready.text] {
        assert!(
            !text.contains("SQL") && !text.contains("database"),
            "{text}"
        );
    }
    node.output_with("disk is full");
    // Small requests may find room, which does not make the node ready.
    for _ in 0..20 {
        node.get(source.endpoint()).await;
        node.get("//readyz").await.is(503);
    }
    assert!(!node.output().contains("can be written again"));
    let doctor = node.cli(&["doctor"]).await;
    assert_eq!(doctor.code, 1);
    for words in [
        "check the free space of the data folder's disk",
        "MiB free; free space on this disk",
    ] {
        assert!(doctor.stdout.contains(words), "{doctor:?}");
    }
    make_room(&node);
    // Whether there is room is tried once a second at most.
    while node.get("//readyz").await.status != 200 {}
    node.output_with("can be written again");
    node.get(source.endpoint()).await.is(200);
    node.cli(&["doctor"]).await.ok();
}

/// With the store elsewhere, or the cache on a disk of its own, the folder alone may be in trouble.
#[tokio::test]
async fn a_folder_for_code_that_cannot_be_written_shows_and_is_over_when_it_is_back() {
    let node = Node::start().await;
    let (cache, away) = (
        node.data_dir().join("cache"),
        node.data_dir().join("cache-away"),
    );
    std::fs::rename(&cache, &away).unwrap();
    let ready = loop {
        let ready = node.get("//readyz").await;
        if ready.status != 200 {
            break ready.is(503);
        }
    };
    let checks = &ready.json()["checks"];
    assert_eq!(checks["store"]["status"], "ok", "{checks}");
    assert_eq!(checks["code_folder"]["status"], "unavailable", "{checks}");
    assert!(!ready.text.contains(&node.data_dir().display().to_string()));
    node.output_with("the folder for components' code cannot be written");
    let doctor = node.cli(&["doctor"]).await;
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("DATA_DIR/cache"), "{doctor:?}");
    std::fs::rename(&away, &cache).unwrap();
    while node.get("//readyz").await.status != 200 {}
}
