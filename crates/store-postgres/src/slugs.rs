//! Slugs that an owner has not used yet.

use headwater_store::StoreError;

use crate::connection::{Connection, failed};

/// The slug itself, or the slug with the first free number: found by doubling, then by halving, so that the thousandth
/// source of a component deploys as fast as the first. `table` has the columns of an owner and `name_slug`.
pub(crate) async fn free(
    connection: &Connection,
    table: &'static str,
    tenant: &str,
    slug: &str,
) -> Result<String, StoreError> {
    let failed = failed("choosing a slug");
    let sql = format!(
        "SELECT 1 FROM {table} WHERE coalesce(workspace_id, user_id) = $1 AND name_slug = $2"
    );
    let is_taken = async |slug: &str| {
        let taken = connection.exists(&sql, &[&tenant, &slug]).await;
        taken.map_err(&failed)
    };
    if !is_taken(slug).await? {
        return Ok(slug.to_owned());
    }
    let numbered = |number: u32| format!("{slug}-{number}");
    let (mut taken, mut free) = (0, 1);
    while is_taken(&numbered(free)).await? {
        (taken, free) = (free, free * 2);
    }
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        match is_taken(&numbered(middle)).await? {
            true => taken = middle,
            false => free = middle,
        }
    }
    Ok(numbered(free))
}
