//! Pages of listings in an order of choice.

use headwater_model::page::{Page, PageRequest, Position};
use headwater_store::{ListPlace, Placed, StoreError};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    page::{Listing, Parameter, as_params, count_of},
    row::{get, signed},
};

/// An order of a listing.
pub(crate) struct Order<'a> {
    /// The expression of the key, which is text; `None`: ids alone, which are in the order of an index.
    pub(crate) key: Option<&'a str>,
    /// Parameters of the key, behind those of the listing.
    pub(crate) parameters: Vec<Parameter<'a>>,
    pub(crate) is_descending: bool,
}

/// One page of a listing in an order, with the places of its items.
pub(crate) async fn placed_page_of<T>(
    connection: &Connection,
    listing: &Listing<'_>,
    order: &Order<'_>,
    page: &PageRequest<ListPlace>,
    read: impl Fn(&Row) -> Result<T, StoreError>,
) -> Result<Page<Placed<T>>, StoreError> {
    let total_count = count_of(connection, listing).await?;
    let (from, is_backward) = match &page.position {
        Position::First => (None, false),
        Position::After(after) => (Some(after), false),
        Position::Before(before) => (Some(before), true),
    };
    let sql = sql_of(listing, order, from.is_some(), is_backward);
    let limit = signed(page.limit);
    let mut parameters = as_params(&listing.parameters);
    parameters.extend(as_params(&order.parameters));
    if let Some(place) = from {
        if order.key.is_some() {
            parameters.push(&place.key);
        }
        parameters.push(&place.id);
    }
    parameters.push(&limit);
    let rows = connection.query(&sql, &parameters).await;
    let rows = rows.map_err(failed("reading a page in an order"))?;
    let placed = |row| {
        let place = ListPlace {
            key: get(row, "place")?,
            id: get(row, "id")?,
        };
        let item = read(row)?;
        Ok(Placed { place, item })
    };
    let mut items = rows
        .iter()
        .map(placed)
        .collect::<Result<Vec<_>, StoreError>>()?;
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
        (false, _) => ("TRUE".to_owned(), next),
        (true, None) => (format!("id {beyond} ${next}"), next + 1),
        (true, Some(_)) => {
            let beyond = format!("(place, id) {beyond} (${next}, ${})", next + 1);
            (beyond, next + 2)
        }
    };
    let key = order.key.unwrap_or("''::text");
    let sorted = match order.key {
        Some(_) => format!("place {direction}, id {direction}"),
        None => format!("id {direction}"),
    };
    format!(
        "SELECT * FROM (SELECT *, {key} COLLATE \"C\" AS place FROM {table} WHERE {filter}) AS listed
         WHERE {beyond} ORDER BY {sorted} LIMIT ${limit}"
    )
}
