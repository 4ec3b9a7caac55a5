//! The rows of data stores, without their records.

use headwater_model::{
    data_store::DataStoreName,
    page::{Page, PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{DataStore, DataStoreRef, Owner, StoreError};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    row::{get, parsed, signed, unsigned},
};

pub(super) async fn id_of(
    connection: &Connection,
    store: &DataStoreRef,
) -> Result<Option<i64>, StoreError> {
    connection
        .value_opt(
            "SELECT id FROM data_stores WHERE owner_id = $1 AND name = $2",
            &[&store.owner.tenant(), &store.name.as_str()],
        )
        .await
        .map_err(failed("finding a data store"))
}

/// Deletes every data store of this owner; their records are swept later.
pub(crate) async fn delete_all_of(
    connection: &Connection,
    owner_id: &str,
) -> Result<(), StoreError> {
    for sql in [
        "INSERT INTO data_store_leftovers (store_id) SELECT id FROM data_stores WHERE owner_id = $1",
        "DELETE FROM data_stores WHERE owner_id = $1",
    ] {
        connection
            .execute(sql, &[&owner_id])
            .await
            .map_err(failed("deleting data stores"))?;
    }
    Ok(())
}

/// The columns of a store, at time `$1`. Expired records are few, because they are swept.
const COLUMNS: &str = "name, bytes, created_at_ms, updated_at_ms,
    records - (SELECT count(*) FROM data_store_records
               WHERE expires_at_ms <= $1 AND store_id = data_stores.id) AS records";

pub(super) async fn one(
    connection: &Connection,
    store: &DataStoreRef,
    now_ms: EpochMs,
) -> Result<Option<DataStore>, StoreError> {
    let failed = failed("reading a data store");
    let sql = format!("SELECT {COLUMNS} FROM data_stores WHERE owner_id = $2 AND name = $3");
    let rows = connection
        .query(
            &sql,
            &[&signed(now_ms), &store.owner.tenant(), &store.name.as_str()],
        )
        .await
        .map_err(&failed)?;
    rows.first().map(from_row).transpose()
}

pub(super) async fn listed(
    connection: &Connection,
    owner: &Owner,
    page: &PageRequest<DataStoreName>,
    now_ms: EpochMs,
) -> Result<Page<DataStore>, StoreError> {
    let failed = failed("listing data stores");
    let (bound, order, from) = match &page.position {
        Position::First => ("name > $3", "ASC", ""),
        Position::After(after) => ("name > $3", "ASC", after.as_str()),
        Position::Before(before) => ("name < $3", "DESC", before.as_str()),
    };
    let total_count: u64 = count(connection, owner).await?;
    let sql = format!(
        "SELECT {COLUMNS} FROM data_stores WHERE owner_id = $2 AND {bound} ORDER BY name {order} LIMIT $4"
    );
    let rows = connection
        .query(
            &sql,
            &[&signed(now_ms), &owner.tenant(), &from, &signed(page.limit)],
        )
        .await
        .map_err(&failed)?;
    let mut items = Vec::new();
    for row in &rows {
        items.push(from_row(row)?);
    }
    if order == "DESC" {
        items.reverse();
    }
    Ok(Page { total_count, items })
}

/// The number of the owner's data stores.
pub(super) async fn count(connection: &Connection, owner: &Owner) -> Result<u64, StoreError> {
    let count: i64 = connection
        .value(
            "SELECT count(*) FROM data_stores WHERE owner_id = $1",
            &[&owner.tenant()],
        )
        .await
        .map_err(failed("counting data stores"))?;
    Ok(count.unsigned_abs())
}

fn from_row(row: &Row) -> Result<DataStore, StoreError> {
    Ok(DataStore {
        name: parsed(row, "name")?,
        records: get::<i64>(row, "records")?.max(0).unsigned_abs(),
        bytes: unsigned(row, "bytes")?,
        created_at_ms: unsigned(row, "created_at_ms")?,
        updated_at_ms: unsigned(row, "updated_at_ms")?,
    })
}
