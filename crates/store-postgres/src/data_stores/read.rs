//! Reading the records of a data store, without those that have expired.

use headwater_model::{
    limits::DATA_STORE_PAGE_BYTES,
    page::{Page, PageRequest, Position},
    time::EpochMs,
};
use headwater_store::{DataStore, DataStoreRef, Record, RecordRange, StoreError, end_of_prefix};
use tokio_postgres::Row;

use super::stores::{id_of, one};
use crate::{
    connection::{Connection, failed},
    row::{get, raw, signed, unsigned, unsigned_opt},
};

/// The condition on a record that has not expired at `$2`.
const IS_THERE: &str = "(expires_at_ms IS NULL OR expires_at_ms > $2)";

pub(super) async fn record(
    connection: &Connection,
    store: &DataStoreRef,
    key: &str,
    now_ms: EpochMs,
) -> Result<Option<Record>, StoreError> {
    let failed = failed("reading a record");
    let Some(id) = id_of(connection, store).await? else {
        return Ok(None);
    };
    let sql =
        format!("SELECT * FROM data_store_records WHERE store_id = $1 AND key = $3 AND {IS_THERE}");
    let rows = connection
        .query(&sql, &[&id, &signed(now_ms), &key])
        .await
        .map_err(&failed)?;
    rows.first().map(from_row).transpose()
}

pub(super) async fn records(
    connection: &Connection,
    store: &DataStoreRef,
    range: RecordRange<'_>,
    now_ms: EpochMs,
) -> Result<Vec<Record>, StoreError> {
    let failed = failed("reading records");
    let Some(id) = id_of(connection, store).await? else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT * FROM data_store_records
         WHERE store_id = $1 AND key > $3 AND {IS_THERE} ORDER BY key LIMIT $4"
    );
    let after = range.after.unwrap_or_default();
    let rows = connection
        .query(&sql, &[&id, &signed(now_ms), &after, &signed(range.limit)])
        .await
        .map_err(&failed)?;
    let (mut records, mut bytes) = (Vec::new(), 0);
    for row in &rows {
        if bytes >= range.bytes {
            break;
        }
        let record = from_row(row)?;
        bytes += record.value.get().len();
        records.push(record);
    }
    Ok(records)
}

pub(super) async fn page(
    connection: &Connection,
    store: &DataStoreRef,
    prefix: &str,
    page: &PageRequest<String>,
    now_ms: EpochMs,
) -> Result<Page<Record>, StoreError> {
    let failed = failed("reading a page of records");
    let known = one(connection, store, now_ms)
        .await?
        .zip(id_of(connection, store).await?);
    let Some((DataStore { records, .. }, id)) = known else {
        return Ok(Page {
            total_count: 0,
            items: Vec::new(),
        });
    };
    let total_count = match prefix {
        "" => records,
        prefix => count(connection, id, prefix, now_ms).await?,
    };
    let Stretch {
        bounds,
        order,
        from,
        to,
    } = Stretch::of(prefix, &page.position);
    let sql = format!(
        "SELECT * FROM data_store_records
         WHERE store_id = $1 AND {bounds} AND {IS_THERE} ORDER BY key {order} LIMIT $5"
    );
    let rows = connection
        .query(
            &sql,
            &[&id, &signed(now_ms), &from, &to, &signed(page.limit)],
        )
        .await
        .map_err(&failed)?;
    let (mut items, mut bytes) = (Vec::new(), 0);
    for row in &rows {
        if bytes >= DATA_STORE_PAGE_BYTES {
            break;
        }
        let record = from_row(row)?;
        bytes += record.value.get().len();
        items.push(record);
    }
    if order == "DESC" {
        items.reverse();
    }
    Ok(Page { total_count, items })
}

/// A stretch of keys in SQL, with `$3` its beginning and `$4` its end.
struct Stretch<'a> {
    bounds: &'static str,
    order: &'static str,
    from: &'a str,
    to: Option<String>,
}

impl<'a> Stretch<'a> {
    /// The keys with this prefix behind or in front of a position. One bound each way, so that the index is entered at
    /// the first key.
    fn of(prefix: &'a str, position: &'a Position<String>) -> Self {
        const AT: &str = "key >= $3 AND ($4::text IS NULL OR key < $4)";
        const BEHIND: &str = "key > $3 AND ($4::text IS NULL OR key < $4)";
        let end = end_of_prefix(prefix);
        let (bounds, order, from, to) = match position {
            Position::After(after) if **after >= *prefix => (BEHIND, "ASC", &**after, end),
            Position::First | Position::After(_) => (AT, "ASC", prefix, end),
            Position::Before(before) => {
                let is_within = end.as_ref().is_none_or(|end| before < end);
                let to = if is_within { Some(before.clone()) } else { end };
                ("key >= $3 AND key < $4", "DESC", prefix, to)
            }
        };
        Self {
            bounds,
            order,
            from,
            to,
        }
    }
}

/// The number of records with this prefix, from the index. Expired ones are few, because they are swept.
async fn count(
    connection: &Connection,
    id: i64,
    prefix: &str,
    now_ms: EpochMs,
) -> Result<u64, StoreError> {
    const SQL: &str = "SELECT
         (SELECT count(*) FROM data_store_records
          WHERE store_id = $1 AND key >= $3 AND ($4::text IS NULL OR key < $4))
       - (SELECT count(*) FROM data_store_records
          WHERE expires_at_ms <= $2 AND store_id = $1 AND key >= $3 AND ($4::text IS NULL OR key < $4))";
    let end = end_of_prefix(prefix);
    let counted: i64 = connection
        .value(SQL, &[&id, &signed(now_ms), &prefix, &end])
        .await
        .map_err(failed("counting records"))?;
    Ok(counted.unsigned_abs())
}

pub(super) async fn keys(
    connection: &Connection,
    store: &DataStoreRef,
    after: Option<&str>,
    limit: u32,
    now_ms: EpochMs,
) -> Result<Vec<String>, StoreError> {
    let failed = failed("reading keys");
    let Some(id) = id_of(connection, store).await? else {
        return Ok(Vec::new());
    };
    let sql = format!(
        "SELECT key FROM data_store_records
         WHERE store_id = $1 AND key > $3 AND {IS_THERE} ORDER BY key LIMIT $4"
    );
    let after = after.unwrap_or_default();
    let rows = connection
        .query(&sql, &[&id, &signed(now_ms), &after, &signed(limit)])
        .await;
    rows.map_err(&failed)?
        .iter()
        .map(|row| get(row, "key"))
        .collect()
}

fn from_row(row: &Row) -> Result<Record, StoreError> {
    Ok(Record {
        key: get(row, "key")?,
        value: raw(row, "value")?,
        expires_at_ms: unsigned_opt(row, "expires_at_ms")?,
        updated_at_ms: unsigned(row, "updated_at_ms")?,
    })
}
