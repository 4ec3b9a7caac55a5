//! The origin of a component's code, as typed on the command line: a local file, a URL, a file of an
//! npm package, or a component that the node has under an id or a key. Reads no file; opening a path
//! shows whether it exists.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use headwater_model::package::{InvalidPackage, PackageReference};
use url::Url;

use crate::usage_error::UsageError;

/// The endings by which a file is told from a key.
const FILE_ENDINGS: &[&str] = &["mjs", "js", "cjs", "ts", "mts", "cts", "jsx", "tsx"];

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ComponentReference {
    File(PathBuf),
    Url(Url),
    /// A package, or a file of one.
    Npm(PackageReference),
    /// An action that the node brings along, by its address.
    BuiltIn(String),
    /// A component's id, key or `key@version`.
    Saved(String),
}

impl ComponentReference {
    pub(crate) fn parse(text: &str) -> Result<Self, UsageError> {
        if text.starts_with("npm:") {
            let package = text.parse();
            return package
                .map(Self::Npm)
                .map_err(|error: InvalidPackage| UsageError(error.to_string()));
        }
        if text.starts_with("http://") || text.starts_with("https://") {
            return Url::parse(text)
                .map(Self::Url)
                .map_err(|error| UsageError(format!("{text} is not a URL: {error}")));
        }
        if text.starts_with("built-in:") {
            return Ok(Self::BuiltIn(text.to_owned()));
        }
        Ok(match is_path(text) {
            true => Self::File(PathBuf::from(text)),
            false => Self::Saved(text.to_owned()),
        })
    }
}

/// Whether a file can be part of a component, by its name.
pub(crate) fn is_module(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str);
    ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending) || ending == "json")
}

/// Whether a text can only be a path: keys have no folders, and no ending of a module.
fn is_path(text: &str) -> bool {
    let ending = text.rsplit_once('.').map(|(_, ending)| ending);
    text.contains(['/', '\\'])
        || text.starts_with('.')
        || ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_urls_packages_and_keys_are_told_apart() {
        for (text, expected) in [
            ("https://example.com/a.mjs", "Url"),
            ("./a.mjs", "File"),
            ("a.mjs", "File"),
            ("a.ts", "File"),
            ("./component", "File"),
            ("components/new-row", "File"),
            (".", "File"),
            ("npm:rss/a.mjs", "Npm"),
            ("npm:rss", "Npm"),
            ("built-in:http-get-request", "BuiltIn"),
            ("shop-new-order", "Saved"),
            ("shop-new-order@1.0.0", "Saved"),
            ("shop-new-order@1.0.0-rc.1", "Saved"),
            ("sc_0000000000000000000000", "Saved"),
        ] {
            let parsed = format!("{:?}", ComponentReference::parse(text).unwrap());
            assert!(parsed.starts_with(expected), "{text} is {parsed}");
        }
        assert!(ComponentReference::parse("http://").is_err());
        assert!(ComponentReference::parse("npm:").is_err());
    }
}
