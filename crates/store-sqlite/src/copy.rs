//! A copy of a database, also of one that a node has open: as it is at one moment, whole, and checked.

use std::path::Path;

use headwater_store::StoreError;
use rusqlite::Connection;

use crate::connection::{self, failed};

/// Copies the database at `from` into the new file `to`, which must not exist.
///
/// # Errors
/// `Unavailable` when one of the two cannot be read or written, `Corrupt` when the copy is not whole.
pub fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let reading = connection::reading(from)?;
    reading
        .execute("VACUUM INTO ?", [to.to_string_lossy()])
        .map_err(failed("copying the database"))?;
    check(to)
}

/// Checks that a database is whole, and that this program knows its schema.
///
/// # Errors
/// `Corrupt` when it is not, `Unsupported` when a newer program has written it.
pub fn check(path: &Path) -> Result<(), StoreError> {
    let connection = connection::reading(path)?;
    check_whole(&connection, path)?;
    crate::migration::known(&connection).map(drop)
}

/// Checks that a database is whole, whatever its schema.
pub(crate) fn check_whole(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = failed("checking the database");
    let found: String = connection
        .query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))
        .map_err(&failed)?;
    if found != "ok" {
        return Err(StoreError::Corrupt(format!("{}: {found}", path.display())));
    }
    let dangles = connection
        .prepare("PRAGMA foreign_key_check")
        .and_then(|mut statement| statement.exists(()))
        .map_err(&failed)?;
    if dangles {
        let path = path.display();
        return Err(StoreError::Corrupt(format!(
            "{path}: a row names another that is missing"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;
    use headwater_store::{NodeName, Nodes as _};

    use super::*;
    use crate::SqliteStore;

    #[tokio::test]
    async fn a_store_in_use_is_copied_whole_and_a_damaged_copy_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (
            folder.path().join("store.db"),
            folder.path().join("copy.db"),
        );
        let store = SqliteStore::open(&from).unwrap();
        let name = NodeName::new("node");
        let epoch = store.start_node(&name, EpochMs(1)).await.unwrap();
        copy(&from, &to).unwrap();
        assert!(copy(&from, &to).is_err(), "nothing is overwritten");
        drop(store);
        let copied = SqliteStore::open(&to).unwrap();
        assert!(copied.start_node(&name, EpochMs(1)).await.unwrap() > epoch);
        drop(copied);
        let mut bytes = std::fs::read(&to).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..].fill(0xFF);
        std::fs::write(&to, bytes).unwrap();
        assert!(matches!(
            check(&to),
            Err(StoreError::Corrupt(_) | StoreError::Unavailable { .. })
        ));
    }
}
