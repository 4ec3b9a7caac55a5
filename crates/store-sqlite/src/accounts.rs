//! Sealed accounts.

use async_trait::async_trait;
use headwater_model::{
    id::AccountId,
    page::{Page, PageRequest},
};
use headwater_store::{Account, Accounts, Owner, StoreError};
use rusqlite::{Connection, Row, params};

use crate::{
    SqliteStore, components,
    connection::failed,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned},
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

    async fn delete_account(&self, id: &AccountId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| {
            let deleted = connection.execute("DELETE FROM accounts WHERE id = ?", [id.as_str()]);
            Ok(deleted.map_err(failed("deleting an account"))? > 0)
        })
        .await
    }
}

fn create(connection: &Connection, account: &Account) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO accounts (id, user_id, workspace_id, app, name, sealed, created_at, updated_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                account.id.as_str(),
                account.owner.user_id.as_str(),
                account.owner.workspace_id.as_ref().map(|id| id.as_str()),
                account.app,
                account.name,
                account.sealed,
                signed(account.created_at),
                signed(account.updated_at),
            ],
        )
        .map_err(failed("writing an account"))
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
        owner: components::owner(row)?,
        app: get(row, "app")?,
        name: get(row, "name")?,
        sealed: get(row, "sealed")?,
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
    })
}
