//! The whole public registry, from a checkout: here of another size.

use headwater_integration::{Node, Source, payloads};
use serde_json::{Value, json};

/// A checkout with so many apps, each of a source and an action that share files.
fn checkout(apps: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: String, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("package.json".to_owned(), r#"{"name": "components"}"#);
    for app in 0..apps {
        let at = format!("components/app{app}");
        write(
            format!("{at}/package.json"),
            r#"{"dependencies": {"@pipedream/platform": "^3.0.0"}}"#,
        );
        write(
            format!("{at}/app{app}.app.mjs"),
            &format!(
                "import {{ say }} from './common/say.mjs'; export default {{ methods: {{ say: () => say({app}) }} }};"
            ),
        );
        write(
            format!("{at}/common/say.mjs"),
            "export const say = (app) => `app ${app}`;",
        );
        write(
            format!("{at}/sources/new/new.mjs"),
            &format!(
                "import app from '../../app{app}.app.mjs';
                 export default {{
                   key: 'app{app}-new', version: '0.0.1', name: 'New', run() {{ this.$emit(app.methods.say()); }},
                 }};"
            ),
        );
        write(
            format!("{at}/actions/get/get.mjs"),
            &format!(
                "import app from '../../app{app}.app.mjs';
                 export default {{
                   key: 'app{app}-get', version: '0.0.1', name: 'Get', type: 'action', run() {{ return app.methods.say(); }},
                 }};"
            ),
        );
    }
    write(
        "components/odd/sources/odd/odd.mjs".to_owned(),
        "export default { name: 'Odd' };",
    );
    write(
        "components/odd/sources/common/common.mjs".to_owned(),
        "export default {};",
    );
    folder
}

#[tokio::test]
async fn a_checkout_is_published_unbuilt_and_each_component_works() {
    let node = Node::start().await;
    let checkout = checkout(60);
    let folder = checkout.path().to_str().unwrap();
    let seen = node.cli(&["publish", folder, "--json"]).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    let report = seen.json();
    assert_eq!(
        (&report["published"], &report["unchanged"]),
        (&json!(120), &json!(0))
    );
    let refused = report["refused"].as_array().unwrap();
    assert_eq!(refused.len(), 1, "{report}");
    assert_eq!(refused[0]["path"], "components/odd/sources/odd/odd.mjs");
    let listed = node
        .get("/components?type=action&limit=100")
        .await
        .is(200)
        .items();
    assert_eq!(listed.len(), 60);

    for app in ["app3", "app59"] {
        let key = format!("{app}-new");
        let source = json!({"component_id": key, "name": app});
        let source = Source::new(node.post("/sources", source).await.is(200).data());
        node.run(&source, json!({})).await;
        let said = app.replace("app", "app ");
        assert_eq!(payloads(&node.events(&source).await), [json!(said)]);
    }
    let ran = node
        .cli(&["run-action", "app7-get", "--json"])
        .await
        .ok()
        .json();
    assert_eq!(ran["outcome"]["value"], "app 7", "{ran}");

    let again = node.cli(&["publish", folder, "--json"]).await.json();
    assert_eq!(
        (&again["published"], &again["unchanged"]),
        (&json!(0), &json!(120))
    );
}

#[tokio::test]
async fn a_small_folder_is_built_unless_that_is_not_wanted() {
    let node = Node::start().await;
    let checkout = checkout(1);
    let folder = checkout.path().join("components/app0");
    let folder = folder.to_str().unwrap();
    let seen = node.cli(&["publish", folder, "--unbuilt"]).await.ok();
    assert!(seen.stdout.contains("PUBLISHED   2"), "{}", seen.stdout);
    let props = node.get("/components/app0-get").await.is(200).data();
    assert_eq!(props["configurable_props"], Value::Array(Vec::new()));
    let file = format!("{folder}/sources/new/new.mjs");
    let seen = node.cli(&["publish", &file, "--unbuilt"]).await;
    assert_eq!(seen.code, 2, "{}", seen.stderr);
}
