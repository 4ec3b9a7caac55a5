//! A database that a copy is made in: from its mark to the end of that.

use deadpool_postgres::ClientWrapper;
use headwater_store::{
    StoreError,
    transfer::{self, CopiedTable, Rows, Table},
};
use tokio_postgres::{Client, binary_copy::BinaryCopyInWriter};

use super::{cells::Leaving, schema};
use crate::{
    connection::failed,
    migration::{self, UNFINISHED},
    store::PostgresStore,
};

/// The lives of nodes.
const NODES: &str = "nodes";
/// Held as long as somebody copies into the database.
const LOCK: &str = "SELECT pg_try_advisory_lock(hashtext('headwater copy'))";

/// Marks and empties it, unless there is something in it.
pub(super) async fn create(url: &str) -> Result<(PostgresStore, ClientWrapper), StoreError> {
    let store = PostgresStore::connected(url)?;
    let unfinished = |connection| async move { migration::is_unfinished(&connection).await };
    let is_unfinished = store.read(unfinished).await?;
    let session = store.session().await?;
    if !value::<bool>(&session, LOCK).await? {
        let reason =
            "another `headwater store copy` is copying into the destination; wait for its end";
        return Err(StoreError::Unsupported(reason.to_owned()));
    }
    if is_unfinished {
        let known = |connection| async move { migration::is_of_this_version(&connection).await };
        if !store.read(known).await? {
            let reason =
                "another version of headwater began a copy into the destination; empty it first";
            return Err(StoreError::Unsupported(reason.to_owned()));
        }
    } else {
        store.migrate().await?;
        refuse_rows(&session).await?;
    }
    let mut emptied = migration::tables();
    // A node that lives there is refused afterwards.
    emptied.retain(|table| *table != NODES);
    let mark = format!(
        "BEGIN; CREATE TABLE IF NOT EXISTS {UNFINISHED} (); TRUNCATE {}; COMMIT",
        emptied.join(", ")
    );
    let marked = session.batch_execute(&mark).await;
    marked.map_err(failed("marking the destination"))?;
    Ok((store, session))
}

/// Refuses a database with rows, and says where. A life of a node that is over counts for nothing.
async fn refuse_rows(session: &Client) -> Result<(), StoreError> {
    let mut found = Vec::new();
    let tables = migration::tables().into_iter();
    for name in tables.filter(|table| *table != NODES) {
        let count: i64 = value(session, &format!("SELECT count(*) FROM \"{name}\"")).await?;
        let rows = count.unsigned_abs();
        let rows = rows.saturating_sub(transfer::rows_from_the_start(name));
        let name = name.to_owned();
        found.push(CopiedTable { name, rows });
    }
    transfer::refuse_rows(&found)
}

async fn value<T: tokio_postgres::types::FromSqlOwned>(
    session: &Client,
    sql: &str,
) -> Result<T, StoreError> {
    let failed = failed("looking into the destination");
    let row = session.query_one(sql, &[]).await.map_err(&failed)?;
    row.try_get(0).map_err(&failed)
}

/// Writes all rows of a table, in one transaction.
pub(super) async fn fill(
    session: &Client,
    table: &Table,
    rows: &mut dyn Rows,
) -> Result<(), StoreError> {
    let failed = failed("writing a table");
    let types = schema::types(session, table).await?;
    let sql = format!(
        "COPY \"{}\" ({}) FROM STDIN (FORMAT binary)",
        table.name,
        table.column_list()
    );
    let sink = session.copy_in(&sql).await.map_err(&failed)?;
    let mut writer = Box::pin(BinaryCopyInWriter::new(sink, &types));
    while let Some(batch) = rows.next().await? {
        for row in &batch {
            let cells = row.iter().map(Leaving).collect::<Vec<_>>();
            let written = writer.as_mut().write_raw(&cells).await;
            written.map_err(&failed)?;
        }
    }
    writer.as_mut().finish().await.map(drop).map_err(&failed)
}

/// Lets the planner know the tables, and takes the mark away.
pub(super) async fn finish(session: &Client) -> Result<(), StoreError> {
    let finished = session
        .batch_execute(&format!("ANALYZE; DROP TABLE {UNFINISHED}"))
        .await;
    finished.map_err(failed("finishing the copy"))
}
