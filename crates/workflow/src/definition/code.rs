//! The code of steps: `uses`, and code within the file.

use std::{fmt, str::FromStr};

/// The code of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepCode {
    /// A JavaScript or TypeScript file of the workflow's folder, by its path within it.
    File(String),
    /// JavaScript in the file itself (`code: |`).
    Inline(String),
    /// A component of the registry.
    Component(ComponentReference),
    /// Code of a language that does not run here.
    Foreign {
        /// As the file has it, or the file's ending.
        runtime: String,
        /// The file's path within the workflow's folder.
        file: String,
    },
}

/// A component of the registry: `key@version` or, of somebody's own, `@workspace/key@version`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentReference {
    /// Its key.
    pub key: String,
    /// Its version; the newest at the time of the deployment if there is none.
    pub version: Option<String>,
    /// Whether it belongs to a workspace.
    pub is_private: bool,
    /// That workspace, by its name.
    pub workspace: Option<String>,
}

/// The text is not a reference to a component.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a component: expected `key@version`, `@workspace/key@version` or a file such as `./path`"
)]
pub struct InvalidReference(String);

impl fmt::Display for ComponentReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(workspace) = &self.workspace {
            write!(f, "@{workspace}/")?;
        }
        f.write_str(&self.key)?;
        match &self.version {
            Some(version) => write!(f, "@{version}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ComponentReference {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, InvalidReference> {
        let invalid = || InvalidReference(text.to_owned());
        let (workspace, rest) = match text.strip_prefix('@') {
            Some(scoped) => {
                let (workspace, rest) = scoped.split_once('/').ok_or_else(invalid)?;
                (Some(workspace), rest)
            }
            None => (None, text),
        };
        let (key, version) = match rest.split_once('@') {
            Some((key, version)) => (key, Some(version)),
            None => (rest, None),
        };
        let mut names = [workspace, Some(key), version].into_iter().flatten();
        if !names.all(is_name) {
            return Err(invalid());
        }
        Ok(Self {
            key: key.to_owned(),
            version: version.map(str::to_owned),
            is_private: workspace.is_some(),
            workspace: workspace.map(str::to_owned),
        })
    }
}

fn is_name(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "-_.+~".contains(c);
    !text.is_empty() && text.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_a_component_and_its_version() {
        let reference = |text: &str| text.parse::<ComponentReference>().unwrap();
        let public = reference("google_sheets-add-single-row@2.1.2");
        assert_eq!(
            (public.key.as_str(), public.version.as_deref()),
            ("google_sheets-add-single-row", Some("2.1.2"))
        );
        assert!(!public.is_private);
        let private = reference("@me/my-step@0.0.1");
        assert_eq!(
            (private.key.as_str(), private.workspace.as_deref()),
            ("my-step", Some("me"))
        );
        assert!(private.is_private);
        assert_eq!(reference("rss-merge").version, None);
        for text in ["@me/my-step@0.0.1", "rss-merge", "a@1"] {
            assert_eq!(reference(text).to_string(), text);
        }
        for text in [
            "",
            "@me",
            "@/a@1",
            "a@",
            "a@1@2",
            "a b@1",
            "a/b@1",
            "@me/@1",
            "https://example.com/a.js",
        ] {
            assert!(text.parse::<ComponentReference>().is_err(), "{text}");
        }
    }
}
