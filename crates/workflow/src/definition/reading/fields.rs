//! The keys of a mapping, of which a reader takes those that it knows.

use super::reader::Reader;
use crate::yaml::{Content, Entry, Position, Yaml};

/// Keys that have not been taken yet, in the order of the file.
pub(super) struct Fields<'y> {
    pub(super) position: Position,
    /// Whether there could be keys. A value that should have some and has none is told once.
    pub(super) is_keyed: bool,
    entries: Vec<&'y Entry>,
}

impl<'y> Fields<'y> {
    /// The keys of a value; none, and a mistake, if it has none.
    pub(super) fn of(yaml: &'y Yaml, reader: &mut Reader<'_>) -> Self {
        let entries = match &yaml.content {
            Content::Map(entries) => Some(entries.iter().collect()),
            Content::Null => Some(Vec::new()),
            _ => None,
        };
        if entries.is_none() {
            let message = format!("expected keys with values, and there is {}", yaml.kind());
            reader.problem(yaml.position, message);
        }
        Self {
            position: yaml.position,
            is_keyed: entries.is_some(),
            entries: entries.unwrap_or_default(),
        }
    }

    /// Whether a key is there and has not been taken.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The entry of a key. A key without a value counts as one that is not there.
    pub(super) fn take(&mut self, key: &str) -> Option<&'y Entry> {
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        let entry = self.entries.remove(index);
        (!entry.value.is_null()).then_some(entry)
    }

    /// The entry of a key that Pipedream would not know.
    pub(super) fn take_added(&mut self, key: &str, reader: &mut Reader<'_>) -> Option<&'y Entry> {
        let entry = self.take(key)?;
        reader.added(entry.position, &format!("`{key}`"));
        Some(entry)
    }

    /// The entry of a key that has to be there.
    pub(super) fn need(&mut self, key: &str, reader: &mut Reader<'_>) -> Option<&'y Entry> {
        let entry = self.take(key);
        if entry.is_none() && self.is_keyed {
            reader.problem(self.position, format!("`{key}` is missing here"));
        }
        entry
    }

    /// Tells what is left: it is kept in the file, and has no effect.
    pub(super) fn finish(self, reader: &mut Reader<'_>) {
        for entry in self.entries {
            let message = format!("`{}` is not known here, and has no effect", entry.key);
            reader.warning(entry.position, message);
        }
    }
}
