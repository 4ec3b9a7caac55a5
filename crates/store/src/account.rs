//! Accounts: sealed credentials of apps, their health, and connecting one in a browser.

use async_trait::async_trait;
use headwater_model::{
    hash::SecretHash,
    id::{AccountId, ConnectId},
    page::{Page, PageRequest},
    time::EpochSeconds,
};

use crate::{
    error::StoreError,
    list_place::{ListPlace, Placed},
    sealed::Sealed,
    tenants::Owner,
};

/// Credentials of an app, sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// The owner.
    pub owner: Owner,
    /// The app's name slug.
    pub app: String,
    /// For people.
    pub name: String,
    /// Its credentials at the app.
    pub credentials: Credentials,
    /// The number of credentials that it has had. A replacement names the version that it replaces.
    pub version: u64,
    /// Their health.
    pub health: Health,
    /// Epoch seconds.
    pub created_at: EpochSeconds,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

/// An account's credentials at its app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The encrypted fields.
    pub sealed: Sealed,
    /// When they end, in epoch seconds, if that is known.
    pub expires_at: Option<EpochSeconds>,
    /// Whether there is a refresh token among them.
    pub renewable: bool,
    /// From when on they are renewed before they are used, in epoch seconds.
    pub renew_at: Option<EpochSeconds>,
    /// When the app last gave them in place of former ones, in epoch seconds; `None` of those that somebody gave.
    pub renewed_at: Option<EpochSeconds>,
}

/// The health of credentials, as far as the node knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Health {
    /// The status.
    pub status: HealthStatus,
    /// The reason, for people.
    pub reason: Option<String>,
    /// Since when it is known, in epoch seconds.
    pub checked_at: Option<EpochSeconds>,
}

/// The result of the last check of credentials.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HealthStatus {
    /// Not checked, or without a clear result.
    #[default]
    Unknown,
    /// The app accepted them.
    Healthy,
    /// They have expired, and there is no refresh token.
    Expired,
    /// The app no longer accepts them.
    Refused,
}

impl HealthStatus {
    /// The name by which stores keep it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Healthy => "healthy",
            Self::Expired => "expired",
            Self::Refused => "refused",
        }
    }

    /// The status with this name.
    ///
    /// # Errors
    /// `Corrupt` when there is none.
    pub fn named(name: &str) -> Result<Self, StoreError> {
        let mut all = [Self::Unknown, Self::Healthy, Self::Expired, Self::Refused].into_iter();
        let unknown = || StoreError::Corrupt(format!("`{name}` is not the health of an account"));
        all.find(|one| one.name() == name).ok_or_else(unknown)
    }
}

/// Credentials in place of former ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewal {
    /// The account.
    pub id: AccountId,
    /// The version of the credentials that they replace.
    pub version: u64,
    /// The new ones.
    pub credentials: Credentials,
    /// The health of the new ones.
    pub health: Health,
    /// Another name of the account, if it gets one with them.
    pub name: Option<String>,
    /// Epoch seconds.
    pub now_at: EpochSeconds,
}

/// The connecting of an account in a browser: from a link to the app's consent and back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    /// Its id.
    pub id: ConnectId,
    /// The owner of the account.
    pub owner: Owner,
    /// The app's name slug.
    pub app: String,
    /// The account's name.
    pub name: String,
    /// The existing account that it renews, if any.
    pub account_id: Option<AccountId>,
    /// The sealed data so far: entered fields, the proof key.
    pub sealed: Sealed,
    /// Its progress.
    pub step: ConnectStep,
    /// When it ends if it has not come further, in epoch seconds.
    pub expires_at: EpochSeconds,
}

/// The progress of a connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectStep {
    /// Its link can be opened.
    Linked,
    /// The user was sent to the app.
    Away,
    /// The app has sent the user back; the node exchanges the code.
    Back,
    /// The account is connected.
    Connected(AccountId),
    /// It ended without one, for this reason (for people).
    Failed(String),
}

/// The end of a connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectEnd {
    /// With an account: a new one, or an existing one whose name, credentials and health these become.
    Connected(Box<Account>),
    /// Without one, for this reason (for people).
    Failed(String),
}

/// Sealed credentials.
#[async_trait]
pub trait Accounts {
    /// Writes an account.
    async fn create_account(&self, account: Account) -> Result<(), StoreError>;

    /// An account.
    async fn account(&self, id: &AccountId) -> Result<Option<Account>, StoreError>;

    /// A page of the owner's accounts in creation order: those in the workspace if there is one, else all that the user created.
    async fn accounts(
        &self,
        owner: &Owner,
        page: &PageRequest<AccountId>,
    ) -> Result<Page<Account>, StoreError>;

    /// A page of the same accounts, each with its place: those that the app refuses first, then those that have expired by
    /// `now_at`, then all others.
    /// MUST count as expired those whose time is over and that cannot be renewed, unless they are refused
    /// (`conformance::accounts::accounts_that_need_somebody_come_first`).
    async fn accounts_by_urgency(
        &self,
        owner: &Owner,
        now_at: EpochSeconds,
        page: &PageRequest<ListPlace>,
    ) -> Result<Page<Placed<Account>>, StoreError>;

    /// Replaces an account's credentials and counts its version up.
    /// MUST write nothing, and return false, when the account is gone or has other credentials by now
    /// (`conformance::accounts::of_two_renewals_one_counts`).
    async fn renew_account(&self, renewal: Renewal) -> Result<bool, StoreError>;

    /// Records the health of the credentials of that version.
    /// MUST write nothing when the account has other credentials by now
    /// (`conformance::accounts::health_is_noted_of_the_credentials_it_was_found_with`).
    async fn note_health(
        &self,
        id: &AccountId,
        version: u64,
        health: Health,
    ) -> Result<(), StoreError>;

    /// Gives an account another name and returns it; `None`: there was none.
    /// MUST keep its credentials and its version, so that a renewal under way still counts
    /// (`conformance::accounts::a_renamed_account_keeps_its_credentials`).
    async fn rename_account(
        &self,
        id: &AccountId,
        name: String,
        now_at: EpochSeconds,
    ) -> Result<Option<Account>, StoreError>;

    /// Deletes an account. False: there was none.
    async fn delete_account(&self, id: &AccountId) -> Result<bool, StoreError>;

    /// Writes a connect whose link opens with the token of that hash, and forgets those that ended before `forget_before`.
    async fn begin_connect(
        &self,
        connect: Connect,
        token_hash: &SecretHash,
        forget_before: EpochSeconds,
    ) -> Result<(), StoreError>;

    /// A connect in any state.
    async fn connect(&self, id: &ConnectId) -> Result<Option<Connect>, StoreError>;

    /// The connect whose link has the token of that hash, in any state.
    async fn connect_by_token(
        &self,
        token_hash: &SecretHash,
    ) -> Result<Option<Connect>, StoreError>;

    /// Records that the user was sent to the app with a state of that hash, and the connect's sealed data.
    /// MUST succeed for only one opening of the link, and for none after its time; false: not this one
    /// (`conformance::accounts::a_link_is_followed_once`).
    async fn await_callback(
        &self,
        id: &ConnectId,
        state_hash: &SecretHash,
        sealed: Sealed,
        now_at: EpochSeconds,
    ) -> Result<bool, StoreError>;

    /// Takes the connect that awaits the state of that hash.
    /// MUST return it to one caller only, and to none after its time (`conformance::accounts::a_state_counts_once`).
    async fn take_callback(
        &self,
        state_hash: &SecretHash,
        now_at: EpochSeconds,
    ) -> Result<Option<Connect>, StoreError>;

    /// Ends a connect, and writes its account with it.
    /// MUST write both or nothing; `Ended` when it has ended already, `Gone` when its account is
    /// (`conformance::accounts::a_connect_ends_once_with_its_account`).
    async fn end_connect(&self, id: &ConnectId, end: ConnectEnd) -> Result<(), StoreError>;
}
