//! Accounts: listed, renewed, connected.

use std::sync::Arc;

use headwater_model::{hash::SecretHash, id::ConnectId, page::PageRequest, time::EpochSeconds};

use super::{
    Factory,
    catalog::{keyed, walk},
    fixture::*,
};
use crate::{
    Account, Connect, ConnectEnd, ConnectStep, Credentials, Health, HealthStatus, ListPlace, Owner,
    Renewal, Sealed, Store, StoreError,
};

/// Accounts are written, read and deleted.
pub async fn accounts_are_created_and_deleted(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (mine, other) = (account(&owner(), "one"), account(&owner(), "two"));
    for account in [&mine, &other] {
        store.create_account(account.clone()).await.unwrap();
    }
    let store = factory.reopen(store).await;
    assert_eq!(store.account(&mine.id).await.unwrap(), Some(mine.clone()));
    assert!(store.delete_account(&mine.id).await.unwrap());
    assert!(!store.delete_account(&mine.id).await.unwrap());
    assert_eq!(store.account(&mine.id).await.unwrap(), None);
    assert_eq!(store.account(&other.id).await.unwrap(), Some(other));
}

/// Nothing else changes; one that is gone gets no name.
pub async fn a_renamed_account_keeps_its_credentials(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (mine, other) = (account(&owner(), "one"), account(&owner(), "two"));
    for account in [&mine, &other] {
        store.create_account(account.clone()).await.unwrap();
    }
    let later = EpochSeconds(mine.updated_at.0 + 60);
    let wanted = Account {
        name: "three".to_owned(),
        updated_at: later,
        ..mine.clone()
    };
    let renamed = store.rename_account(&mine.id, "three".to_owned(), later);
    assert_eq!(renamed.await.unwrap(), Some(wanted.clone()));
    let store = factory.reopen(store).await;
    assert_eq!(store.account(&mine.id).await.unwrap(), Some(wanted));
    assert_eq!(store.account(&other.id).await.unwrap(), Some(other));
    assert!(store.delete_account(&mine.id).await.unwrap());
    let renamed = store.rename_account(&mine.id, "four".to_owned(), later);
    assert_eq!(renamed.await.unwrap(), None);
}

/// A workspace's accounts are those that live in it, a user's are those that the user made.
pub async fn accounts_are_listed_by_owner(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let shared = workspace_owner();
    let private = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    let colleague = Owner {
        workspace_id: shared.workspace_id.clone(),
        ..owner()
    };
    for (owner, name) in [
        (&shared, "1"),
        (&private, "2"),
        (&colleague, "3"),
        (&owner(), "4"),
    ] {
        store.create_account(account(owner, name)).await.unwrap();
    }
    let names = async |owner: &Owner| {
        let page = store
            .accounts(owner, &PageRequest::first(10))
            .await
            .unwrap();
        page.items
            .into_iter()
            .map(|account| account.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&shared).await, ["1", "3"]);
    assert_eq!(names(&colleague).await, ["1", "3"]);
    assert_eq!(names(&private).await, ["1", "2"]);
}

/// Accounts page in creation order and back.
pub async fn accounts_are_paged_both_ways(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    let mut ids = Vec::new();
    for number in 0..5 {
        let account: Account = account(&mine, &number.to_string());
        ids.push(account.id.clone());
        store.create_account(account).await.unwrap();
    }
    walk(&ids, async |request| {
        let page = store.accounts(&mine, &request).await.unwrap();
        keyed(page, |account| account.id.clone())
    })
    .await;
}

/// Refused ones before expired ones before all others, over the whole list and in both directions.
pub async fn accounts_that_need_somebody_come_first(factory: &dyn Factory) {
    const NOW: EpochSeconds = EpochSeconds(50);
    let (store, _) = start(factory).await;
    let mine = owner();
    let mut expected = [None; 5];
    let mut ids = Vec::new();
    for (place, status, expires_at, renewable) in [
        (3, HealthStatus::Unknown, Some(51), false),
        (1, HealthStatus::Healthy, Some(50), false),
        (4, HealthStatus::Healthy, Some(49), true),
        (2, HealthStatus::Expired, None, true),
        (0, HealthStatus::Refused, Some(49), false),
    ] {
        let mut account = account(&mine, "one");
        account.health.status = status;
        account.credentials.expires_at = expires_at.map(EpochSeconds);
        account.credentials.renewable = renewable;
        expected[place] = Some(ids.len());
        ids.push(account.id.clone());
        store.create_account(account).await.unwrap();
    }
    store
        .create_account(account(&owner(), "two"))
        .await
        .unwrap();
    let read = async |request: PageRequest<ListPlace>| {
        let page = store.accounts_by_urgency(&mine, NOW, &request).await;
        page.unwrap()
    };
    let all = read(PageRequest::first(10)).await.items;
    let found: Vec<_> = all.iter().map(|placed| placed.item.id.clone()).collect();
    let expected = expected.map(|at| ids[at.unwrap()].clone());
    assert_eq!(found, expected);
    let places: Vec<_> = all.into_iter().map(|placed| placed.place).collect();
    walk(&places, async |request| {
        keyed(read(request).await, |placed| placed.place.clone())
    })
    .await;
}

fn renewal(account: &Account, sealed: &[u8]) -> Renewal {
    Renewal {
        id: account.id.clone(),
        version: account.version,
        credentials: Credentials {
            sealed: Sealed(sealed.to_vec()),
            expires_at: Some(EpochSeconds(100)),
            renewable: true,
            renew_at: Some(EpochSeconds(90)),
            renewed_at: Some(EpochSeconds(50)),
        },
        health: healthy(),
        name: None,
        now_at: EpochSeconds(50),
    }
}

fn healthy() -> Health {
    Health {
        status: HealthStatus::Healthy,
        reason: None,
        checked_at: Some(EpochSeconds(50)),
    }
}

async fn stored(store: &Arc<dyn Store>, account: &Account) -> Account {
    store.account(&account.id).await.unwrap().unwrap()
}

/// Of two renewals of the same credentials, the second writes nothing.
pub async fn of_two_renewals_one_counts(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let account = account(&owner(), "one");
    store.create_account(account.clone()).await.unwrap();
    assert!(
        store
            .renew_account(renewal(&account, b"first"))
            .await
            .unwrap()
    );
    assert!(
        !store
            .renew_account(renewal(&account, b"second"))
            .await
            .unwrap()
    );
    let store = factory.reopen(store).await;
    let first = renewal(&account, b"first");
    let renewed = Account {
        credentials: first.credentials,
        health: first.health,
        version: account.version + 1,
        updated_at: EpochSeconds(50),
        ..account
    };
    assert_eq!(stored(&store, &renewed).await, renewed);
    let third = Renewal {
        name: Some("other".to_owned()),
        ..renewal(&renewed, b"third")
    };
    assert!(store.renew_account(third).await.unwrap());
    assert_eq!(stored(&store, &renewed).await.name, "other");
    store.delete_account(&renewed.id).await.unwrap();
    let fourth = Renewal {
        version: renewed.version + 1,
        ..renewal(&renewed, b"fourth")
    };
    assert!(!store.renew_account(fourth).await.unwrap());
}

/// The health of former credentials is not recorded for the present ones.
pub async fn health_is_noted_of_the_credentials_it_was_found_with(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let account = account(&owner(), "one");
    store.create_account(account.clone()).await.unwrap();
    let refused = Health {
        status: HealthStatus::Refused,
        reason: Some("it was revoked".to_owned()),
        checked_at: Some(EpochSeconds(60)),
    };
    let note = async |version| {
        let noted = store.note_health(&account.id, version, refused.clone());
        noted.await.unwrap();
        stored(&store, &account).await
    };
    let noted = note(account.version).await;
    assert_eq!((&noted.health, noted.version), (&refused, account.version));
    assert!(
        store
            .renew_account(renewal(&account, b"new"))
            .await
            .unwrap()
    );
    assert_eq!(note(account.version).await.health, healthy());
    assert_eq!(note(account.version + 1).await.health, refused);
}

fn connect(account: Option<&Account>) -> Connect {
    Connect {
        id: ConnectId::new(T0, entropy()),
        owner: workspace_owner(),
        app: "github".to_owned(),
        name: "work".to_owned(),
        account_id: account.map(|account| account.id.clone()),
        sealed: Sealed(vec![1, 0]),
        step: ConnectStep::Linked,
        expires_at: EpochSeconds(100),
    }
}

async fn begun(store: &Arc<dyn Store>, token: &str, account: Option<&Account>) -> Connect {
    let connect = connect(account);
    store
        .begin_connect(connect.clone(), &SecretHash::new(token), EpochSeconds(0))
        .await
        .unwrap();
    connect
}

/// Only the first opening of a link leads to the app, and only in time.
pub async fn a_link_is_followed_once(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let connect = begun(&store, "token", None).await;
    let store = factory.reopen(store).await;
    let found = store
        .connect_by_token(&SecretHash::new("token"))
        .await
        .unwrap();
    assert_eq!(found.as_ref(), Some(&connect));
    assert_eq!(
        store
            .connect_by_token(&SecretHash::new("other"))
            .await
            .unwrap(),
        None
    );
    let leave = async |state: &str, now_at| {
        let state = SecretHash::new(state);
        let left = store.await_callback(&connect.id, &state, Sealed(vec![2]), now_at);
        left.await.unwrap()
    };
    assert!(!leave("late", EpochSeconds(100)).await);
    assert!(leave("state", EpochSeconds(99)).await);
    assert!(!leave("again", EpochSeconds(99)).await);
    let away = store.connect(&connect.id).await.unwrap().unwrap();
    assert_eq!(
        (away.step, away.sealed),
        (ConnectStep::Away, Sealed(vec![2]))
    );
}

/// A state that was used already returns nothing.
pub async fn a_state_counts_once(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    for (token, state) in [("a", "one"), ("b", "two")] {
        let connect = begun(&store, token, None).await;
        let state = SecretHash::new(state);
        let left = store.await_callback(&connect.id, &state, Sealed(vec![2]), EpochSeconds(1));
        assert!(left.await.unwrap());
    }
    let back = async |state: &str, now_at| {
        let state = SecretHash::new(state);
        store.take_callback(&state, now_at).await.unwrap()
    };
    assert_eq!(back("three", EpochSeconds(1)).await, None);
    assert_eq!(back("one", EpochSeconds(100)).await, None);
    let found = back("one", EpochSeconds(99)).await.unwrap();
    assert_eq!(
        (found.step, found.sealed),
        (ConnectStep::Back, Sealed(vec![2]))
    );
    assert_eq!(back("one", EpochSeconds(99)).await, None);
    assert!(back("two", EpochSeconds(99)).await.is_some());
}

/// A connect's end and its account are written together, and a connect ends once.
pub async fn a_connect_ends_once_with_its_account(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let made = account(&workspace_owner(), "made");
    let connect = begun(&store, "a", None).await;
    let end = async |connect: &Connect, account: &Account| {
        let end = ConnectEnd::Connected(Box::new(account.clone()));
        store.end_connect(&connect.id, end).await
    };
    end(&connect, &made).await.unwrap();
    let step = async |connect: &Connect| {
        let found = store.connect(&connect.id).await.unwrap();
        found.unwrap().step
    };
    assert_eq!(
        step(&connect).await,
        ConnectStep::Connected(made.id.clone())
    );
    assert_eq!(stored(&store, &made).await, made);
    let twice = end(&connect, &made).await;
    assert!(matches!(twice, Err(StoreError::Conflict(_))), "{twice:?}");

    let again = begun(&store, "b", Some(&made)).await;
    let renewed = Account {
        name: "work".to_owned(),
        credentials: renewal(&made, b"new").credentials,
        health: healthy(),
        updated_at: EpochSeconds(50),
        ..made.clone()
    };
    end(&again, &renewed).await.unwrap();
    let version = made.version + 1;
    assert_eq!(
        stored(&store, &made).await,
        Account {
            version,
            ..renewed.clone()
        }
    );

    let late = begun(&store, "c", Some(&made)).await;
    store.delete_account(&made.id).await.unwrap();
    let gone = end(&late, &renewed).await;
    assert!(matches!(gone, Err(StoreError::Conflict(_))), "{gone:?}");
    assert_eq!(store.account(&made.id).await.unwrap(), None);
    assert_eq!(step(&late).await, ConnectStep::Linked);
    let why = ConnectEnd::Failed("it was denied".to_owned());
    store.end_connect(&late.id, why).await.unwrap();
    assert_eq!(
        step(&late).await,
        ConnectStep::Failed("it was denied".to_owned())
    );
}

/// Connects that ended long ago are forgotten when another begins.
pub async fn connects_are_forgotten_in_time(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let old = begun(&store, "a", None).await;
    let next = connect(None);
    store
        .begin_connect(next.clone(), &SecretHash::new("b"), EpochSeconds(100))
        .await
        .unwrap();
    assert!(store.connect(&old.id).await.unwrap().is_some());
    store
        .begin_connect(connect(None), &SecretHash::new("c"), EpochSeconds(101))
        .await
        .unwrap();
    assert_eq!(store.connect(&old.id).await.unwrap(), None);
    assert_eq!(store.connect(&next.id).await.unwrap(), None);
}
