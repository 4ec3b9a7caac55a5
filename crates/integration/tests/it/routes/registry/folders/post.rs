//! `POST /registry/folders`.

use headwater_integration::Node;
use serde_json::{Value, json};

const APP: &str =
    r#"export default { type: "app", app: "shop", methods: { greeting: () => "hello" } };"#;
const NEW: &str = r#"
import shop from "../../shop.app.mjs";
export default {
  key: "shop-new", version: "0.1.0", name: "New Order", description: "Emits orders.",
  props: { label: { type: "string", optional: true } },
  run() { this.$emit(shop.methods.greeting()); },
};
"#;
const PATH: &str = "components/shop/sources/new/new.mjs";

fn folder(files: &[(&str, &str)], components: &[&str]) -> Value {
    let files: serde_json::Map<_, _> = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), (*text).into()))
        .collect();
    json!({"files": files, "components": components})
}

fn shop() -> Value {
    folder(
        &[("components/shop/shop.app.mjs", APP), (PATH, NEW)],
        &[PATH],
    )
}

#[tokio::test]
async fn a_component_is_listed_at_once_and_built_at_its_first_use() {
    let node = Node::start().await;
    let results = node.post("/registry/folders", shop()).await.is(200).data();
    let id = results[0]["id"].clone();
    let expected = json!([{
        "path": PATH, "key": "shop-new", "version": "0.1.0", "id": id, "newly_published": true,
    }]);
    assert_eq!(results, expected);
    let listed = node
        .get("/components?q=orders&app=shop")
        .await
        .is(200)
        .items();
    assert_eq!(
        (&listed[0]["id"], &listed[0]["name"]),
        (&id, &json!("New Order"))
    );

    let component = node
        .get("/components/registry/shop-new")
        .await
        .is(200)
        .data();
    assert_eq!(component["id"], id);
    assert_eq!(component["configurable_props"][0]["name"], "label");
    let source = json!({"component_id": "shop-new@0.1.0"});
    let source = node.post("/sources", source).await.is(200).data();
    assert_eq!(source["component_id"], id);
    let source = headwater_integration::Source::new(source);
    node.run(&source, json!({})).await;
    let events = node.events(&source).await;
    assert_eq!(headwater_integration::payloads(&events), ["hello"]);

    let again = node.post("/registry/folders", shop()).await.is(200).data();
    assert_eq!(
        (&again[0]["id"], &again[0]["newly_published"]),
        (&id, &json!(false))
    );
}

#[tokio::test]
async fn one_that_cannot_be_published_holds_up_no_other() {
    let node = Node::start().await;
    let bad = NEW.replace("0.1.0", "{{ts}}");
    let components = ["a.mjs", "bad.mjs", "gone.mjs", "good.mjs"];
    let body = folder(
        &[
            ("a.mjs", "export default {}"),
            ("bad.mjs", &bad),
            ("good.mjs", NEW),
        ],
        &components,
    );
    let results = node.post("/registry/folders", body).await.is(200).data();
    let refused: Vec<_> = results
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["refused"].as_str().unwrap_or_default())
        .collect();
    for (refused, expected) in refused
        .iter()
        .zip(["`key`", "semantic", "no such file", ""])
    {
        assert!(refused.contains(expected), "{results:#}");
    }
    // Its import leads nowhere, as its first use tells.
    let error = node
        .get("/components/registry/shop-new")
        .await
        .is(422)
        .error();
    assert!(
        error["message"].as_str().unwrap().contains("shop.app.mjs"),
        "{error}"
    );
    let range = json!({"files": {}, "components": [], "component_dependencies": {"axios": "file:../axios"}});
    let error = node.post("/registry/folders", range).await.is(400).error();
    assert_eq!(error["param"], "component_dependencies");
}

#[tokio::test]
async fn a_component_is_what_it_was_published_as() {
    let node = Node::start().await;
    let code = r#"export default { ...{ key: "b" }, key: "a", version: "1.0.0", name: "A", run() {}, ...{ key: "c" } };"#;
    let body = folder(&[("a.mjs", code)], &["a.mjs"]);
    node.post("/registry/folders", body).await.is(200);
    for path in ["/components/registry/a", "/components/a"] {
        let error = node.get(path).await.is(422).error();
        assert_eq!(
            (&error["code"], &error["param"]),
            (&json!("invalid_component"), &json!("key"))
        );
        assert!(
            error["message"].as_str().unwrap().contains("`c`"),
            "{error}"
        );
    }
}
