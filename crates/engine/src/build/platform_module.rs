//! The platform package as a module of its own, beside the component's: components in one worker share it, so that
//! it is evaluated and kept once for all of them (docs/guide/running-many-sources.md).
//!
//! Not responsible for running the bundler (`bundle.rs`), nor for where nodes keep such modules (`shared_modules.rs`).

use std::path::Path;

use super::packages::PLATFORM;

/// The bundler's name for what two modules have in common.
const COMMON: &str = "chunk-";
/// The beginning of the bundler's own functions, which it puts into every bundle.
const HELPER: &str = "__";
/// A package whose exports are settings: a client set up for one account must not act for another.
const CONFIGURED: &str = "axios";

/// The module that imports the platform package and nothing else, so that the bundler finds what it shares with the
/// component's.
pub(super) fn source(version: &str) -> String {
    format!("import * as platform from \"npm:{PLATFORM}@{version}\";\nexport default platform;\n")
}

/// Whether the bundler wrote this file for what the component and the platform package have in common.
pub(super) fn is_common(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(COMMON)
}

/// Whether the component's `code` may share the `common` module: it takes the platform package from it, and what that
/// package needs itself, but nothing that has settings.
pub(super) fn is_shareable(code: &str, common: &str) -> bool {
    let (Some(taken), Some(given)) = (names(code, "import {", "} from "), exports(common)) else {
        return false;
    };
    taken.iter().all(|(exported, _)| {
        if exported.starts_with(HELPER) {
            return true;
        }
        let given = given.iter().find(|(_, name)| name == exported);
        let package = given.and_then(|(local, _)| package_of(common, local));
        package.is_some_and(|package| package != CONFIGURED)
    })
}

/// The component's code with the specifier of the common module in place of the bundler's path to it.
pub(super) fn linked(code: &str, common: &Path, specifier: &str) -> Option<String> {
    let name = common.file_name()?.to_str()?;
    let at = code.find(&format!("/{name}\""))?;
    let start = code[..at].rfind('"')?;
    let end = at + name.len() + 2;
    Some(format!("{}\"{specifier}\"{}", &code[..start], &code[end..]))
}

/// The names that a module exports, as it calls them itself and as others do.
fn exports(code: &str) -> Option<Vec<(&str, &str)>> {
    let at = code.rfind("\nexport {")?;
    names(&code[at + 1..], "export {", "}")
}

/// The names in the list that `code` begins with: `a` or `a as b`.
fn names<'a>(code: &'a str, start: &str, end: &str) -> Option<Vec<(&'a str, &'a str)>> {
    let list = code.strip_prefix(start)?;
    let (list, _) = list.split_once(end)?;
    let names = list.split(',').map(str::trim);
    let pairs = names.filter(|name| !name.is_empty());
    Some(
        pairs
            .map(|name| name.split_once(" as ").unwrap_or((name, name)))
            .collect(),
    )
}

/// The package of the CommonJS module that the bundler calls `name`.
fn package_of<'a>(code: &'a str, name: &str) -> Option<&'a str> {
    let declared = format!("\nvar {name} = __commonJS({{\n  \"");
    let at = code.find(&declared)? + declared.len();
    let path = code[at..].split('"').next()?;
    // The first part below is the registry's host.
    let (_, path) = path.rsplit_once("/npm/")?.1.split_once('/')?;
    let mut parts = path.match_indices('/').map(|(at, _)| at);
    let end = match path.starts_with('@') {
        true => parts.nth(1),
        false => parts.next(),
    };
    Some(&path[..end?])
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_shareable, linked};

    const COMMON: &str = r#"// made by the bundler
var require_form_data = __commonJS({
  "../deno-dir/npm/registry.example/form-data/4.0.4/lib/form_data.js"(exports, module) {
  }
});
var require_axios = __commonJS({
  "../deno-dir/npm/registry.example/axios/1.15.2/dist/node/axios.cjs"(exports, module) {
  }
});
var require_dist2 = __commonJS({
  "../deno-dir/npm/registry.example/@pipedream/platform/3.4.0/dist/index.js"(exports) {
  }
});
var own = 1;
export {
  __toESM,
  require_form_data,
  require_axios,
  require_dist2 as require_dist,
  own
};
"#;

    fn component(names: &str) -> String {
        format!("import {{\n  {names}\n}} from \"../chunk-ABC.js\";\n\nvar one = 1;\n")
    }

    #[test]
    fn the_package_and_what_it_needs_are_shared_but_nothing_with_settings() {
        for (taken, shareable) in [
            ("__toESM,\n  require_dist", true),
            ("require_dist as require_dist3,\n  require_form_data", true),
            ("require_dist,\n  require_axios", false),
            ("own", false),
            ("unknown", false),
        ] {
            assert_eq!(
                is_shareable(&component(taken), COMMON),
                shareable,
                "{taken}"
            );
        }
        assert!(!is_shareable("var one = 1;\n", COMMON));
        assert!(!is_shareable(&component("require_dist"), "var no = 1;\n"));
    }

    #[test]
    fn the_component_imports_the_module_by_its_specifier() {
        let code = component("require_dist");
        let code = linked(&code, Path::new("parts/chunk-ABC.js"), "shared/x.mjs").unwrap();
        assert!(
            code.contains("\n} from \"shared/x.mjs\";\n\nvar one = 1;\n"),
            "{code}"
        );
        assert!(linked(&code, Path::new("chunk-OTHER.js"), "x").is_none());
    }
}
