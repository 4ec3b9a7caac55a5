//! Components and packages that try to have a file of the node built into themselves, or told in an error.

use std::{io::Read, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use headwater_engine::{ComponentCode, network::NetworkPolicy};
use serde_json::json;

use crate::{
    registry::{Registry, SCOPE},
    support::{build_text, builder, builder_with, module_server, registry_env},
};

/// In a file that a component must not see. JavaScript, so that no parser refuses it.
const SECRET: &str = "hushhushhush";

/// A file with a secret, beside the folders that builds are created in.
fn secret() -> tempfile::TempDir {
    let folder = tempfile::Builder::new()
        .prefix("secret-")
        .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
        .unwrap();
    for name in ["key", "key.js", "key.mjs", "key.json", "key.txt"] {
        let quoted = name.ends_with("json");
        let text = if quoted {
            format!("\"{SECRET}\"")
        } else {
            format!("{SECRET}:x:1 {SECRET};")
        };
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// The way to the secret from anywhere.
fn way(folder: &Path) -> String {
    format!(
        "{}{}",
        "../".repeat(24),
        folder.display().to_string().trim_start_matches('/')
    )
}

fn assert_kept(what: &str, built: Result<headwater_engine::Build, headwater_engine::Rejection>) {
    let told = match built {
        Err(rejection) => format!("{:?}", rejection.error),
        Ok(build) => {
            let mut bytes = Vec::new();
            let mut unzipped = flate2::read::GzDecoder::new(build.artifact.bytes.as_ref());
            unzipped.read_to_end(&mut bytes).unwrap();
            format!(
                "{} {:?}",
                String::from_utf8_lossy(&bytes),
                build.description
            )
        }
    };
    let encoded = STANDARD.encode(SECRET);
    for sign in [SECRET, encoded.trim_end_matches('=')] {
        assert!(!told.contains(sign), "{what}: {told}");
    }
}

/// Own code that imports the secret in every way, refused each time.
#[tokio::test]
async fn own_code_cannot_import_files_of_the_node() {
    let folder = secret();
    let (path, up) = (folder.path().display().to_string(), way(folder.path()));
    let rest = "export default {name: 'X', version: '1', description: text(y), run() {}};
                function text(y) { return y instanceof Uint8Array ? new TextDecoder().decode(y) : String(y?.default ?? y); }";
    let imports = [
        format!("import y from 'npm:ms@2.1.3/{up}/key' with {{type: 'bytes'}};"),
        format!("import y from 'npm:ms@2.1.3/{up}/key' with {{type: 'text'}};"),
        format!(
            "import y from 'npm:ms@2.1.3/{}/key.js';",
            up.replace("..", "%2e%2e")
        ),
        format!(
            "import y from 'ms/x%2f{}/key.txt' with {{type: 'text'}};",
            up.replace('/', "%2f")
        ),
        format!("import y from '{path}/key' with {{type: 'text'}};"),
        format!("import y from '{path}/key' with {{type: 'bytes'}};"),
        format!("import y from '{path}/key.json' with {{type: 'json'}};"),
        format!("import y from 'file://{path}/key.json' with {{type: 'json'}};"),
        format!("import y from 'file://{path}/key' with {{type: 'text'}};"),
        format!("const y = (await import('{up}' + '/key', {{with: {{type: 'bytes'}}}})).default;"),
        format!(
            "const y = (await import('{path}/' + 'key', {{with: {{type: 'bytes'}}}})).default;"
        ),
        format!(
            "const y = (await import('{path}/' + 'key', {{\"w\\x69th\": {{\"ty\\x70e\": 'byt\\x65s'}}}})).default;"
        ),
        format!(
            "const y = (await import(`file://{path}/${{'key'}}`, {{with: {{type: 'text'}}}})).default;"
        ),
        format!("const y = await import('{path}/' + 'key.js');"),
        format!("const y = await import('{path}/' + 'key');"),
        format!("const y = await import('{path}/key');"),
        format!(
            "const k = 'key'; const y = (await import(`{up}/${{k}}.txt`, {{with: {{type: 'text'}}}})).default;"
        ),
        format!("const k = 'key'; const y = await import(`{up}/${{k}}.mjs`);"),
        format!(
            "const k = 'key'; const y = await import('{up}/' + k + '.json', {{with: {{type: 'json'}}}});"
        ),
        format!("export {{default as z}} from '{path}/key' with {{type: 'text'}}; const y = 1;"),
        format!("import * as y from '{path}/key.js';"),
        "const y = (await import('/dev/' + 'zero', {with: {type: 'bytes'}})).default;".to_owned(),
        "const y = (await import('/proc/self/' + 'environ', {with: {type: 'bytes'}})).default;"
            .to_owned(),
    ];
    for import in imports {
        let built = build_text(&format!("{import}\n{rest}")).await;
        assert!(built.is_err(), "{import} is built");
        assert_kept(&import, built);
    }
    let required = format!(
        "const y = require('{path}/' + 'key.json'); module.exports = {{name: y, version: '1', run() {{}}}};"
    );
    assert_kept(&required, build_text(&required).await);
}

/// The same from a module that is fetched, and from what it fetches.
#[tokio::test]
async fn code_from_a_url_cannot_import_files_of_the_node() {
    let folder = secret();
    let (path, up) = (folder.path().display().to_string(), way(folder.path()));
    for import in [
        format!("import y from '{path}/key' with {{type: 'text'}};"),
        format!("import y from '{up}/key.txt' with {{type: 'text'}};"),
        format!("const y = (await import('{up}' + '/key', {{with: {{type: 'bytes'}}}})).default;"),
        format!("const k = 'key'; const y = await import(`{up}/${{k}}.mjs`);"),
    ] {
        let code = format!("{import}\nexport const name = String(y);");
        let entry =
            "import {name} from './inner.mjs'; export default {name, version: '1', run() {}};";
        let server = module_server(&[("/new.mjs", entry), ("/inner.mjs", &code)]).await;
        let url = server.join("new.mjs").unwrap();
        let built = builder(NetworkPolicy::All)
            .await
            .build(ComponentCode::Url(url))
            .await
            .unwrap();
        assert!(built.is_err(), "{import} is built");
        assert_kept(&import, built);
    }
}

/// Packages that bring such imports: refused, or built without the file.
#[tokio::test]
async fn packages_cannot_import_files_of_the_node() {
    let folder = secret();
    let (path, up) = (folder.path().display().to_string(), way(folder.path()));
    let registry = Registry::start().await;
    let codes = [
        format!("import y from '{path}/key' with {{type: 'text'}}; export default y;"),
        format!("import y from '{up}/key' with/**/{{type: 'bytes'}}; export default y;"),
        format!("export {{default}} from '{up}/key.txt' with {{type: 'text'}};"),
        format!(
            "export default (await import('{path}/' + 'key', {{with: {{type: 'bytes'}}}})).default;"
        ),
        format!(
            "export default (await import /**/ ('{path}/' + 'key', {{'w\\x69th': {{type: 'text'}}}})).default;"
        ),
        format!(
            "const k = 'key'; export default (await import(`{up}/${{k}}.txt`, {{with: {{type: 'text'}}}})).default;"
        ),
        format!("const k = 'key'; export default await import(`{up}/${{k}}.mjs`);"),
        format!("export default await import('{path}/key');"),
        format!("import y from '{path}/key.json' with {{type: 'json'}}; export default y;"),
        format!("import y from 'file://{path}/key.json' with {{type: 'json'}}; export default y;"),
        format!("import * as y from '{path}/key.js'; export default y;"),
    ];
    for (number, code) in codes.iter().enumerate() {
        let name = format!(
            "hostile-{}-{number}",
            folder.path().file_name().unwrap().display()
        )
        .to_lowercase()
        .replace('.', "");
        registry.publish(
            &name,
            &json!({"type": "module", "main": "index.js"}),
            &[("index.js", code)],
        );
        let own = format!(
            "import y from '{SCOPE}/{name}@1'; export default {{name: String(y), version: '1', run() {{ return y; }}}};"
        );
        let env = registry.client_env(registry_env());
        let builder = builder_with(NetworkPolicy::PublicOnly, env).await;
        match builder.build(ComponentCode::Text(own)).await {
            Ok(built) => assert_kept(code, built),
            Err(error) => panic!("{code}: {error}"),
        }
    }
}

/// The things that packages do all the time go on working: imports of JSON, and of what is known at run time only.
#[tokio::test]
async fn packages_that_import_json_and_at_run_time_are_built() {
    let registry = Registry::start().await;
    let code = "import data from './data.json' with {type: 'json'};
                export const load = (name) => import(name);
                export const language = (name) => import(`./languages/${name}.js`);
                export default data.name;";
    let files = [
        ("index.js", code),
        ("data.json", r#"{"name": "From JSON"}"#),
        ("languages/en.js", "export default 'hello';"),
        (
            "unused.js",
            "import x from './a.txt' with {type: 'text'}; export default x;",
        ),
    ];
    registry.publish(
        "ordinary",
        &json!({"type": "module", "main": "index.js"}),
        &files,
    );
    let own = format!(
        "import name, {{language}} from '{SCOPE}/ordinary@1';
         export default {{name, version: (await language('en')).default, run() {{}}}};"
    );
    let env = registry.client_env(registry_env());
    let builder = builder_with(NetworkPolicy::PublicOnly, env).await;
    let build = builder
        .build(ComponentCode::Text(own))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(build.description.name, "From JSON");
    assert_eq!(build.description.version.as_deref(), Some("hello"));
}

/// A name that no earlier run of the tests has published.
fn fresh(name: &str) -> String {
    let folder = tempfile::Builder::new().prefix("").tempdir().unwrap();
    let unique = folder.path().file_name().unwrap().display().to_string();
    let unique = unique.to_lowercase().replace(['.', '_'], "");
    format!("{name}-{unique}")
}

/// The outcome for a component whose name is what a package with these files exports.
async fn built_with(name: &str, files: &[(&str, &str)]) -> Result<String, String> {
    let registry = Registry::start().await;
    let name = fresh(name);
    registry.publish(&name, &json!({"type": "module", "main": "index.js"}), files);
    let own = format!(
        "import name from '{SCOPE}/{name}@1'; export default {{name, version: '1', run() {{}}}};"
    );
    let env = registry.client_env(registry_env());
    let builder = builder_with(NetworkPolicy::PublicOnly, env).await;
    let built = builder.build(ComponentCode::Text(own)).await.unwrap();
    built
        .map(|build| build.description.name)
        .map_err(|rejection| rejection.error.message)
}

const READS: &str = "import x from './a.txt' with {type: 'text'}; export default x;";

#[tokio::test]
async fn a_package_cannot_say_itself_that_it_was_judged() {
    let files = [
        ("index.js", READS),
        ("a.txt", SECRET),
        (".headwater-settled", ""),
    ];
    let told = built_with("settled", &files).await.unwrap_err();
    assert!(told.contains("imports files as data"), "{told}");
}

/// Files over which the bundler fails as a whole do not hide others.
#[tokio::test]
async fn every_module_of_a_package_is_judged_whatever_is_beside_it() {
    for (beside, code) in [
        ("x.b=c", "import('a');"),
        ("x.", "import('a');"),
        (".foo", "import('a');"),
        ("a*b.js", "import('a');"),
        ("broken.js", "import('a'); }{"),
    ] {
        let files = [("index.js", READS), ("a.txt", SECRET), (beside, code)];
        let told = built_with("beside", &files).await.unwrap_err();
        assert!(told.contains("imports files as data"), "{beside}: {told}");
    }
}

#[tokio::test]
async fn modules_that_cannot_be_judged_do_not_load() {
    let files = [
        ("index.js", "export {default} from './a*b.js';"),
        ("a*b.js", READS),
        ("a.txt", SECRET),
    ];
    let told = built_with("unreadable", &files).await.unwrap_err();
    assert!(told.contains("cannot be read by the bundler"), "{told}");
}

/// Modules that no component made of one text could have, and that packages have all the same.
#[tokio::test]
async fn modules_that_only_node_can_read_or_that_lead_nowhere_stay_as_they_are() {
    let files = [
        (
            "index.js",
            "import a from './sloppy.cjs'; import {b} from './pattern.js'; export default a + b;",
        ),
        (
            "sloppy.cjs",
            "with ({a: 'As '}) { module.exports = a; } exports.load = () => import('fs');",
        ),
        (
            "pattern.js",
            "export const b = 'published'; export const load = (name) => import(`./none/${name}.js`);",
        ),
        ("never.js", "import('a') <%= template %>"),
    ];
    assert_eq!(
        built_with("sloppy", &files).await,
        Ok("As published".to_owned())
    );
}
