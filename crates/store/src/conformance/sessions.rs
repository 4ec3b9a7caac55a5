//! Sessions of browsers, and the links that begin them.

use std::time::Duration;

use headwater_model::{id::SessionId, page::PageRequest, time::EpochMs};

use super::{Factory, fixture::*};
use crate::{ApiKey, Conflict, Entity, Session, SignInLink, Store, StoreError};

const IDLE: Duration = Duration::from_secs(60);
const LIFE: Duration = Duration::from_secs(3_600);

fn session(key: &ApiKey, name: &str, now_ms: EpochMs) -> Session {
    Session {
        id: SessionId::new(now_ms, entropy()),
        hash: hash_of(name),
        user_id: key.user_id.clone(),
        key_id: key.id.clone(),
        created_at_ms: now_ms,
        last_used_at_ms: now_ms,
        expires_at_ms: now_ms + LIFE,
        address: Some("192.0.2.1".to_owned()),
        user_agent: "browser".to_owned(),
    }
}

fn link(key: &ApiKey, name: &str, expires_at_ms: EpochMs) -> SignInLink {
    SignInLink {
        hash: hash_of(name),
        key_id: key.id.clone(),
        expires_at_ms,
    }
}

/// Whether the session opens something at that time.
async fn is_open(store: &dyn Store, name: &str, now_ms: EpochMs) -> bool {
    let hash = hash_of(name);
    let found = store.session(&hash, now_ms, now_ms.minus(IDLE)).await;
    found.unwrap().is_some()
}

/// A session leads to its user, survives a restart, and is nobody else's to end.
pub async fn a_session_identifies_its_user(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = first_user("ann");
    store.create_first_user(ann.clone()).await.unwrap();
    let bob = create_user(&*store, "bob").await;
    let begun = session(&ann.key, "tab", T0);
    store.create_session(begun.clone()).await.unwrap();
    let store = factory.reopen(store).await;
    let found = store.session(&hash_of("tab"), T0, T0.minus(IDLE)).await;
    let (found, identity) = found.unwrap().unwrap();
    assert_eq!(
        (&found, &identity.user, &identity.key),
        (&begun, &ann.user, &ann.key)
    );
    assert_eq!(identity.workspaces, [ann.workspace]);
    assert!(!is_open(&*store, "another", T0).await);
    let listed = store.sessions(&ann.user.id, &PageRequest::first(10)).await;
    assert_eq!(listed.unwrap().items, std::slice::from_ref(&begun));
    assert!(!store.end_session(&bob.id, &begun.id).await.unwrap());
    assert!(store.end_session(&ann.user.id, &begun.id).await.unwrap());
    assert!(!is_open(&*store, "tab", T0).await);
}

/// A session ends at its time, or when nobody used it for long; its use keeps it.
pub async fn a_session_ends_in_time_and_when_it_is_idle(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = first_user("ann");
    store.create_first_user(ann.clone()).await.unwrap();
    let begun = session(&ann.key, "tab", T0);
    store.create_session(begun.clone()).await.unwrap();
    let later = T0 + IDLE;
    assert!(is_open(&*store, "tab", later.minus(Duration::from_millis(1))).await);
    assert!(!is_open(&*store, "tab", later).await);
    store.note_session_use(&begun.id, later).await.unwrap();
    assert!(is_open(&*store, "tab", later).await);
    let end = T0 + LIFE;
    let shortly_before = end.minus(Duration::from_millis(1));
    store
        .note_session_use(&begun.id, shortly_before)
        .await
        .unwrap();
    assert!(is_open(&*store, "tab", shortly_before).await);
    assert!(!is_open(&*store, "tab", end).await);
    // The next session forgets those that ended.
    let next = session(&ann.key, "next", end);
    store.create_session(next.clone()).await.unwrap();
    let listed = store.sessions(&ann.user.id, &PageRequest::first(10)).await;
    assert_eq!(listed.unwrap().items, [next]);
}

/// A session does not outlive its key, and none begins with a key that is gone.
pub async fn a_session_ends_with_its_key(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = first_user("ann");
    store.create_first_user(ann.clone()).await.unwrap();
    let other = key_of(&ann.user, "other");
    store.create_key(other.clone()).await.unwrap();
    let begun = session(&other, "tab", T0);
    store.create_session(begun).await.unwrap();
    let offered = link(&other, "link", T0 + LIFE);
    store.create_sign_in_link(offered, T0).await.unwrap();
    assert!(store.delete_key(&other.id, &ann.key.id).await.unwrap());
    assert!(!is_open(&*store, "tab", T0).await);
    let identity = store.sign_in_link(&hash_of("link"), T0).await.unwrap();
    assert!(identity.is_none());
    let gone = Conflict::Gone(Entity::Key(other.id.clone()));
    let refused = store.create_session(session(&other, "late", T0)).await;
    assert!(matches!(refused, Err(StoreError::Conflict(conflict)) if conflict == gone));
    let refused = store.create_sign_in_link(link(&other, "late", T0), T0);
    assert!(matches!(refused.await, Err(StoreError::Conflict(conflict)) if conflict == gone));
}

/// A link signs one browser in, until its time; to look at it does not use it up.
pub async fn a_link_signs_in_once(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = first_user("ann");
    store.create_first_user(ann.clone()).await.unwrap();
    let end = T0 + IDLE;
    let offered = link(&ann.key, "link", end);
    store.create_sign_in_link(offered, T0).await.unwrap();
    for _ in 0..2 {
        let identity = store.sign_in_link(&hash_of("link"), T0).await.unwrap();
        assert_eq!(identity.unwrap().user, ann.user);
    }
    assert!(
        store
            .sign_in_link(&hash_of("link"), end)
            .await
            .unwrap()
            .is_none()
    );
    let late = session(&ann.key, "late", end);
    assert!(!store.sign_in_by_link(&hash_of("link"), late).await.unwrap());
    assert!(!is_open(&*store, "late", end).await);
    let (one, two) = (session(&ann.key, "one", T0), session(&ann.key, "two", T0));
    let hash = hash_of("link");
    let (one, two) = tokio::join!(
        store.sign_in_by_link(&hash, one),
        store.sign_in_by_link(&hash, two)
    );
    assert_ne!(one.unwrap(), two.unwrap());
    assert_ne!(
        is_open(&*store, "one", T0).await,
        is_open(&*store, "two", T0).await
    );
    assert!(store.sign_in_link(&hash, T0).await.unwrap().is_none());
}
