//! Messages for authors about components that cannot be saved.

use headwater_engine::BuildStage;

use crate::support::rejected;

#[tokio::test]
async fn code_that_does_not_parse_is_refused_with_its_line() {
    let rejection = rejected("export default {\n  name: 'a',\n  run( {\n};\n").await;
    assert_eq!(rejection.stage, BuildStage::Resolve);
    assert_eq!(rejection.error.name, "SyntaxError");
    assert!(
        rejection.error.message.contains("component.mjs:"),
        "{}",
        rejection.error.message
    );
    assert!(
        !rejection.error.message.contains("file://"),
        "{}",
        rejection.error.message
    );
}

#[tokio::test]
async fn a_throwing_module_is_refused_with_a_stack_in_its_own_lines() {
    let rejection = rejected("// one\nimport get from \"lodash.get\";\n\nfunction boom() {\n  throw new TypeError(\"no \" + get({ a: \"luck\" }, \"a\"));\n}\nboom();\nexport default {};\n").await;
    assert_eq!(rejection.stage, BuildStage::Evaluate);
    assert_eq!(
        (
            rejection.error.name.as_str(),
            rejection.error.message.as_str()
        ),
        ("TypeError", "no luck")
    );
    assert!(
        rejection.error.stack.contains("component.mjs:5:"),
        "{}",
        rejection.error.stack
    );
    assert!(
        rejection.error.stack.contains("component.mjs:7:"),
        "{}",
        rejection.error.stack
    );
}

#[tokio::test]
async fn lines_are_right_behind_packages_that_require() {
    let rejection = rejected(
        "import axios from \"axios@0.19.2\";\n\nvoid axios;\nthrow new Error(\"line four\");\n",
    )
    .await;
    assert!(
        rejection.error.stack.contains("component.mjs:4:"),
        "{}",
        rejection.error.stack
    );
}

#[tokio::test]
async fn an_unknown_package_is_refused_by_name() {
    let rejection =
        rejected("import x from \"@headwater-test/no-such-package\"; export default x;").await;
    assert_eq!(rejection.stage, BuildStage::Resolve);
    let message = rejection.error.message;
    assert!(
        message.contains("`@headwater-test/no-such-package`") && message.contains("spelling"),
        "{message}"
    );
}

#[tokio::test]
async fn an_unknown_version_is_refused_by_specifier() {
    let message = rejected("import x from \"axios@99\"; export default x;")
        .await
        .error
        .message;
    assert!(
        message.contains("`axios@99`: no release matches"),
        "{message}"
    );
}

#[tokio::test]
async fn a_missing_export_is_refused_with_its_line() {
    let rejection = rejected("import { nothing } from \"axios@1\";\nexport default nothing;").await;
    assert_eq!(rejection.stage, BuildStage::Resolve);
    let message = rejection.error.message;
    assert!(
        message.contains("nothing")
            && message.contains("component.mjs:1:")
            && !message.contains("deno-dir"),
        "{message}"
    );
}

#[tokio::test]
async fn an_unknown_tag_is_refused_by_specifier() {
    let message = rejected("import x from \"left-pad@nightly\"; export default x;")
        .await
        .error
        .message;
    assert!(
        message.contains("`left-pad@nightly`: no release matches"),
        "{message}"
    );
}

#[tokio::test]
async fn a_range_that_imports_cannot_have_is_refused_with_those_they_can() {
    let message = rejected("import x from \"semver@>=7.5 <8\"; export default x;")
        .await
        .error
        .message;
    assert!(
        message.contains("`semver@>=7.5 <8`") && message.contains("`^7.5`"),
        "{message}"
    );
}

#[tokio::test]
async fn packages_that_need_more_than_javascript_are_refused_with_what_to_use() {
    for (package, needs, instead) in [
        ("bcrypt@6", "native code", "`bcryptjs`"),
        ("better-sqlite3@11", "native code", "`sql.js`"),
        ("esbuild@0.25", "starts a program", "`sucrase`"),
        (
            "puppeteer@24",
            "needs a download by its install script",
            "`puppeteer-core`",
        ),
    ] {
        let code = format!(
            "import thing from \"{package}\";\n\
             export default {{ name: \"a\", version: \"1\", run() {{ return thing; }} }};"
        );
        let message = rejected(&code).await.error.message;
        let name = format!("`{}", &package[..package.rfind('@').unwrap() + 1]);
        for part in [&name, needs, instead] {
            assert!(
                message.contains(part),
                "{package}: {part} is missing in {message}"
            );
        }
    }
}

#[tokio::test]
async fn a_file_beside_text_is_refused_with_what_to_do() {
    let message = rejected("import x from \"./x.mjs\"; export default x;")
        .await
        .error
        .message;
    assert!(
        message.contains("`./x.mjs`") && message.contains("component_url"),
        "{message}"
    );
}

#[tokio::test]
async fn files_of_the_machine_cannot_be_imported() {
    for code in [
        "import x from \"/etc/passwd\" with { type: \"text\" }; export default x;",
        "import x from \"file:///etc/passwd\" with { type: \"text\" }; export default x;",
        "import x from \"../../../../../../etc/passwd\" with { type: \"text\" }; export default x;",
        "module.exports = require(\"../../../../../../etc/some.json\");",
        "module.exports = require(\"/etc/some.json\");",
    ] {
        assert_eq!(rejected(code).await.stage, BuildStage::Resolve, "{code}");
    }
}

#[tokio::test]
async fn what_is_no_component_is_refused() {
    for (code, complaint) in [
        ("export default { version: \"1\", run() {} };", "`name`"),
        ("export default { name: \"a\", run() {} };", "`version`"),
        ("export default { name: \"a\", version: \"1\" };", "run"),
        (
            "export default { type: \"app\", app: \"a\", name: \"a\", version: \"1\" };",
            "app",
        ),
        ("export const a = 1;", "default"),
    ] {
        let rejection = rejected(code).await;
        assert_eq!(rejection.stage, BuildStage::Evaluate, "{code}");
        assert!(
            rejection.error.message.contains(complaint),
            "{code}: {}",
            rejection.error.message
        );
    }
}

#[tokio::test]
async fn an_endless_module_is_ended() {
    let rejection = rejected("for (;;) {}\nexport default {};").await;
    assert_eq!(rejection.stage, BuildStage::Evaluate);
    assert!(
        rejection.error.message.contains("10 s"),
        "{}",
        rejection.error.message
    );
}

#[tokio::test]
async fn a_module_that_takes_all_memory_is_ended() {
    let rejection = rejected("const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length));\nexport default kept;").await;
    assert_eq!(rejection.stage, BuildStage::Evaluate);
    assert!(
        rejection.error.message.contains("256 MiB"),
        "{}",
        rejection.error.message
    );
}

#[tokio::test]
async fn evaluation_reaches_neither_network_nor_files() {
    for (code, denied) in [
        (
            "await fetch(\"http://127.0.0.1:8080/\"); export default {};",
            "net access",
        ),
        (
            "import fs from \"fs\"; fs.readFileSync(\"/etc/passwd\"); export default {};",
            "read access",
        ),
        (
            "import fs from \"fs\"; fs.writeFileSync(\"component.mjs\", \"\"); export default {};",
            "write access",
        ),
        (
            "new Deno.Command(\"/bin/true\").outputSync(); export default {};",
            "run access",
        ),
    ] {
        let rejection = rejected(code).await;
        let said = format!("{} {}", rejection.error.message, rejection.error.stack);
        assert!(said.contains(denied), "{code}: {said}");
    }
}

#[tokio::test]
async fn code_that_is_nested_too_deeply_is_refused_in_words_for_its_author() {
    let (open, close) = ("(".repeat(20_000), ")".repeat(20_000));
    let code =
        format!("export default {{name: 'a', version: '1', run() {{ return {open}1{close}; }}}};");
    let rejection = rejected(&format!("import.meta.main; {code}")).await;
    let message = &rejection.error.message;
    assert!(
        !message.contains("thread") && !message.contains("overflowed"),
        "{message}"
    );
}

#[tokio::test]
async fn a_module_that_ends_the_process_is_refused() {
    for end in [
        "process.reallyExit(3)",
        "process.abort()",
        "process.kill(process.pid, 'SIGABRT')",
        "Deno[Deno.internal].core.ops.op_exit()",
        "Deno[Deno.internal].core.ops.op_panic()",
    ] {
        let code = format!("{end}; export default {{name: 'a', version: '1'}};");
        let rejection = rejected(&code).await;
        assert_eq!(rejection.stage, BuildStage::Evaluate, "{end}");
    }
}

#[tokio::test]
async fn a_file_that_a_package_lacks_is_told_with_those_it_has() {
    let message =
        rejected("export { default } from \"@pipedream/pipedream@^0.4/sources/none.mjs\";")
            .await
            .error
            .message;
    for part in [
        "`@pipedream/pipedream` 0.4.",
        "has no file `sources/none.mjs`",
        "its components: sources/new-scheduled-tasks/new-scheduled-tasks.mjs",
    ] {
        assert!(message.contains(part), "{part} is missing: {message}");
    }
}
