//! `@pipedream/google_drive`: a channel that a source opens and closes itself, an upload that streams a file
//! from elsewhere, a search that is repeated when Google is busy. Google's own client, over gaxios.

use headwater_integration::{GoogleDrive, Node, Receiver, Reply, fields};
use serde_json::{Value, json};

const NEW_FILES: &str =
    "npm:@pipedream/google_drive@1.4.1/sources/new-files-instant/new-files-instant.mjs";
const UPLOAD: &str = "npm:@pipedream/google_drive@1.4.1/actions/upload-file/upload-file.mjs";
const FIND: &str = "npm:@pipedream/google_drive@1.4.1/actions/find-file/find-file.mjs";

#[tokio::test]
async fn what_is_uploaded_is_found_and_emitted() {
    let drive = GoogleDrive::start().await;
    let node = Node::builder().private_network().reaching(drive.server());
    let node = node.start().await;
    let account = node
        .account("google_drive", GoogleDrive::account_fields())
        .await;
    let account = json!({"authProvisionId": account});
    let elsewhere = Receiver::start().await;
    elsewhere.answer(|_| Reply {
        body: "green, black, white".to_owned(),
        ..Reply::status(200)
    });
    node.save_package(UPLOAD).await;
    let upload = async |name: &str| {
        let props = json!({
            "googleDrive": account, "filePath": format!("{}/teas.txt", elsewhere.url()), "name": name,
            "mimeType": "text/plain", "metadata": {"description": "all of them"},
        });
        node.run_action("google_drive-upload-file", props).await
    };
    let report = upload("teas.txt").await;
    assert_eq!(
        report["summary"], "Successfully uploaded a new file, \"teas.txt\"",
        "{report}"
    );
    let files = drive.files();
    assert_eq!(files[0]["content"], "green, black, white");
    let described = (
        &files[0]["name"],
        &files[0]["mimeType"],
        &files[0]["description"],
    );
    assert_eq!(
        described,
        (
            &json!("teas.txt"),
            &json!("text/plain"),
            &json!("all of them")
        )
    );

    let source = node
        .deploy_package(
            NEW_FILES,
            json!({"googleDrive": account, "drive": "My Drive"}),
        )
        .await;
    let channels = drive.channels();
    let channel = &channels[0];
    assert_eq!(
        (&channel["address"], &channel["type"]),
        (&json!(source.endpoint()), &json!("web_hook"))
    );
    upload("more teas.txt").await;
    drive.notify(channel, "somebody-elses").await.is(200);
    drive
        .notify(channel, channel["id"].as_str().unwrap())
        .await
        .is(200);
    let events = node.events_until(&source, |events| events.len() > 1).await;
    // The first one was there before, and `deploy` emitted it.
    assert_eq!(fields(&events, "name"), ["teas.txt", "more teas.txt"]);
    assert_eq!(events[1]["metadata"]["summary"], "New File: more teas.txt");
    assert_eq!(node.channel(&source, "$errors").await, [Value::Null; 0]);

    node.save_package(FIND).await;
    let props = json!({"googleDrive": account, "nameSearchTerm": "more"});
    let report = node.run_action("google_drive-find-file", props).await;
    let summary = "Successfully found 1 file with the query \"name contains 'more'\"";
    assert_eq!(report["summary"], summary, "{report}");
    node.delete(&source.path()).await.is(204);
    assert_eq!(drive.channels(), [Value::Null; 0]);
}
