//! The Helm chart, checked and rendered by Helm's own library.

use headwater_integration::Python;

use super::files;

#[tokio::test]
async fn helm_finds_no_fault_and_renders_what_the_values_say() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/operating/chart.py");
    let chart = files::path("helm/headwater").display().to_string();
    Python::new().run(&[script, &chart], &[]).await;
}
