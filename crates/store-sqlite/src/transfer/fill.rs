//! Rows on their way into tables and out of them.

use headwater_store::{
    StoreError,
    transfer::{Cell, Kind, Row, Table},
};
use rusqlite::{
    Connection, params_from_iter,
    types::{ToSqlOutput, Value, ValueRef},
};

use crate::connection::failed;

/// A row of a table.
pub(super) fn cells(row: &rusqlite::Row<'_>, table: &Table) -> Result<Row, StoreError> {
    let columns = table.columns.iter().enumerate();
    let cells = columns.map(|(index, (column, kind))| {
        let value = row.get_ref(index).map_err(failed("reading a row"))?;
        let other = || {
            let (table, found) = (&table.name, value.data_type());
            StoreError::Corrupt(format!("{table}.{column} is {found}, not {kind:?}"))
        };
        cell(value, *kind).ok_or_else(other)
    });
    cells.collect()
}

/// The value as one of a column's kind; `None` if it is of another.
fn cell(value: ValueRef<'_>, kind: Kind) -> Option<Cell> {
    Some(match (value, kind) {
        (ValueRef::Null, _) => Cell::Null,
        (ValueRef::Text(text), Kind::Text) => Cell::Text(str::from_utf8(text).ok()?.to_owned()),
        (ValueRef::Blob(bytes), Kind::Bytes) => Cell::Bytes(bytes.to_owned()),
        // An empty value without a type.
        (ValueRef::Text([]), Kind::Bytes) => Cell::Bytes(Vec::new()),
        (ValueRef::Integer(number), Kind::Integer) => Cell::Integer(number),
        (ValueRef::Real(number), Kind::Real) => Cell::Real(number),
        _ => return None,
    })
}

/// Writes rows, all in one transaction.
pub(super) fn insert(
    connection: &Connection,
    table: &Table,
    rows: &[Row],
) -> Result<(), StoreError> {
    let failed = failed("writing a table");
    let places = vec!["?"; table.columns.len()].join(", ");
    let sql = format!(
        "INSERT INTO \"{}\" ({}) VALUES ({places})",
        table.name,
        table.column_list()
    );
    let writing = connection.unchecked_transaction().map_err(&failed)?;
    let mut statement = writing.prepare_cached(&sql).map_err(&failed)?;
    for row in rows {
        let values = row.iter().map(value);
        statement
            .execute(params_from_iter(values))
            .map_err(&failed)?;
    }
    drop(statement);
    writing.commit().map_err(&failed)
}

fn value(cell: &Cell) -> ToSqlOutput<'_> {
    match cell {
        Cell::Null => ToSqlOutput::Owned(Value::Null),
        Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        Cell::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
        Cell::Real(number) => ToSqlOutput::Owned(Value::Real(*number)),
    }
}
