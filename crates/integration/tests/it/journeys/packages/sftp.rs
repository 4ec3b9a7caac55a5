//! `@pipedream/sftp` on a real SSH server, which it knows under a name and on port 22.

use std::time::{Duration, UNIX_EPOCH};

use headwater_integration::{Node, Ssh};
use serde_json::{Value, json};

const WATCH: &str =
    "npm:@pipedream/sftp@0.5.1/sources/watch-remote-directory/watch-remote-directory.mjs";
const UPLOAD: &str = "npm:@pipedream/sftp@0.5.1/actions/upload-file/upload-file.mjs";

#[tokio::test]
async fn uploaded_and_changed_files_are_emitted_once() {
    let ssh = Ssh::start().await;
    let route = format!("--resolve=files.example.com=127.0.0.1:{}", ssh.port());
    let node = Node::builder().private_network().flag(&route).start().await;
    let account = node
        .account("sftp", ssh.account_fields("files.example.com"))
        .await;
    let app = json!({"authProvisionId": account});
    let path = |name: &str| ssh.files().join(name).display().to_string();

    let root = ssh.files().display().to_string();
    let props = json!({"app": app, "rootDirectory": root, "maxDepth": 1});
    let source = node.deploy_package(WATCH, props).await;
    let poll = async || {
        let report = node.run(&source, Value::Null).await;
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
    };
    node.save_package(UPLOAD).await;
    let upload = async |data: &str| {
        let props = json!({"app": app, "data": data, "remotePath": path("teas.txt")});
        let report = node.run_action("sftp-upload-file", props).await;
        assert_eq!(
            report["summary"], "Successfully uploaded data stream",
            "{report}"
        );
    };
    // The component tells versions of a file apart by the second of their change.
    let changed = |name: &str, second: u64| {
        let file = std::fs::File::options()
            .write(true)
            .open(path(name))
            .unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(second))
            .unwrap();
    };
    poll().await;
    upload("green").await;
    assert_eq!(std::fs::read_to_string(path("teas.txt")).unwrap(), "green");
    changed("teas.txt", 1_767_323_001);
    poll().await;
    poll().await;
    upload("green, black").await;
    changed("teas.txt", 1_767_323_002);
    std::fs::create_dir(path("old")).unwrap();
    std::fs::write(path("old/cups.txt"), "blue").unwrap();
    changed("old/cups.txt", 1_767_323_003);
    poll().await;

    let events = node.events(&source).await;
    let summaries: Vec<_> = events
        .iter()
        .map(|event| &event["metadata"]["summary"])
        .collect();
    let told = |what: &str, name: &str| json!(format!("{what} {}", path(name)));
    let expected = [
        told("created", "teas.txt"),
        told("updated", "teas.txt"),
        told("created", "old/cups.txt"),
    ];
    assert_eq!(summaries, expected.iter().collect::<Vec<_>>());
}
