//! The pictures of the README, taken of pages as they are. `cargo xtask pictures` takes them anew.

use std::path::PathBuf;

use headwater_integration::{Chromium, Look, Node};
use serde_json::json;

use crate::workflows::{Folder, HTTP, until};

const ORDERS: &str = "export default { name: 'Orders', version: '0.0.1', props: { http: '$.interface.http' }, \
    run({ body }) { console.log(`Order ${body.order} to ${body.city}`); \
      this.$emit(body, { id: body.order, summary: `Order ${body.order} to ${body.city}, ${body.total.toFixed(2)} €` }); } }";
const CITIES: [&str; 6] = ["Lisbon", "Nairobi", "Lyon", "Osaka", "Recife", "Brno"];
/// Most bytes of a picture that everybody loads with the README.
const MOST_BYTES: usize = 80 * 1_024;
const WIDTH: u32 = 800;
const HEIGHT: u32 = 640;

/// The folder of the README's pictures where they are taken anew, otherwise that of all pictures.
fn folder() -> PathBuf {
    match std::env::var_os("HEADWATER_TEST_PICTURES") {
        Some(folder) => folder.into(),
        None => super::looks::pictures(),
    }
}

#[tokio::test]
async fn pictures_of_the_readme_are_taken() {
    let node = Node::builder().private_network().start().await;
    let source = node.deploy(ORDERS, json!({})).await;
    for (at, city) in CITIES.iter().enumerate() {
        let body = json!({"order": 1041 + at, "city": city, "total": 12.5 * (at + 1) as f64});
        node.run(&source, json!({ "body": body })).await;
    }
    let steps = [
        (
            "check_stock",
            "console.log('7 on the shelf'); return { left: 7 };",
        ),
        (
            "charge",
            "await new Promise((done) => setTimeout(done, 120)); return { paid: true };",
        ),
        (
            "tell_the_customer",
            "await new Promise((done) => setTimeout(done, 40)); return 'sent';",
        ),
    ];
    let workflow = Folder::new(HTTP, &steps).deployed(&node).await;
    let run = workflow.start(&node, json!({"order": 1046})).await;
    until(&node, &run, "succeeded").await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    for (name, path) in [
        ("source", format!("/sources/{}", source.id)),
        ("workflow-run", format!("{}{run}", workflow.path())),
    ] {
        let look = Look {
            width: WIDTH,
            is_dark: false,
        };
        tab.look(look).await;
        tab.open(&path).await;
        tab.sees("main h1").await;
        let picture = tab.picture_of(WIDTH, HEIGHT).await;
        assert!(
            picture.len() <= MOST_BYTES,
            "{name}: {} bytes",
            picture.len()
        );
        assert_eq!(tab.problems().await, Vec::<String>::new());
        std::fs::create_dir_all(folder()).unwrap();
        std::fs::write(folder().join(format!("{name}.png")), picture).unwrap();
    }
}
