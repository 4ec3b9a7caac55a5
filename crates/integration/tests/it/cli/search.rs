//! `headwater search`.

use headwater_integration::Node;

const GREETER: &str = r#"export default {
  name: "Greet a new row", key: "greeter-new-row", version: "0.0.1", type: "action", run() {}
};"#;

#[tokio::test]
async fn components_of_the_node_come_before_those_of_packages_with_the_command_for_each() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("greeter.mjs"), GREETER).unwrap();
    node.cli_in(folder.path(), &["publish", "greeter.mjs"])
        .await
        .ok();
    let seen = node.cli(&["search", "new", "row"]).await.ok();
    let blocks: Vec<&str> = seen.stdout.split("\n\n").collect();
    assert_eq!(
        blocks[0],
        "greeter-new-row  Greet a new row\n  headwater run-action greeter-new-row"
    );
    let deploy = "\n  headwater deploy postgresql-new-row";
    let of_package = blocks.iter().find(|it| it.contains(deploy));
    let of_package = of_package.unwrap_or_else(|| panic!("{}", seen.stdout));
    assert!(
        of_package.starts_with("postgresql-new-row  "),
        "{of_package}"
    );

    let narrow = [
        "search",
        "row",
        "--app",
        "postgresql",
        "--type",
        "source",
        "--json",
    ];
    let found = node.cli(&narrow).await.ok().json();
    let found = found.as_array().unwrap();
    assert!(!found.is_empty());
    for component in found {
        assert_eq!(component["type"], "source", "{component}");
    }
    let one = node.cli(&["search", "row", "-n", "1"]).await.ok();
    assert!(one.stderr.contains("there are more"), "{}", one.stderr);
    assert_eq!(
        one.stdout
            .lines()
            .filter(|it| it.contains("headwater "))
            .count(),
        1
    );

    let none = node.cli(&["search", "no-such-word"]).await.ok();
    assert!(
        none.stderr.contains("No component matches"),
        "{}",
        none.stderr
    );
}

#[tokio::test]
async fn an_action_that_the_node_brings_along_is_found_and_run_by_its_key() {
    let node = Node::start().await;
    let seen = node.cli(&["search", "trim", "whitespace"]).await.ok();
    let shown = "headwater run-action formatting-trim-whitespace";
    assert!(seen.stdout.contains(shown), "{}", seen.stdout);
    let run = [
        "run-action",
        "formatting-trim-whitespace",
        "--prop",
        "input=  a b ",
        "--json",
    ];
    let report = node.cli(&run).await.ok().json();
    assert_eq!(report["outcome"]["value"], "a b", "{report}");
    // Run again, it is the same component.
    node.cli(&run).await.ok();
    assert_eq!(node.get("/components").await.is(200).items().len(), 1);
}

#[tokio::test]
async fn a_key_that_nobody_has_says_where_others_are_to_be_had() {
    let node = Node::start().await;
    let unknown = node.cli(&["deploy", "no_such_app-new-thing"]).await;
    assert_eq!(unknown.code, 1);
    for told in [
        "headwater search no_such_app-new-thing",
        "checkout of its repository",
    ] {
        assert!(unknown.stderr.contains(told), "{}", unknown.stderr);
    }
}
