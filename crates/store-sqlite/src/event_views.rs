//! Views of events behind the trait, and their rows.

use async_trait::async_trait;
use headwater_store::{EventView, EventViews, KeptConditions, Owner, StoreError};
use rusqlite::{Connection, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{get, json, parsed_opt, signed, to_json, unsigned},
    store::SqliteStore,
};

#[async_trait]
impl EventViews for SqliteStore {
    async fn set_event_view(
        &self,
        owner: &Owner,
        view: EventView,
        at_most: u32,
    ) -> Result<bool, StoreError> {
        let owner = owner.clone();
        self.write(move |connection| set(connection, &owner, &view, at_most))
            .await
    }

    async fn event_views(&self, owner: &Owner) -> Result<Vec<EventView>, StoreError> {
        let tenant = owner.tenant().to_owned();
        self.read(move |connection| all(connection, &tenant)).await
    }

    async fn delete_event_view(&self, owner: &Owner, name: &str) -> Result<bool, StoreError> {
        let (tenant, name) = (owner.tenant().to_owned(), name.to_owned());
        self.write(move |connection| {
            connection
                .execute_prepared(
                    "DELETE FROM event_views WHERE tenant = ? AND name = ?",
                    [&tenant, &name],
                )
                .map_err(failed("deleting a view of events"))
                .map(|deleted| deleted > 0)
        })
        .await
    }
}

fn set(
    connection: &Connection,
    owner: &Owner,
    view: &EventView,
    at_most: u32,
) -> Result<bool, StoreError> {
    let workspace_id = owner.workspace_id.as_ref().map(|id| id.as_str());
    // That of a workspace stays when its writer goes.
    let user_id = workspace_id.is_none().then(|| owner.user_id.as_str());
    connection
        .execute_prepared(
            "INSERT INTO event_views (tenant, name, user_id, workspace_id, words, paths, emitter, channel, updated_at)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9
             WHERE (SELECT count(*) FROM event_views WHERE tenant = ?1 AND name <> ?2) < ?10
             ON CONFLICT (tenant, name) DO UPDATE SET words = ?5, paths = ?6, emitter = ?7, channel = ?8, updated_at = ?9",
            params![
                owner.tenant(),
                view.name,
                user_id,
                workspace_id,
                view.words,
                to_json(&KeptConditions::of(view))?,
                view.emitter.as_ref().map(|emitter| emitter.as_str()),
                view.channel,
                signed(view.updated_at),
                at_most,
            ],
        )
        .map_err(failed("writing a view of events"))
        .map(|written| written > 0)
}

fn all(connection: &Connection, tenant: &str) -> Result<Vec<EventView>, StoreError> {
    let failed = failed("reading views of events");
    let mut statement = connection
        .prepare_cached(
            "SELECT name, words, paths, emitter, channel, updated_at FROM event_views WHERE tenant = ? ORDER BY name",
        )
        .map_err(&failed)?;
    let mut rows = statement.query([tenant]).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let (paths, times) = json::<KeptConditions>(row, "paths")?.parts();
        found.push(EventView {
            name: get(row, "name")?,
            words: get(row, "words")?,
            paths,
            times,
            emitter: parsed_opt(row, "emitter")?,
            channel: get(row, "channel")?,
            updated_at: unsigned(row, "updated_at")?,
        });
    }
    Ok(found)
}
