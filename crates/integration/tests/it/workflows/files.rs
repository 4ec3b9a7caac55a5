//! `$.files` of steps, as the next step, the next start of the node and the holder of a URL see them.

use headwater_integration::{Method, Node};
use serde_json::json;

use super::{Folder, HTTP, step};

#[tokio::test]
async fn a_file_outlives_its_run_and_is_there_for_whoever_has_its_url() {
    let mut node = Node::builder().own_address().start().await;
    let write = "await (await import('node:fs/promises')).writeFile('/tmp/local', 'line\\n'.repeat(100_000));
        const file = await $.files.open('reports/a b.csv').fromFile('/tmp/local');
        return { file, url: await file.toUrl() };";
    let read = "const file = $.files.openDescriptor(steps.write.$return_value.file);
        const listed = [];
        for await (const entry of $.files.dir('reports')) listed.push(entry.path);
        return { lines: (await file.toEncodedString('utf-8')).split('\\n').length, listed };";
    let folder = Folder::new(HTTP, &[("write", write), ("read", read)]);
    let workflow = folder.deployed(&node).await;
    let run = workflow.run(&node, json!({}), "succeeded").await;
    let seen = json!({"lines": 100_001, "listed": ["reports/a b.csv"]});
    assert_eq!(step(&run, "read")["return_value"], seen);

    let url = step(&run, "write")["return_value"]["url"].clone();
    let url = url.as_str().unwrap();
    let nobody = node.with_key(None);
    let file = node.send(nobody.request(Method::GET, url)).await.is(200);
    assert_eq!(file.text.len(), 500_000);
    assert_eq!(file.header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(file.header("x-content-type-options"), "nosniff");
    assert_eq!(
        file.header("content-disposition"),
        "attachment; filename*=UTF-8''a%20b%2Ecsv"
    );
    let other = format!("{}x", &url[..url.len() - 1]);
    let other = node.send(nobody.request(Method::GET, &other)).await;
    assert!(other.is(404).text.contains("Unknown file"));

    node.restart().await;
    let delete = "await $.files.open('reports/a b.csv').delete();
        return (await $.files.open('reports/a b.csv').stat()) ?? 'gone';";
    let folder = Folder::new(HTTP, &[("delete", delete)]);
    let workflow = folder.deployed(&node).await;
    let run = workflow.run(&node, json!({}), "succeeded").await;
    assert_eq!(step(&run, "delete")["return_value"], "gone");
}

#[tokio::test]
async fn the_files_of_others_are_not_there() {
    let node = Node::start().await;
    let write = "await $.files.open('secret').fromReadableStream(require('node:stream').Readable.from(['mine']));";
    let folder = Folder::new(HTTP, &[("write", write)]);
    let workflow = folder.deployed(&node).await;
    workflow.run(&node, json!({}), "succeeded").await;
    let other = node.user("other").await;
    let look = "const names = [];
        for await (const entry of $.files.dir()) names.push(entry.path);
        return [names, (await $.files.open('../u_1/secret').stat()) ?? null];";
    let folder = Folder::new(HTTP, &[("look", look)]);
    let workflow = folder.deployed(&other).await;
    let run = workflow.run(&other, json!({}), "succeeded").await;
    assert_eq!(step(&run, "look")["return_value"], json!([[], null]));
}
