//! Components given by URL.

use axum::{
    extract::Path,
    http::{
        StatusCode,
        header::{CONTENT_ENCODING, CONTENT_TYPE},
    },
    response::Redirect,
    routing::get,
};
use headwater_engine::{Build, BuildStage, ComponentCode, Rejection, network::NetworkPolicy};
use url::Url;

use crate::support::{builder, files, module_server, serve_router};

async fn build_url(url: Url, policy: NetworkPolicy) -> Result<Build, Rejection> {
    builder(policy)
        .await
        .build(ComponentCode::Url(url))
        .await
        .expect("a working host")
}

async fn refused(url: Url) -> String {
    let built = build_url(url, NetworkPolicy::All).await;
    let rejection = built
        .map(|build| build.description)
        .expect_err("a rejection");
    rejection.error.message
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

#[tokio::test]
async fn endings_may_be_left_out_or_be_those_of_compiled_files() {
    let server = module_server(&[
        (
            "/new.ts",
            "import type { Nowhere } from './nowhere';\nimport { one } from './lib/one';\nimport two from './lib/two.js';\n\
             import three from './lib/three.mjs?v=1';\nimport four from './lib';\nimport five from './five.app';\n\
             export default { name: [one, two, three, four, five].join(), version: '1', run(): void {} } satisfies object as unknown as Nowhere;",
        ),
        ("/lib/one.ts", "export const one: number = 1;"),
        ("/lib/two.ts", "import back from '../lib/three.mjs';\nexport default back - 1 as number;"),
        ("/lib/three.mjs", "export default 3;"),
        ("/lib/index.js", "export default 4;"),
        ("/five.app.mjs", "export default 5;"),
    ])
    .await;
    let build = build_url(server.join("new.ts").unwrap(), NetworkPolicy::All).await;
    assert_eq!(build.unwrap().description.name, "1,2,3,4,5");
}

#[tokio::test]
async fn modules_may_import_each_other_in_a_circle() {
    let server = module_server(&[
        ("/new.mjs", "import { name } from './a.mjs'; export const end = '!'; export default { name: name(), version: '1', run() {} };"),
        ("/a.mjs", "import { word } from './b.mjs'; export const name = () => word(); export const inner = 'round';"),
        ("/b.mjs", "import { inner } from './a.mjs'; export const word = () => inner;"),
    ])
    .await;
    let build = build_url(server.join("new.mjs").unwrap(), NetworkPolicy::All).await;
    assert_eq!(build.unwrap().description.name, "round");
}

#[tokio::test]
async fn an_imported_module_may_be_redirected_and_imports_relative_to_its_end() {
    let server = module_server(&[
        ("/new.mjs", "import { name } from './elsewhere/lib/name.mjs'; export default { name, version: '1', run() {} };"),
        ("/lib/name.mjs", "import { word } from './word.mjs'; export const name = `moved ${word}`;"),
        ("/lib/word.mjs", "export const word = 'twice';"),
    ])
    .await;
    let build = build_url(server.join("new.mjs").unwrap(), NetworkPolicy::All).await;
    assert_eq!(build.unwrap().description.name, "moved twice");
}

#[tokio::test]
async fn a_query_belongs_to_the_address_and_not_to_the_name() {
    let server = module_server(&[
        ("/new.mjs", "import data from './data.json?at=1' with { type: 'json' }; export default { name: data, version: '1', run() {} };"),
        ("/data.json", "\"asked\""),
    ])
    .await;
    let url = server.join("new.mjs?token=a%2Fb").unwrap();
    let build = build_url(url, NetworkPolicy::All).await;
    assert_eq!(build.unwrap().description.name, "asked");
}

#[tokio::test]
async fn common_js_and_modules_import_each_other() {
    let server = module_server(&[
        ("/new.mjs", "import old, { part } from './old.cjs'; import { typed } from './typed.ts'; export default { ...old, name: part + typed, run() {} };"),
        ("/old.cjs", "const { name } = require('./older.js'); module.exports = { version: require('./data.json').version, part: name };"),
        ("/older.js", "exports.name = 'old';"),
        ("/data.json", "{\"version\": \"7\"}"),
        ("/typed.ts", "import json from './data.json'; export const typed: string = json.version;"),
    ])
    .await;
    let build = build_url(server.join("new.mjs").unwrap(), NetworkPolicy::All)
        .await
        .unwrap();
    assert_eq!(build.description.name, "old7");
    assert_eq!(build.description.version.as_deref(), Some("7"));
}

#[tokio::test]
async fn syntax_errors_name_the_address_line_and_column() {
    let server = module_server(&[
        ("/new.mjs", "import './lib/bad.ts'; export default {};"),
        (
            "/lib/bad.ts",
            "export const one = 1;\nexport const two: = 2;",
        ),
    ])
    .await;
    let told = refused(server.join("new.mjs").unwrap()).await;
    assert!(told.contains(&format!("{server}lib/bad.ts:2:19")), "{told}");
}

#[tokio::test]
async fn a_missing_import_is_named_with_the_module_that_imports_it() {
    let server = module_server(&[
        ("/new.mjs", "import './lib/a.mjs'; export default {};"),
        ("/lib/a.mjs", "import './gone.mjs';"),
    ])
    .await;
    let told = refused(server.join("new.mjs").unwrap()).await;
    let expected =
        format!("{server}lib/gone.mjs answered 404 Not Found; {server}lib/a.mjs imports it");
    assert!(told.contains(&expected), "{told}");
}

#[tokio::test]
async fn answers_that_are_no_modules_are_refused_with_why() {
    let app = axum::Router::new()
        .route(
            "/page.mjs",
            get(|| async { ([(CONTENT_TYPE, "text/html; charset=utf-8")], "<html>") }),
        )
        .route(
            "/packed.mjs",
            get(|| async { ([(CONTENT_ENCODING, "gzip")], [0x1f_u8, 0x8b]) }),
        )
        .route("/binary.mjs", get(|| async { [0xff_u8, 0xfe] }))
        .route("/large.mjs", get(|| async { "x".repeat((5 << 20) + 1) }))
        .route("/failing.mjs", get(|| async { StatusCode::BAD_GATEWAY }))
        .route(
            "/round.mjs",
            get(|| async { Redirect::temporary("/round.mjs") }),
        );
    let server = serve_router(app).await;
    for (path, complaint) in [
        ("page.mjs", "a web page"),
        ("packed.mjs", "compressed (gzip)"),
        ("binary.mjs", "not UTF-8"),
        ("large.mjs", "larger than 5 MiB"),
        ("failing.mjs", "502"),
        ("round.mjs", "more than 5 redirects"),
    ] {
        let told = refused(server.join(path).unwrap()).await;
        assert!(
            told.contains(complaint) && told.contains(path),
            "{path}: {told}"
        );
    }
}

#[tokio::test]
async fn any_content_type_but_a_web_page_is_taken() {
    let code = "export default { name: 'a', version: '1', run() {} };";
    let app = axum::Router::new().route(
        "/{kind}/{of}/new.mjs",
        get(move |Path((kind, of)): Path<(String, String)>| async move {
            ([(CONTENT_TYPE, format!("{kind}/{of}"))], code)
        }),
    );
    let server = serve_router(app).await;
    for content_type in ["text/plain", "application/octet-stream", "text/javascript"] {
        let url = server.join(&format!("{content_type}/new.mjs")).unwrap();
        assert!(
            build_url(url, NetworkPolicy::All).await.is_ok(),
            "{content_type}"
        );
    }
}

#[tokio::test]
async fn a_component_of_too_many_modules_is_refused() {
    let app = axum::Router::new().route(
        "/{number}",
        get(|Path(number): Path<String>| async move {
            let number: u32 = number.trim_end_matches(".mjs").parse().unwrap();
            format!(
                "import './{}.mjs'; import './{}.mjs'; export default {number};",
                2 * number,
                2 * number + 1
            )
        }),
    );
    let server = serve_router(app).await;
    let told = refused(server.join("1.mjs").unwrap()).await;
    assert!(told.contains("more than 200 modules"), "{told}");
}

#[tokio::test]
async fn paths_may_have_characters_that_mean_something_to_tools() {
    let server = module_server(&[
        (
            "/v=1/new.mjs",
            "import { name } from \"./a=b.mjs\"; import data from \"./data.json\" with { type: \"json\" };
             export default { name: name + data, version: \"1\", run() {} };",
        ),
        ("/v=1/a=b.mjs", "export const name = \"Equal\";"),
        ("/v=1/data.json", "\"s\""),
    ])
    .await;
    let build = build_url(server.join("v=1/new.mjs").unwrap(), NetworkPolicy::All)
        .await
        .unwrap();
    assert_eq!(build.description.name, "Equals");
}
