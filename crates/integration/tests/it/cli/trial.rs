//! `headwater try`.

use headwater_integration::Node;

const CODE: &str = r#"
export default { name: "Orders", key: "shop-orders", version: "0.0.1", props: { shop: "string" },
  run(event) {
    console.log("trying", this.shop);
    if (event.fails) throw new Error("the shop did not answer");
    this.$emit({ order: event.order }, { summary: `Order ${event.order}` });
  } };"#;

#[tokio::test]
async fn a_file_is_tried_and_not_deployed() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("orders.mjs"), CODE).unwrap();
    let event = ["--prop", "shop=mine", "--event", r#"{"order": 7}"#];
    let arguments = [&["try", "orders.mjs"][..], &event].concat();
    let seen = node.cli_in(folder.path(), &arguments).await.ok();
    assert!(seen.stderr.contains("trying mine"), "{}", seen.stderr);
    for shown in ["EMITTED      1", "EVENT Order 7", "\"order\": 7"] {
        assert!(seen.stdout.contains(shown), "{shown}: {}", seen.stdout);
    }
    let listed = node.get("/users/me/sources").await.is(200).items();
    assert!(listed.is_empty(), "{listed:?}");
    let fails = ["--prop", "shop=mine", "--event", r#"{"fails": true}"#];
    let arguments = [&["try", "orders.mjs"][..], &fails].concat();
    let failed = node.cli_in(folder.path(), &arguments).await;
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    assert!(
        failed.stderr.contains("the shop did not answer"),
        "{}",
        failed.stderr
    );
}
