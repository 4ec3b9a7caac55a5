//! A component's module as a function of one: imported once per worker, and called for each source, so that each has
//! module state of its own at the price of a call (docs/guide/running-many-sources.md).
//!
//! Importing a module once more takes milliseconds, and tens of KiB, for each source; a call takes microseconds, and
//! shares the compiled code. Nodes derive the function when they unpack an archive, which holds the module alone. It is
//! tried when a component is saved: if it fails where the module works, the archive has a mark, and nodes derive none.

use std::{fmt::Write as _, fs, io, ops::Range, path::Path};

use headwater_javascript::scanner::{Kind, Scanner, Token};

use crate::{artifact, shared_modules};

/// The folder of the function, in that of the module.
const FOLDER: &str = "factory";
/// Packages, if they are not in the module.
const PACKAGES: &str = "node_modules";
/// The mark of an archive whose component works as a module only.
const MODULE_ONLY: &str = "module-only";
const SOURCE_MAP_LINK: &str = "//# sourceMappingURL=";

/// The function's module, relative to the folder of the component's.
pub(crate) fn entry() -> String {
    format!("{FOLDER}/{}", artifact::ENTRY)
}

/// Whether packages are beside the module in this folder.
pub(crate) fn has_packages_beside(folder: &Path) -> bool {
    folder.join(PACKAGES).exists()
}

/// Marks the folder of an archive: no function is to be made of its module.
///
/// # Errors
/// The mark cannot be written.
pub(crate) fn forbid(archive: &Path) -> io::Result<()> {
    fs::write(archive.join(MODULE_ONLY), "")
}

/// Adds the function to an unpacked archive. Without effect if its module imports what has state of its own, or is
/// marked.
///
/// # Errors
/// A file cannot be read or written.
pub(crate) fn derive(archive: &Path) -> io::Result<()> {
    if archive.join(PACKAGES).try_exists()? || archive.join(MODULE_ONLY).try_exists()? {
        return Ok(());
    }
    let Some(function) = function_of(&fs::read_to_string(archive.join(artifact::ENTRY))?) else {
        return Ok(());
    };
    let folder = archive.join(FOLDER);
    fs::create_dir(&folder)?;
    fs::write(folder.join(artifact::ENTRY), function)?;
    let map = archive.join(artifact::SOURCE_MAP);
    if map.try_exists()? {
        fs::copy(map, folder.join(artifact::SOURCE_MAP))?;
    }
    Ok(())
}

/// Whether there is one in a folder with a component's code.
///
/// # Errors
/// The folder cannot be looked into.
pub(crate) fn is_in(code: &Path) -> io::Result<bool> {
    code.join(entry()).try_exists()
}

/// A module whose default export returns, at each call, what the given one exports. Every line stays where it is.
/// `None` if the module imports more than built-ins and modules that are shared anyway, or cannot be understood.
fn function_of(module: &str) -> Option<String> {
    let (code, source_map_link) = match module.rfind(SOURCE_MAP_LINK) {
        Some(at) => module.split_at(at),
        None => (module, ""),
    };
    // Only the beginning of a file may be a line for the shell.
    if code.starts_with("#!") {
        return None;
    }
    let Statements { imports, exports } = Statements::of(code)?;
    // A function with a name would show it in stacks.
    let mut function = String::from("export default (0, async () => {");
    let mut moved = Vec::from_iter(imports.iter().chain(exports.iter().map(|export| &export.0)));
    moved.sort_by_key(|range| range.start);
    let mut at = 0;
    for range in moved {
        function += &code[at..range.start];
        function.extend(code[range.clone()].chars().filter(|char| *char == '\n'));
        at = range.end;
    }
    function += &code[at..];
    function += "\nreturn {";
    for (local, exported) in exports.iter().flat_map(|export| &export.1) {
        // Writing to a string cannot fail.
        let _ = write!(function, " {exported}: {local},");
    }
    function += " };\n});\n";
    for import in imports {
        function += &code[import];
        function.push('\n');
    }
    function += source_map_link;
    Some(function)
}

/// The names of an export statement: the module's own, and others'.
type Names<'a> = Vec<(&'a str, &'a str)>;

/// The statements that only a module can have.
#[derive(Debug, Default)]
struct Statements<'a> {
    imports: Vec<Range<usize>>,
    exports: Vec<(Range<usize>, Names<'a>)>,
}

impl<'a> Statements<'a> {
    fn of(code: &'a str) -> Option<Self> {
        let mut tokens = Scanner::new(code);
        let mut statements = Self::default();
        let (mut is_start, mut is_after_dot) = (true, false);
        while let Some(token) = tokens.token().ok()? {
            let is_keyword = token.kind == Kind::Word && token.depth == 0 && !is_after_dot;
            match token.text {
                "import" if is_keyword => {
                    let next = tokens.token().ok()??;
                    if !matches!(next.text, "(" | ".") {
                        let end = import(&mut tokens, next).filter(|_| is_start)?;
                        statements.imports.push(token.start..end);
                    }
                }
                "export" if is_keyword => {
                    let (end, names) = export(&mut tokens).filter(|_| is_start)?;
                    statements.exports.push((token.start..end, names));
                }
                _ => {}
            }
            is_after_dot = token.text == ".";
            is_start = matches!(token.text, ";" | "}" | "import" | "export") && token.depth == 0;
        }
        Some(statements)
    }
}

/// The end of an import statement after its first token, if what it imports may be shared.
fn import(tokens: &mut Scanner<'_>, first: Token<'_>) -> Option<usize> {
    let (mut token, mut is_shareable) = (first, false);
    while token.text != ";" || token.depth > 0 {
        if token.kind == Kind::Literal && token.depth == 0 {
            is_shareable = is_shareable_specifier(token.text.trim_matches(['"', '\'']));
        }
        token = tokens.token().ok()??;
    }
    is_shareable.then_some(token.end())
}

fn is_shareable_specifier(specifier: &str) -> bool {
    specifier.starts_with("node:") || shared_modules::is_specifier(specifier)
}

/// The end of an export statement after its keyword, and its names; only lists of names are known.
fn export<'a>(tokens: &mut Scanner<'a>) -> Option<(usize, Names<'a>)> {
    let mut next = || tokens.token().ok()?;
    let is = |token: Token<'_>, text: &str| token.text == text;
    next().filter(|token| is(*token, "{"))?;
    let mut names = Vec::new();
    let mut token = next()?;
    while !is(token, "}") {
        let (local, mut exported) = (token.text, token.text);
        token = next()?;
        if is(token, "as") {
            exported = next()?.text;
            token = next()?;
        }
        names.push((local, exported));
        if is(token, ",") {
            token = next()?;
        } else if !is(token, "}") {
            return None;
        }
    }
    let end = next().filter(|token| is(*token, ";"))?;
    Some((end.end(), names))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{artifact, derive, forbid, function_of, is_in};

    #[test]
    fn imports_go_behind_the_function_and_every_line_stays_where_it_is() {
        let module = "import { a,\n  b } from \"node:fs\";\n// x.mjs\nvar x = { run: () => a`import c from \"d\";` };\n\
                      export {\n  x as default,\n  a as \"module.exports\"\n};\n//# sourceMappingURL=component.mjs.map\n";
        let function = "export default (0, async () => {\n\n// x.mjs\nvar x = { run: () => a`import c from \"d\";` };\n\
                        \n\n\n\n\nreturn { default: x, \"module.exports\": a, };\n});\n\
                        import { a,\n  b } from \"node:fs\";\n//# sourceMappingURL=component.mjs.map\n";
        assert_eq!(function_of(module).as_deref(), Some(function));
    }

    #[test]
    fn modules_of_any_form_that_bundlers_write_become_functions() {
        for module in [
            "",
            "import \"node:fs\";",
            "import a from 'node:fs';import * as b from \"node:os\";var c = 1; export { c };",
            "import a from \"headwater-shared/00/module.mjs\";\nexport { a as default };",
            "import a from \"node:fs\" with { type: \"json\" };",
            "var a = await import(\"x\"), b = import.meta.url; a.import(b).export();\nexport { a as default };",
            "if (a) {\n}\nimport(\"x\");",
        ] {
            assert!(function_of(module).is_some(), "{module}");
        }
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        for module in [
            "import a from \"axios\";",
            "import a from \"./own.mjs\";",
            "import a from \"node:fs\"",
            "export default {};",
            "export * from \"node:fs\";",
            "export { a } from \"node:fs\";",
            "export var a = 1;",
            "export { a b };",
            "var a = `",
            "#!/usr/bin/env node\nexport { a };",
        ] {
            assert_eq!(function_of(module), None, "{module}");
        }
    }

    #[test]
    fn a_component_with_packages_beside_it_has_none() {
        let archive = tempfile::tempdir().unwrap();
        fs::write(archive.path().join(artifact::ENTRY), "export { a };").unwrap();
        fs::create_dir(archive.path().join("node_modules")).unwrap();
        derive(archive.path()).unwrap();
        assert!(!is_in(archive.path()).unwrap());
        fs::remove_dir(archive.path().join("node_modules")).unwrap();
        derive(archive.path()).unwrap();
        assert!(is_in(archive.path()).unwrap());
    }

    #[test]
    fn a_component_that_works_as_a_module_only_has_none() {
        let archive = tempfile::tempdir().unwrap();
        fs::write(archive.path().join(artifact::ENTRY), "export { a };").unwrap();
        forbid(archive.path()).unwrap();
        derive(archive.path()).unwrap();
        assert!(!is_in(archive.path()).unwrap());
    }
}
