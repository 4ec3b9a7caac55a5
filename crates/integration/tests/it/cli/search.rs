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
    let deploy = "\n  headwater deploy npm:@pipedream/postgresql/sources/new-row/new-row.mjs";
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
