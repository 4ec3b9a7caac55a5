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
use rusqlite::{Connection, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    ordered::{Order, placed_page_of},
    owner,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned, unsigned_opt},
};

/// The key of an account by how much it needs somebody. `?2`: now.
const URGENCY: &str = "CASE WHEN health = 'refused' THEN '0'
    WHEN health = 'expired' OR (expires_at <= CAST(?2 AS INTEGER) AND NOT renewable) THEN '1'
    ELSE '2' END";

pub(crate) fn create(connection: &Connection, account: &Account) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "INSERT INTO accounts (id, user_id, workspace_id, app, name, sealed, expires_at, renewable, renew_at, version,
                 health, health_reason, checked_at, created_at, updated_at, renewed_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                account.id.as_str(),
                account.owner.user_id.as_str(),
                account.owner.workspace_id.as_ref().map(|id| id.as_str()),
                account.app,
                account.name,
                account.credentials.sealed.0,
                account.credentials.expires_at.map(signed),
                account.credentials.renewable,
                account.credentials.renew_at.map(signed),
                signed(account.version),
                account.health.status.name(),
                account.health.reason,
                account.health.checked_at.map(signed),
                signed(account.created_at),
                signed(account.updated_at),
                account.credentials.renewed_at.map(signed),
            ],
        )
        .map_err(failed("writing an account"))
        .map(drop)
}

/// Credentials, name and health of an account that is there, whichever credentials it has. False: it is not.
pub(crate) fn reconnect(connection: &Connection, account: &Account) -> Result<bool, StoreError> {
    let written = connection.execute_prepared(
        "UPDATE accounts SET name = ?, sealed = ?, expires_at = ?, renewable = ?, renew_at = ?, version = version + 1,
             health = ?, health_reason = ?, checked_at = ?, updated_at = ?, renewed_at = ? WHERE id = ?",
        params![
            account.name,
            account.credentials.sealed.0,
            account.credentials.expires_at.map(signed),
            account.credentials.renewable,
            account.credentials.renew_at.map(signed),
            account.health.status.name(),
            account.health.reason,
            account.health.checked_at.map(signed),
            signed(account.updated_at),
            account.credentials.renewed_at.map(signed),
            account.id.as_str(),
        ],
    );
    Ok(written.map_err(failed("connecting an account again"))? > 0)
}

pub(crate) fn renew(connection: &Connection, renewal: &Renewal) -> Result<bool, StoreError> {
    let written = connection.execute_prepared(
        "UPDATE accounts SET sealed = ?, expires_at = ?, renewable = ?, renew_at = ?, version = version + 1,
             health = ?, health_reason = ?, checked_at = ?, name = coalesce(?, name), updated_at = ?, renewed_at = ?
         WHERE id = ? AND version = ?",
        params![
            renewal.credentials.sealed.0,
            renewal.credentials.expires_at.map(signed),
            renewal.credentials.renewable,
            renewal.credentials.renew_at.map(signed),
            renewal.health.status.name(),
            renewal.health.reason,
            renewal.health.checked_at.map(signed),
            renewal.name,
            signed(renewal.now_at),
            renewal.credentials.renewed_at.map(signed),
            renewal.id.as_str(),
            signed(renewal.version),
        ],
    );
    Ok(written.map_err(failed("renewing an account"))? > 0)
}

pub(crate) fn note(
    connection: &Connection,
    id: &str,
    version: u64,
    health: &Health,
) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "UPDATE accounts SET health = ?, health_reason = ?, checked_at = ? WHERE id = ? AND version = ?",
            params![
                health.status.name(),
                health.reason,
                health.checked_at.map(signed),
                id,
                signed(version),
            ],
        )
        .map_err(failed("noting an account's health"))
        .map(drop)
}

pub(crate) fn rename(
    connection: &Connection,
    id: &str,
    name: &str,
    now_at: EpochSeconds,
) -> Result<Option<Account>, StoreError> {
    connection
        .execute_prepared(
            "UPDATE accounts SET name = ?, updated_at = ? WHERE id = ?",
            params![name, signed(now_at), id],
        )
        .map_err(failed("renaming an account"))?;
    by_id(connection, id)
}

pub(crate) fn by_id(connection: &Connection, id: &str) -> Result<Option<Account>, StoreError> {
    let failed = failed("reading an account");
    let mut statement = connection
        .prepare_cached("SELECT * FROM accounts WHERE id = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(account).transpose()
}

pub(crate) fn page(
    connection: &Connection,
    owner: &Owner,
    page: &PageRequest<AccountId>,
) -> Result<Page<Account>, StoreError> {
    let listing = Listing::of_owner("accounts", owner);
    page_of(connection, &listing, page, AccountId::as_str, account)
}

/// A page of accounts by [`URGENCY`].
pub(crate) fn page_by_urgency(
    connection: &Connection,
    owner: &Owner,
    now_at: EpochSeconds,
    page: &PageRequest<ListPlace>,
) -> Result<Page<Placed<Account>>, StoreError> {
    let listing = Listing::of_owner("accounts", owner);
    let now_at = now_at.0.to_string();
    let order = Order {
        key: Some(URGENCY),
        parameters: vec![&now_at],
        is_descending: false,
    };
    placed_page_of(connection, &listing, &order, page, account)
}

pub(crate) fn delete(connection: &Connection, id: &str) -> Result<bool, StoreError> {
    let deleted = connection.execute_prepared("DELETE FROM accounts WHERE id = ?", [id]);
    Ok(deleted.map_err(failed("deleting an account"))? > 0)
}

fn account(row: &Row<'_>) -> Result<Account, StoreError> {
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
