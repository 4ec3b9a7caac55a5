//! Components of one module, in JavaScript, that import built-ins and the platform package: the bundler alone bundles
//! them as Deno does, in a fraction of the time. Most components are of this kind.
//!
//! Responsible for telling them, and for the bundler's arguments. Not for running it (`bundle.rs`).

use std::{ffi::OsString, path::Path};

use super::{
    inspection::Import,
    layout::PLATFORM_STUB,
    script::{is_common_js, required_specifiers},
    specifier::{PLATFORM, PackageImport, Specifier},
};

/// Endings of JavaScript. TypeScript is Deno's to translate: the bundler does it in another way.
const ENDINGS: &[&str] = &["mjs", "js"];
/// The bundler's names of import statements and of `import()`.
const KINDS: &[&str] = &["import-statement", "dynamic-import"];
/// An expression whose value Deno may replace.
const META: &str = "import.meta";
const BUILT_IN: &str = "node:";

/// The packages that the module at `file` imports, if it is such a component's.
pub(super) fn packages(file: &Path, code: &str, imports: &[Import]) -> Option<Vec<PackageImport>> {
    let ending = file.extension()?.to_str()?;
    if !ENDINGS.contains(&ending)
        || code.contains(META)
        || is_common_js(code)
        || !required_specifiers(code).is_empty()
    {
        return None;
    }
    let mut packages = Vec::new();
    for import in imports {
        if !KINDS.contains(&import.kind.as_str()) || !import.with.is_empty() {
            return None;
        }
        match Specifier::parse(&import.specifier) {
            Specifier::BuiltIn if is_known(&import.specifier) => {}
            Specifier::Package(package) if is_platform(&package) => packages.push(package),
            _ => return None,
        }
    }
    packages.sort();
    packages.dedup();
    (packages.len() <= 1).then_some(packages)
}

/// Whether this is the whole platform package, by a specifier that the bundler takes as an argument.
pub(super) fn is_platform(package: &PackageImport) -> bool {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "@/:._-^~".contains(char);
    package.name == PLATFORM && package.path.is_empty() && package.written.chars().all(is_plain)
}

/// Whether Deno has this built-in.
fn is_known(specifier: &str) -> bool {
    let name = specifier.strip_prefix(BUILT_IN).unwrap_or(specifier);
    !name.starts_with(BUILT_IN) && Specifier::parse(name) == Specifier::BuiltIn
}

/// The bundler's arguments for `entry`, relative to its folder, where `packages` have a stub. The result is
/// `component.js` in `output`.
pub(super) fn arguments(entry: &Path, output: &Path, packages: &[PackageImport]) -> Vec<OsString> {
    let fixed = [
        "--bundle",
        "--platform=neutral",
        "--format=esm",
        "--sourcemap=inline",
        "--log-level=error",
        "--color=false",
        "--tsconfig-raw={}",
        "--external:node:*",
        // As Deno's bundler has it.
        "--define:process.env.NODE_ENV=\"development\"",
    ];
    let mut arguments = Vec::from_iter(fixed.map(OsString::from));
    arguments
        .extend(Specifier::built_ins().map(|name| format!("--alias:{name}=node:{name}").into()));
    let stubs = packages.iter();
    arguments.extend(
        stubs.map(|package| format!("--alias:{}=./{PLATFORM_STUB}", package.written).into()),
    );
    let (mut to_folder, mut named) = (OsString::from("--outdir="), OsString::from("component=./"));
    to_folder.push(output);
    named.push(entry);
    arguments.extend([to_folder, named]);
    arguments
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::Path};

    use super::{Import, packages};

    fn import(specifier: &str, kind: &str) -> Import {
        Import {
            specifier: specifier.to_owned(),
            kind: kind.to_owned(),
            with: BTreeMap::new(),
        }
    }

    #[test]
    fn built_ins_and_the_platform_package_need_no_resolving() {
        let file = Path::new("component.mjs");
        for (specifier, expected) in [
            ("fs/promises", Some(0)),
            ("node:os", Some(0)),
            ("@pipedream/platform", Some(1)),
            ("npm:@pipedream/platform@^3.1", Some(1)),
            ("@pipedream/platform@>=3", None),
            ("@pipedream/platform/dist/index.js", None),
            ("node:none_of_it", None),
            ("node:node:os", None),
            ("axios", None),
            ("./own.mjs", None),
            ("https://r.example/own.mjs", None),
        ] {
            for kind in ["import-statement", "dynamic-import"] {
                let found = packages(file, "", &[import(specifier, kind)]);
                assert_eq!(found.map(|found| found.len()), expected, "{specifier}");
            }
            let required = packages(file, "", &[import(specifier, "require-call")]);
            assert_eq!(required, None, "{specifier}");
        }
        let twice = ["@pipedream/platform", "@pipedream/platform@3"]
            .map(|specifier| import(specifier, "import-statement"));
        assert_eq!(packages(file, "", &twice), None);
    }

    #[test]
    fn other_languages_and_other_ways_to_import_are_left_to_deno() {
        for (file, code) in [
            ("component.ts", ""),
            ("component.cjs", ""),
            (
                "component.mjs",
                "export default { here: import.meta.dirname }",
            ),
            ("component.js", "module.exports = {}"),
        ] {
            assert_eq!(packages(Path::new(file), code, &[]), None, "{file}: {code}");
        }
        assert_eq!(
            packages(Path::new("a/b.js"), "export default {}", &[]),
            Some(Vec::new())
        );
    }
}
