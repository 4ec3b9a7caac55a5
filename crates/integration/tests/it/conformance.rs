//! The node is what its OpenAPI document says: whatever is sent that the document allows or forbids
//! is answered as the document says, and a client generated from it works.

use headwater_integration::{Node, Operation, Python};
use serde_json::json;

use crate::code::EMITTER;

const HOOKS: &str = include_str!("conformance/hooks.py");
const CLIENT: &str = include_str!("conformance/client.py");
/// Per operation and phase. Enough to reach every kind of answer, and done within a minute.
const EXAMPLES: &str = "20";

#[tokio::test]
async fn every_answer_is_as_the_document_says() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(
        &source,
        json!({"emits": [["a", {"id": 1}], ["b", {"name": "n"}]]}),
    )
    .await;
    node.run(&source, json!({"emits": null})).await;
    node.account("shop", json!({"k": "v"})).await;

    let python = Python::new();
    std::fs::write(python.folder().join("hooks.py"), HOOKS).unwrap();
    let location = format!("{}/openapi.json", node.url());
    let key = format!("Authorization: Bearer {}", node.api_key());
    let mut arguments = vec![
        "run",
        &location,
        "--header",
        &key,
        "--checks",
        "not_a_server_error,status_code_conformance,content_type_conformance,\
         response_headers_conformance,response_schema_conformance,unsupported_method,ignored_auth",
        "--max-examples",
        EXAMPLES,
        "--seed",
        "1",
        "--generation-database",
        "none",
        // How many inputs the tool throws away while it makes some up says nothing about the API.
        "--suppress-health-check",
        "filter_too_much",
        "--no-color",
    ];
    // A stream never ends; its own test reads it.
    let operations = Operation::all();
    for stream in operations.iter().filter(|operation| operation.is_stream) {
        arguments.extend(["--exclude-path", &stream.path]);
    }
    let environment = [("SCHEMATHESIS_HOOKS", "hooks")];
    python
        .run_installed("schemathesis", &arguments, &environment)
        .await;
}

#[tokio::test]
async fn a_generated_client_drives_the_api() {
    let node = Node::start().await;
    let python = Python::new();
    let document = node.get("//openapi.json").await.is(200).text;
    std::fs::write(python.folder().join("openapi.json"), document).unwrap();
    std::fs::write(python.folder().join("drive.py"), CLIENT).unwrap();
    let generate = [
        "generate",
        "--path",
        "openapi.json",
        "--output-path",
        "headwater",
        "--meta",
        "none",
    ];
    python
        .run_installed("openapi-python-client", &generate, &[])
        .await;
    python
        .run(&["drive.py", &node.url(), node.api_key()], &[])
        .await;
}
