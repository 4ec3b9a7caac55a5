//! The platform package as a module of its own, beside the component's: components in one worker share it, so that
//! it is evaluated and kept once for all of them (docs/guide/running-many-sources.md).
//!
//! Not responsible for running the bundler (`bundle.rs`), nor for where nodes keep such modules (`shared_modules.rs`).

use std::{collections::BTreeSet, path::Path};

use headwater_javascript::scanner::Scanner;

use super::specifier::PLATFORM;

/// The bundler's name for what two modules have in common.
const COMMON: &str = "chunk-";
/// The beginning of the bundler's own functions, which it puts into every bundle.
const HELPER: &str = "__";
/// The beginning of the bundler's names for CommonJS modules.
const MODULE: &str = "require_";
/// The beginning of the list of what a module exports.
const EXPORT: &str = "\nexport {";
/// The beginning of the last statement of the module for all components.
const EVALUATING: &str = "export default () => void ";
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

/// The function that evaluates the platform package and returns its exports, in a component's module.
const EVALUATE: &str = "__headwater_platform";

/// The module that stands for the platform package while a component is bundled without it: of the same kind, so that
/// the bundler treats its importers in the same way.
pub(super) fn stub() -> String {
    format!("module.exports = {EVALUATE}();\n")
}

/// The statement that a component's `code` has to begin with if it contains the stub: `function` is the one that
/// evaluates the package in the common module of this specifier.
pub(super) fn import_for_stub(code: &str, function: &str, specifier: &str) -> Option<String> {
    let import = || format!("import {{ {function} as {EVALUATE} }} from \"{specifier}\";\n");
    code.contains(EVALUATE).then(import)
}

/// The function that evaluates the package, in the module for all components.
pub(super) fn evaluating_function(for_all: &str) -> Option<&str> {
    let (_, function) = for_all.rsplit_once(EVALUATING)?;
    function.strip_suffix("();\n")
}

/// A component's module that imports the common one.
pub(super) struct Importer {
    /// The names that it takes: as the common module calls them itself, and as the component does.
    taken: Vec<(String, String)>,
    /// The code after the import.
    rest: String,
}

impl Importer {
    /// The component's `code`, if it may share the `common` module: it takes the platform package from it, and what that
    /// package needs itself, but nothing that has settings.
    pub(super) fn of(code: &str, common: &str) -> Option<Self> {
        let (exported, (_, rest)) = (exports(common)?, code.split_once("} from \"")?);
        let mut taken = Vec::new();
        for (name, own) in names(code, "import {", "} from ")? {
            let (local, _) = exported.iter().find(|(_, exported)| *exported == name)?;
            if !name.starts_with(HELPER) {
                package_of(common, local).filter(|package| *package != CONFIGURED)?;
            }
            taken.push(((*local).to_owned(), own.to_owned()));
        }
        let (_, rest) = rest.split_once("\";")?;
        Some(Self {
            taken,
            rest: rest.to_owned(),
        })
    }

    /// The code with the specifier of the common module, every name of which is exported, in place of the bundler's path.
    /// Lines stay where they are.
    pub(super) fn linked(&self, specifier: &str) -> String {
        let names = self.taken.iter();
        let names = Vec::from_iter(names.map(|(local, own)| format!("  {local} as {own}")));
        let names = names.join(",\n");
        format!("import {{\n{names}\n}} from \"{specifier}\";{}", self.rest)
    }
}

/// The common module with everything exported that a component may take from it, under its own name. The bundler exports
/// what one component takes; so it is the same module for all. Its default export evaluates the package, which the
/// bundler has wait for the first component: it is what `platform`, the module that imports nothing else, takes.
pub(super) fn for_all(common: &str, platform: &str) -> Option<String> {
    let importer = Importer::of(platform, common)?;
    let mut taken = importer.taken.iter().map(|(local, _)| local);
    let package = taken.find(|local| local.starts_with(MODULE))?;
    let (before, list) = common.rsplit_once(EXPORT)?;
    let (_, after) = list.split_once('}')?;
    let mut names: BTreeSet<_> = exports(common)?.iter().map(|(local, _)| *local).collect();
    names.extend(
        variables(before)?
            .into_iter()
            .filter(|name| name.starts_with(HELPER) || name.starts_with(MODULE)),
    );
    let names = Vec::from_iter(names).join(",\n  ");
    let evaluating = format!("{EVALUATING}{package}();\n");
    Some(format!(
        "{before}{EXPORT}\n  {names}\n}}{after}{evaluating}"
    ))
}

/// The variables of the module itself.
fn variables(code: &str) -> Option<Vec<&str>> {
    let (mut scanner, mut names) = (Scanner::new(code), Vec::new());
    while let Some(token) = scanner.token().ok()? {
        if token.text == "var" && token.depth == 0 {
            names.push(scanner.token().ok()??.text);
        }
    }
    Some(names)
}

/// The names that a module exports, as it calls them itself and as others do.
fn exports(code: &str) -> Option<Vec<(&str, &str)>> {
    let (_, list) = code.rsplit_once(EXPORT)?;
    names(list, "", "}")
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
    use super::{Importer, for_all};

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
            let code = component(taken);
            let importer = Importer::of(&code, COMMON);
            assert_eq!(importer.is_some(), shareable, "{taken}");
        }
        assert!(Importer::of("var one = 1;\n", COMMON).is_none());
        assert!(Importer::of(&component("require_dist"), "var no = 1;\n").is_none());
    }

    #[test]
    fn the_component_imports_the_module_by_its_specifier_and_its_own_names() {
        let code = component("__toESM,\n  require_dist as require_dist3");
        let linked = Importer::of(&code, COMMON).unwrap().linked("shared/x.mjs");
        assert_eq!(
            linked,
            "import {\n  __toESM as __toESM,\n  require_dist2 as require_dist3\n} from \"shared/x.mjs\";\n\nvar one = 1;\n"
        );
    }

    #[test]
    fn the_module_is_the_same_whatever_a_component_takes() {
        let platform = component("__toESM,\n  require_dist");
        let all = for_all(COMMON, &platform).unwrap();
        let (code, names) = all.split_once("\nexport {").unwrap();
        assert!(COMMON.starts_with(code));
        let expected = "\n  __toESM,\n  own,\n  require_axios,\n  require_dist2,\n  require_form_data\n};\n\
                        export default () => void require_dist2();\n";
        assert_eq!(names, expected);
        let other = COMMON.replace("  require_form_data,\n  require_axios,\n", "");
        assert_eq!(for_all(&other, &platform).unwrap(), all);
        assert_eq!(for_all("var no = 1;\n", &platform), None);
    }
}
