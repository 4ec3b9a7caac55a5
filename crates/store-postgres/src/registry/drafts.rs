//! Resolves a key to one of the components that an owner has saved under it.
//!
//! The last saved, unless it has a lower version than another: a user who saves 1.9.1 after 2.0.0 fixes what is
//! deployed already, and the key still refers to 2.0.0. Versions that are not semantic have no order, so the last
//! saved counts. A published version competes in the registry and not here.

use headwater_model::version::ReleaseVersion;
use headwater_store::{Owner, StoreError};

use crate::{
    connection::{Connection, Params, failed},
    row::get,
};

/// Answered by an index alone: the components themselves, possibly thousands with much code, are not read.
const SAVED: &str = "SELECT key, id, version,
                            EXISTS (SELECT 1 FROM registry WHERE component_id = component_search.id) AS is_published
                     FROM component_search WHERE {owner} AND {which} ORDER BY key, id DESC";

/// Keys with more than one unpublished component.
const SEVERAL: &str = "key IN (SELECT key FROM component_search
                               WHERE {owner} AND key IS NOT NULL
                                 AND NOT EXISTS (SELECT 1 FROM registry WHERE component_id = component_search.id)
                               GROUP BY key HAVING count(*) > 1)";

/// One of several components of a key.
struct Saved {
    key: String,
    id: String,
    version: Option<String>,
    is_published: bool,
}

impl Saved {
    /// The text that its version sorts by, if it has an order.
    fn rank(&self) -> Option<String> {
        let version: ReleaseVersion = self.version.as_deref()?.parse().ok()?;
        Some(version.rank())
    }
}

/// The condition that a row is the owner's, and the parameter that it has.
pub(crate) fn of_owner(owner: &Owner, parameter: &str) -> (String, String) {
    match &owner.workspace_id {
        Some(id) => (format!("workspace_id = {parameter}"), id.to_string()),
        None => (format!("user_id = {parameter}"), owner.user_id.to_string()),
    }
}

/// The id of the component that a key refers to, among the owner's.
pub(crate) async fn meant(
    connection: &Connection,
    owner: &Owner,
    key: &str,
) -> Result<Option<String>, StoreError> {
    let (is_owners, owner_id) = of_owner(owner, "$1");
    let found = saved(connection, &is_owners, "key = $2", &[&owner_id, &key]).await?;
    Ok(chosen(&found).map(|saved| saved.id.clone()))
}

/// Whether saving a component of the key once more would change nothing: it was saved last, or is referred to all the same.
pub(crate) async fn stands(
    connection: &Connection,
    owner: &Owner,
    key: &str,
    id: &str,
) -> Result<bool, StoreError> {
    let (is_owners, owner_id) = of_owner(owner, "$1");
    let found = saved(connection, &is_owners, "key = $2", &[&owner_id, &key]).await?;
    let is_it = |saved: Option<&Saved>| saved.is_some_and(|saved| saved.id == id);
    Ok(is_it(found.first()) || is_it(chosen(&found)))
}

/// The ids of components that their keys refer to although another was saved later.
pub(super) async fn not_last(
    connection: &Connection,
    owner: &Owner,
) -> Result<Vec<String>, StoreError> {
    let (is_owners, owner_id) = of_owner(owner, "$1");
    let found = saved(connection, &is_owners, SEVERAL, &[&owner_id]).await?;
    let keys = found.chunk_by(|one, next| one.key == next.key);
    let meant = keys.filter_map(|of_key| {
        let meant = chosen(of_key)?;
        (meant.id != of_key.first()?.id).then(|| meant.id.clone())
    });
    Ok(meant.collect())
}

async fn saved(
    connection: &Connection,
    is_owners: &str,
    which: &str,
    parameters: Params<'_>,
) -> Result<Vec<Saved>, StoreError> {
    let failed = failed("reading the versions of components");
    let sql = sql(is_owners, which);
    let rows = connection.query(&sql, parameters).await.map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(Saved {
            key: get(row, "key")?,
            id: get(row, "id")?,
            version: get(row, "version")?,
            is_published: get(row, "is_published")?,
        });
    }
    Ok(found)
}

fn sql(is_owners: &str, which: &str) -> String {
    let sql = SAVED.replace("{which}", which);
    sql.replace("{owner}", is_owners)
}

/// The component that the key refers to, among those of one key, last saved first.
fn chosen(found: &[Saved]) -> Option<&Saved> {
    let last = found.first()?;
    let Some(mut highest) = last.rank().filter(|_| !last.is_published) else {
        return Some(last);
    };
    let mut meant = last;
    for saved in found.iter().filter(|saved| !saved.is_published) {
        if let Some(rank) = saved.rank().filter(|rank| *rank > highest) {
            (meant, highest) = (saved, rank);
        }
    }
    Some(meant)
}
