//! Bundling a local file for sending.

use std::fs;

use crate::support::{build_text, bundled};

#[tokio::test]
async fn a_file_that_stands_alone_is_sent_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let code = "// kept\nimport axios from \"axios@0.19.2\";\nexport default { axios };\n";
    let file = folder.path().join("a.mjs");
    fs::write(&file, code).unwrap();
    assert_eq!(bundled(&file).await.unwrap(), None);
}

#[tokio::test]
async fn relative_imports_are_inlined_and_packages_are_left_to_the_server() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("common")).unwrap();
    fs::write(folder.path().join("data.json"), "{\"name\": \"Local\"}").unwrap();
    fs::write(folder.path().join("common/base.ts"), "import get from \"lodash.get@4.4.2\";\nexport const pick = (from: object, what: string): string => get(from, what);").unwrap();
    fs::write(
        folder.path().join("common/old.cjs"),
        "module.exports = { version: require(\"lodash.get@4.4.2\")({ v: \"2\" }, \"v\") };",
    )
    .unwrap();
    let file = folder.path().join("source.mjs");
    fs::write(
        &file,
        "import data from \"./data.json\" with { type: \"json\" };\nimport { pick } from \"./common/base.ts\";\n\
         import old from \"./common/old.cjs\";\nimport fs from \"fs\";\n\
         export default { name: pick(data, \"name\"), version: old.version, run() { return fs; } };\n",
    )
    .unwrap();
    let text = bundled(&file).await.unwrap().unwrap();
    assert!(
        text.contains("\"lodash.get@4.4.2\"") && !text.contains("./common"),
        "{text}"
    );
    let build = build_text(&text).await.unwrap();
    assert_eq!(build.description.name, "Local");
    assert_eq!(build.description.version.as_deref(), Some("2"));
}

#[tokio::test]
async fn a_missing_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mjs");
    fs::write(&file, "import x from \"./gone.mjs\";\nexport default x;").unwrap();
    let error = bundled(&file).await.unwrap_err().to_string();
    assert!(error.contains("gone.mjs"), "{error}");
}
