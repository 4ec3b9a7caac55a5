//! Rows on their way to the server and from it.

use std::error::Error;

use bytes::{BufMut as _, BytesMut};
use headwater_store::{
    StoreError,
    transfer::{Cell, Kind, Row, Table},
};
use tokio_postgres::{
    binary_copy::BinaryCopyOutRow,
    types::{FromSql, IsNull, ToSql, Type, to_sql_checked},
};

use crate::{connection::failed, text};

/// The kind of value of a type, if a column may have it.
pub(super) fn kind(type_: &Type) -> Option<Kind> {
    [
        (Type::TEXT, Kind::Text),
        (Type::BYTEA, Kind::Bytes),
        (Type::INT8, Kind::Integer),
        (Type::BOOL, Kind::Integer),
        (Type::FLOAT8, Kind::Real),
    ]
    .into_iter()
    .find_map(|(known, kind)| (known == *type_).then_some(kind))
}

/// A row as it came.
pub(super) fn read(row: &BinaryCopyOutRow, table: &Table) -> Result<Row, StoreError> {
    let cells = (0..table.columns.len()).map(|column| {
        let cell = row.try_get::<Arrived>(column);
        cell.map(|Arrived(cell)| cell)
            .map_err(failed("reading a row"))
    });
    cells.collect()
}

/// A cell on its way from the server.
struct Arrived(Cell);

impl<'a> FromSql<'a> for Arrived {
    fn from_sql(type_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let cell = match kind(type_) {
            Some(Kind::Text) => Cell::Text(text::Read::from_sql(type_, raw)?.0),
            Some(Kind::Bytes) => Cell::Bytes(raw.to_owned()),
            Some(Kind::Integer) if *type_ == Type::BOOL => {
                Cell::Integer(bool::from_sql(type_, raw)?.into())
            }
            Some(Kind::Integer) => Cell::Integer(i64::from_sql(type_, raw)?),
            Some(Kind::Real) => Cell::Real(f64::from_sql(type_, raw)?),
            None => return Err(format!("the type {type_} is not known").into()),
        };
        Ok(Self(cell))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Cell::Null))
    }

    fn accepts(type_: &Type) -> bool {
        kind(type_).is_some()
    }
}

/// A cell on its way to the server.
#[derive(Debug)]
pub(super) struct Leaving<'a>(pub(super) &'a Cell);

impl ToSql for Leaving<'_> {
    fn to_sql(
        &self,
        type_: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (self.0, kind(type_)) {
            (Cell::Null, _) => return Ok(IsNull::Yes),
            (Cell::Text(text), Some(Kind::Text)) => {
                out.extend_from_slice(&text::escaped(text.as_bytes()));
            }
            (Cell::Bytes(bytes), Some(Kind::Bytes)) => out.extend_from_slice(bytes),
            (Cell::Integer(truth @ 0..=1), _) if *type_ == Type::BOOL => {
                out.put_u8(u8::from(*truth == 1));
            }
            (Cell::Integer(number), _) if *type_ == Type::INT8 => out.put_i64(*number),
            (Cell::Real(number), Some(Kind::Real)) => out.put_f64(*number),
            _ => return Err(format!("a value is not {type_}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(type_: &Type) -> bool {
        kind(type_).is_some()
    }

    to_sql_checked!();
}
