//! Where a component's code comes from, as typed on the command line: a local file, a URL or a
//! file of an npm package. Reads no file; that a path exists is found out when it is opened.

use std::path::PathBuf;

use url::Url;

use crate::exit::UsageError;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ComponentReference {
    File(PathBuf),
    Url(Url),
    Npm(NpmReference),
}

/// `npm:PACKAGE[@VERSION]/path`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NpmReference {
    package: String,
    version: Option<String>,
    path: String,
}

impl ComponentReference {
    pub(crate) fn parse(text: &str) -> Result<Self, UsageError> {
        if let Some(rest) = text.strip_prefix("npm:") {
            return NpmReference::parse(rest).map(Self::Npm);
        }
        if text.starts_with("http://") || text.starts_with("https://") {
            return Url::parse(text)
                .map(Self::Url)
                .map_err(|error| UsageError(format!("{text} is not a URL: {error}")));
        }
        Ok(Self::File(PathBuf::from(text)))
    }
}

impl NpmReference {
    fn parse(text: &str) -> Result<Self, UsageError> {
        Self::split(text).ok_or_else(|| {
            UsageError(format!(
                "npm:{text} does not name a file of a package; write npm:PACKAGE[@VERSION]/path, \
                 such as npm:@pipedream/rss/sources/new-item-in-feed/new-item-in-feed.mjs"
            ))
        })
    }

    fn split(text: &str) -> Option<Self> {
        // The name of a scoped package has a slash of its own.
        let name_end = if text.starts_with('@') {
            text.find('/')? + 1
        } else {
            0
        };
        let path_start = name_end + text.get(name_end..)?.find('/')?;
        let (specifier, path) = (&text[..path_start], &text[path_start + 1..]);
        let (package, version) = match specifier.get(1..)?.split_once('@') {
            Some((_, version)) => {
                let package_end = specifier.len() - version.len() - 1;
                (&specifier[..package_end], Some(version))
            }
            None => (specifier, None),
        };
        let complete = !package.is_empty()
            && !package.starts_with("@/")
            && !package.ends_with('/')
            && version != Some("")
            && !path.is_empty()
            && !text.contains(['"', '\\', '\n']);
        complete.then(|| Self {
            package: package.to_owned(),
            version: version.map(str::to_owned),
            path: path.to_owned(),
        })
    }

    /// A component that is the package's: the server resolves the specifier when it is saved.
    pub(crate) fn component_code(&self) -> String {
        let Self { package, path, .. } = self;
        match &self.version {
            Some(version) => format!("export {{ default }} from \"{package}@{version}/{path}\";\n"),
            None => format!("export {{ default }} from \"{package}/{path}\";\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        match ComponentReference::parse(text).unwrap() {
            ComponentReference::Npm(npm) => npm.component_code(),
            other => panic!("{text} was taken for {other:?}"),
        }
    }

    #[test]
    fn npm_references_become_a_reexport() {
        let table = [
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
        ];
        for (reference, specifier) in table {
            assert_eq!(
                code(reference),
                format!("export {{ default }} from \"{specifier}\";\n")
            );
        }
    }

    #[test]
    fn npm_references_without_a_file_are_refused() {
        for text in [
            "npm:",
            "npm:rss",
            "npm:rss/",
            "npm:@pipedream/rss",
            "npm:@pipedream/rss@1",
            "npm:rss@/a.mjs",
            "npm:@/rss/a.mjs",
            "npm:/a.mjs",
            "npm:rss/a\".mjs",
            "npm:@scope//a",
        ] {
            let parsed = ComponentReference::parse(text);
            assert!(parsed.is_err(), "{text} was taken for {parsed:?}");
        }
    }

    #[test]
    fn urls_and_files_are_told_apart() {
        assert!(matches!(
            ComponentReference::parse("https://example.com/a.mjs"),
            Ok(ComponentReference::Url(_))
        ));
        assert_eq!(
            ComponentReference::parse("./a.mjs").unwrap(),
            ComponentReference::File("./a.mjs".into())
        );
        assert!(ComponentReference::parse("http://").is_err());
    }
}
