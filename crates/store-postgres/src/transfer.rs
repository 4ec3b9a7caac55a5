//! The tables of a database that is copied, or that a copy is made in. Rows pass as `COPY` of the server streams them, so that
//! no more than some are in memory.

mod cells;
mod destination;
mod schema;

use std::{pin::Pin, sync::Arc};

use async_trait::async_trait;
use deadpool_postgres::ClientWrapper;
use futures::{StreamExt as _, stream::Fuse};
use headwater_store::{
    NodeName, StoreError,
    transfer::{BATCH_BYTES, Cell, EmptyTables, Numbers, Row, Rows, Table, Tables},
};
use tokio_postgres::binary_copy::BinaryCopyOutStream;

use crate::{connection::failed, migration, store::PostgresStore};

/// The tables of a database.
pub struct PostgresTables {
    store: Arc<PostgresStore>,
    /// A connection of its own: the snapshot of an original, or the lock of a destination.
    session: ClientWrapper,
    /// The lives of nodes of an original when it was opened.
    epochs: Option<i64>,
}

impl PostgresTables {
    /// Opens a database that is to be copied, as it is at this moment. It is left as it is.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be reached, `Unsupported` when another version of the program has written it.
    pub async fn original(url: &str) -> Result<Self, StoreError> {
        let store = PostgresStore::open_for_one(url).await?;
        let known = |connection| async move { migration::is_current(&connection).await };
        if !store.read(known).await? {
            let reason = "the store to copy is of an older headwater, or of none: start this version on it once, which \
                          brings it up to date, and stop it";
            return Err(StoreError::Unsupported(reason.to_owned()));
        }
        let session = store.session().await?;
        let epochs = schema::epochs(&session).await?;
        session
            .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await
            .map_err(failed("reading the database"))?;
        Ok(Self {
            store: Arc::new(store),
            session,
            epochs: Some(epochs),
        })
    }

    /// Makes the tables for a copy, marked as unfinished. A database that is there may have no rows, unless it is unfinished, too.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be reached, `Unsupported` when there is something in it, or somebody else copies into it.
    pub async fn destination(url: &str) -> Result<Self, StoreError> {
        let (store, session) = destination::create(url).await?;
        Ok(Self {
            store: Arc::new(store),
            session,
            epochs: None,
        })
    }

    /// The store that they are of.
    pub fn store(&self) -> Arc<PostgresStore> {
        Arc::clone(&self.store)
    }
}

/// Rows as the server streams them.
struct Reading {
    /// Asked for more after its end, the driver's own would take the connection for lost.
    stream: Pin<Box<Fuse<BinaryCopyOutStream>>>,
    table: Table,
}

#[async_trait]
impl Rows for Reading {
    async fn next(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let (mut batch, mut size) = (Vec::new(), 0);
        while size < BATCH_BYTES {
            let next = self.stream.next().await.transpose();
            let Some(row) = next.map_err(failed("reading a table"))? else {
                break;
            };
            let row = cells::read(&row, &self.table)?;
            size += row.iter().map(Cell::size).sum::<usize>();
            batch.push(row);
        }
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
    }
}

#[async_trait]
impl Tables for PostgresTables {
    async fn tables(&self) -> Result<Vec<Table>, StoreError> {
        schema::tables(&self.session).await
    }

    async fn rows<'a>(&'a self, table: &Table) -> Result<Box<dyn Rows + 'a>, StoreError> {
        let failed = failed("reading a table");
        let types = schema::types(&self.session, table).await?;
        let sql = format!(
            "COPY (SELECT {} FROM \"{}\") TO STDOUT (FORMAT binary)",
            table.column_list(),
            table.name
        );
        let stream = self.session.copy_out(&sql).await.map_err(&failed)?;
        Ok(Box::new(Reading {
            stream: Box::pin(BinaryCopyOutStream::new(stream, &types).fuse()),
            table: table.clone(),
        }))
    }

    async fn numbers(&self) -> Result<Numbers, StoreError> {
        schema::numbers(&self.session).await
    }

    async fn in_use(&self) -> Result<Option<String>, StoreError> {
        let living = self.store.living().await?;
        if let Some(node) = living.first().map(NodeName::as_str) {
            return Ok(Some(format!("the node {node} lives, or did seconds ago")));
        }
        let Some(former) = self.epochs else {
            // No node starts on what has the mark.
            return Ok(None);
        };
        let session = self.store.session().await?;
        let has_started = schema::epochs(&session).await? > former;
        Ok(has_started.then(|| "a node was started on it meanwhile".to_owned()))
    }
}

#[async_trait]
impl EmptyTables for PostgresTables {
    async fn fill(&self, table: &Table, rows: &mut dyn Rows) -> Result<(), StoreError> {
        destination::fill(&self.session, table, rows).await
    }

    async fn set_numbers(&self, numbers: &Numbers) -> Result<(), StoreError> {
        schema::set_numbers(&self.session, numbers).await
    }

    async fn finish(&self) -> Result<(), StoreError> {
        destination::finish(&self.session).await
    }
}
