//! A store as a copy sees it: tables with rows, and numbers that go on.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::cell::{Kind, Row};
use crate::StoreError;

/// Bytes of rows in memory at once, unless a single row has more.
pub const BATCH_BYTES: usize = 1024 * 1024;

/// A table as a schema describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns by their names.
    pub columns: BTreeMap<String, Kind>,
    /// The tables whose rows its rows name.
    pub refers_to: Vec<String>,
}

impl Table {
    /// The names of its columns for a statement, in the order of the cells of a row.
    pub fn column_list(&self) -> String {
        let names = self.columns.keys().map(|name| format!("\"{name}\""));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// The highest numbers that were ever given, which new ones must be above.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Of rows, by table. A table that is missing gives numbers above those that it has.
    pub by_table: BTreeMap<String, i64>,
    /// Of lives of nodes.
    pub epochs: i64,
}

/// A store whose tables can be read, all as they are at one moment.
#[async_trait]
pub trait Tables: Send + Sync {
    /// The tables to copy, in any order.
    ///
    /// # Errors
    /// The schema cannot be read.
    async fn tables(&self) -> Result<Vec<Table>, StoreError>;

    /// All rows of a table, in any order.
    ///
    /// # Errors
    /// The table cannot be read.
    async fn rows<'a>(&'a self, table: &Table) -> Result<Box<dyn Rows + 'a>, StoreError>;

    /// The numbers that were given.
    ///
    /// # Errors
    /// They cannot be read.
    async fn numbers(&self) -> Result<Numbers, StoreError>;

    /// The reason for which it is in use by others, if it is.
    ///
    /// # Errors
    /// The store cannot be asked.
    async fn in_use(&self) -> Result<Option<String>, StoreError>;
}

/// Rows of a table on their way.
#[async_trait]
pub trait Rows: Send {
    /// Some further rows of about [`BATCH_BYTES`]; none at the end.
    ///
    /// # Errors
    /// They cannot be read.
    async fn next(&mut self) -> Result<Option<Vec<Row>>, StoreError>;
}

/// A store without rows that is marked as unfinished, so that no node starts on it.
#[async_trait]
pub trait EmptyTables: Tables {
    /// Writes rows into a table.
    ///
    /// # Errors
    /// They cannot be read, or not be written.
    async fn fill(&self, table: &Table, rows: &mut dyn Rows) -> Result<(), StoreError>;

    /// Lets numbers go on above these.
    ///
    /// # Errors
    /// They cannot be written.
    async fn set_numbers(&self, numbers: &Numbers) -> Result<(), StoreError>;

    /// Checks that it is whole, and takes the mark away: from then on nodes may start on it.
    ///
    /// # Errors
    /// It is not whole, or cannot be written.
    async fn finish(&self) -> Result<(), StoreError>;
}
