//! Resolves a key to one of the components that an owner has saved under it.
//!
//! The last saved, unless it has a lower version than another: a user who saves 1.9.1 after 2.0.0 fixes what is
//! deployed already, and the key still refers to 2.0.0. Versions that are not semantic have no order, so the last
//! saved counts. A published version competes in the registry and not here.

use headwater_model::version::ReleaseVersion;
use headwater_store::{Owner, StoreError};
use rusqlite::{Connection, Params};

use crate::{connection::failed, row::get};

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
pub(crate) fn meant(
    connection: &Connection,
    owner: &Owner,
    key: &str,
) -> Result<Option<String>, StoreError> {
    let (is_owners, owner_id) = of_owner(owner, "?1");
    let found = saved(connection, &is_owners, "key = ?2", [owner_id.as_str(), key])?;
    Ok(chosen(&found).map(|saved| saved.id.clone()))
}

/// Whether saving a component of the key once more would change nothing: it was saved last, or is referred to all the same.
pub(crate) fn stands(
    connection: &Connection,
    owner: &Owner,
    key: &str,
    id: &str,
) -> Result<bool, StoreError> {
    let (is_owners, owner_id) = of_owner(owner, "?1");
    let found = saved(connection, &is_owners, "key = ?2", [owner_id.as_str(), key])?;
    let is_it = |saved: Option<&Saved>| saved.is_some_and(|saved| saved.id == id);
    Ok(is_it(found.first()) || is_it(chosen(&found)))
}

/// The ids of components that their keys refer to although another was saved later.
pub(super) fn not_last(connection: &Connection, owner: &Owner) -> Result<Vec<String>, StoreError> {
    let (is_owners, owner_id) = of_owner(owner, "?1");
    let found = saved(connection, &is_owners, SEVERAL, [owner_id.as_str()])?;
    let keys = found.chunk_by(|one, next| one.key == next.key);
    let meant = keys.filter_map(|of_key| {
        let meant = chosen(of_key)?;
        (meant.id != of_key.first()?.id).then(|| meant.id.clone())
    });
    Ok(meant.collect())
}

fn saved(
    connection: &Connection,
    is_owners: &str,
    which: &str,
    parameters: impl Params,
) -> Result<Vec<Saved>, StoreError> {
    let failed = failed("reading the versions of components");
    let sql = sql(is_owners, which);
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement.query(parameters).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{connection, migration};

    #[test]
    fn versions_are_read_from_an_index_and_components_not_at_all() {
        let connection = connection::in_memory().unwrap();
        migration::run(&connection).unwrap();
        for owner in ["user_id = ?1", "workspace_id = ?1"] {
            for which in ["key = ?2", SEVERAL] {
                let sql = sql(owner, which);
                let mut statement = connection
                    .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                    .unwrap();
                let steps = statement.raw_query().mapped(|row| row.get("detail"));
                let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
                let searches = steps
                    .iter()
                    .filter(|step| step.contains("component_search"));
                let mut searches = searches.peekable();
                assert!(searches.peek().is_some(), "{steps:?}");
                let is_covered = |step: &String| step.contains("USING COVERING INDEX");
                assert!(searches.all(is_covered), "{steps:?}");
                assert!(
                    !steps.iter().any(|step| step.contains(" components")),
                    "{steps:?}"
                );
            }
        }
    }

    #[test]
    fn the_highest_version_is_meant_where_versions_have_an_order() {
        for (last_first, meant) in [
            (&["1.0.0"][..], 0),
            (&["1.0.0", "2.0.0"], 1),
            (&["2.0.0", "1.0.0"], 0),
            (&["1.0.0", "1.0.0"], 0),
            (&["1.0.0", "10.0.0", "9.0.0"], 1),
            (&["1.0.0-rc.1", "1.0.0"], 1),
            (&["next", "1.0.0"], 0),
            (&["1.0.0", "next"], 0),
            (&["0.1.0", "2.0.0*"], 0),
            (&["2.0.0*", "3.0.0"], 0),
        ] {
            let found: Vec<_> = last_first
                .iter()
                .enumerate()
                .map(|(at, version)| Saved {
                    key: "k".to_owned(),
                    id: at.to_string(),
                    version: Some(version.trim_end_matches('*').to_owned()),
                    is_published: version.ends_with('*'),
                })
                .collect();
            assert_eq!(
                chosen(&found).unwrap().id,
                meant.to_string(),
                "{last_first:?}"
            );
        }
    }
}
