//! The rows of webhooks, and the effect of their end on their deliveries.

use headwater_model::{
    id::WebhookId,
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    Conflict, Entity, FormerSecret, Owner, Sealed, StoreError, Webhook, WebhookChange,
};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    deliveries::{give_up, untrimmed},
    owner,
    page::{Listing, page_of},
    row::{get, name_of, named, parsed, signed, unsigned, unsigned_opt},
};

/// The name that people know a webhook by, as SQL.
pub(crate) const NAME: &str = "coalesce(nullif(trim(name), ''), url)";

pub(crate) fn gone(id: &WebhookId) -> StoreError {
    Conflict::Gone(Entity::Webhook(id.clone())).into()
}

pub(crate) fn inactive(id: &WebhookId) -> StoreError {
    Conflict::Inactive(Entity::Webhook(id.clone())).into()
}

/// The deliveries that a webhook accepts.
pub(crate) struct Standing {
    /// Whether it accepts any.
    pub(crate) is_active: bool,
    /// The current generation; pending deliveries of a former one are dead.
    pub(crate) generation: i64,
    /// The time at which those died, while that may still have to be written for some.
    pub(crate) given_up_at_ms: Option<i64>,
}

impl Standing {
    pub(crate) fn of(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            is_active: get(row, "active")?,
            generation: get(row, "generation")?,
            given_up_at_ms: get(row, "given_up_at_ms")?,
        })
    }
}

/// The deliveries that a webhook accepts; `None`: there is no such webhook.
pub(crate) async fn standing(
    connection: &Connection,
    id: &str,
) -> Result<Option<Standing>, StoreError> {
    const STANDING: &str = "SELECT active, generation, given_up_at_ms FROM webhooks WHERE id = $1";
    stands(connection, STANDING, id).await
}

/// The same, for a step that is not serializable and may change it: nobody else does before the step has ended.
pub(crate) async fn kept_standing(
    connection: &Connection,
    id: &str,
) -> Result<Option<Standing>, StoreError> {
    const KEPT: &str =
        "SELECT active, generation, given_up_at_ms FROM webhooks WHERE id = $1 FOR NO KEY UPDATE";
    stands(connection, KEPT, id).await
}

async fn stands(
    connection: &Connection,
    sql: &str,
    id: &str,
) -> Result<Option<Standing>, StoreError> {
    let row = connection.query_opt(sql, &[&id]).await;
    let row = row.map_err(failed("looking a webhook up"))?;
    row.as_ref().map(Standing::of).transpose()
}

/// Whether the webhook accepts deliveries at that URL.
pub(crate) async fn is_active_at(
    connection: &Connection,
    id: &str,
    url: &str,
) -> Result<bool, StoreError> {
    connection
        .exists(
            "SELECT 1 FROM webhooks WHERE id = $1 AND active AND url = $2",
            &[&id, &url],
        )
        .await
        .map_err(failed("looking a webhook up"))
}

/// Deactivates a webhook whose deliveries fail.
pub(crate) async fn disable(
    connection: &Connection,
    id: &str,
    reason: &str,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE webhooks SET active = FALSE, disabled_reason = $1, updated_at = $2 WHERE id = $3",
            &[&reason, &signed(now_ms.to_seconds()), &id],
        )
        .await
        .map_err(failed("disabling a webhook"))?;
    give_up::begin(connection, id, signed(now_ms)).await
}

pub(crate) async fn create(connection: &Connection, webhook: &Webhook) -> Result<(), StoreError> {
    let former = webhook.former_secret.as_ref();
    connection
        .execute(
            "INSERT INTO webhooks (id, user_id, workspace_id, name, description, url, active, disabled_reason, secret,
                                   former_secret, former_valid_until_ms, failing_since_ms, created_at, updated_at, ordering)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            &[
                &webhook.id.as_str(),
                &webhook.owner.user_id.as_str(),
                &webhook.owner.workspace_id.as_ref().map(|id| id.as_str()),
                &webhook.name,
                &webhook.description,
                &webhook.url,
                &webhook.active,
                &webhook.disabled_reason,
                &webhook.secret.0,
                &former.map(|former| &former.sealed.0),
                &former.map(|former| signed(former.valid_until_ms)),
                &webhook.failing_since_ms.map(signed),
                &signed(webhook.created_at),
                &signed(webhook.updated_at),
                &name_of(&webhook.ordering)?,
            ],
        )
        .await
        .map_err(failed("writing a webhook"))
        .map(drop)
}

pub(crate) async fn update(
    connection: &Connection,
    webhook_id: &WebhookId,
    change: &WebhookChange,
) -> Result<Webhook, StoreError> {
    let id = webhook_id.as_str();
    let was_active = standing(connection, id)
        .await?
        .is_some_and(|standing| standing.is_active);
    let secrets = change.secrets.as_ref();
    let former = secrets.and_then(|secrets| secrets.former.as_ref());
    connection
        .execute(
            "UPDATE webhooks
             SET name = CASE WHEN $2::boolean THEN $3 ELSE name END,
                 description = CASE WHEN $4::boolean THEN $5 ELSE description END,
                 url = coalesce($6, url), active = coalesce($7, active),
                 disabled_reason = CASE WHEN $7 AND NOT active THEN NULL ELSE disabled_reason END,
                 failing_since_ms = CASE WHEN $7 AND NOT active OR $6 <> url THEN NULL ELSE failing_since_ms END,
                 secret = coalesce($8, secret),
                 former_secret = CASE WHEN $8 IS NULL THEN former_secret ELSE $9 END,
                 former_valid_until_ms = CASE WHEN $8 IS NULL THEN former_valid_until_ms ELSE $10 END,
                 updated_at = $11, ordering = coalesce($12, ordering)
             WHERE id = $1",
            &[
                &id,
                &change.name.is_some(),
                &change.name.as_ref().and_then(Option::as_ref),
                &change.description.is_some(),
                &change.description.as_ref().and_then(Option::as_ref),
                &change.url,
                &change.active,
                &secrets.map(|secrets| &secrets.current.0),
                &former.map(|former| &former.sealed.0),
                &former.map(|former| signed(former.valid_until_ms)),
                &signed(change.updated_at),
                &change.ordering.as_ref().map(name_of).transpose()?,
            ],
        )
        .await
        .map_err(failed("writing a webhook"))?;
    let webhook = by_id(connection, id)
        .await?
        .ok_or_else(|| gone(webhook_id))?;
    if was_active && !webhook.active {
        give_up::begin(connection, id, signed(change.updated_at.to_ms())).await?;
    }
    Ok(webhook)
}

/// Deletes a webhook. Its deliveries are no longer visible; trimming deletes them in bounded steps.
pub(crate) async fn delete(connection: &Connection, id: &str) -> Result<bool, StoreError> {
    const OF_WEBHOOK: &[&str] = &[
        "DELETE FROM subscriptions WHERE listener = $1",
        "DELETE FROM auto_subscriptions WHERE listener = $1",
    ];
    let failed = failed("deleting a webhook");
    let deleted = connection
        .execute("DELETE FROM webhooks WHERE id = $1", &[&id])
        .await
        .map_err(&failed)?;
    if deleted > 0 {
        for sql in OF_WEBHOOK {
            connection.execute(sql, &[&id]).await.map_err(&failed)?;
        }
        untrimmed::note(connection, id).await?;
    }
    Ok(deleted > 0)
}

pub(crate) async fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<Webhook>, StoreError> {
    read(connection, "SELECT * FROM webhooks WHERE id = $1", id).await
}

/// The same, for a step that is not serializable: it does not change before the step has ended.
pub(crate) async fn kept(connection: &Connection, id: &str) -> Result<Option<Webhook>, StoreError> {
    let kept = "SELECT * FROM webhooks WHERE id = $1 FOR SHARE";
    read(connection, kept, id).await
}

async fn read(connection: &Connection, sql: &str, id: &str) -> Result<Option<Webhook>, StoreError> {
    let row = connection.query_opt(sql, &[&id]).await;
    let row = row.map_err(failed("reading a webhook"))?;
    row.as_ref().map(webhook).transpose()
}

pub(crate) async fn page(
    connection: &Connection,
    owner: &Owner,
    words: &[String],
    page: &PageRequest<WebhookId>,
) -> Result<Page<Webhook>, StoreError> {
    let mut listing = Listing::of_owner("webhooks", owner);
    if !words.is_empty() {
        listing.filter.push_str(&format!(
            " AND NOT EXISTS (SELECT 1 FROM unnest($2::text[]) AS word WHERE strpos(lower_case({NAME}), word) = 0)"
        ));
        listing.parameters.push(Box::new(words));
    }
    page_of(connection, &listing, page, WebhookId::as_str, webhook).await
}

fn webhook(row: &Row) -> Result<Webhook, StoreError> {
    let former: Option<Vec<u8>> = get(row, "former_secret")?;
    let former_secret = former
        .map(|sealed| -> Result<_, StoreError> {
            Ok(FormerSecret {
                sealed: Sealed(sealed),
                valid_until_ms: unsigned(row, "former_valid_until_ms")?,
            })
        })
        .transpose()?;
    Ok(Webhook {
        id: parsed(row, "id")?,
        owner: owner::of(row)?,
        name: get(row, "name")?,
        description: get(row, "description")?,
        url: get(row, "url")?,
        active: get(row, "active")?,
        ordering: named(&get::<String>(row, "ordering")?)?,
        disabled_reason: get(row, "disabled_reason")?,
        secret: Sealed(get(row, "secret")?),
        former_secret,
        failing_since_ms: unsigned_opt(row, "failing_since_ms")?,
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
    })
}
