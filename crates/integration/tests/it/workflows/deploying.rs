//! Deployments that do not come as usual: as an archive, or by a client that goes away.

use std::{path::Path, process::Command};

use headwater_integration::{Answer, Method, Node};
use serde_json::json;

use super::{Folder, HTTP, Workflow, step};

/// What `tar` makes of a folder with these files.
fn tar(flags: &str, files: &[(&str, &[u8])]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    packed(flags, folder.path())
}

fn packed(flags: &str, folder: &Path) -> Vec<u8> {
    let mut tar = Command::new("tar");
    tar.arg(flags).arg("-").arg("-C").arg(folder).arg(".");
    let output = tar.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

async fn send(node: &Node, content_type: &str, path: &str, archive: Vec<u8>) -> Answer {
    let request = node.request(Method::POST, path);
    node.send(request.header("content-type", content_type).body(archive))
        .await
}

fn files(folder: &Folder) -> Vec<(&str, &[u8])> {
    let files = folder.0.iter();
    files
        .map(|(path, text)| (path.as_str(), text.as_bytes()))
        .collect()
}

#[tokio::test]
async fn a_folder_may_come_as_an_archive() {
    let node = Node::start().await;
    let folder = Folder::new(HTTP, &[("one", "return 'ü';")]);
    for (content_type, flags) in [("application/x-tar", "-cf"), ("application/gzip", "-czf")] {
        let archive = tar(flags, &files(&folder));
        let deployed = send(&node, content_type, "/workflows", archive).await;
        let workflow = Workflow {
            record: deployed.is(200).data(),
        };
        let run = workflow.run(&node, json!({}), "succeeded").await;
        assert_eq!(step(&run, "one")["return_value"], "ü");
    }
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let id = workspace["id"].as_str().unwrap();
    let archive = tar("-cf", &files(&folder));
    let path = format!("/workflows?workspace_id={id}");
    let deployed = send(&node, "application/x-tar", &path, archive)
        .await
        .is(200);
    assert_eq!(deployed.data()["owner_id"], id);
}

#[tokio::test]
async fn an_archive_that_cannot_be_deployed_is_told_why() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("entry.js")).unwrap();
    let binary: &[(&str, &[u8])] = &[("logo.png", &[0x89, 0xFF])];
    for (content_type, archive, told) in [
        (
            "application/x-tar",
            b"not at all".to_vec(),
            "cannot be read",
        ),
        ("application/gzip", tar("-cf", binary), "cannot be read"),
        (
            "application/x-tar",
            tar("-cf", binary),
            "`logo.png` is not text",
        ),
        (
            "application/x-tar",
            packed("-cf", folder.path()),
            "`entry.js` is a link",
        ),
        (
            "application/x-tar",
            tar("-cf", &[("a.js", b"1")]),
            "`workflow.yaml`",
        ),
    ] {
        let refused = send(&node, content_type, "/workflows", archive).await;
        let error = refused.is(400).error();
        assert_eq!(error["param"], "files", "{error}");
        assert!(error["message"].as_str().unwrap().contains(told), "{error}");
    }
    let refused = send(&node, "text/plain", "/workflows", b"x".to_vec())
        .await
        .is(415);
    assert_eq!(refused.error()["code"], "unsupported_media_type");
}

#[tokio::test]
async fn an_archive_may_not_unpack_to_more_than_a_request_may_have() {
    let node = Node::start().await;
    let zeros = vec![b'0'; 21 * 1024 * 1024];
    let archive = tar(
        "-czf",
        &[("workflow.yaml", b"name: A\n"), ("bomb.txt", &zeros)],
    );
    assert!(archive.len() < 64 * 1024);
    let refused = send(&node, "application/gzip", "/workflows", archive).await;
    let error = refused.is(400).error();
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("20971520 bytes when it is unpacked"),
        "{error}"
    );
    // Refused by its length, before anything of it is sent.
    let head = format!(
        "POST /v1/workflows HTTP/1.1\r\nhost: node\r\nauthorization: Bearer {}\r\n\
         content-type: application/x-tar\r\ncontent-length: {}\r\n\r\n",
        node.api_key(),
        zeros.len()
    );
    let mut raw = node.raw().await;
    raw.send(head.as_bytes()).await.unwrap();
    let answer = raw.answer().await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn the_code_of_steps_is_not_among_the_components_to_choose_from() {
    let node = Node::start().await;
    let code = "export default {
        key: 'greet', name: 'Greet', version: '0.0.1', type: 'action', run: () => 'hello',
    };";
    let saved = node.post("/components", json!({ "component_code": code }));
    let saved = saved.await.is(200).data();
    let definition = "schema: workflow/2022.04\nname: Orders\ntriggers: []\nsteps:
- namespace: own
- namespace: greeting
  uses: greet
- namespace: item
  uses: helper_functions-random-item-from-list@0.0.3
  props: { list: [7], quantity: 1 }\n";
    let folder = Folder::new("", &[("own", "return 'own';")]).with("workflow.yaml", definition);
    let workflow = folder.deployed(&node).await;
    for (query, found) in [("", 1), ("?type=action", 1), ("?q=step", 0)] {
        let listed = node.get(&format!("/components{query}")).await.is(200);
        let ids: Vec<_> = listed
            .items()
            .into_iter()
            .map(|component| component["id"].clone())
            .collect();
        assert_eq!(ids, vec![saved["id"].clone(); found], "{query}");
    }
    let run = workflow.run(&node, json!({}), "succeeded").await;
    for (namespace, returned) in [
        ("own", json!("own")),
        ("greeting", json!("hello")),
        ("item", json!([7])),
    ] {
        assert_eq!(step(&run, namespace)["return_value"], returned);
    }
}
