//! Paths of files: names inside one owner's files, never paths of the machine.

use std::{fmt, str::FromStr};

/// The bytes of a path at most.
const PATH_BYTES_MAX: usize = 1024;

/// The path of a file or folder below the root of its owner's files, such as `reports/today.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePath(String);

/// Why a text is not a path.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum InvalidFilePath {
    /// It names the root.
    #[error("the path names no file: give a path such as `reports/today.csv`")]
    Empty,
    /// It has a NUL.
    #[error("the path has a NUL character: leave it out")]
    Nul,
    /// It is over the bound.
    #[error("the path has {0} bytes: shorten it to {PATH_BYTES_MAX}")]
    TooLong(usize),
}

impl FilePath {
    /// The path as text, without a slash at its beginning or end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its last segment.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folder that a text names; `None` for the root.
    ///
    /// # Errors
    /// The text cannot be a path.
    pub fn folder(text: &str) -> Result<Option<Self>, InvalidFilePath> {
        match text.parse() {
            Ok(path) => Ok(Some(path)),
            Err(InvalidFilePath::Empty) => Ok(None),
            Err(invalid) => Err(invalid),
        }
    }
}

/// Slashes at the beginning count for nothing, and `..` does not lead beyond the root.
impl FromStr for FilePath {
    type Err = InvalidFilePath;

    fn from_str(text: &str) -> Result<Self, InvalidFilePath> {
        if text.contains('\0') {
            return Err(InvalidFilePath::Nul);
        }
        let mut segments = Vec::new();
        for segment in text.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop()),
                name => segments.push(name),
            }
        }
        let path = segments.join("/");
        match path.len() {
            0 => Err(InvalidFilePath::Empty),
            1..=PATH_BYTES_MAX => Ok(Self(path)),
            length => Err(InvalidFilePath::TooLong(length)),
        }
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_path_names_one_file() {
        for (text, path) in [
            ("a/b.txt", "a/b.txt"),
            ("/a/b.txt", "a/b.txt"),
            ("//a///b.txt/", "a/b.txt"),
            ("./a/./b.txt", "a/b.txt"),
            ("c/../a/b.txt", "a/b.txt"),
            ("../../a/../../b", "b"),
            ("..a/b..", "..a/b.."),
            (r"..\..\secret", r"..\..\secret"),
            ("ü/ %2e%2e", "ü/ %2e%2e"),
        ] {
            let parsed: FilePath = text.parse().unwrap();
            assert_eq!(parsed.as_str(), path, "{text}");
        }
        assert_eq!("a/b.txt".parse::<FilePath>().unwrap().name(), "b.txt");
        assert_eq!("b".parse::<FilePath>().unwrap().name(), "b");
    }

    #[test]
    fn a_path_that_names_no_file_is_refused() {
        for text in ["", "/", "..", "a/..", "./."] {
            assert_eq!(
                text.parse::<FilePath>(),
                Err(InvalidFilePath::Empty),
                "{text}"
            );
            assert_eq!(FilePath::folder(text), Ok(None), "{text}");
        }
        assert_eq!("a\0b".parse::<FilePath>(), Err(InvalidFilePath::Nul));
        assert_eq!(FilePath::folder("\0"), Err(InvalidFilePath::Nul));
        let longest = "ü".repeat(PATH_BYTES_MAX / 2);
        assert!(format!("/{longest}/").parse::<FilePath>().is_ok());
        let longer = format!("{longest}x").parse::<FilePath>();
        assert_eq!(longer, Err(InvalidFilePath::TooLong(PATH_BYTES_MAX + 1)));
    }
}
