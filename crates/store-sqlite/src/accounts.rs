//! The accounts trait on SQLite: accounts and connects.

use async_trait::async_trait;
use headwater_model::{
    hash::SecretHash,
    id::{AccountId, ConnectId},
    page::{Page, PageRequest},
    time::EpochSeconds,
};
use headwater_store::{
    Account, Accounts, Connect, ConnectEnd, Health, ListPlace, Owner, Placed, Renewal, Sealed,
    StoreError,
};

use crate::{account_rows, connects, store::SqliteStore};

#[async_trait]
impl Accounts for SqliteStore {
    async fn create_account(&self, account: Account) -> Result<(), StoreError> {
        self.write(move |connection| account_rows::create(connection, &account))
            .await
    }

    async fn account(&self, id: &AccountId) -> Result<Option<Account>, StoreError> {
        let id = id.clone();
        self.read(move |connection| account_rows::by_id(connection, id.as_str()))
            .await
    }

    async fn accounts(
        &self,
        owner: &Owner,
        page: &PageRequest<AccountId>,
    ) -> Result<Page<Account>, StoreError> {
        let (owner, page) = (owner.clone(), page.clone());
        self.read(move |connection| account_rows::page(connection, &owner, &page))
            .await
    }

    async fn accounts_by_urgency(
        &self,
        owner: &Owner,
        now_at: EpochSeconds,
        page: &PageRequest<ListPlace>,
    ) -> Result<Page<Placed<Account>>, StoreError> {
        let (owner, page) = (owner.clone(), page.clone());
        self.read(move |connection| {
            account_rows::page_by_urgency(connection, &owner, now_at, &page)
        })
        .await
    }

    async fn renew_account(&self, renewal: Renewal) -> Result<bool, StoreError> {
        self.write(move |connection| account_rows::renew(connection, &renewal))
            .await
    }

    async fn note_health(
        &self,
        id: &AccountId,
        version: u64,
        health: Health,
    ) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |connection| account_rows::note(connection, id.as_str(), version, &health))
            .await
    }

    async fn rename_account(
        &self,
        id: &AccountId,
        name: String,
        now_at: EpochSeconds,
    ) -> Result<Option<Account>, StoreError> {
        let id = id.clone();
        self.write(move |connection| account_rows::rename(connection, id.as_str(), &name, now_at))
            .await
    }

    async fn delete_account(&self, id: &AccountId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| account_rows::delete(connection, id.as_str()))
            .await
    }

    async fn begin_connect(
        &self,
        connect: Connect,
        token_hash: &SecretHash,
        forget_before: EpochSeconds,
    ) -> Result<(), StoreError> {
        let token_hash = token_hash.clone();
        self.write(move |connection| {
            connects::begin(connection, &connect, token_hash.as_str(), forget_before)
        })
        .await
    }

    async fn connect(&self, id: &ConnectId) -> Result<Option<Connect>, StoreError> {
        let id = id.clone();
        self.read(move |connection| connects::by_id(connection, id.as_str()))
            .await
    }

    async fn connect_by_token(
        &self,
        token_hash: &SecretHash,
    ) -> Result<Option<Connect>, StoreError> {
        let token_hash = token_hash.clone();
        self.read(move |connection| connects::by_token(connection, token_hash.as_str()))
            .await
    }

    async fn await_callback(
        &self,
        id: &ConnectId,
        state_hash: &SecretHash,
        sealed: Sealed,
        now_at: EpochSeconds,
    ) -> Result<bool, StoreError> {
        let (id, state_hash) = (id.clone(), state_hash.clone());
        self.write(move |connection| {
            connects::await_callback(
                connection,
                id.as_str(),
                state_hash.as_str(),
                &sealed,
                now_at,
            )
        })
        .await
    }

    async fn take_callback(
        &self,
        state_hash: &SecretHash,
        now_at: EpochSeconds,
    ) -> Result<Option<Connect>, StoreError> {
        let state_hash = state_hash.clone();
        self.write(move |connection| {
            connects::take_callback(connection, state_hash.as_str(), now_at)
        })
        .await
    }

    async fn end_connect(&self, id: &ConnectId, end: ConnectEnd) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |connection| connects::end(connection, &id, &end))
            .await
    }
}
