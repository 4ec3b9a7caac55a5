//! Packages from npm: with and without a version, pinned by what is saved.

use headwater_integration::{Node, payloads};
use serde_json::json;

#[tokio::test]
async fn packages_are_imported_with_and_without_a_version() {
    let node = Node::start().await;
    let code = r#"
import leftPad from "left-pad@1.1.0";
import leftPadPackage from "left-pad@1.1.0/package.json" with { type: "json" };
import ms from "ms";
import isOdd from "npm:is-odd@^3";
export default {
  name: "Packages",
  version: "0.0.1",
  run() {
    this.$emit({ padded: leftPad("7", 3), version: leftPadPackage.version, ms: ms("2s"), odd: isOdd(3) });
  },
};
"#;
    let source = node.deploy(code, json!({})).await;
    node.run(&source, json!({})).await;
    let expected = json!({"padded": "  7", "version": "1.1.0", "ms": 2000, "odd": true});
    assert_eq!(payloads(&node.events(&source).await), [expected]);
}

#[tokio::test]
async fn commonjs_requires_packages_with_a_version() {
    let node = Node::start().await;
    let code = r#"
const leftPad = require("left-pad@1.2.0");
module.exports = {
  name: "Required",
  version: "0.0.1",
  run() { this.$emit(leftPad(5, 2, "0")); },
};
"#;
    let source = node.deploy(code, json!({})).await;
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), ["05"]);
}

#[tokio::test]
async fn the_platform_package_can_be_imported_without_a_version() {
    let node = Node::start().await;
    let code = r#"
import { axios, ConfigurationError, DEFAULT_POLLING_SOURCE_TIMER_INTERVAL } from "@pipedream/platform";
export default {
  name: "Platform",
  version: "0.0.1",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: DEFAULT_POLLING_SOURCE_TIMER_INTERVAL } } },
  run() {
    this.$emit({ axios: typeof axios, error: new ConfigurationError("x") instanceof Error });
  },
};
"#;
    let source = node.deploy(code, json!({})).await;
    assert_eq!(
        source.record["configured_props"]["timer"]["interval_seconds"],
        900
    );
    node.run(&source, json!({})).await;
    let expected = json!({"axios": "function", "error": true});
    assert_eq!(payloads(&node.events(&source).await), [expected]);
}

#[tokio::test]
async fn a_saved_component_runs_where_packages_cannot_be_fetched() {
    let mut node = Node::builder().own_address().start().await;
    let code = r#"
import ms from "ms@2.1.3";
export default { name: "Saved", version: "0.0.1", run() { this.$emit(ms("1m")); } };
"#;
    let source = node.deploy(code, json!({})).await;
    node.kill_9();
    std::fs::remove_dir_all(node.data_dir().join("cache")).unwrap();
    node.add_env("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9/");
    node.restart().await;
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), [60_000]);
}

#[tokio::test]
async fn packages_built_from_sources_of_elsewhere_are_bundled() {
    let node = Node::start().await;
    // Their source maps name files by the address of their repository.
    let code = r#"
import * as cheerio from "cheerio@1.1.2";
export default {
  name: "Parsed",
  version: "0.0.1",
  run() { this.$emit(cheerio.load("<p>a <b>bold</b> word</p>")("b").text()); },
};
"#;
    let source = node.deploy(code, json!({})).await;
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), ["bold"]);
}

/// Saves an action that returns what `body` does, and runs it once.
async fn returned(node: &Node, imports: &str, body: &str) -> serde_json::Value {
    let code = format!(
        "{imports}\nexport default {{ name: \"Probe\", version: \"0.0.1\", type: \"action\", async run() {{ {body} }} }};"
    );
    let saved = node.save(&code).await;
    let path = format!("/components/{}/run", saved["id"].as_str().unwrap());
    let report = node.post(&path, json!({})).await.is(200).data();
    assert_eq!(report["outcome"]["status"], "returned", "{report}");
    report["outcome"]["value"].clone()
}

#[tokio::test]
async fn versions_live_side_by_side_and_every_form_of_specifier_is_read() {
    let node = Node::start().await;
    let imports = r#"
        import old from "axios@0.19.2"; import older from "axios@^0.18"; import current from "axios@latest";
        import ranged from "semver@~7.5"; import any from "npm:ms@*"; import map from "lodash@4/fp/map.js";
        import { WebClient } from "@slack/web-api@6"; import codes from "left-pad@1.1.0/package.json";
        import { customAlphabet } from "nanoid@3/non-secure";
    "#;
    let body = r#"
        const late = await import("left-pad@1.3.0");
        return [old !== older && older !== current, typeof old.get, ranged.valid("1.2.3"), any("1s"),
          map((n) => n + 1)([1]), typeof WebClient, codes.version, customAlphabet("a", 3)(), late.default("x", 2)];
    "#;
    let expected = json!([
        true,
        "function",
        "1.2.3",
        1000,
        [2],
        "function",
        "1.1.0",
        "aaa",
        " x"
    ]);
    assert_eq!(returned(&node, imports, body).await, expected);
}

#[tokio::test]
async fn webassembly_runs_and_packages_read_their_own_files() {
    let node = Node::start().await;
    // The first is read from a file beside its module, the second is inside of it, the third reads fonts.
    let imports = r#"
        import initSqlJs from "sql.js@1"; import Yoga from "yoga-layout@3"; import PDF from "pdfkit@0.15";
    "#;
    let body = r#"
        const database = new (await initSqlJs()).Database();
        const box = Yoga.Node.create(); box.setWidth(10); box.calculateLayout(100, 100);
        const document = new PDF(), chunks = [];
        document.on("data", (chunk) => chunks.push(chunk));
        const ended = new Promise((resolve) => document.on("end", resolve));
        document.text("hello"); document.end(); await ended;
        return [database.exec("select 40 + 2 as n")[0].values, box.getComputedWidth(),
          Buffer.concat(chunks).toString("latin1").slice(0, 5)];
    "#;
    let value = returned(&node, imports, body).await;
    assert_eq!(value, json!([[[42]], 10, "%PDF-"]));
}

#[tokio::test]
async fn a_package_with_an_addon_is_refused_over_the_api() {
    let node = Node::start().await;
    let code = "import bcrypt from \"bcrypt@6\"; export default { name: \"a\", version: \"1\", run() { return bcrypt; } };";
    let answer = node
        .post("/components", json!({"component_code": code}))
        .await
        .is(422);
    let told = answer.text;
    assert!(
        told.contains("bcrypt@6") && told.contains("bcryptjs"),
        "{told}"
    );
}

#[tokio::test]
async fn a_component_beside_its_packages_runs_where_packages_cannot_be_fetched() {
    let mut node = Node::builder().own_address().start().await;
    let code = r#"
import format from "pg-format@1.0.4";
export default { name: "Beside", version: "0.0.1", run() { this.$emit(format("%I", "a b")); } };
"#;
    let source = node.deploy(code, json!({})).await;
    node.kill_9();
    std::fs::remove_dir_all(node.data_dir().join("cache")).unwrap();
    node.add_env("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9/");
    node.restart().await;
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), ["\"a b\""]);
}
