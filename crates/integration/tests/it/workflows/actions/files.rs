//! A file that one action leaves in `/tmp`, and another one takes from there.

use headwater_integration::{Node, Receiver, Reply, Ssh};
use serde_json::json;

use super::{folder, returned, summary};

#[tokio::test]
async fn a_downloaded_file_is_uploaded_by_the_next_step() {
    let ssh = Ssh::start().await;
    let shop = Receiver::start().await;
    shop.answer(|_| Reply::module("teas: green"));
    let route = format!("--resolve=files.example.com=127.0.0.1:{}", ssh.port());
    let node = Node::builder().private_network().flag(&route).start().await;
    let fields = ssh.account_fields("files.example.com");
    let account = node.account("sftp", fields).await;
    let to = ssh.files().join("teas.txt").display().to_string();
    let steps = format!(
        r#"- namespace: download
  uses: helper_functions-download-file-to-tmp@0.3.0
  props:
    url: "{}/{{{{event.file}}}}"
    filename: "{{{{event.file}}}}"
- namespace: upload
  uses: sftp-upload-file@0.4.1
  props:
    app: {{ authProvisionId: {account} }}
    file: "{{{{steps.download.$return_value[1]}}}}"
    remotePath: {to}
"#,
        shop.url()
    );
    let workflow = folder(&steps).deployed(&node).await;
    for _ in 0..2 {
        let run = workflow
            .run(&node, json!({"file": "teas.txt"}), "succeeded")
            .await;
        let downloaded = json!(["teas.txt", "/tmp/teas.txt"]);
        assert_eq!(returned(&run, "download"), &downloaded);
        assert_eq!(summary(&run, "upload"), "Successfully uploaded data stream");
        assert_eq!(std::fs::read_to_string(&to).unwrap(), "teas: green");
        std::fs::remove_file(&to).unwrap();
    }
}
