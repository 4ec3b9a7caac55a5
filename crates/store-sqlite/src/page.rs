//! Pages of listings in creation order.

use headwater_model::page::{Page, PageRequest, Position};
use headwater_store::{Owner, StoreError};
use rusqlite::{Connection, Row, params_from_iter};

use crate::connection::failed;

/// A listing in creation order, which is the order of ids.
pub(crate) struct Listing<'a> {
    pub(crate) table: &'static str,
    /// A condition on the parameters: `?1` and so on.
    pub(crate) filter: String,
    pub(crate) parameters: Vec<&'a str>,
}

impl<'a> Listing<'a> {
    /// The rows of the owner's workspace if there is one, else all of the user's.
    pub(crate) fn of_owner(table: &'static str, owner: &'a Owner) -> Self {
        let (filter, parameter) = match &owner.workspace_id {
            Some(id) => ("workspace_id = ?1", id.as_str()),
            None => ("user_id = ?1", owner.user_id.as_str()),
        };
        Self {
            table,
            filter: filter.to_owned(),
            parameters: vec![parameter],
        }
    }
}

/// The number of rows of a listing.
pub(crate) fn count_of(connection: &Connection, listing: &Listing<'_>) -> Result<u64, StoreError> {
    let Listing {
        table,
        filter,
        parameters,
    } = listing;
    let total: i64 = connection
        .prepare_cached(&format!("SELECT count(*) FROM {table} WHERE {filter}"))
        .and_then(|mut statement| {
            statement.query_row(params_from_iter(parameters), |row| row.get(0))
        })
        .map_err(failed("counting a listing"))?;
    Ok(total.unsigned_abs())
}

/// One page of a listing.
pub(crate) fn page_of<T, C>(
    connection: &Connection,
    listing: &Listing<'_>,
    page: &PageRequest<C>,
    cursor: impl Fn(&C) -> &str,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Page<T>, StoreError> {
    let failed = failed("reading a page");
    let Listing {
        table,
        filter,
        parameters,
    } = listing;
    let total_count = count_of(connection, listing)?;
    let (beyond, order, from) = match &page.position {
        Position::First => (">", "ASC", ""),
        Position::After(after) => (">", "ASC", cursor(after)),
        Position::Before(before) => ("<", "DESC", cursor(before)),
    };
    let (last, limit) = (parameters.len() + 1, parameters.len() + 2);
    let sql = format!(
        "SELECT * FROM {table} WHERE {filter} AND id {beyond} ?{last} ORDER BY id {order} LIMIT ?{limit}"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let limit = page.limit.to_string();
    let parameters = parameters.iter().copied().chain([from, &*limit]);
    let mut rows = statement
        .query(params_from_iter(parameters))
        .map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        items.push(read(row)?);
    }
    if order == "DESC" {
        items.reverse();
    }
    Ok(Page { total_count, items })
}
