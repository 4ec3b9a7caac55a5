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
