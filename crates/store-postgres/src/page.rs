//! Pages of listings in creation order.

use headwater_model::page::{Page, PageRequest, Position};
use headwater_store::{Owner, StoreError};
use tokio_postgres::{Row, types::ToSql};

use crate::{
    connection::{Connection, Params, failed},
    row::signed,
};

/// A listing in creation order, which is the order of ids.
pub(crate) struct Listing<'a> {
    pub(crate) table: &'static str,
    /// A condition on the parameters: `$1` and so on.
    pub(crate) filter: String,
    pub(crate) parameters: Vec<Parameter<'a>>,
}

/// A parameter of a query that is put together from parts.
pub(crate) type Parameter<'a> = Box<dyn ToSql + Sync + Send + 'a>;

impl<'a> Listing<'a> {
    /// The rows of the owner's workspace if there is one, else all of the user's.
    pub(crate) fn of_owner(table: &'static str, owner: &'a Owner) -> Self {
        let (filter, parameter) = match &owner.workspace_id {
            Some(id) => ("workspace_id = $1", id.as_str()),
            None => ("user_id = $1", owner.user_id.as_str()),
        };
        Self {
            table,
            filter: filter.to_owned(),
            parameters: vec![Box::new(parameter)],
        }
    }
}

/// Parameters as statements take them.
pub(crate) fn as_params<'a>(parameters: &'a [Parameter<'_>]) -> Vec<&'a (dyn ToSql + Sync)> {
    let params = parameters.iter();
    params
        .map(|parameter| &**parameter as &(dyn ToSql + Sync))
        .collect()
}

/// The number of rows of a listing.
pub(crate) async fn count_of(
    connection: &Connection,
    listing: &Listing<'_>,
) -> Result<u64, StoreError> {
    let Listing {
        table,
        filter,
        parameters,
    } = listing;
    let sql = format!("SELECT count(*) FROM {table} WHERE {filter}");
    let total = connection.value(&sql, &as_params(parameters)).await;
    let total: i64 = total.map_err(failed("counting a listing"))?;
    Ok(total.unsigned_abs())
}

/// One page of a listing.
pub(crate) async fn page_of<T, C>(
    connection: &Connection,
    listing: &Listing<'_>,
    page: &PageRequest<C>,
    cursor: impl Fn(&C) -> &str,
    read: impl Fn(&Row) -> Result<T, StoreError>,
) -> Result<Page<T>, StoreError> {
    let failed = failed("reading a page");
    let Listing {
        table,
        filter,
        parameters,
    } = listing;
    let total_count = count_of(connection, listing).await?;
    let mut parameters = as_params(parameters);
    let (beyond, order, from) = match &page.position {
        Position::First => (">", "ASC", ""),
        Position::After(after) => (">", "ASC", cursor(after)),
        Position::Before(before) => ("<", "DESC", cursor(before)),
    };
    let (last, limit) = (parameters.len() + 1, parameters.len() + 2);
    let sql = format!(
        "SELECT * FROM {table} WHERE {filter} AND id {beyond} ${last} ORDER BY id {order} LIMIT ${limit}"
    );
    let limit = signed(page.limit);
    let behind: Params<'_> = &[&from, &limit];
    parameters.extend_from_slice(behind);
    let rows = connection.query(&sql, &parameters).await.map_err(&failed)?;
    let mut items = rows.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    if order == "DESC" {
        items.reverse();
    }
    Ok(Page { total_count, items })
}
