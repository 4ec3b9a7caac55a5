//! Sealed accounts.

use async_trait::async_trait;
use headwater_model::{
    id::{AccountId, ConnectId},
    page::{Page, PageRequest},
};
use headwater_store::{
    Account, Accounts, Connect, ConnectEnd, Credentials, Health, HealthStatus, Owner, Renewal,
    StoreError,
};
use rusqlite::{Connection, Row, params};

use crate::{
    SqliteStore,
    connection::failed,
    connects, owner,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned, unsigned_opt},
};

#[async_trait]
impl Accounts for SqliteStore {
    async fn create_account(&self, account: Account) -> Result<(), StoreError> {
        self.write(move |connection| create(connection, &account))
            .await
    }

    async fn account(&self, id: &AccountId) -> Result<Option<Account>, StoreError> {
        let id = id.clone();
        self.read(move |connection| by_id(connection, id.as_str()))
            .await
    }

    async fn accounts(
        &self,
        owner: &Owner,
        page: &PageRequest<AccountId>,
    ) -> Result<Page<Account>, StoreError> {
        let (filter, owner_id) = match &owner.workspace_id {
            Some(id) => ("workspace_id = ?1", id.to_string()),
            None => ("user_id = ?1", owner.user_id.to_string()),
        };
        let page = page.clone();
        self.read(move |connection| {
            let listing = Listing {
                table: "accounts",
                filter,
                parameter: &owner_id,
            };
            page_of(connection, &listing, &page, AccountId::as_str, account)
        })
        .await
    }

    async fn renew_account(&self, renewal: Renewal) -> Result<bool, StoreError> {
        self.write(move |connection| renew(connection, &renewal))
            .await
    }

    async fn note_health(
        &self,
        id: &AccountId,
        version: u64,
        health: Health,
    ) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |connection| note(connection, id.as_str(), version, &health))
            .await
    }

    async fn delete_account(&self, id: &AccountId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| {
            let deleted = connection.execute("DELETE FROM accounts WHERE id = ?", [id.as_str()]);
            Ok(deleted.map_err(failed("deleting an account"))? > 0)
        })
        .await
    }

    async fn begin_connect(
        &self,
        connect: Connect,
        token_hash: &str,
        forget_before: u64,
    ) -> Result<(), StoreError> {
        let token_hash = token_hash.to_owned();
        self.write(move |connection| {
            connects::begin(connection, &connect, &token_hash, forget_before)
        })
        .await
    }

    async fn connect(&self, id: &ConnectId) -> Result<Option<Connect>, StoreError> {
        let id = id.clone();
        self.read(move |connection| connects::by_id(connection, id.as_str()))
            .await
    }

    async fn connect_by_token(&self, token_hash: &str) -> Result<Option<Connect>, StoreError> {
        let token_hash = token_hash.to_owned();
        self.read(move |connection| connects::by_token(connection, &token_hash))
            .await
    }

    async fn leave_for_app(
        &self,
        id: &ConnectId,
        state_hash: &str,
        sealed: Vec<u8>,
        now_at: u64,
    ) -> Result<bool, StoreError> {
        let (id, state_hash) = (id.clone(), state_hash.to_owned());
        self.write(move |connection| {
            connects::leave(connection, id.as_str(), &state_hash, &sealed, now_at)
        })
        .await
    }

    async fn come_back(
        &self,
        state_hash: &str,
        now_at: u64,
    ) -> Result<Option<Connect>, StoreError> {
        let state_hash = state_hash.to_owned();
        self.write(move |connection| connects::come_back(connection, &state_hash, now_at))
            .await
    }

    async fn end_connect(&self, id: &ConnectId, end: ConnectEnd) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |connection| connects::end(connection, &id, &end))
            .await
    }
}

pub(crate) fn create(connection: &Connection, account: &Account) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO accounts (id, user_id, workspace_id, app, name, sealed, expires_at, renewable, renew_at, version,
                 health, health_reason, checked_at, created_at, updated_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                account.id.as_str(),
                account.owner.user_id.as_str(),
                account.owner.workspace_id.as_ref().map(|id| id.as_str()),
                account.app,
                account.name,
                account.credentials.sealed,
                account.credentials.expires_at.map(signed),
                account.credentials.renewable,
                account.credentials.renew_at.map(signed),
                signed(account.version),
                status_text(account.health.status),
                account.health.reason,
                account.health.checked_at.map(signed),
                signed(account.created_at),
                signed(account.updated_at),
            ],
        )
        .map_err(failed("writing an account"))
        .map(drop)
}

/// Credentials, name and health of an account that is there, whichever credentials it has. False: it is not.
pub(crate) fn reconnect(connection: &Connection, account: &Account) -> Result<bool, StoreError> {
    let written = connection.execute(
        "UPDATE accounts SET name = ?, sealed = ?, expires_at = ?, renewable = ?, renew_at = ?, version = version + 1,
             health = ?, health_reason = ?, checked_at = ?, updated_at = ? WHERE id = ?",
        params![
            account.name,
            account.credentials.sealed,
            account.credentials.expires_at.map(signed),
            account.credentials.renewable,
            account.credentials.renew_at.map(signed),
            status_text(account.health.status),
            account.health.reason,
            account.health.checked_at.map(signed),
            signed(account.updated_at),
            account.id.as_str(),
        ],
    );
    Ok(written.map_err(failed("connecting an account again"))? > 0)
}

fn renew(connection: &Connection, renewal: &Renewal) -> Result<bool, StoreError> {
    let written = connection.execute(
        "UPDATE accounts SET sealed = ?, expires_at = ?, renewable = ?, renew_at = ?, version = version + 1,
             health = ?, health_reason = ?, checked_at = ?, updated_at = ? WHERE id = ? AND version = ?",
        params![
            renewal.credentials.sealed,
            renewal.credentials.expires_at.map(signed),
            renewal.credentials.renewable,
            renewal.credentials.renew_at.map(signed),
            status_text(renewal.health.status),
            renewal.health.reason,
            renewal.health.checked_at.map(signed),
            signed(renewal.now_at),
            renewal.id.as_str(),
            signed(renewal.version),
        ],
    );
    Ok(written.map_err(failed("renewing an account"))? > 0)
}

fn note(
    connection: &Connection,
    id: &str,
    version: u64,
    health: &Health,
) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE accounts SET health = ?, health_reason = ?, checked_at = ? WHERE id = ? AND version = ?",
            params![
                status_text(health.status),
                health.reason,
                health.checked_at.map(signed),
                id,
                signed(version),
            ],
        )
        .map_err(failed("noting an account's health"))
        .map(drop)
}

fn by_id(connection: &Connection, id: &str) -> Result<Option<Account>, StoreError> {
    let failed = failed("reading an account");
    let mut statement = connection
        .prepare_cached("SELECT * FROM accounts WHERE id = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(account).transpose()
}

fn account(row: &Row<'_>) -> Result<Account, StoreError> {
    Ok(Account {
        id: parsed(row, "id")?,
        owner: owner::of(row)?,
        app: get(row, "app")?,
        name: get(row, "name")?,
        credentials: Credentials {
            sealed: get(row, "sealed")?,
            expires_at: unsigned_opt(row, "expires_at")?,
            renewable: get(row, "renewable")?,
            renew_at: unsigned_opt(row, "renew_at")?,
        },
        version: unsigned(row, "version")?,
        health: Health {
            status: status(&get::<String>(row, "health")?)?,
            reason: get(row, "health_reason")?,
            checked_at: unsigned_opt(row, "checked_at")?,
        },
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
    })
}

const STATUSES: [(HealthStatus, &str); 4] = [
    (HealthStatus::Unknown, "unknown"),
    (HealthStatus::Healthy, "healthy"),
    (HealthStatus::Expired, "expired"),
    (HealthStatus::Refused, "refused"),
];

fn status_text(status: HealthStatus) -> &'static str {
    let found = STATUSES.iter().find(|(known, _)| *known == status);
    found.map_or("unknown", |(_, text)| text)
}

fn status(text: &str) -> Result<HealthStatus, StoreError> {
    let found = STATUSES.iter().find(|(_, known)| *known == text);
    let status = found.map(|(status, _)| *status);
    status.ok_or_else(|| StoreError::Corrupt(format!("`{text}` is no health of an account")))
}
