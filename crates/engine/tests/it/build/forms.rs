//! Languages, packages and the two forms of an archive.

use headwater_engine::{Build, ComponentCode, network::NetworkPolicy};
use serde_json::Value;

use crate::support::{build_text, builder, files};

#[tokio::test]
async fn a_pinned_package_is_bundled_and_locked() {
    let code = r#"
        import axios from "axios@0.19.2";
        import fs from "fs";
        export default { name: "Pinned", version: "0.0.1", props: { db: "$.service.db" }, run() { return [axios, fs]; } };
    "#;
    let build = build_text(code).await.unwrap();
    assert_eq!(build.code, code);
    assert_eq!(build.description.name, "Pinned");
    assert_eq!(build.description.props.len(), 1);
    assert_eq!(
        files(&build).into_keys().collect::<Vec<_>>(),
        ["component.mjs", "component.mjs.map"]
    );
    let lock: Value = serde_json::from_str(&build.lock).unwrap();
    assert_eq!(lock["specifiers"]["npm:axios@0.19.2"], "0.19.2");
    assert!(
        lock["npm"]["axios@0.19.2"]["integrity"]
            .as_str()
            .unwrap()
            .starts_with("sha512-")
    );
    let mut text = Vec::new();
    let mut unzipped = flate2::read::GzDecoder::new(build.artifact.bytes.as_ref());
    std::io::Read::read_to_end(&mut unzipped, &mut text).unwrap();
    let text = String::from_utf8_lossy(&text);
    assert!(
        text.contains("axios") && !text.contains("deno-dir") && !text.contains("npm/"),
        "names of the building machine are in the archive"
    );
}

#[tokio::test]
async fn the_same_code_gives_the_same_archive() {
    let code = "import get from 'lodash.get@4.4.2'; export default { name: 'a', version: '1', run() { return get; } }";
    let builder = builder(NetworkPolicy::PublicOnly).await;
    let one = builder
        .build(ComponentCode::Text(code.into()))
        .await
        .unwrap()
        .unwrap();
    let two = builder
        .build(ComponentCode::Text(code.into()))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(one.artifact.hash, two.artifact.hash);
    assert_eq!(one.lock, two.lock);
}

#[tokio::test]
async fn common_js_may_require_packages_by_range() {
    let code = r#"
        const axios = require("axios@^0.20");
        const { join } = require("path");
        module.exports = { name: "Old", version: "1", async run() { return [axios.get, join("a", "b")]; } };
    "#;
    let build = build_text(code).await.unwrap();
    assert_eq!(build.description.name, "Old");
    assert!(build.lock.contains("npm:axios@0.20"), "{}", build.lock);
}

#[tokio::test]
async fn what_common_js_requires_is_what_node_gives() {
    // The package names another file for bundlers, whose exports are other things.
    let code = r#"
        const fetch = require("node-fetch@2.7.0");
        module.exports = { name: typeof fetch, version: "1", run() {} };
    "#;
    let build = build_text(code).await.unwrap();
    assert_eq!(build.description.name, "function");
}

#[tokio::test]
async fn typescript_is_recognised_without_a_file_name() {
    let code = r#"
        interface Row { id: number }
        export default { name: "Typed", version: "1", async run(event: { rows: Row[] }): Promise<number> { return event.rows.length; } };
    "#;
    assert_eq!(build_text(code).await.unwrap().description.name, "Typed");
    let code = "const name: string = 'Typed'; export default { name, version: '1', run() {} };";
    assert_eq!(build_text(code).await.unwrap().description.name, "Typed");
}

#[tokio::test]
async fn a_registry_source_with_hooks_and_inherited_props_is_described() {
    let code = r#"export { default } from "npm:@pipedream/pipedream/sources/new-scheduled-tasks/new-scheduled-tasks.mjs";"#;
    let build = build_text(code).await.unwrap();
    assert_eq!(
        build.description.key.as_deref(),
        Some("pipedream-new-scheduled-tasks")
    );
    assert!(build.description.has_run);
}

#[tokio::test]
async fn packages_that_read_their_own_files_are_kept_as_they_are() {
    let code = r#"
        import pinned from "axios@0.19.2";
        import source from "npm:@pipedream/postgresql@2.2.4/sources/new-row/new-row.mjs";
        export default { ...source, pinned };
    "#;
    let build = build_text(code).await.unwrap();
    assert_eq!(build.description.key.as_deref(), Some("postgresql-new-row"));
    let files = files(&build);
    assert!(files.contains_key("component.mjs"));
    assert!(files.contains_key("node_modules/axios@0.19.2"));
    assert!(
        files
            .keys()
            .any(|path| path.contains("pg-format") && path.ends_with("reserved.js"))
    );
    let mut packages = files.keys().filter(|path| path.starts_with("node_modules"));
    assert!(!packages.any(|path| path.ends_with(".d.ts") || path.ends_with(".map")));
}

#[tokio::test]
async fn the_platform_package_is_there_for_packages_that_do_not_declare_it() {
    // Any package that must stay unbundled: what is beside it in the archive is what counts.
    let code = "import format from \"pg-format@1.0.4\"; export default { name: \"a\", version: \"1\", run() { return format; } };";
    let build = build_text(code).await.unwrap();
    assert!(files(&build).contains_key("node_modules/@pipedream/platform"));
}

#[tokio::test]
async fn what_a_package_imports_undeclared_is_the_latest_release() {
    let code = "export { default } from \"@pipedream/helper_functions@0.3.13/actions/prettify-json/prettify-json.mjs\";";
    let build = build_text(code).await.unwrap();
    assert_eq!(
        build.description.key.as_deref(),
        Some("helper_functions-prettify-json")
    );
    assert!(
        build.lock.contains("\"npm:lodash.set@latest\""),
        "{}",
        build.lock
    );
    assert!(!files(&build).contains_key("package.json"));
}

#[tokio::test]
async fn a_package_may_ask_for_facts_of_the_machine_as_it_loads() {
    let code = "import { WebClient } from \"@slack/web-api@7.9.0\"; export default { name: \"a\", version: \"1\", run() { return WebClient; } };";
    assert_eq!(build_text(code).await.unwrap().description.name, "a");
}

#[tokio::test]
async fn what_create_require_made_requires_packages_with_a_version() {
    let code = r#"
        import { createRequire } from "node:module";
        const load = createRequire(import.meta.url);
        const get = load("lodash.get@4.4.2");
        export default { name: get({ a: "Loaded" }, "a"), version: "1", run() {} };
    "#;
    let build = build_text(code).await.unwrap();
    assert_eq!(build.description.name, "Loaded");
    assert!(build.lock.contains("lodash.get"), "{}", build.lock);
}

#[tokio::test]
async fn a_default_import_of_common_js_is_there_although_the_bundler_knows_none() {
    // Its module for bundlers has names only; what Node loads has them all in the default.
    let code = "import rest from \"@octokit/rest@18\"; \
                export default { name: typeof rest.Octokit, version: \"1\", run() {} };";
    let build = build_text(code).await.unwrap();
    assert_eq!(build.description.name, "function");
}

#[tokio::test]
async fn packages_whose_native_part_is_optional_are_taken() {
    let code = "import ssh from \"ssh2@1\"; import Socket from \"ws@8\"; import websocket from \"websocket@1\";\n\
                export default { name: [ssh.Client, Socket, websocket.client].map((it) => typeof it).join(), version: \"1\", run() {} };";
    let build = build_text(code).await.unwrap();
    assert_eq!(build.description.name, "function,function,function");
}

/// The names of the shared modules in an archive.
fn shared(build: &Build) -> Vec<String> {
    let files = files(build).into_keys();
    let shared = files.filter(|path| path.starts_with("shared/"));
    shared.collect()
}

#[tokio::test]
async fn the_platform_package_is_the_same_module_for_all_components() {
    let builder = builder(NetworkPolicy::PublicOnly).await;
    let exported = "export default { name: 'a', version: '1', run() { return axios; } }";
    let mut found = Vec::new();
    for imports in [
        "import { axios } from '@pipedream/platform';",
        "import platform, { axios } from 'npm:@pipedream/platform';",
        "import * as all from '@pipedream/platform'; const { axios } = all;",
        "import { axios } from '@pipedream/platform'; import get from 'lodash.get@4.4.2'; get();",
        "import { axios, type SendConfig } from '@pipedream/platform'; const one: number = 1;",
        "const { axios } = await import('@pipedream/platform');",
    ] {
        let code = ComponentCode::Text(format!("{imports}\n{exported}"));
        let build = builder.build(code).await.unwrap().unwrap();
        let modules = shared(&build);
        assert_eq!(modules.len(), 2, "{imports}");
        assert!(build.lock.contains("@pipedream/platform"), "{imports}");
        found.push(modules);
    }
    assert!(
        found.iter().all(|modules| *modules == found[0]),
        "{found:?}"
    );
    let plain = format!("const axios = 1; {exported}");
    let plain = builder.build(ComponentCode::Text(plain)).await;
    assert_eq!(shared(&plain.unwrap().unwrap()), [""; 0]);
}

#[tokio::test]
async fn what_the_platform_package_exports_is_as_node_has_it() {
    let builder = builder(NetworkPolicy::PublicOnly).await;
    let facts = "[typeof axios, platform.axios === axios, typeof platform.default, String(missing), process.env.NODE_ENV]";
    for language in [
        "",
        "const typed: number = 1;",
        "import get from 'lodash.get@4.4.2'; get();",
    ] {
        let code = format!(
            "import platform, {{ axios, missing }} from '@pipedream/platform'; {language}
             export default {{ name: {facts}.join(), version: '1', run() {{}} }}"
        );
        let build = builder
            .build(ComponentCode::Text(code))
            .await
            .unwrap()
            .unwrap();
        let expected = "function,true,undefined,undefined,development";
        assert_eq!(build.description.name, expected, "{language}");
    }
}

#[tokio::test]
async fn a_component_that_fails_as_a_function_is_kept_as_a_module() {
    let code = "if (import.meta.url.includes('/factory/')) throw new Error('a function');
                export default { name: 'a', version: '1', run() {} };";
    let build = build_text(code).await.unwrap();
    assert!(files(&build).contains_key("module-only"));
    let build = build_text(&code.replace("/factory/", "/no/"))
        .await
        .unwrap();
    assert!(!files(&build).contains_key("module-only"));
}

#[tokio::test]
async fn each_component_is_described_in_a_process_of_its_own() {
    let builder = builder(NetworkPolicy::PublicOnly).await;
    let code = "globalThis.seen = [...globalThis.seen ?? [], 1];
                export default { name: String(globalThis.seen.length), version: '1', run() {} };";
    for _ in 0..3 {
        let build = builder.build(ComponentCode::Text(code.into())).await;
        assert_eq!(build.unwrap().unwrap().description.name, "1");
    }
}
