//! Searches of events that people named.

use headwater_model::{
    id::{EmitterId, WorkflowId},
    time::{EpochMs, EpochSeconds},
};

use super::{Factory, fixture::*, tenants::team};
use crate::{EventTimes, EventView};

/// More views than a test writes.
const MANY: u32 = 100;

fn view(name: &str, words: &str) -> EventView {
    EventView {
        name: name.to_owned(),
        words: words.to_owned(),
        paths: vec!["user.tags[0]=new".to_owned(), "\"quoted\"=1".to_owned()],
        emitter: Some(EmitterId::Workflow(WorkflowId::new(EpochMs(1), 1))),
        channel: Some(String::new()),
        times: EventTimes {
            since: Some("24h".to_owned()),
            until: None,
        },
        updated_at: EpochSeconds(7),
    }
}

/// A view is there as it was written last, for its owner alone, in the order of the names.
pub async fn a_view_is_written_by_its_name(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let [ann, bob] = [
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    ];
    let [of_ann, of_bob] = [&ann, &bob].map(|user| owned(user, None));
    store
        .set_event_view(&of_ann, view("b", "one"), MANY)
        .await
        .unwrap();
    let bare = EventView {
        paths: Vec::new(),
        emitter: None,
        channel: None,
        times: EventTimes::default(),
        ..view("a", "")
    };
    store
        .set_event_view(&of_ann, bare.clone(), MANY)
        .await
        .unwrap();
    store
        .set_event_view(&of_ann, view("b", "two"), MANY)
        .await
        .unwrap();
    store
        .set_event_view(&of_bob, view("b", "of bob"), MANY)
        .await
        .unwrap();
    let store = factory.reopen(store).await;
    let found = store.event_views(&of_ann).await.unwrap();
    assert_eq!(found, [bare.clone(), view("b", "two")]);
    assert!(store.delete_event_view(&of_ann, "b").await.unwrap());
    assert!(!store.delete_event_view(&of_ann, "b").await.unwrap());
    assert_eq!(store.event_views(&of_ann).await.unwrap(), [bare]);
    let found = store.event_views(&of_bob).await.unwrap();
    assert_eq!(found, [view("b", "of bob")]);
}

/// One of the bound's number is replaced nevertheless, and another owner has a bound of its own.
pub async fn no_view_is_written_beyond_the_bound(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let [ann, bob] = [
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    ];
    let [of_ann, of_bob] = [&ann, &bob].map(|user| owned(user, None));
    for (owner, name, is_written) in [
        (&of_ann, "a", true),
        (&of_ann, "b", true),
        (&of_ann, "c", false),
        (&of_ann, "b", true),
        (&of_bob, "c", true),
    ] {
        let written = store.set_event_view(owner, view(name, ""), 2).await;
        assert_eq!(written.unwrap(), is_written, "{name}");
    }
    assert_eq!(store.event_views(&of_ann).await.unwrap().len(), 2);
}

/// A user's views are gone with it; a workspace has its own, whoever wrote them.
pub async fn views_go_with_their_owner(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let [ann, bob] = [
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    ];
    let shared = team(&*store, "shared", &[&ann, &bob]).await;
    let of_ann = owned(&ann, None);
    let [by_ann, by_bob] = [&ann, &bob].map(|user| owned(user, Some(&shared)));
    store
        .set_event_view(&of_ann, view("mine", ""), MANY)
        .await
        .unwrap();
    store
        .set_event_view(&by_ann, view("ours", ""), MANY)
        .await
        .unwrap();
    store
        .set_event_view(&by_bob, view("ours", "bob's"), MANY)
        .await
        .unwrap();
    assert!(store.delete_user(&ann.id).await.unwrap());
    assert_eq!(store.event_views(&of_ann).await.unwrap(), []);
    let found = store.event_views(&by_bob).await.unwrap();
    assert_eq!(found, [view("ours", "bob's")]);
    assert!(store.delete_user(&bob.id).await.unwrap());
    assert_eq!(store.event_views(&by_bob).await.unwrap(), []);
}
