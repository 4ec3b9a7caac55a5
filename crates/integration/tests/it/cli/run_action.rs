//! `headwater run-action`.

use headwater_integration::Node;
use serde_json::json;

const GREET: &str = r#"
export default { name: "Greet", key: "greetings-greet", version: "0.0.1", type: "action",
  props: { name: { type: "string" }, mark: { type: "string", default: "!" } },
  async run({ $ }) {
    console.log("greeting", this.name);
    if (this.name === "error") throw new Error("cannot greet an error");
    $.export("length", this.name.length);
    $.export("$summary", `Greeted ${this.name}`);
    return { text: `Hello ${this.name}${this.mark}` };
  } };"#;

#[tokio::test]
async fn a_file_is_saved_and_run_once() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("greet.mjs"), GREET).unwrap();
    let seen = node
        .cli_in(
            folder.path(),
            &["run-action", "greet.mjs", "--prop", "name=you"],
        )
        .await
        .ok();
    assert!(
        seen.stderr.contains("info   greeting you"),
        "{}",
        seen.stderr
    );
    for shown in [
        "SUMMARY      Greeted you",
        "EXPORT length\n3",
        "\"text\": \"Hello you!\"",
    ] {
        assert!(seen.stdout.contains(shown), "{}", seen.stdout);
    }
    // It is the node's from then on, under its key.
    let arguments = [
        "run-action",
        "greetings-greet",
        "--prop",
        "name=me",
        "--json",
    ];
    let report = node.cli(&arguments).await.ok().json();
    assert_eq!(report["outcome"]["value"], json!({"text": "Hello me!"}));
    assert_eq!(report["logs"][0]["message"], "greeting me");
}

#[tokio::test]
async fn props_that_cannot_be_computed_keep_no_given_value_out() {
    let node = Node::start().await;
    let code = r#"
export default { name: "Row", key: "tables-row", version: "0.0.1", type: "action",
  props: { table: { type: "string", reloadProps: true } },
  additionalProps() { throw new Error("the service is down"); },
  run() { return { table: this.table, row: this.row, count: this.count }; } };"#;
    node.save(code).await;
    let arguments = [
        "run-action",
        "tables-row",
        "--prop",
        "table=t",
        "--prop",
        "row=r",
        "--json",
    ];
    let seen = node.cli(&arguments).await.ok();
    assert_eq!(
        seen.json()["outcome"]["value"],
        json!({"table": "t", "row": "r"})
    );
    assert!(
        seen.stderr.contains("runs with the given values"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn an_action_that_throws_fails_the_command_and_shows_its_own_lines() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("greet.mjs"), GREET).unwrap();
    let arguments = ["run-action", "greet.mjs", "--prop", "name=error"];
    let seen = node.cli_in(folder.path(), &arguments).await;
    assert_eq!(seen.code, 1, "{}", seen.stdout);
    assert!(
        seen.stdout.contains("OUTCOME      threw"),
        "{}",
        seen.stdout
    );
    assert!(
        seen.stderr.contains("cannot greet an error"),
        "{}",
        seen.stderr
    );
    assert!(seen.stderr.contains("greet.mjs:6:"), "{}", seen.stderr);
}

#[tokio::test]
async fn missing_props_and_sources_are_usage_errors() {
    let node = Node::start().await;
    node.save(GREET).await;
    let seen = node.cli(&["run-action", "greetings-greet"]).await;
    assert_eq!(seen.code, 2);
    assert!(seen.stderr.contains("\n  name (string)"), "{}", seen.stderr);
    node.save(r#"export default { name: "S", key: "s-s", version: "0.0.1", run() {} };"#)
        .await;
    let seen = node.cli(&["run-action", "s-s"]).await;
    assert_eq!(seen.code, 2);
    assert!(
        seen.stderr.contains("headwater deploy s-s"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn stacks_name_the_lines_of_imported_files() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("lib")).unwrap();
    let library = "// A comment.\ninterface Told { text: string }\n\nexport function fail(): Told {\n  throw new Error(\"deep\");\n}\n";
    std::fs::write(folder.path().join("lib/fail.ts"), library).unwrap();
    let main = "import { fail } from \"./lib/fail.ts\";\nexport default { type: \"action\", name: \"F\", key: \"f-f\", version: \"0.0.1\",\n  run() {\n    // Another.\n    return fail();\n  } };\n";
    std::fs::write(folder.path().join("main.mjs"), main).unwrap();
    let seen = node
        .cli_in(folder.path(), &["run-action", "main.mjs"])
        .await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("lib/fail.ts:5:"), "{}", seen.stderr);
    assert!(seen.stderr.contains("main.mjs:5:"), "{}", seen.stderr);
}
