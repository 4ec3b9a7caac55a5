//! Data stores and their records, and the cursors of their listings.

use std::str::FromStr;

use headwater_model::page::{PageRequest, Position};
use headwater_model::{data_store::DataStoreName, time::EpochMs};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// A data store: a key-value store that components share by its name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DataStore {
    #[schema(value_type = String)]
    name: DataStoreName,
    /// The number of its records.
    records: u64,
    /// Bytes of keys and values. Expired records count for a short while.
    bytes: u64,
    /// The time of the first write to it, in epoch milliseconds.
    #[schema(value_type = u64)]
    created_at_ms: EpochMs,
    /// The time of the last write to it, in epoch milliseconds.
    #[schema(value_type = u64)]
    updated_at_ms: EpochMs,
}

impl From<headwater_platform::DataStore> for DataStore {
    fn from(store: headwater_platform::DataStore) -> Self {
        Self {
            name: store.name,
            records: store.records,
            bytes: store.bytes,
            created_at_ms: store.created_at_ms,
            updated_at_ms: store.updated_at_ms,
        }
    }
}

/// A record of a data store.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Record {
    key: String,
    #[schema(value_type = serde_json::Value)]
    value: Box<RawValue>,
    /// The time it expires, in epoch milliseconds. Null if it does not expire.
    #[schema(required, value_type = Option<u64>)]
    expires_at_ms: Option<EpochMs>,
    /// The time of its last write, in epoch milliseconds.
    #[schema(value_type = u64)]
    updated_at_ms: EpochMs,
}

impl From<headwater_platform::Record> for Record {
    fn from(record: headwater_platform::Record) -> Self {
        Self {
            key: record.key,
            value: record.value,
            expires_at_ms: record.expires_at_ms,
            updated_at_ms: record.updated_at_ms,
        }
    }
}

/// The beginning of these listings' cursors: names and keys could be base64 themselves.
const MARK: &str = "at:";

/// A place in a listing in the order of names or keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextCursor<T>(T);

impl<T: FromStr> FromStr for TextCursor<T> {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let place = text.strip_prefix(MARK).ok_or(())?;
        place.parse().map(Self).map_err(drop)
    }
}

impl<T> TextCursor<T> {
    /// The page with its bare place.
    pub(crate) fn bare(page: PageRequest<Self>) -> PageRequest<T> {
        PageRequest {
            limit: page.limit,
            position: match page.position {
                Position::First => Position::First,
                Position::After(Self(place)) => Position::After(place),
                Position::Before(Self(place)) => Position::Before(place),
            },
        }
    }
}

/// The text of the cursor of a place.
pub(crate) fn place(of: &str) -> String {
    format!("{MARK}{of}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_and_a_bare_name_is_none() {
        let cursor: TextCursor<DataStoreName> = place("at:b").parse().unwrap();
        assert_eq!(cursor, TextCursor("at:b".parse().unwrap()));
        assert_eq!("orders".parse::<TextCursor<String>>(), Err(()));
    }
}
