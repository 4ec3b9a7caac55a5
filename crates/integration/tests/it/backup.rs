//! `headwater backup` of a running node, and `headwater restore`.

use headwater_integration::{Node, headwater_in, payloads};
use serde_json::json;

use crate::code::COUNTING;

#[tokio::test]
async fn a_running_node_is_backed_up_and_another_goes_on_from_there() {
    let node = Node::start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    node.run(&source, json!({})).await;
    let account = node.account("shop", json!({"api_key": "hunter2"})).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("whole.tar.gz");
    let backup = ["backup", "--with-keys", file.to_str().unwrap()];
    node.cli(&backup).await.ok();
    let again = node.cli(&backup).await;
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("name a new file"), "{}", again.stderr);
    node.run(&source, json!({})).await;

    let restored = Node::builder().restored_from(&file).start().await;
    assert_eq!(payloads(&restored.events(&source).await), [1]);
    restored.run(&source, json!({})).await;
    assert_eq!(payloads(&restored.events(&source).await), [1, 2]);
    let kept = format!("/accounts/{account}?include_credentials=1");
    assert_eq!(
        restored.get(&kept).await.is(200).data(),
        node.get(&kept).await.is(200).data()
    );
    restored.get("//readyz").await.is(200);
}

/// The events of a source are as many as its own count says, whenever the backup is taken.
#[tokio::test]
async fn a_backup_of_a_node_that_writes_is_of_one_moment() {
    let node = Node::start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    node.run(&source, json!({})).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("busy.tar.gz");
    let backup = ["backup", "--with-keys", file.to_str().unwrap()];
    let mut backing_up = Box::pin(node.cli(&backup));
    let backed_up = loop {
        tokio::select! {
            _ = node.run(&source, json!({})) => {}
            backed_up = &mut backing_up => break backed_up,
        }
    };
    backed_up.ok();
    let restored = Node::builder().restored_from(&file).start().await;
    restored.run(&source, json!({})).await;
    let counted = payloads(&restored.events(&source).await);
    assert!(counted.len() > 1);
    let whole: Vec<_> = (1..=counted.len()).map(|n| json!(n)).collect();
    assert_eq!(counted, whole);
}

#[tokio::test]
async fn a_backup_has_keys_only_if_asked_and_is_restored_whole_or_not_at_all() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plain.tar.gz");
    node.cli(&["backup", file.to_str().unwrap()]).await.ok();
    let restore = async |file: &str, to: &str| {
        headwater_in(folder.path(), &["restore", file, "--data-dir", to]).await
    };
    let plain = restore("plain.tar.gz", "plain").await.ok();
    assert!(plain.stderr.contains("secret-key"), "{}", plain.stderr);
    for key in ["secret-key", "api-key"] {
        assert!(!folder.path().join("plain").join(key).exists(), "{key}");
    }
    let taken = restore("plain.tar.gz", "plain").await;
    assert_eq!(taken.code, 1);
    assert!(taken.stderr.contains("is not empty"), "{}", taken.stderr);

    let nowhere = headwater_in(folder.path(), &["backup", "x.tar.gz", "--data-dir", "none"]).await;
    assert!(nowhere.stderr.contains("--data-dir"), "{}", nowhere.stderr);

    let whole = std::fs::read(&file).unwrap();
    let half = whole[..whole.len() / 2].to_vec();
    let short = whole[..whole.len() - 8].to_vec();
    let mut other = whole.clone();
    // The sum of the content.
    other[whole.len() - 8] ^= 1;
    for damaged in [half, short, other] {
        std::fs::write(folder.path().join("damaged.tar.gz"), damaged).unwrap();
        let refused = restore("damaged.tar.gz", "damaged").await;
        assert_eq!(refused.code, 1);
        assert!(
            refused.stderr.contains("damaged.tar.gz"),
            "{}",
            refused.stderr
        );
        assert!(!folder.path().join("damaged").exists());
    }
}
