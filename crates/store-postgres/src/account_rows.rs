//! The rows of accounts: sealed credentials and their health.

use headwater_model::{
    id::AccountId,
    page::{Page, PageRequest},
    time::EpochSeconds,
};
use headwater_store::{
    Account, Credentials, Health, HealthStatus, ListPlace, Owner, Placed, Renewal, Sealed,
    StoreError,
};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    ordered::{Order, placed_page_of},
    owner,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned, unsigned_opt},
};

/// The key of an account by how much it needs somebody. `$2`: now.
const URGENCY: &str = "CASE WHEN health = 'refused' THEN '0'
    WHEN health = 'expired' OR (expires_at <= $2 AND NOT renewable) THEN '1'
    ELSE '2' END";

pub(crate) async fn create(connection: &Connection, account: &Account) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO accounts (id, user_id, workspace_id, app, name, sealed, expires_at, renewable, renew_at, version,
                 health, health_reason, checked_at, created_at, updated_at, renewed_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
            &[
                &account.id.as_str(),
                &account.owner.user_id.as_str(),
                &account.owner.workspace_id.as_ref().map(|id| id.as_str()),
                &account.app,
                &account.name,
                &account.credentials.sealed.0,
                &account.credentials.expires_at.map(signed),
                &account.credentials.renewable,
                &account.credentials.renew_at.map(signed),
                &signed(account.version),
                &account.health.status.name(),
                &account.health.reason,
                &account.health.checked_at.map(signed),
                &signed(account.created_at),
                &signed(account.updated_at),
                &account.credentials.renewed_at.map(signed),
            ],
        )
        .await
        .map_err(failed("writing an account"))
        .map(drop)
}

/// Credentials, name and health of an account that is there, whichever credentials it has. False: it is not.
pub(crate) async fn reconnect(
    connection: &Connection,
    account: &Account,
) -> Result<bool, StoreError> {
    let written = connection
        .execute(
            "UPDATE accounts SET name = $1, sealed = $2, expires_at = $3, renewable = $4, renew_at = $5, version = version + 1,
             health = $6, health_reason = $7, checked_at = $8, updated_at = $9, renewed_at = $11
             WHERE id = $10",
            &[
                &account.name,
                &account.credentials.sealed.0,
                &account.credentials.expires_at.map(signed),
                &account.credentials.renewable,
                &account.credentials.renew_at.map(signed),
                &account.health.status.name(),
                &account.health.reason,
                &account.health.checked_at.map(signed),
                &signed(account.updated_at),
                &account.id.as_str(),
                &account.credentials.renewed_at.map(signed),
            ],
        )
        .await;
    Ok(written.map_err(failed("connecting an account again"))? > 0)
}

pub(crate) async fn renew(connection: &Connection, renewal: &Renewal) -> Result<bool, StoreError> {
    let written = connection
        .execute(
            "UPDATE accounts SET sealed = $1, expires_at = $2, renewable = $3, renew_at = $4, version = version + 1,
             health = $5, health_reason = $6, checked_at = $7, updated_at = $8, name = coalesce($11, name), renewed_at = $12
             WHERE id = $9 AND version = $10",
            &[
                &renewal.credentials.sealed.0,
                &renewal.credentials.expires_at.map(signed),
                &renewal.credentials.renewable,
                &renewal.credentials.renew_at.map(signed),
                &renewal.health.status.name(),
                &renewal.health.reason,
                &renewal.health.checked_at.map(signed),
                &signed(renewal.now_at),
                &renewal.id.as_str(),
                &signed(renewal.version),
                &renewal.name,
                &renewal.credentials.renewed_at.map(signed),
            ],
        )
        .await;
    Ok(written.map_err(failed("renewing an account"))? > 0)
}

pub(crate) async fn note(
    connection: &Connection,
    id: &str,
    version: u64,
    health: &Health,
) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE accounts SET health = $1, health_reason = $2, checked_at = $3 WHERE id = $4 AND version = $5",
            &[
                &health.status.name(),
                &health.reason,
                &health.checked_at.map(signed),
                &id,
                &signed(version),
            ],
        )
        .await
        .map_err(failed("noting an account's health"))
        .map(drop)
}

pub(crate) async fn rename(
    connection: &Connection,
    id: &str,
    name: &str,
    now_at: EpochSeconds,
) -> Result<Option<Account>, StoreError> {
    connection
        .execute(
            "UPDATE accounts SET name = $1, updated_at = $2 WHERE id = $3",
            &[&name, &signed(now_at), &id],
        )
        .await
        .map_err(failed("renaming an account"))?;
    by_id(connection, id).await
}

pub(crate) async fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<Account>, StoreError> {
    let failed = failed("reading an account");
    let rows = connection
        .query("SELECT * FROM accounts WHERE id = $1", &[&id])
        .await
        .map_err(&failed)?;
    rows.first().map(account).transpose()
}

pub(crate) async fn page(
    connection: &Connection,
    owner: &Owner,
    page: &PageRequest<AccountId>,
) -> Result<Page<Account>, StoreError> {
    let listing = Listing::of_owner("accounts", owner);
    page_of(connection, &listing, page, AccountId::as_str, account).await
}

/// A page of accounts by [`URGENCY`].
pub(crate) async fn page_by_urgency(
    connection: &Connection,
    owner: &Owner,
    now_at: EpochSeconds,
    page: &PageRequest<ListPlace>,
) -> Result<Page<Placed<Account>>, StoreError> {
    let listing = Listing::of_owner("accounts", owner);
    let order = Order {
        key: Some(URGENCY),
        parameters: vec![Box::new(signed(now_at))],
        is_descending: false,
    };
    placed_page_of(connection, &listing, &order, page, account).await
}

pub(crate) async fn delete(connection: &Connection, id: &str) -> Result<bool, StoreError> {
    let deleted = connection
        .execute("DELETE FROM accounts WHERE id = $1", &[&id])
        .await;
    Ok(deleted.map_err(failed("deleting an account"))? > 0)
}

fn account(row: &Row) -> Result<Account, StoreError> {
    Ok(Account {
        id: parsed(row, "id")?,
        owner: owner::of(row)?,
        app: get(row, "app")?,
        name: get(row, "name")?,
        credentials: Credentials {
            sealed: Sealed(get(row, "sealed")?),
            expires_at: unsigned_opt(row, "expires_at")?,
            renewable: get(row, "renewable")?,
            renew_at: unsigned_opt(row, "renew_at")?,
            renewed_at: unsigned_opt(row, "renewed_at")?,
        },
        version: unsigned(row, "version")?,
        health: Health {
            status: HealthStatus::named(&get::<String>(row, "health")?)?,
            reason: get(row, "health_reason")?,
            checked_at: unsigned_opt(row, "checked_at")?,
        },
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
    })
}
