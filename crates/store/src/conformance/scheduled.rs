//! Events that wait on `$in` until they are due.

use headwater_model::channel::Channel;

use super::{Factory, fixture::*};
use crate::{ChannelFilter, NodeEpoch, Store};

fn waiting() -> ChannelFilter {
    ChannelFilter::Named(Channel::scheduled())
}

/// A source with events due in 3, 1 and 2 seconds.
async fn three_waiting(store: &dyn Store, epoch: NodeEpoch) -> Leased {
    let source = deploy(store, epoch, &owner()).await;
    let later = |seconds: u32, text| event_later(Channel::default(), T0 + seconds * SECOND, text);
    let events = vec![later(3, "3"), later(1, "1"), later(2, "2")];
    commit(store, run_of(&source, events, T0)).await.unwrap();
    source
}

/// Until then they are listed on `$in`, and nowhere else.
pub async fn scheduled_events_are_listed_on_in_until_they_are_due(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = three_waiting(&*store, epoch).await;
    assert_eq!(
        texts_of(&listed(&*store, &source, &waiting()).await),
        ["2", "1", "3"]
    );
    assert!(texts(&*store, &source).await.is_empty());
    let early = store
        .release_scheduled(T0 + (SECOND - MS), 100)
        .await
        .unwrap();
    assert_eq!((early.done, early.next_due_ms), (0, Some(T0 + SECOND)));
    let first = store.release_scheduled(T0 + SECOND, 100).await.unwrap();
    assert_eq!((first.done, first.next_due_ms), (1, Some(T0 + 2 * SECOND)));
    assert_eq!(texts(&*store, &source).await, ["1"]);
    assert_eq!(
        texts_of(&listed(&*store, &source, &waiting()).await),
        ["2", "3"]
    );
}

/// They leave once, in the order of their due times, with new ids on their channels.
pub async fn scheduled_events_are_released_exactly_once_in_due_order(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = three_waiting(&*store, epoch).await;
    let old: Vec<_> = listed(&*store, &source, &waiting())
        .await
        .iter()
        .map(|event| event.id)
        .collect();
    let store = factory.reopen(store).await;
    let step = store.release_scheduled(T0 + MINUTE, 2).await.unwrap();
    assert_eq!((step.done, step.more), (2, true));
    let store = factory.reopen(store).await;
    let rest = store.release_scheduled(T0 + MINUTE, 2).await.unwrap();
    assert_eq!((rest.done, rest.more, rest.next_due_ms), (1, false, None));
    let again = store.release_scheduled(T0 + MINUTE, 2).await.unwrap();
    assert_eq!(again.done, 0);
    let released = listed(&*store, &source, &ordinary()).await;
    assert_eq!(texts_of(&released), ["3", "2", "1"]);
    assert!(released.iter().all(|event| !old.contains(&event.id)));
    assert!(
        released
            .iter()
            .all(|event| event.indexed_at_ms == T0 + MINUTE)
    );
    assert!(listed(&*store, &source, &waiting()).await.is_empty());
}

/// An event keeps its metadata when it is released.
pub async fn a_released_event_keeps_its_channel_key_and_text(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let mut event = event_later(Channel::named("orders"), T0 + SECOND, "{ \"a\" : 1.0 }");
    event.key = Some(headwater_model::event::EmitKey::Text("k".to_owned()));
    event.summary = Some("s".to_owned());
    event.ts = Some(5.0);
    commit(&*store, run_of(&source, vec![event], T0))
        .await
        .unwrap();
    store.release_scheduled(T0 + SECOND, 10).await.unwrap();
    let orders = ChannelFilter::Named(Channel::named("orders"));
    let released = listed(&*store, &source, &orders).await.remove(0);
    assert_eq!(released.event.get(), "{ \"a\" : 1.0 }");
    assert_eq!(
        released.key,
        Some(headwater_model::event::EmitKey::Text("k".to_owned()))
    );
    assert_eq!(
        (released.summary.as_deref(), released.ts),
        (Some("s"), Some(5.0))
    );
}

/// A listener gets a scheduled event when it is released, and only then.
pub async fn listeners_get_a_scheduled_event_when_it_is_released(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let (from, to) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    listen(&*store, &mine, &from, &to).await;
    let mut event = event_later(Channel::default(), T0 + SECOND, "1");
    event.trace = Some(trace());
    commit(&*store, run_of(&from, vec![event], T0))
        .await
        .unwrap();
    dispatch_all(&*store, 100).await;
    assert!(claim_all(&*store, &to.id, epoch, T0).await.is_empty());
    store.release_scheduled(T0 + SECOND, 10).await.unwrap();
    dispatch_all(&*store, 100).await;
    let claimed = claim_all(&*store, &to.id, epoch, T0).await;
    assert_eq!(given(&claimed), ["1"]);
    assert_eq!(claimed[0].origin.trace, Some(trace()));
}

/// Deleting a scheduled event cancels it, even if the deletion has not run when it is due.
pub async fn a_deleted_scheduled_event_is_never_released(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = three_waiting(&*store, epoch).await;
    // Newest first, the second of the list is the one due first.
    let cancelled = listed(&*store, &source, &waiting()).await[1].id;
    let one = deletion(&source, waiting(), (Some(cancelled), Some(cancelled)));
    store.request_deletion(one).await.unwrap();
    store.release_scheduled(T0 + MINUTE, 100).await.unwrap();
    run_all_deletions(&*store, 100).await;
    assert_eq!(texts(&*store, &source).await, ["3", "2"]);
}

/// Deleting ordinary events leaves scheduled ones, and those released from them.
pub async fn deleting_ordinary_events_cancels_no_scheduled_one(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = three_waiting(&*store, epoch).await;
    emit(&*store, &source, &["0"], T0).await;
    store
        .request_deletion(deletion(&source, ordinary(), (None, None)))
        .await
        .unwrap();
    store.release_scheduled(T0 + MINUTE, 100).await.unwrap();
    run_all_deletions(&*store, 100).await;
    assert_eq!(texts(&*store, &source).await, ["3", "2", "1"]);
}

/// Retention does not trim scheduled events.
pub async fn scheduled_events_are_never_trimmed(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = three_waiting(&*store, epoch).await;
    dispatch_all(&*store, 100).await;
    assert_eq!(trim_all(&*store, 1, 100).await, 0);
    assert_eq!(listed(&*store, &source, &waiting()).await.len(), 3);
}
