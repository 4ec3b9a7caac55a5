//! Folders of components from clients that mean harm, or that go away in the middle.

use std::time::Duration;

use headwater_integration::Node;
use serde_json::{Value, json};

const COMPONENTS: usize = 40;
/// Far beyond what anything here takes.
const PATIENCE: Duration = Duration::from_secs(90);

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
async fn components_are_named_once_and_not_without_bound() {
    let node = Node::start().await;
    let twice = vec!["a.mjs".to_owned(), "b.mjs".to_owned(), "a.mjs".to_owned()];
    // The file may be named without being there.
    let many = (0..501).map(|index| format!("{index}.mjs")).collect();
    for (components, told) in [(twice, "`a.mjs`"), (many, "500")] {
        let files = json!({ "a.mjs": code("a"), "b.mjs": code("b") });
        let body = json!({ "files": files, "components": components });
        let error = node.post("/registry/folders", body).await.is(400).error();
        assert_eq!(error["param"], "components", "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
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
    let listed = async || {
        let listed = node.get("/components?limit=100").await.is(200);
        listed.items().len()
    };
    // All but a byte: whatever can be known of the folder is there.
    let mut broken = node.raw().await;
    broken.send(head.as_bytes()).await.unwrap();
    broken
        .send(&body.as_bytes()[..body.len() - 1])
        .await
        .unwrap();
    broken.finish().await.unwrap();
    let answer = broken.rest().await;
    assert!(!answer.contains(" 200 "), "{answer}");
    assert_eq!(listed().await, 0);

    let mut unread = node.raw().await;
    unread.send(head.as_bytes()).await.unwrap();
    unread.send(body.as_bytes()).await.unwrap();
    let publishing = async {
        loop {
            match listed().await {
                0 => tokio::task::yield_now().await,
                there => return there,
            }
        }
    };
    let there = tokio::time::timeout(PATIENCE, publishing).await;
    assert_eq!(there.expect("the node publishes"), COMPONENTS);
    drop(unread);
    assert_eq!(published(&node).await, [false; COMPONENTS]);
    for key in ["c0", "c39"] {
        node.get(&format!("/components/registry/{key}"))
            .await
            .is(200);
    }
}
