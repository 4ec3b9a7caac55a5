//! Versions of published components (docs/guide/registry.md, "Publishing"): semantic ones only, and
//! their order as text.

use std::{fmt, str::FromStr};

use semver::Version;

/// Longer texts are nobody's version.
const VERSION_CHARS: usize = 100;
/// Digits of the largest number of a version, 2^64 - 1.
const NUMBER_DIGITS: usize = 20;

/// A semantic version, such as `1.0.3` or `2.0.0-beta.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseVersion(Version);

/// Why a text is not a semantic version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a semantic version ({reason}); write three numbers, such as 1.0.0")]
pub struct InvalidVersion {
    text: String,
    reason: String,
}

impl FromStr for ReleaseVersion {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let invalid = |reason: String| InvalidVersion {
            text: text.chars().take(VERSION_CHARS).collect(),
            reason,
        };
        if text.len() > VERSION_CHARS {
            return Err(invalid(format!("longer than {VERSION_CHARS} characters")));
        }
        let version = Version::parse(text).map_err(|error| invalid(error.to_string()))?;
        Ok(Self(version))
    }
}

impl fmt::Display for ReleaseVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ReleaseVersion {
    /// A text that sorts, byte by byte, as versions win: every pre-release below every release, and
    /// among each the semantic precedence. Versions that differ in build metadata only are the same.
    pub fn rank(&self) -> String {
        let Self(version) = self;
        let class = if version.pre.is_empty() { 'r' } else { 'p' };
        let numbers = [version.major, version.minor, version.patch]
            .map(|number| format!("{number:0NUMBER_DIGITS$}"));
        let identifiers = version.pre.split('.').map(|identifier| {
            let numeric = identifier.bytes().all(|byte| byte.is_ascii_digit());
            match numeric {
                // Numbers go before words. Their length decides first: they have no leading zeros.
                true => format!("0{:03}{identifier}", identifier.len()),
                false => format!("1{identifier}"),
            }
        });
        // Below every character of an identifier, so that more identifiers sort above fewer.
        let identifiers = identifiers.collect::<Vec<_>>().join("!");
        format!("{class}{}!{identifiers}", numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rank(text: &str) -> String {
        text.parse::<ReleaseVersion>().unwrap().rank()
    }

    #[test]
    fn ranks_sort_as_versions_win() {
        let ascending = [
            "0.0.1-alpha",
            "1.0.0-0",
            "1.0.0-2",
            "1.0.0-10",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.1.0",
            "1.0.0-alpha.beta",
            "1.0.0-alpha-x",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "9.0.0-rc.1",
            "0.0.1",
            "0.0.10",
            "0.1.0",
            "0.10.0",
            "1.0.0",
            "2.0.0",
            "10.0.0",
            "18446744073709551615.0.0",
        ];
        for pair in ascending.windows(2) {
            assert!(rank(pair[0]) < rank(pair[1]), "{pair:?}");
        }
        assert_eq!(rank("1.0.0+a"), rank("1.0.0+b"));
    }

    #[test]
    fn only_semantic_versions_are_versions() {
        for bad in [
            "",
            "1",
            "1.0",
            "v1.0.0",
            "1.0.0.0",
            "01.0.0",
            "1.0.0-01",
            "1.0.x",
            "latest",
            "1.0.0 ",
            "18446744073709551616.0.0",
        ] {
            let refused = bad.parse::<ReleaseVersion>().unwrap_err();
            assert!(refused.to_string().contains("such as 1.0.0"), "{refused}");
        }
        let long = format!("1.0.0-{}", "a".repeat(VERSION_CHARS));
        assert!(long.parse::<ReleaseVersion>().is_err());
    }

    proptest! {
        #[test]
        fn ranks_order_versions_of_a_class_by_precedence(
            a in "[0-2]\\.[0-2]\\.[0-2](-(0|[1-9][0-9]{0,2}|[a-c-]{1,2})(\\.(0|1[0-9]?|[a-c]{1,2})){0,2})?",
            b in "[0-2]\\.[0-2]\\.[0-2](-(0|[1-9][0-9]{0,2}|[a-c-]{1,2})(\\.(0|1[0-9]?|[a-c]{1,2})){0,2})?",
        ) {
            let (left, right) = (Version::parse(&a).unwrap(), Version::parse(&b).unwrap());
            if left.pre.is_empty() == right.pre.is_empty() {
                prop_assert_eq!(rank(&a).cmp(&rank(&b)), left.cmp_precedence(&right));
            } else {
                prop_assert_eq!(rank(&a) < rank(&b), right.pre.is_empty());
            }
        }
    }
}
