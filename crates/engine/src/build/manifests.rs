//! Manifests of downloaded packages, reduced to the fields that Node uses.
//!
//! Deno's bundler takes `module` before `main`, as bundlers for browsers do, also where CommonJS code
//! requires a package. Node knows no such field: code that was written for it then gets a namespace where it
//! expects a function (`require("node-fetch")`). So the field goes where there is a `main` to take.
//! Not responsible for other files of packages than `package.json`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::replacement::replace;

const MANIFEST: &str = "package.json";

/// Reduces the manifests of the package in this folder to the fields that Node uses.
pub(super) fn as_node_sees_them(package: &Path) -> io::Result<()> {
    for folder in folders_with_manifest(package)? {
        drop_module(&folder)?;
    }
    Ok(())
}

/// The package's folder and those below that have a manifest of their own, for imports of their paths.
fn folders_with_manifest(package: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![package.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "node_modules" {
                    waiting.push(entry.path());
                }
            } else if entry.file_name() == MANIFEST {
                found.push(folder.clone());
            }
        }
    }
    Ok(found)
}

fn drop_module(folder: &Path) -> io::Result<()> {
    let path = folder.join(MANIFEST);
    let Ok(Value::Object(mut manifest)) = serde_json::from_slice(&fs::read(&path)?) else {
        return Ok(());
    };
    // With `exports`, the other two are ignored.
    let is_taken = manifest.contains_key("module") && !manifest.contains_key("exports");
    if !is_taken || !has_main(folder, manifest.get("main").and_then(Value::as_str)) {
        return Ok(());
    }
    manifest.remove("module");
    replace(&path, Value::Object(manifest).to_string().as_bytes())
}

/// Whether the package has a main module for Node.
fn has_main(folder: &Path, main: Option<&str>) -> bool {
    let main = main.unwrap_or("index");
    ["", ".js", ".json", ".cjs", "/index.js", "/index.json"]
        .iter()
        .any(|ending| folder.join(format!("{main}{ending}")).is_file())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(manifest: &Value, files: &[&str]) -> Value {
        let package = tempfile::tempdir().unwrap();
        for file in files {
            let path = package.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let path = package.path().join(MANIFEST);
        fs::write(&path, manifest.to_string()).unwrap();
        as_node_sees_them(package.path()).unwrap();
        serde_json::from_slice(&fs::read(&path).unwrap()).unwrap()
    }

    #[test]
    fn the_field_goes_where_node_finds_a_main_module() {
        for (main, files) in [
            (json!("lib/index.js"), &["lib/index.js"][..]),
            (json!("lib/index"), &["lib/index.js"]),
            (json!("./lib"), &["lib/index.js"]),
            (Value::Null, &["index.js"]),
        ] {
            let manifest = json!({"name": "a", "main": main, "module": "lib/index.mjs"});
            let expected = json!({"name": "a", "main": main});
            assert_eq!(written(&manifest, files), expected, "{main}");
        }
    }

    #[test]
    fn a_package_that_would_be_lost_or_needs_nothing_is_left_alone() {
        for manifest in [
            json!({"module": "es/index.js"}),
            json!({"main": "lib/index.js", "module": "es/index.js"}),
            json!({"main": "index.js", "module": "index.mjs", "exports": "./index.js"}),
            json!({"main": "index.js"}),
            json!([]),
        ] {
            let files: &[&str] = if manifest["exports"].is_null() {
                &["es/index.js"]
            } else {
                &["index.js"]
            };
            assert_eq!(written(&manifest, files), manifest);
        }
    }

    #[test]
    fn paths_with_manifests_of_their_own_are_covered() {
        let package = tempfile::tempdir().unwrap();
        let path = package.path().join("format");
        fs::create_dir(&path).unwrap();
        let manifest = json!({"module": "../esm/format.js"}).to_string();
        for file in ["index.js", MANIFEST] {
            let text = if file == MANIFEST { &manifest } else { "" };
            fs::write(path.join(file), text).unwrap();
        }
        as_node_sees_them(package.path()).unwrap();
        assert_eq!(fs::read_to_string(path.join(MANIFEST)).unwrap(), "{}");
    }
}
