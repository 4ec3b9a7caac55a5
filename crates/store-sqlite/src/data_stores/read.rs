//! Reading the records of a data store, without those that have expired.

use headwater_model::{
    limits::DATA_STORE_PAGE_BYTES,
    page::{Page, PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{DataStore, DataStoreRef, Record, RecordRange, StoreError};
use rusqlite::{Connection, Row, params};

use super::stores::{id_of, one};
use crate::{
    connection::failed,
    row::{get, raw, signed, unsigned, unsigned_opt},
};

/// The condition on a record that has not expired at `?2`.
const IS_THERE: &str = "(expires_at_ms IS NULL OR expires_at_ms > ?2)";

pub(super) fn record(
    connection: &Connection,
    store: &DataStoreRef,
    key: &str,
    now_ms: EpochMs,
) -> Result<Option<Record>, StoreError> {
    let failed = failed("reading a record");
    let Some(id) = id_of(connection, store)? else {
        return Ok(None);
    };
    let sql =
        format!("SELECT * FROM data_store_records WHERE store_id = ?1 AND key = ?3 AND {IS_THERE}");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![id, signed(now_ms), key])
        .map_err(&failed)?;
    rows.next().map_err(&failed)?.map(from_row).transpose()
}

pub(super) fn records(
    connection: &Connection,
    store: &DataStoreRef,
    range: RecordRange<'_>,
    now_ms: EpochMs,
) -> Result<Vec<Record>, StoreError> {
    let failed = failed("reading records");
    let Some(id) = id_of(connection, store)? else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT * FROM data_store_records
         WHERE store_id = ?1 AND key > ?3 AND {IS_THERE} ORDER BY key LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let after = range.after.unwrap_or_default();
    let mut rows = statement
        .query(params![id, signed(now_ms), after, range.limit])
        .map_err(&failed)?;
    let (mut records, mut bytes) = (Vec::new(), 0);
    while bytes < range.bytes
        && let Some(row) = rows.next().map_err(&failed)?
    {
        let record = from_row(row)?;
        bytes += record.value.get().len();
        records.push(record);
    }
    Ok(records)
}

pub(super) fn page(
    connection: &Connection,
    store: &DataStoreRef,
    page: &PageRequest<String>,
    now_ms: EpochMs,
) -> Result<Page<Record>, StoreError> {
    let failed = failed("reading a page of records");
    let known = one(connection, store, now_ms)?.zip(id_of(connection, store)?);
    let Some((DataStore { records, .. }, id)) = known else {
        return Ok(Page {
            total_count: 0,
            items: Vec::new(),
        });
    };
    let (bound, order, from) = match &page.position {
        Position::First => ("key > ?3", "ASC", ""),
        Position::After(after) => ("key > ?3", "ASC", &**after),
        Position::Before(before) => ("key < ?3", "DESC", &**before),
    };
    let sql = format!(
        "SELECT * FROM data_store_records
         WHERE store_id = ?1 AND {bound} AND {IS_THERE} ORDER BY key {order} LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![id, signed(now_ms), from, page.limit])
        .map_err(&failed)?;
    let (mut items, mut bytes) = (Vec::new(), 0);
    while bytes < DATA_STORE_PAGE_BYTES
        && let Some(row) = rows.next().map_err(&failed)?
    {
        let record = from_row(row)?;
        bytes += record.value.get().len();
        items.push(record);
    }
    if order == "DESC" {
        items.reverse();
    }
    Ok(Page {
        total_count: records,
        items,
    })
}

pub(super) fn keys(
    connection: &Connection,
    store: &DataStoreRef,
    after: Option<&str>,
    limit: u32,
    now_ms: EpochMs,
) -> Result<Vec<String>, StoreError> {
    let failed = failed("reading keys");
    let Some(id) = id_of(connection, store)? else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT key FROM data_store_records
         WHERE store_id = ?1 AND key > ?3 AND {IS_THERE} ORDER BY key LIMIT ?4"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let range = params![id, signed(now_ms), after.unwrap_or_default(), limit];
    let keys = statement
        .query_map(range, |row| row.get(0))
        .map_err(&failed)?;
    keys.collect::<Result<_, _>>().map_err(&failed)
}

fn from_row(row: &Row<'_>) -> Result<Record, StoreError> {
    Ok(Record {
        key: get(row, "key")?,
        value: raw(row, "value")?,
        expires_at_ms: unsigned_opt(row, "expires_at_ms")?,
        updated_at_ms: unsigned(row, "updated_at_ms")?,
    })
}
