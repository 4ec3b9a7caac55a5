//! Whether a text may import local files: a look at the text, not a parse. It exists so that the
//! usual component, a single file, deploys without Deno; saying yes too often is harmless.

/// Whether `./…` or `../…` is written where an import names its module.
pub(super) fn mentions_local(code: &str) -> bool {
    ["\"", "'", "`"].into_iter().any(|quote| {
        [".", ".."].into_iter().any(|start| {
            let specifier = format!("{quote}{start}/");
            code.match_indices(&specifier)
                .any(|(at, _)| names_module(&code[..at]))
        })
    })
}

/// Whether the text before a string turns it into the name of a module.
fn names_module(before: &str) -> bool {
    let before = before.trim_end();
    let before = match before.strip_suffix('(') {
        Some(call) => call.trim_end(),
        None => before,
    };
    ["from", "import", "require"]
        .iter()
        .any(|word| before.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_local_import_is_seen() {
        for code in [
            "import a from \"./a.mjs\"",
            "import a from'../a.mjs'",
            "import {\n  a,\n} from\n  './a.json' with { type: 'json' }",
            "import \"./a.mjs\"",
            "export * from \"../../a.mjs\"",
            "const a = await import( `./a.mjs` )",
            "const a = require('./a')",
            "import type { A } from \"./a\"",
        ] {
            assert!(mentions_local(code), "{code}");
        }
    }

    #[test]
    fn packages_and_other_paths_are_not_local() {
        for code in [
            "import a from \"axios@0.19.2\"",
            "import fs from \"node:fs\"",
            "fs.readFileSync(\"./a.json\")",
            "const path = '../a'",
            "import a from \"https://example.com/a.mjs\"",
            "import a from \".hidden\"",
        ] {
            assert!(!mentions_local(code), "{code}");
        }
    }
}
