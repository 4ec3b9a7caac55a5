//! Names of sources, workflows and webhooks, each found by its id.

use async_trait::async_trait;
use headwater_model::id::{ComponentId, ListenerId};
use headwater_store::{NAMES_READ_MAX, Named, NamedComponent, Names, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::{
    connection::failed,
    owner,
    row::{get, json, parsed, to_json},
    store::SqliteStore,
    webhook_rows::NAME,
};

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

    async fn named_components(
        &self,
        ids: &[ComponentId],
    ) -> Result<Vec<NamedComponent>, StoreError> {
        let ids: Vec<_> = ids
            .iter()
            .take(NAMES_READ_MAX)
            .map(ComponentId::as_str)
            .collect();
        let ids = to_json(&ids)?;
        self.read(move |connection| components(connection, &ids))
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

fn components(connection: &Connection, ids: &str) -> Result<Vec<NamedComponent>, StoreError> {
    const SQL: &str = "SELECT id, user_id, workspace_id, description,
            EXISTS (SELECT 1 FROM registry WHERE component_id = components.id) AS is_published
         FROM components WHERE id IN (SELECT value FROM json_each(?1))";
    let failed = failed("reading the descriptions of components");
    let mut statement = connection.prepare_cached(SQL).map_err(&failed)?;
    let mut rows = statement.query([ids]).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(component(row)?);
    }
    Ok(found)
}

fn component(row: &Row<'_>) -> Result<NamedComponent, StoreError> {
    Ok(NamedComponent {
        id: parsed(row, "id")?,
        description: json(row, "description")?,
        owner: owner::of(row)?,
        is_published: get(row, "is_published")?,
    })
}
