//! Pages of listings in an order of choice.

use headwater_model::page::{Page, PageRequest, Position};
use headwater_store::{ListPlace, Placed, StoreError};
use rusqlite::{Connection, Row, params_from_iter};

use crate::{
    connection::failed,
    page::{Listing, count_of},
    row::get,
};

/// An order of a listing.
pub(crate) struct Order<'a> {
    /// The expression of the key, which is text; `None`: ids alone, which are in the order of an index.
    pub(crate) key: Option<&'a str>,
    /// Parameters of the key, behind those of the listing.
    pub(crate) parameters: Vec<&'a str>,
    pub(crate) is_descending: bool,
}

/// One page of a listing in an order, with the places of its items.
pub(crate) fn placed_page_of<T>(
    connection: &Connection,
    listing: &Listing<'_>,
    order: &Order<'_>,
    page: &PageRequest<ListPlace>,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Page<Placed<T>>, StoreError> {
    let failed = failed("reading a page in an order");
    let total_count = count_of(connection, listing)?;
    let (from, is_backward) = match &page.position {
        Position::First => (None, false),
        Position::After(after) => (Some(after), false),
        Position::Before(before) => (Some(before), true),
    };
    let sql = sql_of(listing, order, from.is_some(), is_backward);
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let limit = page.limit.to_string();
    let mut parameters = listing.parameters.clone();
    parameters.extend(&order.parameters);
    if let Some(place) = from {
        parameters.extend(order.key.map(|_| &*place.key));
        parameters.push(&place.id);
    }
    parameters.push(&limit);
    let mut rows = statement
        .query(params_from_iter(parameters))
        .map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let place = ListPlace {
            key: get(row, "place")?,
            id: get(row, "id")?,
        };
        items.push(Placed {
            place,
            item: read(row)?,
        });
    }
    if is_backward {
        items.reverse();
    }
    Ok(Page { total_count, items })
}

/// The query of a page: its parameters are those of the listing and of the key, the place that it begins at, and its
/// limit.
fn sql_of(listing: &Listing<'_>, order: &Order<'_>, has_place: bool, is_backward: bool) -> String {
    let Listing {
        table,
        filter,
        parameters,
    } = listing;
    let (beyond, direction) = match order.is_descending == is_backward {
        true => (">", "ASC"),
        false => ("<", "DESC"),
    };
    let next = parameters.len() + order.parameters.len() + 1;
    let (beyond, limit) = match (has_place, order.key) {
        (false, _) => ("1 = 1".to_owned(), next),
        (true, None) => (format!("id {beyond} ?{next}"), next + 1),
        (true, Some(_)) => {
            let beyond = format!("(place, id) {beyond} (?{next}, ?{})", next + 1);
            (beyond, next + 2)
        }
    };
    let key = order.key.unwrap_or("''");
    let sorted = match order.key {
        Some(_) => format!("place {direction}, id {direction}"),
        None => format!("id {direction}"),
    };
    format!(
        "SELECT * FROM (SELECT *, {key} AS place FROM {table} WHERE {filter}) WHERE {beyond} ORDER BY {sorted} LIMIT ?{limit}"
    )
}
