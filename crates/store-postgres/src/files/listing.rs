//! Entries of a folder, found by their paths. A folder in it costs one look in the index, however much is in that.

use headwater_model::time::EpochMs;
use headwater_store::{FolderEntry, FolderRange, StoreError};

use crate::{
    connection::{Connection, failed},
    row::{get, unsigned},
};

/// Walks from one entry to the next: behind a file comes the next path, behind a folder the first one that is not in it, which
/// is not before the folder's path with the character after the slash in place of that.
const ENTRIES: &str = "WITH RECURSIVE entry AS (
    SELECT NULL::text COLLATE \"C\" AS path, FALSE AS is_folder, 0::bigint AS size, 0::bigint AS modified_at_ms,
           $3::text COLLATE \"C\" AS next, $4::boolean AS with_next, 0::bigint AS number
    UNION ALL
    SELECT CASE WHEN found.is_folder THEN $2::text || found.name ELSE found.path END,
           found.is_folder, found.size, found.modified_at_ms,
           CASE WHEN found.is_folder THEN $2::text || found.name || '0' ELSE found.path END,
           found.is_folder, entry.number + 1
    FROM entry, LATERAL (
        SELECT path, size, modified_at_ms, position('/' IN substr(path, length($2::text) + 1)) > 0 AS is_folder,
               split_part(substr(path, length($2::text) + 1), '/', 1) AS name
        FROM files
        WHERE tenant = $1 AND path >= entry.next COLLATE \"C\" AND (entry.with_next OR path <> entry.next)
        ORDER BY path LIMIT 1
    ) AS found
    WHERE entry.number < $5 AND starts_with(found.path, $2::text)
)
SELECT path, is_folder, size, modified_at_ms FROM entry WHERE number > 0 ORDER BY number";

pub(super) async fn list(
    connection: &Connection,
    tenant: &str,
    range: &FolderRange,
) -> Result<Vec<FolderEntry>, StoreError> {
    let prefix = range.prefix();
    let (next, with_next) = match &range.after {
        None => (prefix.clone(), true),
        Some(after) => match after.strip_suffix('/') {
            Some(folder) => (format!("{folder}0"), true),
            None => (after.clone(), false),
        },
    };
    let limit = i64::try_from(range.limit).unwrap_or(i64::MAX);
    let rows = connection
        .query(ENTRIES, &[&tenant, &prefix, &next, &with_next, &limit])
        .await
        .map_err(failed("listing a folder"))?;
    rows.iter()
        .map(|row| {
            let path: String = get(row, "path")?;
            Ok(match get(row, "is_folder")? {
                true => FolderEntry::Folder { path },
                false => FolderEntry::File {
                    path,
                    size: unsigned(row, "size")?,
                    modified_at_ms: unsigned::<EpochMs>(row, "modified_at_ms")?,
                },
            })
        })
        .collect()
}
