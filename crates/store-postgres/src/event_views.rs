//! Views of events behind the trait, and their rows.

use async_trait::async_trait;
use headwater_store::{EventView, EventViews, KeptConditions, Owner, StoreError};

use crate::{
    connection::{Connection, failed},
    row::{get, json, parsed_opt, signed, to_json, unsigned},
    store::PostgresStore,
};

#[async_trait]
impl EventViews for PostgresStore {
    async fn set_event_view(
        &self,
        owner: &Owner,
        view: EventView,
        at_most: u32,
    ) -> Result<bool, StoreError> {
        let view = &view;
        self.write(|connection| async move { set(&connection, owner, view, at_most).await })
            .await
    }

    async fn event_views(&self, owner: &Owner) -> Result<Vec<EventView>, StoreError> {
        self.read(|connection| async move { all(&connection, owner.tenant()).await })
            .await
    }

    async fn delete_event_view(&self, owner: &Owner, name: &str) -> Result<bool, StoreError> {
        self.write_locking(|connection| async move {
            connection
                .execute(
                    "DELETE FROM event_views WHERE tenant = $1 AND name = $2",
                    &[&owner.tenant(), &name],
                )
                .await
                .map_err(failed("deleting a view of events"))
                .map(|deleted| deleted > 0)
        })
        .await
    }
}

async fn set(
    connection: &Connection,
    owner: &Owner,
    view: &EventView,
    at_most: u32,
) -> Result<bool, StoreError> {
    let workspace_id = owner.workspace_id.as_ref().map(|id| id.as_str());
    // That of a workspace stays when its writer goes.
    let user_id = workspace_id.is_none().then(|| owner.user_id.as_str());
    connection
        .execute(
            "INSERT INTO event_views (tenant, name, user_id, workspace_id, words, paths, emitter, channel, updated_at)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
             WHERE (SELECT count(*) FROM event_views WHERE tenant = $1 AND name <> $2) < $10
             ON CONFLICT (tenant, name) DO UPDATE
             SET words = $5, paths = $6, emitter = $7, channel = $8, updated_at = $9",
            &[
                &owner.tenant(),
                &view.name,
                &user_id,
                &workspace_id,
                &view.words,
                &to_json(&KeptConditions::of(view))?,
                &view.emitter.as_ref().map(|emitter| emitter.as_str()),
                &view.channel,
                &signed(view.updated_at),
                &signed(at_most),
            ],
        )
        .await
        .map_err(failed("writing a view of events"))
        .map(|written| written > 0)
}

async fn all(connection: &Connection, tenant: &str) -> Result<Vec<EventView>, StoreError> {
    let failed = failed("reading views of events");
    let rows = connection
        .query(
            "SELECT name, words, paths, emitter, channel, updated_at FROM event_views WHERE tenant = $1 ORDER BY name",
            &[&tenant],
        )
        .await.map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
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
