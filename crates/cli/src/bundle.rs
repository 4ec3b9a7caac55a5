//! A component's code out of a local file: the text as it is, or, where it imports other local
//! files, one text with those inlined. Packages stay imports, word for word: the node resolves
//! them when the component is saved. The inlining itself is the engine's.

mod dependencies;
mod imports;

use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use headwater_engine::build::{LocalBundling, bundle_local};
use serde_json::{Value, json};

use crate::{runtime, waiting};

/// Bytes of a component's file at most: the node takes no larger code.
const CODE_BYTES_MAX: u64 = 10 * 1024 * 1024;

/// A component as it is sent, and the files it was read from.
#[derive(Debug)]
pub(crate) struct LocalComponent {
    pub(crate) code: String,
    pub(crate) files: Vec<PathBuf>,
    /// Versions that the nearest `package.json` asks for.
    pub(crate) dependencies: BTreeMap<String, String>,
}

impl LocalComponent {
    /// The part that is sent.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"component_code": self.code});
        if !self.dependencies.is_empty() {
            body["component_dependencies"] = json!(self.dependencies);
        }
        body
    }
}

/// The code to send for a file. Without local imports no Deno is needed.
pub(crate) async fn component(file: &Path) -> Result<LocalComponent> {
    let text = text_of(file)?;
    if !imports::mentions_local(&text) {
        let files = vec![file.to_owned()];
        return Ok(LocalComponent {
            code: text,
            dependencies: dependencies::of(&files)?,
            files,
        });
    }
    let bundling = LocalBundling {
        deno: runtime::locate().await?.path,
        cache_dir: runtime::cache_dir()?,
        registry_env: runtime::client_env(),
    };
    let bundled = bundle_local(&bundling, file);
    let bundle = waiting::shown("bundling the component's files", bundled).await?;
    let own_first: Vec<_> = std::iter::once(file.to_owned())
        .chain(bundle.files.iter().cloned())
        .collect();
    Ok(LocalComponent {
        code: bundle.code.unwrap_or(text),
        dependencies: dependencies::of(&own_first)?,
        files: bundle.files,
    })
}

/// The text of a component's file, unless that is larger than the node takes, or has no end.
fn text_of(file: &Path) -> Result<String> {
    let shown = file.display();
    if file.is_dir() {
        bail!(
            "{shown} is a folder; give one of its files, or publish all its components with `headwater publish {shown}`"
        );
    }
    let failed = || format!("cannot read the component {shown}");
    let opened = std::fs::File::open(file).with_context(failed)?;
    let mut text = String::new();
    opened
        .take(CODE_BYTES_MAX + 1)
        .read_to_string(&mut text)
        .with_context(failed)?;
    if text.len() as u64 > CODE_BYTES_MAX {
        bail!(
            "{shown} has more than {} MiB, and is too large for a component",
            CODE_BYTES_MAX >> 20
        );
    }
    Ok(text)
}

/// The versions of packages that the nearest `package.json` of these files asks for.
pub(crate) fn ranges(files: &[PathBuf]) -> Result<BTreeMap<String, String>> {
    dependencies::of(files)
}

/// The parts of a file to send: its code, and the versions of its packages.
pub(crate) async fn body(file: &Path) -> Result<Value> {
    Ok(component(file).await?.body())
}

/// A text with stacks, in which the component's code is named as the file that it was saved from.
pub(crate) fn in_file(text: &str, file: Option<&Path>) -> String {
    let Some(file) = file else {
        return text.to_owned();
    };
    let endings = ["mjs", "ts", "cjs"].into_iter();
    endings.fold(text.to_owned(), |text, ending| {
        let saved = format!("component.{ending}:");
        // Not where the name only ends like that.
        ["(", "at ", "\n"].into_iter().fold(text, |text, before| {
            let shown = format!("{before}{}:", file.display());
            text.replace(&format!("{before}{saved}"), &shown)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_name_the_file() {
        let stack = "Error: no\n    at f (component.mjs:2:3)\n    at component.mjs:7:1\n    at my-component.mjs:1:1";
        assert_eq!(
            in_file(stack, Some(Path::new("a/b.mjs"))),
            "Error: no\n    at f (a/b.mjs:2:3)\n    at a/b.mjs:7:1\n    at my-component.mjs:1:1"
        );
        assert_eq!(in_file(stack, None), stack);
    }

    async fn component_code(file: &Path) -> Result<String> {
        component(file).await.map(|component| component.code)
    }

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    #[tokio::test]
    async fn a_file_without_local_imports_is_sent_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let text = "// kept\nconst axios = require(\"axios@0.19.2\");\nmodule.exports = {};\n";
        write(folder.path(), &[("a.js", text)]);
        let code = component_code(&folder.path().join("a.js")).await.unwrap();
        assert_eq!(code, text);
    }

    #[tokio::test]
    async fn a_missing_file_is_named() {
        let error = component_code(Path::new("nowhere/a.mjs"))
            .await
            .unwrap_err();
        assert!(error.to_string().contains("nowhere/a.mjs"));
    }

    #[tokio::test]
    async fn local_imports_are_inlined_and_packages_stay_word_for_word() {
        let folder = tempfile::tempdir().unwrap();
        let main = r#"
            import axios from "axios@0.19.2";
            import { axios as platform } from "@pipedream/platform";
            import fs from "fs";
            import crypto from "node:crypto";
            import lodash from "npm:lodash@4";
            import app from "../common/app.mjs";
            import data from "./data.json";
            import typed from "./typed";
            export default { axios, platform, fs, crypto, lodash, app, data, typed };
        "#;
        write(
            folder.path(),
            &[
                ("source/a.mjs", main),
                (
                    "common/app.mjs",
                    "import client from \"@slack/web-api@^5.11.0/dist/index.js\";\n\
                     export default { type: \"app\", client };",
                ),
                ("source/data.json", "{\"answer\": 42}"),
                ("source/typed.ts", "export default 1 as number;"),
                ("package.json", "{\"dependencies\": {\"axios\": \"1\"}}"),
            ],
        );
        let code = component_code(&folder.path().join("source/a.mjs"))
            .await
            .unwrap();
        for kept in [
            "from \"axios@0.19.2\"",
            "from \"@pipedream/platform\"",
            "from \"fs\"",
            "from \"node:crypto\"",
            "from \"npm:lodash@4\"",
            "from \"@slack/web-api@^5.11.0/dist/index.js\"",
            "answer: 42",
        ] {
            assert!(code.contains(kept), "{kept} is missing in\n{code}");
        }
        assert!(!imports::mentions_local(&code), "{code}");
        assert!(!code.contains("as number"), "{code}");
        assert!(!code.contains(&*folder.path().to_string_lossy()), "{code}");
    }

    #[tokio::test]
    async fn requires_of_packages_survive_in_commonjs() {
        let folder = tempfile::tempdir().unwrap();
        let main = "const axios = require(\"axios@0.19.2\");\n\
                    module.exports = { ...require(\"./b\"), run() { return axios; } };";
        let other = "exports.name = require(\"left-pad@1\")(\"b\");";
        write(folder.path(), &[("a.js", main), ("b.js", other)]);
        let code = component_code(&folder.path().join("a.js")).await.unwrap();
        for kept in [
            " require(\"axios@0.19.2\")",
            " require(\"left-pad@1\")",
            "module.exports =",
        ] {
            assert!(code.contains(kept), "{kept} is missing in\n{code}");
        }
    }

    #[tokio::test]
    async fn a_missing_local_import_says_which() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[("a.mjs", "import b from \"./b.mjs\"; export default b;")],
        );
        let error = component_code(&folder.path().join("a.mjs"))
            .await
            .unwrap_err();
        let told = format!("{error:#}");
        assert!(told.contains("b.mjs"), "{told}");
        assert!(!told.contains("backtrace"), "{told}");
    }
}
