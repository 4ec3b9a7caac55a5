//! Folders of components from clients that mean harm, or that go away in the middle.

use headwater_integration::Node;
use serde_json::{Value, json};

const COMPONENTS: usize = 40;

fn code(key: &str) -> String {
    format!(
        "export default {{ key: '{key}', version: '1.0.0', name: 'One', type: 'action', run() {{}} }};"
    )
}

fn folder() -> Value {
    let paths = (0..COMPONENTS).map(|index| format!("actions/c{index}/c{index}.mjs"));
    let components: Vec<_> = paths.collect();
    let files = components.iter().enumerate();
    let files = files.map(|(index, path)| (path.clone(), code(&format!("c{index}")).into()));
    let files: serde_json::Map<_, _> = files.collect();
    json!({ "files": files, "components": components })
}

/// The results of publishing the folder: whether each component is new.
async fn published(node: &Node) -> Vec<bool> {
    let results = node.post("/registry/folders", folder()).await.is(200);
    let results = results.data();
    let results = results.as_array().unwrap().iter();
    let results = results.map(|result| {
        assert!(result["id"].is_string(), "{result}");
        result["newly_published"].as_bool().unwrap()
    });
    results.collect()
}

#[tokio::test]
async fn paths_out_of_the_folder_are_refused_before_anything_is_published() {
    let node = Node::start().await;
    for path in [
        "../a.mjs",
        "/etc/a.mjs",
        "a/../../b.mjs",
        "a/../b.mjs",
        "./a.mjs",
        "",
    ] {
        for components in [json!([path, "good.mjs"]), json!(["good.mjs"])] {
            let files = json!({ path: code("bad"), "good.mjs": code("good") });
            let body = json!({ "files": files, "components": components });
            let refused = node.post("/registry/folders", body).await.is(400);
            let error = refused.error();
            assert_eq!(error["param"], "files", "{error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(&format!("`{path}`")), "{error}");
        }
    }
    let listed = node.get("/components").await.is(200).items();
    assert!(listed.is_empty(), "{listed:?}");
}

#[tokio::test]
async fn an_import_out_of_the_folder_reads_nothing_of_the_node() {
    let node = Node::start().await;
    for (index, import) in [
        "import text from '../../../../../../etc/passwd';",
        "import text from '/etc/passwd';",
        "import text from 'file:///etc/passwd';",
        "import text from '../outside.mjs';",
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("out-{index}");
        let files = json!({ "a.mjs": format!("{import}\n{}", code(&key)) });
        let body = json!({ "files": files, "components": ["a.mjs"] });
        node.post("/registry/folders", body).await.is(200);
        let path = format!("/components/registry/{key}");
        let error = node.get(&path).await.is(422).error();
        assert_eq!(error["code"], "component_failed", "{import}");
        assert!(!error.to_string().contains("root:"), "{error}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_publishes_all_or_nothing() {
    let node = Node::start().await;
    let body = folder().to_string();
    let head = format!(
        "POST /v1/registry/folders HTTP/1.1\r\nhost: node\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        node.api_key(),
        body.len()
    );
    let mut half = node.raw().await;
    half.send(head.as_bytes()).await.unwrap();
    half.send(&body.as_bytes()[..body.len() / 2]).await.unwrap();
    drop(half);
    let listed = node.get("/components").await.is(200);
    assert!(listed.items().is_empty());

    let mut unread = node.raw().await;
    unread.send(head.as_bytes()).await.unwrap();
    unread.send(body.as_bytes()).await.unwrap();
    drop(unread);
    let first = published(&node).await;
    assert_eq!(first.len(), COMPONENTS);
    assert!(first.iter().all(|is_new| *is_new == first[0]), "{first:?}");
    assert_eq!(published(&node).await, [false; COMPONENTS]);
    for key in ["c0", "c39"] {
        node.get(&format!("/components/registry/{key}"))
            .await
            .is(200);
    }
}
