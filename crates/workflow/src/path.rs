//! Paths: the names of places in a workflow and in its runs.
//!
//! `notify.urgent.page[3].send` is the step `send` in the fourth item of the loop `page`, in the branch `urgent` of the
//! block `notify`. Handlers are named so, too: `send.on_error.mend`, and `on_error.alarm` for the workflow's own.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a list of steps that run after a failure, in paths.
pub const ON_ERROR: &str = "on_error";

/// A part of a path. Names come before indices, so that the items of a loop are the last of what is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// The namespace of a step or block, the name of a branch, or [`ON_ERROR`].
    Name(Arc<str>),
    /// The index of a loop's item or round, from 0.
    Index(u32),
}

/// A path. Paths sort so that everything within a path follows it directly.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Segment>);

/// The text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a path: expected names and indices such as `notify.urgent.page[3].send`")]
pub struct InvalidPath(String);

impl Path {
    /// The path of the workflow itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of something of that name within this one.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        self.with(Segment::Name(Arc::from(name)))
    }

    /// The path of a loop's item or round.
    #[must_use]
    pub fn at(&self, index: u32) -> Self {
        self.with(Segment::Index(index))
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment);
        Self(segments)
    }

    /// Its parts.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether it is that path, or something within it.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// The index that follows a loop's path in this one; `None` if this one is not in an item of the loop.
    pub fn index_in(&self, path: &Self) -> Option<u32> {
        match self.0.strip_prefix(path.0.as_slice())?.first()? {
            Segment::Index(index) => Some(*index),
            Segment::Name(_) => None,
        }
    }

    /// The path around it; `None` for that of the workflow.
    pub fn parent(&self) -> Option<Self> {
        let (_, around) = self.0.split_last()?;
        Some(Self(around.to_vec()))
    }

    /// The last name in it, which is a step's or block's namespace if it is the path of one.
    pub fn name(&self) -> Option<&str> {
        let mut names = self.0.iter().rev();
        names.find_map(|segment| match segment {
            Segment::Name(name) => Some(&**name),
            Segment::Index(_) => None,
        })
    }

    /// The same place in the definition, which has no items.
    #[must_use]
    pub fn without_indices(&self) -> Self {
        let names = self.0.iter();
        let names = names.filter(|segment| matches!(segment, Segment::Name(_)));
        Self(names.cloned().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Name(name) if number == 0 => f.write_str(name)?,
                Segment::Name(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Path {
    type Err = InvalidPath;

    fn from_str(text: &str) -> Result<Self, InvalidPath> {
        let invalid = || InvalidPath(text.to_owned());
        let mut segments = Vec::new();
        if text.is_empty() {
            return Ok(Self(segments));
        }
        for part in text.split('.') {
            let (name, mut indices) = part.split_at(part.find('[').unwrap_or(part.len()));
            if name.is_empty() || name.contains(']') {
                return Err(invalid());
            }
            segments.push(Segment::Name(Arc::from(name)));
            while !indices.is_empty() {
                let (index, rest) = index(indices).ok_or_else(invalid)?;
                segments.push(Segment::Index(index));
                indices = rest;
            }
        }
        Ok(Self(segments))
    }
}

/// The index that a text begins with, and the text behind it.
fn index(text: &str) -> Option<(u32, &str)> {
    let (index, rest) = text.strip_prefix('[')?.split_once(']')?;
    let is_canonical = index == "0" || !index.starts_with(['0', '+']);
    let index = index.parse().ok().filter(|_| is_canonical)?;
    Some((index, rest))
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Path {
        text.parse().unwrap()
    }

    #[test]
    fn a_path_is_read_and_shown_as_it_is_written() {
        for text in [
            "",
            "a",
            "notify.urgent.page[3].send",
            "a.on_error.b",
            "a[0][10].über uns",
        ] {
            assert_eq!(path(text).to_string(), text);
            let json = serde_json::to_string(&path(text)).unwrap();
            assert_eq!(serde_json::from_str::<Path>(&json).unwrap(), path(text));
        }
        assert_eq!(
            path("a.b[2].c"),
            Path::root().join("a").join("b").at(2).join("c")
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            ".",
            "a.",
            ".a",
            "a..b",
            "[1]",
            "a[",
            "a[]",
            "a[x]",
            "a[-1]",
            "a[01]",
            "a[1]b",
            "a]",
            "a[+1]",
            "a[99999999999]",
        ] {
            assert!(text.parse::<Path>().is_err(), "{text}");
        }
    }

    #[test]
    fn everything_within_a_path_follows_it_directly() {
        let mut paths = [
            "a",
            "a.b",
            "a[10].x",
            "a[2].x",
            "a[2]",
            "ab",
            "a.on_error.z",
            "b",
            "a-b",
        ]
        .map(path);
        paths.sort();
        let sorted = paths.map(|path| path.to_string());
        assert_eq!(
            sorted,
            [
                "a",
                "a.b",
                "a.on_error.z",
                "a[2]",
                "a[2].x",
                "a[10].x",
                "a-b",
                "ab",
                "b"
            ]
        );
    }

    #[test]
    fn a_path_knows_what_it_is_within() {
        let send = path("notify.urgent.page[3].send");
        assert!(send.is_within(&path("notify.urgent")) && send.is_within(&send));
        assert!(send.is_within(&Path::root()));
        assert!(!send.is_within(&path("notify.urg")));
        assert_eq!(send.index_in(&path("notify.urgent.page")), Some(3));
        assert_eq!(send.index_in(&path("notify.urgent")), None);
        assert_eq!(send.parent(), Some(path("notify.urgent.page[3]")));
        assert_eq!(Path::root().parent(), None);
        assert_eq!(send.without_indices(), path("notify.urgent.page.send"));
        assert_eq!(path("a.page[3]").name(), Some("page"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_path_or_is_refused(text in "[a.\\[\\]0-9é]{0,12}") {
            if let Ok(path) = text.parse::<Path>() {
                proptest::prop_assert_eq!(path.to_string(), text);
            }
        }
    }
}
