//! Deleting events (docs/decisions/0009-deleting-means-ordinary-channels.md), and retention.

use headwater_model::{
    channel::{Channel, ChannelClass},
    id::EventId,
};

use super::{Factory, fixture::*};
use crate::{ChannelFilter, NodeEpoch, Source, Store};

/// Five events of one source, and their ids, oldest first.
async fn five(store: &dyn Store, epoch: NodeEpoch) -> (Leased, Vec<EventId>) {
    let source = deploy(store, epoch, &owner()).await;
    emit(store, &source, &["1", "2"], T0).await;
    emit(store, &source, &["3", "4"], T0 + MS).await;
    emit(store, &source, &["5"], T0 + 2 * MS).await;
    let ids = ids(store, &source).await;
    (source, ids)
}

/// The events that are left, at once and after the deletion has run in small steps.
async fn left_after(
    factory: &dyn Factory,
    range: impl Fn(&[EventId]) -> (Option<EventId>, Option<EventId>),
) -> Vec<String> {
    let (store, epoch) = start(factory).await;
    let (source, ids) = five(&*store, epoch).await;
    let asked = deletion(&source, ordinary(), range(&ids));
    store.request_deletion(asked).await.unwrap();
    let at_once = texts(&*store, &source).await;
    let store = factory.reopen(store).await;
    dispatch_all(&*store, 100).await;
    let deleted = run_all_deletions(&*store, 2).await;
    assert_eq!(deleted, 5 - at_once.len() as u64);
    assert_eq!(texts(&*store, &source).await, at_once);
    at_once
}

/// With neither end, all events are deleted.
pub async fn deleting_without_ends_deletes_all(factory: &dyn Factory) {
    assert!(left_after(factory, |_| (None, None)).await.is_empty());
}

/// With only a start, that event and all later ones.
pub async fn deleting_from_a_start_includes_it(factory: &dyn Factory) {
    assert_eq!(left_after(factory, |ids| (Some(ids[1]), None)).await, ["1"]);
}

/// With only an end, that event and all earlier ones.
pub async fn deleting_to_an_end_includes_it(factory: &dyn Factory) {
    assert_eq!(left_after(factory, |ids| (None, Some(ids[3]))).await, ["5"]);
}

/// With both, the inclusive range.
pub async fn deleting_a_range_includes_both_ends(factory: &dyn Factory) {
    let left = left_after(factory, |ids| (Some(ids[1]), Some(ids[3]))).await;
    assert_eq!(left, ["5", "1"]);
}

/// Equal ends delete one event.
pub async fn deleting_with_equal_ends_deletes_one_event(factory: &dyn Factory) {
    let left = left_after(factory, |ids| (Some(ids[2]), Some(ids[2]))).await;
    assert_eq!(left, ["5", "4", "2", "1"]);
}

/// Ends need not be events, and a range that is the wrong way round is empty.
pub async fn deleting_takes_any_ids_as_ends(factory: &dyn Factory) {
    let between = EventId {
        ms: T0,
        sequence: 9,
    };
    let left = left_after(factory, |_| (Some(between), None)).await;
    assert_eq!(left, ["2", "1"]);
    let left = left_after(factory, |ids| (Some(ids[3]), Some(ids[1]))).await;
    assert_eq!(left.len(), 5);
}

/// Deletion is asynchronous: events appended after the request are not deleted.
pub async fn a_deletion_covers_only_events_that_existed_at_the_request(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, _) = five(&*store, epoch).await;
    for range in [
        (None, None),
        (
            None,
            Some(EventId {
                ms: T0 + MINUTE,
                sequence: 0,
            }),
        ),
    ] {
        store
            .request_deletion(deletion(&source, ordinary(), range))
            .await
            .unwrap();
        emit(&*store, &source, &["later"].map(|_| "6"), T0 + 3 * MS).await;
    }
    assert_eq!(texts(&*store, &source).await, ["6"]);
    dispatch_all(&*store, 100).await;
    assert_eq!(run_all_deletions(&*store, 100).await, 6);
    assert_eq!(texts(&*store, &source).await, ["6"]);
    assert_eq!(run_all_deletions(&*store, 100).await, 0);
}

/// Counts and pages never show events of a requested deletion, even before it runs.
pub async fn requested_deletions_are_hidden_at_once(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, ids) = five(&*store, epoch).await;
    let range = (Some(ids[1]), Some(ids[3]));
    store
        .request_deletion(deletion(&source, ordinary(), range))
        .await
        .unwrap();
    let request = headwater_model::page::PageRequest::first(1);
    let page = store
        .events(&emitter(&source), &ordinary(), &request)
        .await
        .unwrap();
    assert_eq!(
        (page.total_count, texts_of(&page.items)),
        (2, vec!["5".to_owned()])
    );
    let named = ChannelFilter::Named(Channel::default());
    assert_eq!(
        texts_of(&listed(&*store, &source, &named).await),
        ["5", "1"]
    );
}

/// A class is deleted over all of its channels, other classes and emitters are not touched.
pub async fn deleting_a_class_covers_its_channels_and_no_others(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, other) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    for source in [&source, &other] {
        for channel in ["", "orders", Channel::ERRORS, Channel::LOGS] {
            emit_on(&*store, source, Channel::named(channel), "1").await;
        }
    }
    store
        .request_deletion(deletion(&source, ordinary(), (None, None)))
        .await
        .unwrap();
    let count = async |source: &Leased, class| {
        listed(&*store, source, &ChannelFilter::Class(class))
            .await
            .len()
    };
    for _ in 0..2 {
        dispatch_all(&*store, 100).await;
        assert_eq!(count(&source, ChannelClass::Ordinary).await, 0);
        assert_eq!(count(&source, ChannelClass::Errors).await, 1);
        assert_eq!(count(&source, ChannelClass::Logs).await, 1);
        assert_eq!(count(&other, ChannelClass::Ordinary).await, 2);
        run_all_deletions(&*store, 1).await;
    }
}

/// One channel is deleted without its neighbours of the same class.
pub async fn deleting_a_channel_leaves_its_class(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit_on(&*store, &source, Channel::default(), "1").await;
    emit_on(&*store, &source, Channel::named("orders"), "2").await;
    emit_on(&*store, &source, Channel::named("refunds"), "3").await;
    for (channel, left) in [("orders", vec!["3", "1"]), ("", vec!["3"])] {
        let named = ChannelFilter::Named(Channel::named(channel));
        store
            .request_deletion(deletion(&source, named, (None, None)))
            .await
            .unwrap();
        assert_eq!(texts(&*store, &source).await, left);
        dispatch_all(&*store, 100).await;
        run_all_deletions(&*store, 100).await;
        assert_eq!(texts(&*store, &source).await, left);
    }
}

/// A step is bounded and says whether there is more, over several requests.
pub async fn deletions_run_in_bounded_steps(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let ((one, _), (two, _)) = (five(&*store, epoch).await, five(&*store, epoch).await);
    for source in [&one, &two] {
        store
            .request_deletion(deletion(source, ordinary(), (None, None)))
            .await
            .unwrap();
    }
    dispatch_all(&*store, 100).await;
    let step = store.run_deletions(3).await.unwrap();
    assert_eq!((step.done, step.more), (3, true));
    assert_eq!(run_all_deletions(&*store, 3).await, 7);
}

/// Listeners get what happened before somebody deleted it, and until then it stays hidden.
pub async fn a_deletion_never_overtakes_dispatch(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let (from, to) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    listen(&*store, &mine, &from, &to).await;
    emit(&*store, &from, &["1", "2", "3"], T0).await;
    store
        .request_deletion(deletion(&from, ordinary(), (None, None)))
        .await
        .unwrap();
    assert_eq!(run_all_deletions(&*store, 100).await, 0);
    store.dispatch(T0, 1, u32::MAX).await.unwrap();
    assert_eq!(run_all_deletions(&*store, 100).await, 1);
    assert!(texts(&*store, &from).await.is_empty());
    dispatch_all(&*store, 100).await;
    assert_eq!(run_all_deletions(&*store, 100).await, 2);
    assert_eq!(
        given(&claim_all(&*store, &to.id, epoch, T0).await),
        ["1", "2", "3"]
    );
}

/// An event that somebody deleted is not one of the newest any more, even before it is gone.
pub async fn trim_does_not_count_events_of_requested_deletions(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, ids) = five(&*store, epoch).await;
    dispatch_all(&*store, 100).await;
    let newest = deletion(&source, ordinary(), (Some(ids[3]), None));
    store.request_deletion(newest).await.unwrap();
    trim_all(&*store, 2, 100).await;
    assert_eq!(texts(&*store, &source).await, ["3", "2"]);
}

/// Requests that find nothing to delete are done, and do not hide those behind them.
pub async fn deletions_of_nothing_do_not_hold_up_others(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, _) = five(&*store, epoch).await;
    let empty = deploy(&*store, epoch, &owner()).await;
    dispatch_all(&*store, 100).await;
    for source in [&empty, &empty, &empty, &source] {
        let all = deletion(source, ordinary(), (None, None));
        store.request_deletion(all).await.unwrap();
    }
    assert_eq!(run_all_deletions(&*store, 2).await, 5);
}

/// Retention counts ordinary channels together, `$errors` and `$logs` each by itself.
pub async fn trim_keeps_the_newest_of_each_class(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, other) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    for round in 0..4 {
        for channel in ["", "orders", Channel::ERRORS, Channel::LOGS] {
            emit_on(
                &*store,
                &source,
                Channel::named(channel),
                &round.to_string(),
            )
            .await;
        }
    }
    emit(&*store, &other, &["1", "2"], T0).await;
    dispatch_all(&*store, 100).await;
    assert_eq!(trim_all(&*store, 3, 2).await, 5 + 1 + 1);
    assert_eq!(texts(&*store, &source).await, ["3", "3", "2"]);
    for class in [ChannelClass::Errors, ChannelClass::Logs] {
        let kept = listed(&*store, &source, &ChannelFilter::Class(class)).await;
        assert_eq!(texts_of(&kept), ["3", "2", "1"]);
    }
    assert_eq!(texts(&*store, &other).await, ["2", "1"]);
    assert_eq!(trim_all(&*store, 3, 2).await, 0);
}

/// Events that dispatch has not passed yet stay, however many there are.
pub async fn trim_never_passes_the_dispatch_cursor(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, _) = five(&*store, epoch).await;
    assert_eq!(trim_all(&*store, 1, 100).await, 0);
    store.dispatch(T0, 2, u32::MAX).await.unwrap();
    assert_eq!(trim_all(&*store, 1, 100).await, 2);
    assert_eq!(texts(&*store, &source).await, ["5", "4", "3"]);
    let store = factory.reopen(store).await;
    dispatch_all(&*store, 100).await;
    assert_eq!(trim_all(&*store, 1, 100).await, 2);
    assert_eq!(texts(&*store, &source).await, ["5"]);
}

/// Emitters that wait for dispatch hold up neither the others nor the caller.
pub async fn trim_does_not_spin_on_what_it_may_not_delete(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let done = deploy(&*store, epoch, &mine).await;
    emit(&*store, &done, &["1", "2", "3"], T0).await;
    dispatch_all(&*store, 100).await;
    for _ in 0..3 {
        let waiting = deploy(&*store, epoch, &mine).await;
        emit(&*store, &waiting, &["1", "2"], T0).await;
    }
    // The first calls may look at those that wait; a bounded number of calls must reach the other.
    for _ in 0..8 {
        store.trim(1, 2, None).await.unwrap();
    }
    assert_eq!(texts(&*store, &done).await, ["3"]);
    assert!(!store.trim(1, 2, None).await.unwrap().more);
}

/// A lower limit takes effect without new events.
pub async fn trimming_to_fewer_than_before_deletes_more(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, _) = five(&*store, epoch).await;
    dispatch_all(&*store, 100).await;
    assert_eq!(trim_all(&*store, 4, 100).await, 1);
    let store = factory.reopen(store).await;
    assert_eq!(trim_all(&*store, 2, 100).await, 2);
    assert_eq!(texts(&*store, &source).await, ["5", "4"]);
}

/// A step deletes no more than it may; what dispatch has not passed stays for it.
pub async fn a_source_is_emptied_in_bounded_steps(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let (source, other) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    listen(&*store, &mine, &source, &other).await;
    for text in ["1", "2", "3"] {
        store.enqueue(manual(&source.id, text), None).await.unwrap();
    }
    emit(&*store, &source, &["4", "5"], T0).await;
    dispatch_all(&*store, 10).await;
    emit(&*store, &source, &["6"], T0).await;
    let mut steps = Vec::new();
    loop {
        let step = store.empty_source(&source.lease, 2).await.unwrap();
        steps.push(step.done);
        if !step.more {
            break;
        }
    }
    assert_eq!(steps, [2, 2, 1]);
    assert!(claim_all(&*store, &source.id, epoch, T0).await.is_empty());
    assert_eq!(texts(&*store, &source).await, ["6"]);
    dispatch_all(&*store, 10).await;
    assert_eq!(
        given(&claim_all(&*store, &other.id, epoch, T0).await),
        ["4", "5", "6"]
    );
}

/// Totals follow everything that events are appended and deleted by, on each channel and in each class.
pub async fn totals_count_what_is_left(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let orders = Channel::named("orders");
    emit(&*store, &source, &["1", "2"], T0).await;
    for channel in [&orders, &orders, &Channel::errors(), &Channel::logs()] {
        emit_on(&*store, &source, channel.clone(), "3").await;
    }
    let later = vec![event_later(orders.clone(), T0 + SECOND, "4")];
    commit(&*store, run_of(&source, later, T0)).await.unwrap();
    assert_eq!(totals(&*store, &source).await, [4, 2, 2, 1, 1, 1]);
    store.release_scheduled(T0 + SECOND, 100).await.unwrap();
    assert_eq!(totals(&*store, &source).await, [5, 2, 3, 1, 1, 0]);

    let named = ChannelFilter::Named(orders);
    for channels in [
        named.clone(),
        named,
        ChannelFilter::Class(ChannelClass::Logs),
    ] {
        let asked = deletion(&source, channels, (None, None));
        store.request_deletion(asked).await.unwrap();
        emit(&*store, &source, &["5"], T0 + MINUTE).await;
    }
    assert_eq!(totals(&*store, &source).await, [5, 5, 0, 1, 0, 0]);
    dispatch_all(&*store, 100).await;
    assert_eq!(run_all_deletions(&*store, 2).await, 4);
    let store = factory.reopen(store).await;
    assert_eq!(totals(&*store, &source).await, [5, 5, 0, 1, 0, 0]);
    store.trim(3, 100, None).await.unwrap();
    assert_eq!(totals(&*store, &source).await, [3, 3, 0, 1, 0, 0]);
}

/// The totals of ordinary events, those on the default channel and on `orders`, of errors, logs and scheduled events.
async fn totals(store: &dyn Store, source: &Source) -> [u64; 6] {
    let named = |name: &str| ChannelFilter::Named(Channel::named(name));
    let (orders, errors) = (named("orders"), named(Channel::ERRORS));
    let (logs, waiting) = (named(Channel::LOGS), named(Channel::SCHEDULED));
    let mut totals = [0; 6];
    let filters = [ordinary(), named(""), orders, errors, logs, waiting];
    for (total, filter) in totals.iter_mut().zip(filters) {
        *total = listed(store, source, &filter).await.len() as u64;
    }
    totals
}
