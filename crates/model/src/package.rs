//! References to npm packages and to the files in them: `npm:PACKAGE[@VERSION][/path]`.

use std::{fmt, str::FromStr};

/// The beginning of every reference.
const SCHEME: &str = "npm:";

/// A package, or one file of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageReference {
    /// The package's name, with its scope.
    pub name: String,
    /// The version or range, when one is given.
    pub version: Option<String>,
    /// The file in the package, without a leading slash; `None` means the whole package.
    pub path: Option<String>,
}

/// Why a text is not a reference to a package.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} does not name a package; write npm:PACKAGE[@VERSION], or npm:PACKAGE[@VERSION]/path for one \
     of its files, such as npm:@pipedream/postgresql/sources/new-row/new-row.mjs"
)]
pub struct InvalidPackage(String);

impl FromStr for PackageReference {
    type Err = InvalidPackage;

    fn from_str(text: &str) -> Result<Self, InvalidPackage> {
        text.strip_prefix(SCHEME)
            .and_then(Self::split)
            .ok_or_else(|| InvalidPackage(text.to_owned()))
    }
}

impl PackageReference {
    fn split(text: &str) -> Option<Self> {
        // The name of a scoped package has a slash of its own.
        let scope_end = match text.starts_with('@') {
            true => text.find('/')? + 1,
            false => 0,
        };
        let (package, path) = match text[scope_end..].find('/') {
            Some(at) => {
                let (package, path) = text.split_at(scope_end + at);
                (package, Some(path[1..].to_owned()))
            }
            None => (text, None),
        };
        let (name, version) = match package[scope_end..].split_once('@') {
            Some((name, version)) => {
                let name = &package[..scope_end + name.len()];
                (name, Some(version.to_owned()))
            }
            None => (package, None),
        };
        let complete = is_name(name)
            && version.as_deref().is_none_or(is_plain)
            && path.as_deref().is_none_or(is_plain);
        complete.then(|| Self {
            name: name.to_owned(),
            version,
            path,
        })
    }

    /// Whether the version is a single one, not a range or none.
    pub fn is_pinned(&self) -> bool {
        let version = self.version.as_deref().unwrap_or_default();
        semver::Version::parse(version).is_ok()
    }

    /// A component that is this file's: saving it resolves the package.
    pub fn component_code(&self) -> String {
        let text = self.to_string();
        let specifier = text.strip_prefix(SCHEME).unwrap_or(&text);
        format!("export {{ default }} from \"{specifier}\";\n")
    }
}

impl fmt::Display for PackageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}", self.name)?;
        if let Some(version) = &self.version {
            write!(f, "@{version}")?;
        }
        match &self.path {
            Some(path) => write!(f, "/{path}"),
            None => Ok(()),
        }
    }
}

/// `name` or `@scope/name`.
fn is_name(text: &str) -> bool {
    match text.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| is_plain(scope) && is_plain(name)),
        None => is_plain(text) && !text.contains('/'),
    }
}

/// Text that can stand in a string literal of JavaScript as it is.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.contains(['"', '\\', '\n', '\r']) && !text.contains("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> PackageReference {
        text.parse().unwrap()
    }

    #[test]
    fn a_file_of_a_package_becomes_a_reexport() {
        for (reference, specifier) in [
            ("npm:rss/a.mjs", "rss/a.mjs"),
            ("npm:rss@1.2.3/sources/a/a.mjs", "rss@1.2.3/sources/a/a.mjs"),
            (
                "npm:@pipedream/rss/sources/a/a.mjs",
                "@pipedream/rss/sources/a/a.mjs",
            ),
            (
                "npm:@pipedream/rss@^0.5/sources/a/a",
                "@pipedream/rss@^0.5/sources/a/a",
            ),
        ] {
            let parsed = parse(reference);
            assert!(parsed.path.is_some(), "{reference}");
            assert_eq!(
                parsed.component_code(),
                format!("export {{ default }} from \"{specifier}\";\n")
            );
            assert_eq!(parsed.to_string(), reference);
        }
    }

    #[test]
    fn a_whole_package_has_no_path() {
        for (text, name, version) in [
            ("npm:rss", "rss", None),
            ("npm:rss@1", "rss", Some("1")),
            ("npm:@pipedream/rss", "@pipedream/rss", None),
            ("npm:@pipedream/rss@0.5.1", "@pipedream/rss", Some("0.5.1")),
        ] {
            let parsed = parse(text);
            assert_eq!(
                (parsed.name.as_str(), parsed.version.as_deref()),
                (name, version)
            );
            assert_eq!(
                (parsed.path.as_deref(), parsed.to_string()),
                (None, text.to_owned())
            );
        }
        assert!(parse("npm:rss@0.5.1").is_pinned());
        assert!(!parse("npm:rss@^0.5").is_pinned());
        assert!(!parse("npm:rss").is_pinned());
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "rss",
            "npm:",
            "npm:/a.mjs",
            "npm:rss/",
            "npm:rss@/a.mjs",
            "npm:@/rss/a.mjs",
            "npm:@scope",
            "npm:@scope//a",
            "npm:rss/a\".mjs",
            "npm:rss/a\n.mjs",
            "npm:rss/a//b.mjs",
        ] {
            let parsed = text.parse::<PackageReference>();
            assert!(parsed.is_err(), "{text} was taken for {parsed:?}");
        }
    }
}
