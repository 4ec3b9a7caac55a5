//! Names of sources, workflows and webhooks, each found by its id.

use async_trait::async_trait;
use headwater_model::id::{ComponentId, ListenerId};
use headwater_store::{NAMES_READ_MAX, Named, NamedComponent, Names, StoreError};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    owner,
    row::{get, json, list, parsed},
    store::PostgresStore,
    webhook_rows::NAME,
};

#[async_trait]
impl Names for PostgresStore {
    async fn names(&self, ids: &[ListenerId]) -> Result<Vec<Named>, StoreError> {
        self.read(|connection| async move {
            let mut found = Vec::new();
            for id in ids.iter().take(NAMES_READ_MAX) {
                found.extend(named(&connection, id).await?);
            }
            Ok(found)
        })
        .await
    }

    async fn named_components(
        &self,
        ids: &[ComponentId],
    ) -> Result<Vec<NamedComponent>, StoreError> {
        const SQL: &str = "SELECT id, user_id, workspace_id, description,
                EXISTS (SELECT 1 FROM registry WHERE component_id = components.id) AS is_published
             FROM components WHERE id = ANY($1)";
        let ids = &ids[..ids.len().min(NAMES_READ_MAX)];
        self.read(|connection| async move {
            let ids = list(ids, ComponentId::as_str);
            let rows = connection.query(SQL, &[&ids]).await;
            let rows = rows.map_err(failed("reading the descriptions of components"))?;
            rows.iter().map(component).collect()
        })
        .await
    }
}

fn component(row: &Row) -> Result<NamedComponent, StoreError> {
    Ok(NamedComponent {
        id: parsed(row, "id")?,
        description: json(row, "description")?,
        owner: owner::of(row)?,
        is_published: get(row, "is_published")?,
    })
}

async fn named(connection: &Connection, id: &ListenerId) -> Result<Option<Named>, StoreError> {
    let (table, name) = match id {
        ListenerId::Source(_) => ("sources", "name"),
        ListenerId::Workflow(_) => ("workflows", "name"),
        ListenerId::Webhook(_) => ("webhooks", NAME),
    };
    let sql = format!("SELECT {name} AS name, user_id, workspace_id FROM {table} WHERE id = $1");
    let row = connection.query_opt(&sql, &[&id.as_str()]).await;
    let row = row.map_err(failed("reading a name"))?;
    let named = row.as_ref().map(|row| {
        Ok(Named {
            name: get(row, "name")?,
            owner: owner::of(row)?,
            id: id.clone(),
        })
    });
    named.transpose()
}
