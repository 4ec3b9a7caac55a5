//! Lists in an order of choice, and the places in them.

use std::{fmt, str::FromStr};

use headwater_model::page::Page;

/// Separates an id from the key in the text of a place. No id has it.
const SEPARATOR: char = ':';

/// A place in a list that is in the order of keys and, where those are the same, of ids. It stays where it is when its
/// item gets another key or is gone, so that pages behind it neither repeat an item nor leave one out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListPlace {
    /// The item's key in that order, as the store compares it; empty in the order of ids.
    pub key: String,
    /// The item's id.
    pub id: String,
}

impl fmt::Display for ListPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => f.write_str(&self.id),
            key => write!(f, "{}{SEPARATOR}{key}", self.id),
        }
    }
}

/// A text that is not a place: it has no id, or a character that a store cannot compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not the place of an item in a list")]
pub struct InvalidListPlace;

impl FromStr for ListPlace {
    type Err = InvalidListPlace;

    fn from_str(text: &str) -> Result<Self, InvalidListPlace> {
        let (id, key) = text.split_once(SEPARATOR).unwrap_or((text, ""));
        if id.is_empty() || text.contains('\0') {
            return Err(InvalidListPlace);
        }
        Ok(Self {
            key: key.to_owned(),
            id: id.to_owned(),
        })
    }
}

/// An item of a list, with its place.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    /// Its place when the list was read.
    pub place: ListPlace,
    /// The item.
    pub item: T,
}

impl<T> Placed<T> {
    /// Another item at the same place.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Placed<U> {
        Placed {
            place: self.place,
            item: change(self.item),
        }
    }

    /// A page of items with their places, each item changed.
    pub fn map_page<U>(page: Page<Self>, mut change: impl FnMut(T) -> U) -> Page<Placed<U>> {
        let items = page.items.into_iter();
        Page {
            total_count: page.total_count,
            items: items.map(|placed| placed.map(&mut change)).collect(),
        }
    }
}

/// An order of a list of sources.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SourceOrder {
    /// The key.
    pub by: SourceKey,
    /// Whether the last comes first.
    pub is_descending: bool,
}

/// A property by which sources are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum SourceKey {
    /// The time of their creation.
    #[default]
    Created,
    /// Their name, in any case.
    Name,
    /// The time of the newest event on their ordinary channels; those without one come before all others.
    LastEvent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for (id, key, text) in [
            ("dc_1", "", "dc_1"),
            ("dc_1", "000001800000000", "dc_1:000001800000000"),
            ("dc_1", "a: b", "dc_1:a: b"),
        ] {
            let place = ListPlace {
                key: key.to_owned(),
                id: id.to_owned(),
            };
            assert_eq!(place.to_string(), text);
            assert_eq!(text.parse(), Ok(place));
        }
        for text in ["", ":", ":key", "dc_1\0", "dc_1:a\0"] {
            assert_eq!(text.parse::<ListPlace>(), Err(InvalidListPlace), "{text:?}");
        }
    }
}
