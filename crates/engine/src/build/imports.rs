//! The imports that modules may have: none that makes the bundler read a file of the building machine.
//!
//! Own modules are judged before anything else reads them. Modules of packages are judged once per release,
//! where it is downloaded to; one that imports files as data, or whose imports cannot be known, is replaced by one that
//! throws, so that a package works as long as it does not load it. Not responsible for finding imports
//! ([`super::inspection`]), nor for whether they lead anywhere.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Component, Path, PathBuf},
};

use super::{
    command::DenoTool,
    failure::{BuildFailure, BuildResult, blocking, not_resolved, rejection},
    inspection::{Import, Inspected, ending, inspect, inspect_package},
    replacement::replace,
    specifier::Specifier,
};
use crate::api::BuildStage;

/// The attribute that an import may have, and its value.
const JSON: (&str, &str) = ("type", "json");
/// Endings of files that are never read as code.
const NO_CODE: &[&str] = &[
    "json", "map", "md", "node", "wasm", "css", "html", "png", "jpg", "gif", "svg", "woff",
    "woff2", "ttf", "zip", "gz",
];
/// Endings of files that the bundler takes for code, in either case; it also takes those without an ending. In
/// packages it reads no others but as data.
const CODE: &[&str] = &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];
/// The replacement of a module that must not be bundled, as a module of either kind.
const READS_DATA: &str = "throw new Error(\"this module imports files as data, which components cannot: \
    only JSON is imported with attributes\");\n";
/// The replacement of a module that the bundler cannot read, and thus not bundle either.
const UNREADABLE: &str = "throw new Error(\"this module cannot be read by the bundler that components are \
    built with\");\n";

/// A component's own modules, each inspected once: none changes once it is written.
#[derive(Debug)]
pub(super) struct OwnModules<'a> {
    tool: &'a DenoTool,
    /// The folder that they are in or below.
    code: &'a Path,
    inspected: BTreeMap<PathBuf, Inspected>,
}

impl<'a> OwnModules<'a> {
    pub(super) fn new(tool: &'a DenoTool, code: &'a Path) -> Self {
        Self {
            tool,
            code,
            inspected: BTreeMap::new(),
        }
    }

    /// Refuses modules with forbidden imports.
    pub(super) async fn judge(&mut self, files: &[PathBuf]) -> BuildResult<()> {
        self.inspect(files).await?;
        for file in files {
            match self.inspected.get(file) {
                Some(Inspected::Imports(imports)) => {
                    for import in imports {
                        judge(import, file, self.code)?;
                    }
                }
                Some(Inspected::Unresolved) => return Err(computed()),
                // Deno's parser has the better message, if it finds the error too.
                Some(Inspected::Unreadable(_)) | None => {}
            }
        }
        Ok(())
    }

    /// Refuses modules that the bundler cannot read, though Deno can: their imports are not known.
    pub(super) async fn require_readable(&mut self, files: &[PathBuf]) -> BuildResult<()> {
        self.inspect(files).await?;
        for file in files {
            match self.inspected.get(file) {
                Some(Inspected::Imports(_)) | None => {}
                Some(Inspected::Unresolved) => return Err(computed()),
                Some(Inspected::Unreadable(reason)) => {
                    let reason = reason.clone();
                    return Err(rejection(BuildStage::Resolve, "SyntaxError", reason));
                }
            }
        }
        Ok(())
    }

    /// The imports of a module that was judged, if the bundler can read it.
    pub(super) fn imports(&self, file: &Path) -> Option<&[Import]> {
        match self.inspected.get(file)? {
            Inspected::Imports(imports) => Some(imports),
            Inspected::Unresolved | Inspected::Unreadable(_) => None,
        }
    }

    /// The reason why the bundler cannot read a module that was judged, if it cannot.
    pub(super) fn unreadable(&self, file: &Path) -> Option<&str> {
        match self.inspected.get(file)? {
            Inspected::Unreadable(reason) => Some(reason),
            Inspected::Imports(_) | Inspected::Unresolved => None,
        }
    }

    async fn inspect(&mut self, files: &[PathBuf]) -> BuildResult<()> {
        let new = files
            .iter()
            .filter(|file| may_be_own_code(file) && !self.inspected.contains_key(*file));
        let found = inspect(self.tool, self.code, new.cloned()).await?;
        self.inspected.extend(found);
        Ok(())
    }
}

fn judge(import: &Import, file: &Path, code: &Path) -> Result<(), BuildFailure> {
    let written = &import.specifier;
    if !has_allowed_attributes(import) {
        return Err(not_resolved(format!(
            "`{written}` is imported with attributes that components cannot use; `{{ type: \"json\" }}` is the only one"
        )));
    }
    match Specifier::parse(written) {
        _ if is_pattern(written) => Err(computed()),
        Specifier::Relative if leads_out(written, file, code) => Err(not_resolved(format!(
            "`{written}` leads out of the component"
        ))),
        Specifier::Address if written.starts_with('/') => Err(not_resolved(format!(
            "`{written}` leads out of the component"
        ))),
        Specifier::Unsupported => Err(not_resolved(format!(
            "`{written}` cannot be imported; components import npm packages, Node's modules, and files"
        ))),
        _ => Ok(()),
    }
}

fn computed() -> BuildFailure {
    not_resolved(
        "the component imports a file whose name it composes at run time; write the name of each file as one literal",
    )
}

fn has_allowed_attributes(import: &Import) -> bool {
    let mut given = import.with.iter();
    given.all(|(name, value)| (name.as_str(), value.as_str()) == JSON)
}

/// Whether the bundler would search for files whose names match.
fn is_pattern(written: &str) -> bool {
    written.contains('*') && written.starts_with(['.', '/'])
}

/// Whether a relative specifier leads out of `root`. Encoded characters are decoded first.
fn leads_out(written: &str, importer: &Path, root: &Path) -> bool {
    let decoded = percent_encoding::percent_decode_str(written).decode_utf8_lossy();
    let path = decoded.replace('\\', "/");
    let mut at = importer.parent().unwrap_or(root).to_owned();
    for part in Path::new(&path).components() {
        match part {
            Component::ParentDir => {
                at.pop();
            }
            Component::Normal(name) => at.push(name),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
        // Also on the way: the tree outside must not be probed.
        if !at.starts_with(root) {
            return true;
        }
    }
    false
}

/// Judges the modules of the package in this folder. Returns whether the result is final: a computed name that matches
/// no file may match one later, and then the module has to be read again.
pub(super) async fn judge_package(tool: &DenoTool, package: &Path) -> BuildResult<bool> {
    let looked = package.to_owned();
    let suspects = blocking(package, move || suspects(&looked)).await?;
    let inspected = inspect_package(tool, package, suspects).await?;
    let is_final = inspected.values().all(|one| *one != Inspected::Unresolved);
    let root = package.to_owned();
    let replaced = move || {
        for (file, inspected) in inspected {
            if let Some(replacement) = replacement_of(&inspected, &file, &root) {
                tracing::info!(file = %file.display(), replacement, "a package's module is replaced");
                replace(&file, replacement.as_bytes())?;
            }
        }
        Ok(())
    };
    blocking(package, replaced).await?;
    Ok(is_final)
}

/// The module in place of one that must not be bundled.
fn replacement_of(inspected: &Inspected, file: &Path, package: &Path) -> Option<&'static str> {
    match inspected {
        Inspected::Imports(imports) => {
            let reads_data = imports.iter().any(|import| {
                !has_allowed_attributes(import)
                    || is_pattern(&import.specifier) && leads_out(&import.specifier, file, package)
            });
            reads_data.then_some(READS_DATA)
        }
        // Bundling fails over it, too.
        Inspected::Unresolved => None,
        Inspected::Unreadable(_) => Some(UNREADABLE),
    }
}

/// The files of a package whose imports have to be inspected.
fn suspects(package: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![package.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let (path, kind) = {
                let entry = entry?;
                (entry.path(), entry.file_type()?)
            };
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && may_be_package_code(&path) && may_import(&fs::read(&path)?)
            {
                found.push(path);
            }
        }
    }
    Ok(found)
}

fn may_be_own_code(path: &Path) -> bool {
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    !NO_CODE.contains(&ending)
}

fn may_be_package_code(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ending(&name).is_none_or(|ending| CODE.contains(&&*ending.to_ascii_lowercase()))
}

/// Whether a text may have an `import()`, or the attributes of an import statement. False positives are possible, false
/// negatives are not: keywords cannot be written in another way.
fn may_import(code: &[u8]) -> bool {
    let follows = |word: &[u8], mark: u8| {
        let places = memchr::memmem::find_iter(code, word);
        places
            .into_iter()
            .any(|at| first_mark(&code[at + word.len()..]) == Some(mark))
    };
    follows(b"import", b'(') || follows(b"with", b'{')
}

/// The first byte that is neither white space nor of a comment.
fn first_mark(mut code: &[u8]) -> Option<u8> {
    loop {
        let skipped = code
            .iter()
            .position(|byte| byte.is_ascii() && !byte.is_ascii_whitespace() && *byte != 0x0b)?;
        code = &code[skipped..];
        if code.starts_with(b"/*") {
            let end = memchr::memmem::find(&code[2..], b"*/")?;
            code = &code[end + 4..];
        } else if code.starts_with(b"//") {
            code = &code[memchr::memchr2(b'\n', b'\r', code)?..];
        } else {
            return code.first().copied();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{
        Inspected, READS_DATA, UNREADABLE, leads_out, may_be_package_code, may_import,
        replacement_of,
    };
    use crate::build::inspection::Import;

    #[test]
    fn modules_that_nobody_can_judge_are_replaced_too() {
        let (package, file) = (Path::new("/p"), Path::new("/p/a.js"));
        let importing = |specifier: &str, kind: Option<&str>| {
            let with = kind.map(|kind| ("type".to_owned(), kind.to_owned()));
            Inspected::Imports(vec![Import {
                specifier: specifier.to_owned(),
                kind: "dynamic-import".to_owned(),
                with: with.into_iter().collect(),
            }])
        };
        for (inspected, expected) in [
            (importing("./a.json", Some("json")), None),
            (importing("./languages/**/*.js", None), None),
            (importing("./a.txt", Some("text")), Some(READS_DATA)),
            (importing("../../**/*.js", None), Some(READS_DATA)),
            (Inspected::Unresolved, None),
            (Inspected::Unreadable(String::new()), Some(UNREADABLE)),
        ] {
            assert_eq!(
                replacement_of(&inspected, file, package),
                expected,
                "{inspected:?}"
            );
        }
    }

    #[test]
    fn files_that_the_bundler_takes_for_code_are_looked_at() {
        for (name, expected) in [
            ("a.js", true),
            ("a.MJS", true),
            ("a*b.cjs", true),
            ("a.d.ts", true),
            (".js", true),
            ("cli", true),
            ("a.b=c", false),
            ("a.py", false),
            ("a.md", false),
            (".npmignore", false),
            ("a.", false),
        ] {
            assert_eq!(
                may_be_package_code(&Path::new("/p.x").join(name)),
                expected,
                "{name}"
            );
        }
    }

    #[test]
    fn texts_that_may_import_data_are_looked_at() {
        for (code, expected) in [
            ("await import('x')", true),
            ("await import /* a */ // b\n ('x')", true),
            ("import a from 'a' with { type: 'bytes' }", true),
            ("import a from 'a' with/**/{ type: 'bytes' }", true),
            ("import a from 'a' with\u{2028}{ type: 'bytes' }", true),
            ("import a from 'a';", false),
            ("// import with care", false),
            ("import.meta.url", false),
        ] {
            assert_eq!(may_import(code.as_bytes()), expected, "{code}");
        }
    }

    #[test]
    fn ways_out_are_seen_however_they_are_written() {
        let (root, file) = (Path::new("/b/code"), Path::new("/b/code/https/h/a.mjs"));
        for (written, expected) in [
            ("./b.mjs", false),
            ("../x/b.mjs", false),
            ("../../../code/x.mjs", true),
            ("../../../../etc/passwd", true),
            ("%2e%2e/%2e%2e/../../x", true),
            (".%2e/..%2f../../x", true),
            ("..\\..\\..\\..\\x", true),
        ] {
            assert_eq!(leads_out(written, file, root), expected, "{written}");
        }
    }
}
