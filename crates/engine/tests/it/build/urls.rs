//! Components given by URL.

use headwater_engine::{Build, BuildStage, ComponentCode, Rejection, network::NetworkPolicy};
use url::Url;

use crate::support::{builder, files, module_server};

async fn build_url(url: Url, policy: NetworkPolicy) -> Result<Build, Rejection> {
    builder(policy)
        .await
        .build(ComponentCode::Url(url))
        .await
        .expect("a working host")
}

const ENTRY: &str = r#"
import helper from "../lib/helper.mjs";
import data from "./data.json" with { type: "json" };
import get from "lodash.get@4.4.2";
export default { name: get(data, "name"), version: "1", description: helper, run() {} };
"#;

#[tokio::test]
async fn relative_imports_are_fetched_beside_the_component() {
    let server = module_server(&[
        ("/repo/sources/new.mjs", ENTRY),
        ("/repo/sources/data.json", r#"{"name": "From a URL"}"#),
        (
            "/repo/lib/helper.mjs",
            "import { word } from './deep/word.ts';\nexport default `a ${word}`;",
        ),
        (
            "/repo/lib/deep/word.ts",
            "export const word: string = 'word';",
        ),
    ])
    .await;
    let build = build_url(
        server.join("repo/sources/new.mjs").unwrap(),
        NetworkPolicy::All,
    )
    .await
    .unwrap();
    assert_eq!(build.code, ENTRY);
    assert_eq!(build.description.name, "From a URL");
    assert_eq!(build.description.description.as_deref(), Some("a word"));
    assert_eq!(
        files(&build).into_keys().collect::<Vec<_>>(),
        ["component.mjs", "component.mjs.map"]
    );
}

#[tokio::test]
async fn absolute_imports_are_fetched_from_their_own_hosts() {
    let other = module_server(&[
        (
            "/name.mjs",
            "import { suffix } from \"./suffix.mjs\"; export const name = \"Other\" + suffix;",
        ),
        ("/suffix.mjs", "export const suffix = \" host\";"),
    ])
    .await;
    let code = format!(
        "import {{ name }} from \"{other}name.mjs\"; export default {{ name, version: \"1\", run() {{}} }};"
    );
    let server = module_server(&[("/new.mjs", &code)]).await;
    let build = build_url(server.join("new.mjs").unwrap(), NetworkPolicy::All)
        .await
        .unwrap();
    assert_eq!(build.description.name, "Other host");
}

#[tokio::test]
async fn stacks_name_the_url() {
    let server = module_server(&[
        ("/new.mjs", "import \"./fails.mjs\";\nexport default {};"),
        (
            "/fails.mjs",
            "export const x = 1;\nthrow new Error(\"at load\");",
        ),
    ])
    .await;
    let rejection = build_url(server.join("new.mjs").unwrap(), NetworkPolicy::All)
        .await
        .map(|_| ())
        .unwrap_err();
    assert!(
        rejection.error.stack.contains("/fails.mjs:2:"),
        "{}",
        rejection.error.stack
    );
    assert!(
        rejection.error.stack.contains(server.as_str()),
        "{}",
        rejection.error.stack
    );
}

#[tokio::test]
async fn a_redirect_is_followed_and_what_is_relative_is_relative_to_its_end() {
    let server = module_server(&[
        ("/a/new.mjs", "import { name } from \"./name.mjs\"; export default { name, version: \"1\", run() {} };"),
        ("/a/name.mjs", "export const name = \"Moved\";"),
    ])
    .await;
    let build = build_url(
        server.join("elsewhere/a/new.mjs").unwrap(),
        NetworkPolicy::All,
    )
    .await
    .unwrap();
    assert_eq!(build.description.name, "Moved");
}

#[tokio::test]
async fn a_common_js_component_may_leave_endings_out() {
    let server = module_server(&[
        ("/new.js", "const { name } = require(\"./lib/name\");\nmodule.exports = { name, version: \"1\", run() {} };"),
        ("/lib/name.js", "exports.name = \"Old \" + require(\"../word.json\");"),
        ("/word.json", "\"way\""),
    ])
    .await;
    let build = build_url(server.join("new.js").unwrap(), NetworkPolicy::All)
        .await
        .unwrap();
    assert_eq!(build.description.name, "Old way");
}

#[tokio::test]
async fn private_addresses_are_refused() {
    let server = module_server(&[("/new.mjs", "export default {};")]).await;
    let port = server.port().unwrap();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::ffff:127.0.0.1]",
        "2130706433",
        "[::1]",
    ] {
        let url = Url::parse(&format!("http://{host}:{port}/new.mjs")).unwrap();
        let rejection = build_url(url, NetworkPolicy::PublicOnly)
            .await
            .map(|_| ())
            .unwrap_err();
        assert_eq!(rejection.stage, BuildStage::Fetch);
        assert!(
            rejection.error.message.contains("not a public address"),
            "{}",
            rejection.error.message
        );
    }
}

#[tokio::test]
async fn an_allowed_host_cannot_redirect_to_a_refused_one() {
    let server = module_server(&[("/new.mjs", "export default {};")]).await;
    let policy: NetworkPolicy = "127.0.0.1/32".parse().unwrap();
    let url = server.join("elsewhere//127.0.0.2/new.mjs").unwrap();
    let rejection = build_url(url, policy).await.map(|_| ()).unwrap_err();
    assert!(
        rejection
            .error
            .message
            .contains("127.0.0.2 is not a public address"),
        "{}",
        rejection.error.message
    );
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let server = module_server(&[("/new.mjs", "import \"./gone.mjs\"; export default {};")]).await;
    for path in ["new.mjs", "none.mjs"] {
        let rejection = build_url(server.join(path).unwrap(), NetworkPolicy::All)
            .await
            .map(|_| ())
            .unwrap_err();
        assert_eq!(rejection.stage, BuildStage::Fetch);
        assert!(
            rejection.error.message.contains("404"),
            "{}",
            rejection.error.message
        );
    }
}
