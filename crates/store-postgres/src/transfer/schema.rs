//! The tables that the schema has, and the numbers that it gives to rows.

use std::collections::BTreeMap;

use headwater_store::{
    StoreError,
    transfer::{Numbers, Table},
};
use tokio_postgres::{Client, types::Type};

use super::cells::kind;
use crate::{connection::failed, migration};

/// Tables whose rows belong to this database alone, the lives of nodes and marks of their commits, or are copied file by file;
/// and one that is always empty.
const STAYING: [&str; 10] = [
    "nodes",
    "members",
    "cluster_keys",
    "cluster_marks",
    "commit_marks",
    "files",
    "file_contents",
    "file_chunks",
    "file_usage",
    "log_turn",
];

/// The columns of all tables.
const COLUMNS: &str = "SELECT relname::text, attname::text, atttypid::oid
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";
const REFERENCES: &str =
    "SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
    WHERE contype = 'f' AND connamespace = current_schema()::regnamespace";
/// Columns that number the rows of their tables.
const NUMBERED: &str =
    "SELECT relname::text, attname::text, pg_get_serial_sequence(quote_ident(relname), attname)
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attidentity <> ''
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";

fn is_copied(table: &str) -> bool {
    migration::tables().contains(&table) && !STAYING.contains(&table)
}

/// The tables to copy.
pub(super) async fn tables(session: &Client) -> Result<Vec<Table>, StoreError> {
    let failed = failed("reading the schema");
    let names = migration::tables().into_iter();
    let copied = names.filter(|name| is_copied(name));
    let empty = |name: &str| Table {
        name: name.to_owned(),
        columns: BTreeMap::new(),
        refers_to: Vec::new(),
    };
    let mut tables: BTreeMap<String, Table> =
        copied.map(|name| (name.to_owned(), empty(name))).collect();
    for row in session.query(COLUMNS, &[]).await.map_err(&failed)? {
        let (name, column, oid): (String, String, u32) = (row.get(0), row.get(1), row.get(2));
        let Some(table) = tables.get_mut(&name) else {
            continue;
        };
        let Some(kind) = Type::from_oid(oid).and_then(|type_| kind(&type_)) else {
            return Err(StoreError::Unsupported(format!(
                "the column {name}.{column} is of an unknown type"
            )));
        };
        table.columns.insert(column, kind);
    }
    for row in session.query(REFERENCES, &[]).await.map_err(&failed)? {
        let (from, to): (String, String) = (row.get(0), row.get(1));
        if let Some(table) = tables.get_mut(&from) {
            table.refers_to.push(to);
        }
    }
    Ok(tables.into_values().collect())
}

/// The types of a table's columns, in the order of the cells of a row.
pub(super) async fn types(session: &Client, table: &Table) -> Result<Vec<Type>, StoreError> {
    let sql = format!("SELECT {} FROM \"{}\"", table.column_list(), table.name);
    let statement = session.prepare(&sql).await;
    let statement = statement.map_err(failed("reading the schema"))?;
    let columns = statement.columns().iter();
    Ok(columns.map(|column| column.type_().clone()).collect())
}

/// The last epoch that was given to a node.
pub(super) async fn epochs(session: &Client) -> Result<i64, StoreError> {
    last(session, "node_epochs").await
}

async fn last(session: &Client, sequence: &str) -> Result<i64, StoreError> {
    let sql = format!("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}");
    let row = session.query_one(&sql, &[]).await;
    let row = row.map_err(failed("reading the numbers that were given"))?;
    Ok(row.get(0))
}

/// The numbers that were given.
pub(super) async fn numbers(session: &Client) -> Result<Numbers, StoreError> {
    let mut numbers = Numbers {
        epochs: epochs(session).await?,
        ..Numbers::default()
    };
    let numbered = session.query(NUMBERED, &[]).await;
    for row in numbered.map_err(failed("reading the numbers that were given"))? {
        let (table, sequence): (String, String) = (row.get(0), row.get(2));
        if is_copied(&table) {
            let number = last(session, &sequence).await?;
            numbers.by_table.insert(table, number);
        }
    }
    Ok(numbers)
}

/// Lets numbers go on above these, and above those of the rows that are there.
pub(super) async fn set_numbers(session: &Client, numbers: &Numbers) -> Result<(), StoreError> {
    let failed = failed("writing the numbers that were given");
    for row in session.query(NUMBERED, &[]).await.map_err(&failed)? {
        let (table, column, sequence): (String, String, String) =
            (row.get(0), row.get(1), row.get(2));
        if !is_copied(&table) {
            continue;
        }
        let given = numbers.by_table.get(&table).copied().unwrap_or(0);
        let sql = format!(
            "SELECT setval('{sequence}', greatest(number, 1), number > 0)
             FROM (SELECT greatest($1::bigint, coalesce(max(\"{column}\"), 0)) AS number FROM \"{table}\") AS last"
        );
        session.query_one(&sql, &[&given]).await.map_err(&failed)?;
    }
    let epochs = "SELECT setval('node_epochs', greatest($1::bigint, 1), $1::bigint > 0)";
    let set = session.query_one(epochs, &[&numbers.epochs]).await;
    set.map(drop).map_err(&failed)
}
