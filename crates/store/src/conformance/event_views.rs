//! Searches of events that people named.

use headwater_model::{
    id::{EmitterId, WorkflowId},
    time::{EpochMs, EpochSeconds},
};

use super::{Factory, fixture::*, tenants::team};
use crate::EventView;

fn view(name: &str, words: &str) -> EventView {
    EventView {
        name: name.to_owned(),
        words: words.to_owned(),
        paths: vec!["user.tags[0]=new".to_owned(), "\"quoted\"=1".to_owned()],
        emitter: Some(EmitterId::Workflow(WorkflowId::new(EpochMs(1), 1))),
        channel: Some(String::new()),
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
        .set_event_view(&of_ann, view("b", "one"))
        .await
        .unwrap();
    let bare = EventView {
        paths: Vec::new(),
        emitter: None,
        channel: None,
        ..view("a", "")
    };
    store.set_event_view(&of_ann, bare.clone()).await.unwrap();
    store
        .set_event_view(&of_ann, view("b", "two"))
        .await
        .unwrap();
    store
        .set_event_view(&of_bob, view("b", "of bob"))
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
        .set_event_view(&of_ann, view("mine", ""))
        .await
        .unwrap();
    store
        .set_event_view(&by_ann, view("ours", ""))
        .await
        .unwrap();
    store
        .set_event_view(&by_bob, view("ours", "bob's"))
        .await
        .unwrap();
    assert!(store.delete_user(&ann.id).await.unwrap());
    assert_eq!(store.event_views(&of_ann).await.unwrap(), []);
    let found = store.event_views(&by_bob).await.unwrap();
    assert_eq!(found, [view("ours", "bob's")]);
    assert!(store.delete_user(&bob.id).await.unwrap());
    assert_eq!(store.event_views(&by_bob).await.unwrap(), []);
}
