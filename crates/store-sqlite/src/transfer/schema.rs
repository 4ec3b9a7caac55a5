//! The tables that the schema has, and the numbers that it gives to rows.

use std::collections::BTreeMap;

use headwater_store::{
    StoreError,
    transfer::{Kind, Numbers, Table},
};
use rusqlite::Connection;

use crate::{connection::failed, migration::UNFINISHED};

/// Tables whose rows belong to this database alone: the count of starts, which goes on as a number, and the mark.
const STAYING: [&str; 2] = ["node", UNFINISHED];

/// The tables to copy.
pub(super) fn tables(connection: &Connection) -> Result<Vec<Table>, StoreError> {
    let failed = failed("reading the schema");
    let mut names = connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name")
        .map_err(&failed)?;
    let names = names
        .query_map((), |row| row.get(0))
        .and_then(Iterator::collect::<Result<Vec<String>, _>>)
        .map_err(&failed)?;
    let copied = names
        .into_iter()
        .filter(|name| !STAYING.contains(&name.as_str()));
    copied.map(|name| table(connection, name)).collect()
}

fn table(connection: &Connection, name: String) -> Result<Table, StoreError> {
    let failed = failed("reading the schema");
    let read = |sql: &str| {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<Vec<(String, String)>, _>>()
    };
    let columns = read("SELECT name, type FROM pragma_table_info(?)").map_err(&failed)?;
    let columns = columns.into_iter().map(|(column, declared)| {
        let kind = match declared.as_str() {
            "TEXT" => Kind::Text,
            "BLOB" => Kind::Bytes,
            "INTEGER" => Kind::Integer,
            "REAL" => Kind::Real,
            other => {
                return Err(StoreError::Unsupported(format!(
                    "the column {name}.{column} is of the unknown type {other}"
                )));
            }
        };
        Ok((column, kind))
    });
    let columns = columns.collect::<Result<BTreeMap<_, _>, _>>()?;
    let refers_to = read("SELECT \"table\", \"from\" FROM pragma_foreign_key_list(?)");
    let refers_to = refers_to.map_err(&failed)?;
    Ok(Table {
        columns,
        refers_to: refers_to.into_iter().map(|(table, _)| table).collect(),
        name,
    })
}

/// The numbers that were given in tables whose numbers are never given again, and to lives of nodes.
pub(super) fn numbers(connection: &Connection) -> Result<Numbers, StoreError> {
    let failed = failed("reading the numbers that were given");
    let mut statement = connection
        .prepare("SELECT name, seq FROM sqlite_sequence")
        .map_err(&failed)?;
    let by_table = statement
        .query_map((), |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .map_err(&failed)?;
    let epochs = connection
        .query_row("SELECT epoch FROM node", (), |row| row.get(0))
        .map_err(&failed)?;
    Ok(Numbers { by_table, epochs })
}

/// Lets numbers go on above these, in tables whose numbers are never given again. Others go on above the rows that are there.
pub(super) fn set_numbers(connection: &Connection, numbers: &Numbers) -> Result<(), StoreError> {
    let failed = failed("writing the numbers that were given");
    let is_counted = "SELECT 1 FROM sqlite_master WHERE name = ? AND sql LIKE '%AUTOINCREMENT%'";
    let mut is_counted = connection.prepare(is_counted).map_err(&failed)?;
    for (table, number) in &numbers.by_table {
        if !is_counted.exists([table]).map_err(&failed)? {
            continue;
        }
        connection
            .execute("DELETE FROM sqlite_sequence WHERE name = ?", [table])
            .and_then(|_| {
                let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)";
                connection.execute(sql, (table, number))
            })
            .map_err(&failed)?;
    }
    connection
        .execute("UPDATE node SET epoch = ?", [numbers.epochs])
        .map(drop)
        .map_err(&failed)
}
