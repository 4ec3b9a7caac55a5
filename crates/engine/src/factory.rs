//! A component's module as a function of one: compiled once per worker, and called for each source, so that each has
//! module state of its own at the price of a call (docs/guide/running-many-sources.md).
//!
//! Importing a module once more takes milliseconds, and tens of KiB, for each source; a call takes microseconds, and
//! shares the compiled code. The function is a script, which the worker reads and evaluates: Deno would parse a module
//! before V8 does, which for large packages takes several times as long. Its imports are in a module beside it. Nodes derive the function when they unpack an archive, which holds the module alone. It is
//! tried when a component is saved: if it fails where the module works, the archive has a mark, and nodes derive none.

use std::{fmt::Write as _, fs, io, ops::Range, path::Path};

use headwater_javascript::scanner::{Kind, Scanner, Token};

use crate::{artifact, shared_modules};

/// The folder of the function, in that of the module.
const FOLDER: &str = "factory";
/// The module with the function's imports, in that folder.
const IMPORTS: &str = "imports.mjs";
/// The name of `import.meta` in the function: a script has none.
const META: &str = "__headwater_meta";
/// Packages, if they are not in the module.
const PACKAGES: &str = "node_modules";
/// The mark of an archive whose component works as a module only.
const MODULE_ONLY: &str = "module-only";
/// Marks that begin a comment in a script: the second one only at the beginning of a line.
const HTML_COMMENTS: [&[&str]; 2] = [&["<", "!", "--"], &["--", ">"]];
const SOURCE_MAP_LINK: &str = "//# sourceMappingURL=";

/// The function's script, relative to the folder of the component's module.
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
    let module = fs::read_to_string(archive.join(artifact::ENTRY))?;
    let Some(Function { script, imports }) = function_of(&module) else {
        return Ok(());
    };
    let folder = archive.join(FOLDER);
    fs::create_dir(&folder)?;
    fs::write(folder.join(artifact::ENTRY), script)?;
    fs::write(folder.join(IMPORTS), imports)?;
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

/// A module as a function.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    /// A script whose value is a function: given the imports, it returns one that returns, at each call, what the module
    /// exports. Every line stays where it is.
    script: String,
    /// A module that exports what the given one imports, under the names that it has there.
    imports: String,
}

/// A module as a function. `None` if the module imports more than built-ins and modules that are shared anyway, or cannot
/// be understood.
fn function_of(module: &str) -> Option<Function> {
    let (code, source_map_link) = match module.rfind(SOURCE_MAP_LINK) {
        Some(at) => module.split_at(at),
        None => (module, ""),
    };
    // Only the beginning of a file may be a line for the shell.
    if code.starts_with("#!") {
        return None;
    }
    // Scripts have comments that begin so, modules have none.
    if HTML_COMMENTS.iter().any(|mark| has_marks(code, mark)) {
        return None;
    }
    let Statements {
        imports,
        exports,
        metas,
    } = Statements::of(code)?;
    let names = imports.iter().flat_map(|import| &import.1).copied();
    let names: Vec<&str> = names.chain([META]).collect();
    let names = names.join(", ");
    // Parameters with a pattern forbid the directive.
    let mut script = format!(
        "(function () {{ \"use strict\"; const {{ {names} }} = arguments[0]; return (async () => {{"
    );
    let lists = exports.iter().map(|export| &export.0);
    let moved = imports.iter().map(|import| &import.0).chain(lists);
    let mut moved: Vec<(&Range<usize>, &str)> = moved.map(|range| (range, "")).collect();
    moved.extend(metas.iter().map(|range| (range, META)));
    moved.sort_by_key(|(range, _)| range.start);
    let mut at = 0;
    for (range, instead) in moved {
        script += &code[at..range.start];
        script += instead;
        script.extend(code[range.clone()].chars().filter(|char| *char == '\n'));
        at = range.end;
    }
    script += &code[at..];
    script += "\nreturn {";
    for (local, exported) in exports.iter().flat_map(|export| &export.1) {
        // Writing to a string cannot fail.
        let _ = write!(script, " {exported}: {local},");
    }
    script += " };\n});\n})\n";
    script += source_map_link;
    let statements = imports.iter().map(|(range, _)| &code[range.clone()]);
    let mut module: String = statements.flat_map(|import| [import, "\n"]).collect();
    let _ = writeln!(module, "const {META} = import.meta;\nexport {{ {names} }};");
    Some(Function {
        script,
        imports: module,
    })
}

/// Whether the code, not its texts and comments, has these marks side by side.
fn has_marks(code: &str, marks: &[&str]) -> bool {
    if !code.contains(&marks.concat()) {
        return false;
    }
    let mut tokens = Scanner::new(code);
    let (mut found, mut end) = (0, 0);
    while let Ok(Some(token)) = tokens.token() {
        let is_next = token.kind == Kind::Mark && (found == 0 || token.start == end);
        found = match is_next && token.text == marks[found] {
            true => found + 1,
            false => usize::from(token.kind == Kind::Mark && token.text == marks[0]),
        };
        if found == marks.len() {
            return true;
        }
        end = token.end();
    }
    false
}

/// The names of an export statement: the module's own, and others'.
type Names<'a> = Vec<(&'a str, &'a str)>;

/// The parts that only a module can have.
#[derive(Debug, Default)]
struct Statements<'a> {
    /// With the names that they give what they import.
    imports: Vec<(Range<usize>, Vec<&'a str>)>,
    exports: Vec<(Range<usize>, Names<'a>)>,
    /// The places of `import.meta`.
    metas: Vec<Range<usize>>,
}

impl<'a> Statements<'a> {
    fn of(code: &'a str) -> Option<Self> {
        let mut tokens = Scanner::new(code);
        let mut statements = Self::default();
        let (mut is_start, mut is_after_dot) = (true, false);
        while let Some(token) = tokens.token().ok()? {
            let is_word = token.kind == Kind::Word && !is_after_dot;
            let is_keyword = is_word && token.depth == 0;
            match token.text {
                "import" if is_word => {
                    let next = tokens.token().ok()??;
                    match next.text {
                        "." => {
                            let meta = tokens.token().ok()?.filter(|meta| meta.text == "meta")?;
                            statements.metas.push(token.start..meta.end());
                        }
                        // A call, or the name of a property.
                        "(" => {}
                        _ if !is_keyword => {}
                        _ => {
                            let (end, names) = import(&mut tokens, next).filter(|_| is_start)?;
                            statements.imports.push((token.start..end, names));
                        }
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

/// The end of an import statement after its first token, and the names that it gives, if what it imports may be shared.
fn import<'a>(tokens: &mut Scanner<'a>, first: Token<'a>) -> Option<(usize, Vec<&'a str>)> {
    let (mut token, mut is_shareable) = (first, false);
    let (mut names, mut name) = (Vec::new(), None);
    while token.text != ";" || token.depth > 0 {
        match token.kind {
            Kind::Literal if token.depth == 0 => {
                is_shareable = is_shareable_specifier(token.text.trim_matches(['"', '\'']));
            }
            // Attributes of the module come behind its specifier.
            Kind::Word | Kind::Mark if is_shareable => {}
            // Of `a as b` the name is the last word; `from` ends the names.
            Kind::Word if token.text != "from" => name = Some(token.text),
            Kind::Word => names.extend(name.take()),
            Kind::Mark if matches!(token.text, "," | "}") => names.extend(name.take()),
            Kind::Mark | Kind::Literal => {}
        }
        token = tokens.token().ok()??;
    }
    is_shareable.then_some((token.end(), names))
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

    use super::{Function, artifact, derive, forbid, function_of, is_in};

    #[test]
    fn imports_go_beside_the_function_and_every_line_stays_where_it_is() {
        let module = "import { a,\n  b as c } from \"node:fs\";\nimport d, * as e from 'node:os';\n// x.mjs\n\
                      var x = { run: () => a`import c from \"d\";`, u: import.meta.url, import: 1 };\n\
                      export {\n  x as default,\n  a as \"module.exports\"\n};\n//# sourceMappingURL=component.mjs.map\n";
        let script = "(function () { \"use strict\"; const { a, c, d, e, __headwater_meta } = arguments[0]; \
                      return (async () => {\n\n\n// x.mjs\n\
                      var x = { run: () => a`import c from \"d\";`, u: __headwater_meta.url, import: 1 };\n\
                      \n\n\n\n\nreturn { default: x, \"module.exports\": a, };\n});\n})\n\
                      //# sourceMappingURL=component.mjs.map\n";
        let imports = "import { a,\n  b as c } from \"node:fs\";\nimport d, * as e from 'node:os';\n\
                       const __headwater_meta = import.meta;\nexport { a, c, d, e, __headwater_meta };\n";
        let expected = Function {
            script: script.to_owned(),
            imports: imports.to_owned(),
        };
        assert_eq!(function_of(module), Some(expected));
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
            "var a = \"<!-- b -->\", c = d < !e, f = /<!--/; // <!-- g",
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
            "var a = b <!--c;",
            "var a = b\n--> c;",
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
