//! Conversions between columns and the model's types. Text that does not parse is corruption, never a panic.

use std::str::FromStr;

use headwater_model::{
    time::{EpochMs, EpochSeconds},
    trace::TraceParent,
};
use headwater_store::StoreError;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;
use tokio_postgres::{Row, types::FromSqlOwned};

use crate::{connection::failed, text::Read};

/// A column's value.
pub(crate) fn get<T: FromSqlOwned>(row: &Row, column: &str) -> Result<T, StoreError> {
    let value = row.try_get(column).map(|Read(value)| value);
    value.map_err(failed("reading a row"))
}

/// A column whose text is an id or the like.
pub(crate) fn parsed<T: FromStr>(row: &Row, column: &str) -> Result<T, StoreError>
where
    T::Err: std::fmt::Display,
{
    let text: String = get(row, column)?;
    text.parse()
        .map_err(|error| StoreError::Corrupt(format!("column {column}: {error}")))
}

/// The same, where the column may be null.
pub(crate) fn parsed_opt<T: FromStr>(row: &Row, column: &str) -> Result<Option<T>, StoreError>
where
    T::Err: std::fmt::Display,
{
    match get::<Option<String>>(row, column)? {
        None => Ok(None),
        Some(text) => text
            .parse()
            .map(Some)
            .map_err(|error| StoreError::Corrupt(format!("column {column}: {error}"))),
    }
}

/// A column that holds JSON.
pub(crate) fn json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, StoreError> {
    let text: String = get(row, column)?;
    from_json(&text)
}

/// A column that holds JSON or null.
pub(crate) fn json_opt<T: DeserializeOwned>(
    row: &Row,
    column: &str,
) -> Result<Option<T>, StoreError> {
    get::<Option<String>>(row, column)?
        .map(|text| from_json(&text))
        .transpose()
}

/// A column of JSON text, kept as it is.
pub(crate) fn raw(row: &Row, column: &str) -> Result<Box<RawValue>, StoreError> {
    RawValue::from_string(get(row, column)?).map_err(|error| corrupt(&error))
}

/// The same, where the column may be null.
pub(crate) fn raw_opt(row: &Row, column: &str) -> Result<Option<Box<RawValue>>, StoreError> {
    let text: Option<String> = get(row, column)?;
    let text = text.map(RawValue::from_string).transpose();
    text.map_err(|error| corrupt(&error))
}

/// The column `traceparent`, in which an unreadable trace counts as absent: nothing depends on it.
pub(crate) fn trace(row: &Row) -> Result<Option<TraceParent>, StoreError> {
    let header: Option<String> = get(row, "traceparent")?;
    Ok(header.and_then(|header| header.parse().ok()))
}

/// A count or a moment: never negative.
pub(crate) trait Unsigned: Sized {
    /// `None`: it is too large.
    fn from_number(number: u64) -> Option<Self>;
    fn number(self) -> u64;
}

macro_rules! unsigned_numbers {
    ($($number:ty)*) => {$(
        impl Unsigned for $number {
            fn from_number(number: u64) -> Option<Self> {
                Self::try_from(number).ok()
            }

            fn number(self) -> u64 {
                u64::from(self)
            }
        }
    )*};
}

unsigned_numbers!(u8 u16 u32 u64);

impl Unsigned for EpochMs {
    fn from_number(number: u64) -> Option<Self> {
        Some(Self(number))
    }

    fn number(self) -> u64 {
        self.0
    }
}

impl Unsigned for EpochSeconds {
    fn from_number(number: u64) -> Option<Self> {
        Some(Self(number))
    }

    fn number(self) -> u64 {
        self.0
    }
}

/// A column of rows that a statement takes as lists, one of each column.
pub(crate) fn list<'a, R, T>(rows: &'a [R], of: impl Fn(&'a R) -> T) -> Vec<T> {
    rows.iter().map(of).collect()
}

/// A number that is never negative.
pub(crate) fn unsigned<T: Unsigned>(row: &Row, column: &str) -> Result<T, StoreError> {
    let number: i64 = get(row, column)?;
    u64::try_from(number)
        .ok()
        .and_then(T::from_number)
        .ok_or_else(|| StoreError::Corrupt(format!("column {column} is out of range: {number}")))
}

/// The same, where the column may be null.
pub(crate) fn unsigned_opt<T: Unsigned>(row: &Row, column: &str) -> Result<Option<T>, StoreError> {
    match get::<Option<i64>>(row, column)? {
        None => Ok(None),
        Some(_) => unsigned(row, column).map(Some),
    }
}

/// A moment, however it was read.
pub(crate) fn moment(ms: i64) -> EpochMs {
    EpochMs(ms.unsigned_abs())
}

/// JSON text back to a value.
pub(crate) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| corrupt(&error))
}

/// A value as JSON text.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| corrupt(&error))
}

fn corrupt(error: &serde_json::Error) -> StoreError {
    StoreError::Corrupt(format!("JSON: {error}"))
}

/// The value of a unit enum as its serde name (`"active"`), for a text column.
pub(crate) fn name_of(value: &impl Serialize) -> Result<String, StoreError> {
    Ok(to_json(value)?.trim_matches('"').to_owned())
}

/// The unit enum with that serde name.
pub(crate) fn named<T: DeserializeOwned>(name: &str) -> Result<T, StoreError> {
    serde_json::from_value(serde_json::Value::from(name)).map_err(|error| corrupt(&error))
}

/// A count or a moment as PostgreSQL keeps it.
pub(crate) fn signed(value: impl Unsigned) -> i64 {
    i64::try_from(value.number()).unwrap_or(i64::MAX)
}
