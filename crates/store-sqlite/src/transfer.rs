//! The tables of an embedded store that is copied, or that a copy is made in. It is locked like a store that is open, so that
//! nothing else changes it.

mod fill;
mod schema;

use std::{
    fs::{self, File},
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_trait::async_trait;
use headwater_store::{
    StoreError,
    transfer::{self, BATCH_BYTES, CopiedTable, EmptyTables, Numbers, Row, Rows, Table, Tables},
};
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::mpsc;

use crate::{
    connection::{self, failed},
    copy::check_whole,
    health::checkpoint,
    migration::{self, UNFINISHED},
    store::lock,
};

/// Batches that are read before somebody takes them.
const BATCHES_AHEAD: usize = 1;

/// The tables of an embedded store.
pub struct SqliteTables {
    path: PathBuf,
    connection: Arc<Mutex<Connection>>,
    /// Held until the connection is closed: fields are dropped in this order.
    _lock: File,
}

impl SqliteTables {
    /// Opens a store that is to be copied. It is left as it is.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be read, `Unsupported` when a node has it open or another version of the program has
    /// written it.
    pub fn original(path: &Path) -> Result<Self, StoreError> {
        let lock = lock(path)?;
        let connection = connection::reading(path)?;
        if !migration::is_current(&connection)? {
            let reason = "the store to copy is of an older headwater: start this version on it once, which brings it up to \
                          date, and stop it";
            return Err(StoreError::Unsupported(reason.to_owned()));
        }
        connection
            .execute_batch("BEGIN")
            .map_err(failed("reading the store"))?;
        Ok(Self::of(path, connection, lock))
    }

    /// Makes a store for a copy, marked as unfinished. One that is there may have no rows, unless it is unfinished, too.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be written, `Unsupported` when a node has it open or there is something in it.
    pub fn destination(path: &Path) -> Result<Self, StoreError> {
        let lock = lock(path)?;
        if fs::metadata(path).is_ok_and(|file| file.len() > 0) {
            refuse_rows(path)?;
        }
        for suffix in ["", "-wal", "-shm"] {
            let mut file = path.as_os_str().to_owned();
            file.push(suffix);
            match fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(StoreError::unavailable("emptying the destination", error));
                }
                _ => {}
            }
        }
        let connection = connection::writing(path)?;
        migration::run(&connection)?;
        let mark = format!("BEGIN; CREATE TABLE {UNFINISHED} (id INTEGER PRIMARY KEY);");
        let emptied = schema::tables(&connection)?
            .into_iter()
            .map(|table| format!("DELETE FROM \"{}\";", table.name));
        let script = format!("{mark}{} COMMIT", emptied.collect::<String>());
        connection
            .execute_batch(&script)
            .map_err(failed("marking the destination"))?;
        Ok(Self::of(path, connection, lock))
    }

    /// Whether a copy into the store was begun and not finished.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be read.
    pub fn is_unfinished(path: &Path) -> Result<bool, StoreError> {
        match path.exists() {
            true => migration::is_unfinished(&connection::reading(path)?),
            false => Ok(false),
        }
    }

    fn of(path: &Path, connection: Connection, lock: File) -> Self {
        Self {
            path: path.to_owned(),
            connection: Arc::new(Mutex::new(connection)),
            _lock: lock,
        }
    }

    /// Works with the connection where that holds up nobody.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let connection = Arc::clone(&self.connection);
        tokio::task::spawn_blocking(move || work(&connection.lock()))
            .await
            .map_err(|error| StoreError::unavailable("copying the store", error))?
    }
}

/// Refuses a store with rows, and says which.
fn refuse_rows(path: &Path) -> Result<(), StoreError> {
    let connection = connection::reading(path)?;
    if migration::is_unfinished(&connection)? {
        return Ok(());
    }
    let mut found = Vec::new();
    for Table { name, .. } in schema::tables(&connection)? {
        let count = format!("SELECT count(*) FROM \"{name}\"");
        let count: u64 = connection
            .query_row(&count, (), |row| row.get(0))
            .map_err(failed("looking into the destination"))?;
        let rows = count.saturating_sub(transfer::rows_from_the_start(&name));
        found.push(CopiedTable { name, rows });
    }
    transfer::refuse_rows(&found)
}

/// Rows that a thread reads.
struct Reading(mpsc::Receiver<Result<Vec<Row>, StoreError>>);

#[async_trait]
impl Rows for Reading {
    async fn next(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        self.0.recv().await.transpose()
    }
}

#[async_trait]
impl Tables for SqliteTables {
    async fn tables(&self) -> Result<Vec<Table>, StoreError> {
        self.with(schema::tables).await
    }

    async fn rows<'a>(&'a self, table: &Table) -> Result<Box<dyn Rows + 'a>, StoreError> {
        let (sender, receiver) = mpsc::channel(BATCHES_AHEAD);
        let (connection, table) = (Arc::clone(&self.connection), table.clone());
        tokio::task::spawn_blocking(move || {
            let send = |batch| sender.blocking_send(Ok(batch)).is_ok();
            if let Err(error) = read(&connection.lock(), &table, send) {
                // Nobody waits for it if the copy has ended.
                let _ = sender.blocking_send(Err(error));
            }
        });
        Ok(Box::new(Reading(receiver)))
    }

    async fn numbers(&self) -> Result<Numbers, StoreError> {
        self.with(schema::numbers).await
    }

    async fn in_use(&self) -> Result<Option<String>, StoreError> {
        // It is locked.
        Ok(None)
    }
}

/// Reads a table batch by batch, as long as somebody takes them.
fn read(
    connection: &Connection,
    table: &Table,
    mut send: impl FnMut(Vec<Row>) -> bool,
) -> Result<(), StoreError> {
    let failed = failed("reading a table");
    let sql = format!("SELECT {} FROM \"{}\"", table.column_list(), table.name);
    let mut statement = connection.prepare(&sql).map_err(&failed)?;
    let mut rows = statement.query(()).map_err(&failed)?;
    let (mut batch, mut size) = (Vec::new(), 0);
    while let Some(row) = rows.next().map_err(&failed)? {
        let row = fill::cells(row, table)?;
        size += row.iter().map(transfer::Cell::size).sum::<usize>();
        batch.push(row);
        if size >= BATCH_BYTES {
            size = 0;
            if !send(std::mem::take(&mut batch)) {
                return Ok(());
            }
        }
    }
    if !batch.is_empty() {
        send(batch);
    }
    Ok(())
}

#[async_trait]
impl EmptyTables for SqliteTables {
    async fn fill(&self, table: &Table, rows: &mut dyn Rows) -> Result<(), StoreError> {
        while let Some(batch) = rows.next().await? {
            let table = table.clone();
            self.with(move |connection| fill::insert(connection, &table, &batch))
                .await?;
        }
        Ok(())
    }

    async fn set_numbers(&self, numbers: &Numbers) -> Result<(), StoreError> {
        let numbers = numbers.clone();
        self.with(move |connection| schema::set_numbers(connection, &numbers))
            .await
    }

    async fn finish(&self) -> Result<(), StoreError> {
        let path = self.path.clone();
        self.with(move |connection| {
            checkpoint(connection, "TRUNCATE")?;
            check_whole(connection, &path)?;
            connection
                .execute_batch(&format!("DROP TABLE {UNFINISHED}"))
                .map_err(failed("finishing the copy"))?;
            checkpoint(connection, "TRUNCATE")
        })
        .await
    }
}
