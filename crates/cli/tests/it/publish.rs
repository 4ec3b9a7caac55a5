//! `publish`: what is sent for a file, a folder and a package, what is shown, and the exit code.
//! Then `list components` and deploying by key.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::node::{Node, Received};

fn write(folder: &Path, name: &str, code: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, code).unwrap();
}

fn component(key: &str) -> String {
    format!("export default {{ name: \"n\", key: \"{key}\", version: \"1.0.0\", run() {{}} }};\n")
}

/// Publishes everything, refusing code or URLs that say how.
fn registry(request: &Received) -> (u16, Value) {
    let sent = request.body.to_string();
    let refused = |status: u16, message: &str| {
        (
            status,
            json!({"error": {"code": "refused", "message": message}}),
        )
    };
    if sent.contains("broken") {
        return refused(422, "it is broken");
    }
    if sent.contains("taken") {
        return refused(409, "version 1.0.0 is published with other code");
    }
    let data = json!({
        "id": "sc_1", "key": "shop-a", "version": "1.0.0", "type": "source",
        "newly_published": !sent.contains("again"),
    });
    (200, json!({"data": data}))
}

const ROW: &str = "KEY      VERSION   TYPE     ID     STATE\n\
                   shop-a   1.0.0     source   sc_1   published\n";

#[tokio::test]
async fn a_file_is_published_as_its_code() {
    let node = Node::start().await;
    node.on("POST /v1/components/registry", registry);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.mjs", &component("shop-a"));
    let file = folder.path().join("a.mjs");
    let seen = node.run(&["publish", file.to_str().unwrap()]).await;
    assert_eq!((seen.code, &*seen.stdout, &*seen.stderr), (0, ROW, ""));
    let sent = &node.received("POST /v1/components/registry")[0];
    assert_eq!(sent.body, json!({"component_code": component("shop-a")}));
}

/// The node knows the code by a name of its own.
#[tokio::test]
async fn an_error_in_a_file_names_the_file() {
    let node = Node::start().await;
    node.on("POST /v1/components/registry", |_| {
        let error = json!({
            "code": "invalid_component", "message": "SyntaxError: Expression expected\n    at component.mjs:3:21",
            "stack": "at component.mjs:3:21",
        });
        (422, json!({"error": error}))
    });
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.mjs", &component("shop-a"));
    let file = folder.path().join("a.mjs");
    let file = file.to_str().unwrap();
    let seen = node.run(&["publish", file]).await;
    assert_eq!(seen.code, 1);
    let told = format!("at {file}:3:21");
    assert!(seen.stderr.contains(&told), "{}", seen.stderr);
    assert!(!seen.stderr.contains("component.mjs"), "{}", seen.stderr);
}

#[tokio::test]
async fn a_file_of_a_package_is_left_to_the_node() {
    let node = Node::start().await;
    node.on("POST /v1/components/registry", registry);
    let url = "npm:@pipedream/rss@0.5.0/sources/a/a.mjs";
    let seen = node.run(&["publish", url, "--json"]).await;
    assert_eq!(seen.json()["key"], "shop-a");
    let sent = &node.received("POST /v1/components/registry")[0];
    assert_eq!(sent.body, json!({"component_url": url}));
}

#[tokio::test]
async fn one_component_that_fails_is_told_as_every_command_does() {
    let node = Node::start().await;
    node.on("POST /v1/components/registry", registry);
    let seen = node
        .run(&["publish", "https://example.com/broken.mjs"])
        .await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr.starts_with("error: it is broken\n"),
        "{}",
        seen.stderr
    );
    assert_eq!(node.run(&["publish", "nowhere"]).await.code, 1);
    assert_eq!(node.run(&["publish", "npm:"]).await.code, 2);
}

#[tokio::test]
async fn the_components_of_a_folder_are_published_and_the_failing_ones_named() {
    let node = Node::start().await;
    node.on("POST /v1/components/registry", registry);
    let folder = tempfile::tempdir().unwrap();
    for (name, key) in [
        ("sources/a.mjs", "shop-a"),
        ("sources/again.mjs", "again"),
        ("sources/broken.mjs", "broken"),
        ("sources/taken.mjs", "taken"),
    ] {
        write(folder.path(), name, &component(key));
    }
    write(folder.path(), "shop.app.mjs", &component("app"));
    write(folder.path(), "common.mjs", "export default { name: 1 };");
    let path = folder.path().to_str().unwrap();
    let seen = node.run(&["publish", path]).await;
    assert_eq!(seen.code, 1);
    let told = seen.stderr.replace(path, "DIR");
    assert_eq!(
        told,
        "[1/4] published shop-a 1.0.0\n\
         [2/4] unchanged shop-a 1.0.0\n\
         [3/4] failed DIR/sources/broken.mjs: it is broken\n\
         [4/4] failed DIR/sources/taken.mjs: version 1.0.0 is published with other code\n\
         2 of 4 components failed; the others are in the registry\n"
    );
    assert_eq!(seen.stdout.lines().count(), 3);
}

#[tokio::test]
async fn a_component_that_does_not_write_out_its_version_is_named_as_refused() {
    let node = Node::start().await;
    node.on("POST /v1/components/registry", registry);
    let folder = tempfile::tempdir().unwrap();
    let shorthand =
        "const version = \"1.0.0\";\nexport default { key: \"shop-b\", version, run() {} };\n";
    write(folder.path(), "actions/a/a.mjs", &component("shop-a"));
    write(folder.path(), "actions/b/b.mjs", shorthand);
    let path = folder.path().to_str().unwrap();
    let seen = node.run(&["publish", path]).await;
    assert_eq!(seen.code, 1);
    assert_eq!(
        seen.stderr.replace(path, "DIR"),
        "[1/2] published shop-a 1.0.0\n\
         [2/2] refused DIR/actions/b/b.mjs: it does not write out its `key` and `version`\n\
         1 of 2 components failed; the others are in the registry\n"
    );
    std::fs::remove_file(folder.path().join("actions/a/a.mjs")).unwrap();
    let seen = node.run(&["publish", path]).await;
    assert!(
        seen.stderr.ends_with("\n1 of 1 components failed\n"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn a_bad_file_of_a_package_holds_up_no_other_component() {
    let node = Node::start().await;
    node.on("POST /v1/registry/folders", |request| {
        if request.body.to_string().contains("refused") {
            let error = json!({"code": "invalid", "message": "its range is none"});
            return (400, json!({ "error": error }));
        }
        let components = request.body["components"].as_array().unwrap().iter();
        let published =
            components.map(|path| json!({"path": path, "id": "sc_1", "newly_published": true}));
        (200, json!({"data": published.collect::<Vec<_>>()}))
    });
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(folder.path(), "package.json", "{}");
    write(outside.path(), "key.mjs", "export default 'secret';");
    for name in ["a", "b", "c", "linking", "refused"] {
        let code = format!("import './{name}.app.mjs';\n{}", component(name));
        write(folder.path(), &format!("sources/{name}/{name}.mjs"), &code);
    }
    let link = folder.path().join("sources/linking/linking.app.mjs");
    std::os::unix::fs::symlink(outside.path().join("key.mjs"), link).unwrap();
    let path = folder.path().to_str().unwrap();
    let seen = node.run(&["publish", path, "--unbuilt", "--json"]).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    let report: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(report["published"], 3, "{report:#}");
    let refused = report["refused"].as_array().unwrap().iter();
    let refused = refused.map(|one| {
        (
            one["path"].as_str().unwrap(),
            one["reason"].as_str().unwrap(),
        )
    });
    let refused: Vec<_> = refused.collect();
    let paths: Vec<_> = refused.iter().map(|(path, _)| *path).collect();
    assert_eq!(
        paths,
        ["sources/linking/linking.mjs", "sources/refused/refused.mjs"]
    );
    assert!(
        refused[0].1.contains("link out of the folder"),
        "{refused:?}"
    );
    assert!(refused[1].1.contains("its range is none"), "{refused:?}");
}

#[tokio::test]
async fn a_folder_without_components_is_an_error() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let seen = node
        .run(&["publish", folder.path().to_str().unwrap()])
        .await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr.contains("there is no component in"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn the_components_of_a_package_are_published_at_the_version_it_has_now() {
    let node = Node::start().await;
    node.on("POST /v1/components/registry", registry);
    let listed =
        json!({"specifier": "npm:rss@2.0.0", "modules": ["sources/a.mjs", "actions/taken.mjs"]});
    node.data("GET /v1/packages/modules", listed);
    let seen = node.run(&["publish", "npm:rss"]).await;
    assert_eq!((seen.code, &*seen.stdout), (0, ROW));
    assert_eq!(
        seen.stderr,
        "[1/2] published shop-a 1.0.0\n\
         [2/2] kept actions/taken.mjs: version 1.0.0 is published with other code\n\
         1 unchanged since they were published\n"
    );
    assert_eq!(
        node.received("GET /v1/packages/modules")[0].query["specifier"],
        "npm:rss"
    );
    // Two are under way at a time: which of them comes in first is open.
    let sent: HashSet<_> = node
        .received("POST /v1/components/registry")
        .iter()
        .map(|request| request.body["component_url"].to_string())
        .collect();
    let modules = ["sources/a.mjs", "actions/taken.mjs"];
    let asked = modules.map(|module| json!(format!("npm:rss@2.0.0/{module}")).to_string());
    assert_eq!(sent, HashSet::from(asked));
}

#[tokio::test]
async fn without_a_key_nothing_more_is_tried() {
    let node = Node::start().await;
    node.on("POST /v1/components/registry", |_| {
        (
            401,
            json!({"error": {"code": "unauthenticated", "message": "no"}}),
        )
    });
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b", "c", "d", "e", "f"] {
        write(folder.path(), &format!("{name}.mjs"), &component(name));
    }
    let seen = node
        .run(&["publish", folder.path().to_str().unwrap()])
        .await;
    assert_eq!(seen.code, 1);
    // Those that were under way beside the first.
    assert!(node.received("POST /v1/components/registry").len() <= 2);
}

#[tokio::test]
async fn components_are_searched_and_listed() {
    let node = Node::start().await;
    let found = json!([
        {"id": "sc_1", "key": "shop-a", "version": "1.0.0", "type": "source", "published": true, "name": "A"},
        {"id": "sc_2", "version": "1", "type": "action", "published": false, "name": "B"},
    ]);
    node.list("GET /v1/components", found);
    let arguments = [
        "list",
        "components",
        "new",
        "row",
        "--app",
        "shop",
        "--type",
        "source",
    ];
    let seen = node.run(&arguments).await;
    assert_eq!(
        seen.stdout,
        "KEY      VERSION   TYPE     PUBLISHED   NAME\n\
         shop-a   1.0.0     source   yes         A\n\
         sc_2     1         action   no          B\n"
    );
    let query = &node.received("GET /v1/components")[0].query;
    assert_eq!(
        (&*query["q"], &*query["app"], &*query["type"]),
        ("new row", "shop", "source")
    );
    let seen = node.run(&["list", "components", "-n", "2"]).await;
    assert!(seen.stderr.contains("--limit"), "{}", seen.stderr);
    assert_eq!(
        node.run(&["list", "components", "--type", "app"])
            .await
            .code,
        2
    );
}

#[tokio::test]
async fn a_key_deploys_what_the_node_has_under_it() {
    let node = Node::start().await;
    let component = json!({"id": "sc_1", "configurable_props": []});
    node.data("GET /v1/components/shop-a@1.0.0", component);
    node.data(
        "POST /v1/sources",
        json!({"id": "dc_1", "name": "a", "configured_props": {}}),
    );
    let seen = node.run(&["deploy", "shop-a@1.0.0"]).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    let deployed = &node.received("POST /v1/sources")[0].body;
    assert_eq!(deployed["component_id"], "sc_1");
    assert!(node.received("POST /v1/components").is_empty());

    node.list("GET /v1/packages/components", json!([]));
    let seen = node.run(&["deploy", "shop-b"]).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("shop-b"), "{}", seen.stderr);
    assert!(seen.stderr.contains("headwater search"), "{}", seen.stderr);
}

/// The node has the bundle of a component that was built, and the file of one that was not: it is asked in both ways.
#[tokio::test]
async fn the_same_code_is_unchanged_whether_it_was_published_built_or_not() {
    let other_code = "version 1.0.0 of `shop-a` is published with other code";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "a.mjs", &component("shop-a"));
    let dir = folder.path().to_str().unwrap();

    let node = Node::start().await;
    node.on("POST /v1/components/registry", move |_| {
        let error = json!({"error": {"code": "conflict", "message": other_code}});
        (409, error)
    });
    node.on("POST /v1/registry/folders", |_| {
        let same = json!({
            "path": "a.mjs", "key": "shop-a", "version": "1.0.0", "id": "sc_1", "newly_published": false,
        });
        (200, json!({"data": [same]}))
    });
    let seen = node.run(&["publish", dir]).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert!(
        seen.stderr.contains("[1/1] unchanged shop-a 1.0.0"),
        "{}",
        seen.stderr
    );
    let sent = &node.received("POST /v1/registry/folders")[0];
    let whole = json!({"files": {"a.mjs": component("shop-a")}, "components": ["a.mjs"]});
    assert_eq!(sent.body, whole);

    let node = Node::start().await;
    node.on("POST /v1/registry/folders", move |_| {
        let refused = json!({
            "path": "a.mjs", "key": "shop-a", "version": "1.0.0", "newly_published": false, "refused": other_code,
        });
        (200, json!({"data": [refused]}))
    });
    node.on("POST /v1/components/registry", |_| {
        let same =
            json!({"key": "shop-a", "version": "1.0.0", "id": "sc_1", "newly_published": false});
        (200, json!({"data": same}))
    });
    let seen = node.run(&["publish", dir, "--unbuilt"]).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert!(seen.stdout.contains("UNCHANGED   1"), "{}", seen.stdout);
}
