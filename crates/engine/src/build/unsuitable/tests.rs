//! Packages that are refused for their declarations and imports, built small for these tests.

use std::{fs, path::Path};

use headwater_model::outcome::ComponentError;
use serde_json::json;

use super::{Resolved, blamed, candidates, refuse};

/// A package's name, its manifest, and its files by path.
type Packed<'a> = (&'a str, serde_json::Value, &'a [(&'a str, &'a str)]);

/// Packages in a folder, and their resolution: `(name, manifest, files)`; the first is imported.
fn resolved(folder: &Path, packages: &[Packed<'_>]) -> Resolved {
    let mut downloaded = serde_json::Map::new();
    for (name, manifest, files) in packages {
        let at = folder.join(name);
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join("package.json"), manifest.to_string()).unwrap();
        for (file, text) in *files {
            let file = at.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let declared = ["dependencies", "optionalDependencies"];
        let dependencies: Vec<String> = declared
            .iter()
            .filter_map(|kind| manifest[kind].as_object())
            .flat_map(|names| names.keys().map(|name| format!("{name}@1.0.0")))
            .collect();
        downloaded.insert(
            format!("{name}@1.0.0"),
            json!({"name": name, "version": "1.0.0", "localPath": at, "dependencies": dependencies}),
        );
    }
    let root = format!("{}@1.0.0", packages[0].0);
    let modules = json!([{"specifier": "npm:x", "npmPackage": root}]);
    serde_json::from_value(json!({"modules": modules, "npmPackages": downloaded})).unwrap()
}

fn complaint(packages: &[Packed<'_>]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let resolved = resolved(folder.path(), packages);
    let mut found = candidates(&resolved);
    let files = packages.iter().flat_map(|(name, _, files)| {
        let at = folder.path().join(name);
        files.iter().map(move |(file, _)| at.join(file))
    });
    let reached: Vec<_> = files.collect();
    let refused = refuse(&mut found, Some(&reached)).err()?;
    Some(format!("{refused:?}"))
}

const LAZY: &str = "function open() { return require(\"bindings\")(\"a.node\"); }";
const GUARDED: &str =
    "function open() { try { return require(\"bindings\")(\"a.node\"); } catch { return 1; } }";

#[test]
fn an_addon_is_refused_when_it_is_loaded_later_and_cannot_be_done_without() {
    let own = |code| complaint(&[("bcrypt", json!({"gypfile": true}), &[("index.js", code)])]);
    let told = own(LAZY).unwrap();
    assert!(
        told.contains("`bcrypt@1.0.0` needs native code") && told.contains("`bcryptjs`"),
        "{told}"
    );
    assert_eq!(own(GUARDED), None);
    // Loaded at once: evaluating the component shows the failure.
    assert_eq!(
        own("module.exports = require(\"bindings\")(\"a.node\");"),
        None
    );
}

#[test]
fn what_is_optional_is_never_in_the_way() {
    let outer = |kind: &str| {
        let manifest = json!({kind: {"inner": "1"}});
        let scripts = json!({"scripts": {"install": "node-gyp rebuild"}});
        complaint(&[
            ("outer", manifest, &[("index.js", "require(\"inner\")")]),
            ("inner", scripts, &[("index.js", LAZY)]),
        ])
    };
    let told = outer("dependencies").unwrap();
    assert!(
        told.contains("`inner@1.0.0`, which came with `outer`, needs"),
        "{told}"
    );
    assert_eq!(outer("optionalDependencies"), None);
}

#[test]
fn programs_and_downloads_are_refused_and_other_install_scripts_are_not() {
    let platform = json!({"os": ["linux"], "cpu": ["x64"]});
    let told = complaint(&[
        (
            "tool",
            json!({"optionalDependencies": {"@tool/linux": "1"}}),
            &[("index.js", "")],
        ),
        ("@tool/linux", platform, &[("bin/tool", "")]),
    ]);
    assert!(told.unwrap().contains("starts a program"));
    for (script, file, refused) in [
        ("node scripts/get", "https.get(url) // Download it", true),
        ("node scripts/get.js", "console.log('thank you')", false),
        (
            "node -e \"try{require('./scripts/get')}catch(e){}\"",
            "download()",
            true,
        ),
        ("node ../../elsewhere.js", "", false),
    ] {
        let manifest = json!({"scripts": {"postinstall": script}});
        let told = complaint(&[("a", manifest, &[("scripts/get.js", file)])]);
        assert_eq!(told.is_some(), refused, "{script}: {told:?}");
    }
}

#[test]
fn packages_that_no_import_reaches_are_not_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = json!({"gypfile": true});
    let resolved = resolved(folder.path(), &[("a", manifest, &[("index.js", LAZY)])]);
    let mut found = candidates(&resolved);
    assert_eq!(found.len(), 1);
    assert!(refuse(&mut found, Some(&[])).is_ok() && found.is_empty());
}

#[test]
fn what_is_imported_by_name_is_refused_though_bundling_failed() {
    let folder = tempfile::tempdir().unwrap();
    let fetches = json!({"scripts": {"install": "download"}});
    let needs = json!({"dependencies": {"a": "1"}});
    for (packages, refused) in [
        (vec![("a", fetches.clone(), &[][..])], true),
        (vec![("b", needs, &[]), ("a", fetches, &[])], false),
    ] {
        let mut found = candidates(&resolved(folder.path(), &packages));
        assert_eq!(refuse(&mut found, None).is_err(), refused);
        assert_eq!(found.len(), 1);
    }
}

#[test]
fn a_failed_evaluation_is_blamed_on_the_package_its_stack_names() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = json!({"gypfile": true});
    let found = candidates(&resolved(folder.path(), &[("@scope/a", manifest, &[])]));
    for (stack, is_blamed) in [
        (
            "at node_modules/.deno/@scope+a@1.0.0/node_modules/@scope/a/index.js:1:1",
            true,
        ),
        ("at npm:@scope/a/1.0.0/index.js:1:1", true),
        (
            "at node_modules/.deno/node-gyp-build@4.8.4/node_modules/x.js:1:1",
            true,
        ),
        ("at component.mjs:1:1", false),
    ] {
        let error = ComponentError {
            stack: stack.into(),
            ..ComponentError::default()
        };
        assert_eq!(blamed(&found, &error).is_some(), is_blamed, "{stack}");
    }
}

#[test]
fn a_package_that_brings_addons_for_every_machine_is_blamed_for_not_loading() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = json!({"scripts": {"install": "node scripts/install.js"}});
    let addon = "dist/bin/linux-x64/crt.node";
    let packages = [("crt", manifest, &[("index.js", ""), (addon, "")][..])];
    let found = candidates(&resolved(folder.path(), &packages));
    let error = ComponentError {
        message: format!(
            "Requires ffi access to \"node_modules/.deno/crt@1.0.0/node_modules/crt/{addon}\""
        ),
        ..ComponentError::default()
    };
    let told = blamed(&found, &error).map(|package| package.complaint());
    let told = told.unwrap();
    assert!(told.contains("`crt@1.0.0` needs native code"), "{told}");
}
