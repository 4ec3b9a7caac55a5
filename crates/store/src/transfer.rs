//! A whole store, copied table by table into another one of whatever kind.
//!
//! Both kinds of store have the same tables with the same columns, so that a copy is of rows, and knows no record. Which
//! tables there are, the schemas say themselves: one that only one side has ends the copy before it begins. Lives of nodes and
//! what else belongs to one database alone stay behind, and numbers that are never given twice go on.
//!
//! Not responsible for files of owners, nor for when a store may be copied.

mod cell;
mod contract;
mod order;
mod sum;

pub use self::{
    cell::{Cell, Kind, Row},
    contract::{BATCH_BYTES, EmptyTables, Numbers, Rows, Table, Tables},
};
use self::{
    order::in_order,
    sum::{Sum, Summed},
};
use crate::StoreError;

/// A table that was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedTable {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: u64,
}

/// The part of a copy that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Rows are copied.
    Copying,
    /// They are read again where they are now, and compared.
    Verifying,
}

/// Hears of rows as they come: of so many of a table until now.
pub type Heard<'a> = &'a (dyn Fn(Part, &str, u64) + Send + Sync);

/// The reason why a copy came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// One of the two failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The two do not have the same tables.
    #[error(
        "the two schemas differ in {0}; copy with the version of headwater that both have last been started with"
    )]
    Schemas(String),
    /// Somebody else uses one of the two.
    #[error("the {side} is in use: {reason}; stop its nodes and try again")]
    InUse {
        /// Which of the two.
        side: &'static str,
        /// How that shows.
        reason: String,
    },
    /// There is something else than what was read.
    #[error("{0} is not the same in the copy; nothing may use that, so copy again")]
    Differs(String),
}

/// Copies all rows, lets numbers go on, and compares. The destination is still unfinished then.
///
/// # Errors
/// The copy is not whole.
pub async fn copy(
    from: &dyn Tables,
    to: &dyn EmptyTables,
    heard: Heard<'_>,
) -> Result<Vec<CopiedTable>, TransferError> {
    check_both_unused(from, to).await?;
    let tables = in_order(to.tables().await?);
    compare_schemas(from.tables().await?, &tables)?;
    let mut sums = Vec::with_capacity(tables.len());
    for table in &tables {
        let rows = from.rows(table).await?;
        let mut rows = Summed::new(rows, |rows| heard(Part::Copying, &table.name, rows));
        to.fill(table, &mut rows).await?;
        sums.push(rows.sum());
    }
    let numbers = from.numbers().await?;
    to.set_numbers(&numbers).await?;
    compare_numbers(&numbers, &to.numbers().await?)?;
    for (table, sum) in tables.iter().zip(&sums) {
        if sum_of(to, table, heard).await? != *sum {
            return Err(TransferError::Differs(format!("table {}", table.name)));
        }
    }
    check_both_unused(from, to).await?;
    let copied = tables.into_iter().zip(sums);
    let copied = copied.map(|(table, sum)| CopiedTable {
        name: table.name,
        rows: sum.rows,
    });
    Ok(copied.collect())
}

async fn sum_of(
    tables: &dyn EmptyTables,
    table: &Table,
    heard: Heard<'_>,
) -> Result<Sum, StoreError> {
    let rows = tables.rows(table).await?;
    let mut rows = Summed::new(rows, |rows| heard(Part::Verifying, &table.name, rows));
    while rows.next().await?.is_some() {}
    Ok(rows.sum())
}

async fn check_both_unused(from: &dyn Tables, to: &dyn EmptyTables) -> Result<(), TransferError> {
    check_unused(from, "store to copy").await?;
    check_unused(to, "destination").await
}

/// Refuses a store that others use, by what it is for the copy.
///
/// # Errors
/// `InUse`, or the store cannot be asked.
pub async fn check_unused<T: Tables + ?Sized>(
    tables: &T,
    side: &'static str,
) -> Result<(), TransferError> {
    match tables.in_use().await? {
        Some(reason) => Err(TransferError::InUse { side, reason }),
        None => Ok(()),
    }
}

fn compare_schemas(mut from: Vec<Table>, to: &[Table]) -> Result<(), TransferError> {
    from.sort_by(|one, other| one.name.cmp(&other.name));
    let same = |table: &Table, other: &[Table]| {
        other
            .iter()
            .any(|other| other.name == table.name && other.columns == table.columns)
    };
    let missing = from.iter().filter(|table| !same(table, to));
    let further = to.iter().filter(|table| !same(table, &from));
    let mut names: Vec<_> = missing
        .chain(further)
        .map(|table| table.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    match names.is_empty() {
        true => Ok(()),
        false => Err(TransferError::Schemas(names.join(", "))),
    }
}

fn compare_numbers(from: &Numbers, to: &Numbers) -> Result<(), TransferError> {
    let behind = from.by_table.iter().find(|(table, number)| {
        let there = to.by_table.get(*table);
        there.is_some_and(|there| there < *number)
    });
    match behind {
        Some((table, _)) => Err(TransferError::Differs(format!("the numbering of {table}"))),
        None if to.epochs < from.epochs => {
            Err(TransferError::Differs("the numbering of nodes".to_owned()))
        }
        None => Ok(()),
    }
}

/// The rows that a schema begins with, in tables of one row that nodes change.
pub fn rows_from_the_start(table: &str) -> u64 {
    u64::from(["dispatch_cursor", "retention"].contains(&table))
}

/// Refuses a destination with rows.
///
/// # Errors
/// `Unsupported`, with the tables that have some.
pub fn refuse_rows(found: &[CopiedTable]) -> Result<(), StoreError> {
    let with_rows = found.iter().filter(|table| table.rows > 0);
    let told = with_rows.map(|CopiedTable { name, rows }| format!("{name} ({rows})"));
    match told.collect::<Vec<_>>() {
        told if told.is_empty() => Ok(()),
        told => Err(StoreError::Unsupported(format!(
            "the destination is not empty, it has rows in {}; name an empty one",
            told.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests;
