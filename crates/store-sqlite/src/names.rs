//! Names of sources, workflows and webhooks, each found by its id.

use async_trait::async_trait;
use headwater_model::id::ListenerId;
use headwater_store::{NAMES_READ_MAX, Named, Names, StoreError};
use rusqlite::{Connection, OptionalExtension as _};

use crate::{connection::failed, owner, row::get, store::SqliteStore, webhook_rows::NAME};

#[async_trait]
impl Names for SqliteStore {
    async fn names(&self, ids: &[ListenerId]) -> Result<Vec<Named>, StoreError> {
        let ids: Vec<_> = ids.iter().take(NAMES_READ_MAX).cloned().collect();
        self.read(move |connection| {
            let found = ids.into_iter().map(|id| named(connection, id));
            found.filter_map(Result::transpose).collect()
        })
        .await
    }
}

fn named(connection: &Connection, id: ListenerId) -> Result<Option<Named>, StoreError> {
    let (table, name) = match &id {
        ListenerId::Source(_) => ("sources", "name"),
        ListenerId::Workflow(_) => ("workflows", "name"),
        ListenerId::Webhook(_) => ("webhooks", NAME),
    };
    let failed = failed("reading a name");
    let sql = format!("SELECT {name} AS name, user_id, workspace_id FROM {table} WHERE id = ?1");
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let read = statement.query_row([id.as_str()], |row| Ok((get(row, "name"), owner::of(row))));
    let Some((name, owner)) = read.optional().map_err(&failed)? else {
        return Ok(None);
    };
    Ok(Some(Named {
        name: name?,
        owner: owner?,
        id,
    }))
}
