//! Imports of packages that the importing package does not declare, read from the bundler's errors. Registry packages
//! do so: on Pipedream, an import without a version gets the latest release. Not responsible for resolving it.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use url::Url;

use super::specifier::{PackageImport, Specifier};

/// The packages that modules of the `imported` ones import statically and undeclared, as `error` of a bundling says.
/// Deeper packages are ignored, and so are imports that may be missing: a `require` or a dynamic import can be guarded.
pub(super) async fn packages(
    error: &str,
    imported: &[PackageImport],
    deno_dir: &Path,
) -> Vec<PackageImport> {
    let mut found = BTreeSet::new();
    let lines: Vec<&str> = error.lines().collect();
    for pair in lines.windows(2) {
        let (Some(missing), Some(place)) = (Missing::parse(pair[0]), Place::parse(pair[1])) else {
            continue;
        };
        let is_known = imported.iter().any(|known| known.name == missing.name);
        let is_direct = imported.iter().any(|known| known.name == missing.package);
        if is_direct
            && !is_known
            && place.file.starts_with(deno_dir)
            && place.is_static_import().await
            && let Specifier::Package(package) = Specifier::parse(missing.name)
        {
            found.insert(package);
        }
    }
    found.into_iter().collect()
}

/// `Could not find package 'NAME' from referrer '…' (PACKAGE@VERSION).`
struct Missing<'a> {
    name: &'a str,
    package: &'a str,
}

impl<'a> Missing<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (_, rest) = line.split_once("Could not find package '")?;
        let (name, rest) = rest.split_once("' from referrer '")?;
        let (_, id) = rest.trim_end().strip_suffix(").")?.rsplit_once(" (")?;
        let (package, _) = id.rsplit_once('@')?;
        Some(Self { name, package })
    }
}

/// `    at file:///…:LINE:COLUMN`, where a specifier is written.
struct Place {
    file: PathBuf,
    line: usize,
    column: usize,
}

impl Place {
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.trim().strip_prefix("at ")?.rsplitn(3, ':');
        let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let file = Url::parse(parts.next()?).ok()?.to_file_path().ok()?;
        Some(Self { file, line, column })
    }

    /// Tells whether what stands before the specifier can only be of an import or export statement.
    async fn is_static_import(&self) -> bool {
        let Ok(code) = tokio::fs::read_to_string(&self.file).await else {
            return false;
        };
        let line = code.lines().nth(self.line.saturating_sub(1));
        let before = line.and_then(|line| line.get(..self.column));
        let before = before.unwrap_or_default().trim_end();
        before.ends_with("from") || before.ends_with("import")
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, slice};

    use url::Url;

    use super::{super::specifier::Specifier, packages};

    #[tokio::test]
    async fn static_imports_of_what_is_imported_directly_are_found() {
        let deno_dir = tempfile::tempdir().unwrap();
        let file = deno_dir.path().join("a.mjs");
        let code = "import set from \"lodash.set\";\nimport \"moment\";\nconst pg = await import(\"pg\");\n";
        fs::write(&file, code).unwrap();
        let url = Url::from_file_path(&file).unwrap();
        let complaint = |name: &str, package: &str, place: &str| {
            format!(
                "error: Could not find package '{name}' from referrer '{url}' ({package}@1.0.0).\n    \
                 at {url}:{place}\n    note: You can mark the path as external\n"
            )
        };
        let Specifier::Package(imported) = Specifier::parse("@scope/tools/a.mjs") else {
            panic!("a package");
        };
        for (name, package, place, expected) in [
            (
                "lodash.set",
                "@scope/tools",
                "1:16",
                Some("npm:lodash.set@latest"),
            ),
            ("moment", "@scope/tools", "2:7", Some("npm:moment@latest")),
            ("pg", "@scope/tools", "3:24", None),
            ("lodash.set", "further-down", "1:16", None),
            ("lodash.set", "@scope/tools", "9:1", None),
        ] {
            let error = complaint(name, package, place);
            let found = packages(&error, slice::from_ref(&imported), deno_dir.path()).await;
            let found: Vec<_> = found.iter().map(|package| package.resolvable()).collect();
            assert_eq!(
                found,
                Vec::from_iter(expected.map(str::to_owned)),
                "{error}"
            );
        }
    }
}
