//! The tail of the whole log, and retention's duty to its readers.

use headwater_model::{
    channel::Channel,
    id::{EmitterId, EventId},
};

use super::{Factory, fixture::*};
use crate::{LogPosition, Store};

/// Reads to the end in steps of `limit`: the events with their emitters, and where the log ends.
async fn read(
    store: &dyn Store,
    after: LogPosition,
    limit: u32,
) -> (Vec<(EmitterId, EventId, String)>, LogPosition) {
    let (mut read, mut up_to) = (Vec::new(), after);
    loop {
        let tail = store.tail(up_to, limit).await.unwrap();
        assert!(tail.events.len() <= limit as usize, "a bounded step");
        let is_end = tail.events.is_empty();
        for appended in tail.events {
            assert!(appended.position > up_to, "behind what was read before");
            up_to = appended.position;
            let text = appended.event.event.get().to_owned();
            read.push((appended.emitter, appended.event.id, text));
        }
        assert!(tail.up_to >= up_to, "no way back");
        up_to = tail.up_to;
        if is_end {
            return (read, up_to);
        }
    }
}

async fn texts_read(store: &dyn Store, after: LogPosition) -> Vec<String> {
    let (read, _) = read(store, after, 100).await;
    read.into_iter().map(|(_, _, text)| text).collect()
}

/// Several emitters and channels, in steps of any size, across a restart.
pub async fn every_event_is_read_once_in_the_order_of_appending(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let (one, two) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    emit(&*store, &one, &["1", "2"], T0).await;
    emit(&*store, &two, &["3"], T0.minus(5 * MS)).await;
    emit_on(&*store, &one, Channel::named("orders"), "4").await;
    emit_on(&*store, &two, Channel::errors(), "5").await;
    emit(&*store, &one, &["6"], T0.minus(5 * MS)).await;
    let store = factory.reopen(store).await;
    for limit in [1, 2, 3, 6, 100] {
        let (read, end) = read(&*store, LogPosition::default(), limit).await;
        let texts: Vec<_> = read.iter().map(|(_, _, text)| text.as_str()).collect();
        assert_eq!(texts, ["1", "2", "3", "4", "5", "6"], "in steps of {limit}");
        for source in [&one, &two] {
            let own = read.iter().filter(|(id, ..)| *id == emitter(source));
            let ids: Vec<_> = own.map(|(_, id, _)| *id).collect();
            assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
        }
        assert_eq!(end, store.log_end().await.unwrap());
    }
}

/// A reader that begins at the end gets later events only.
pub async fn the_end_of_the_log_is_before_what_is_appended_later(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let empty = store.log_end().await.unwrap();
    emit(&*store, &source, &["1", "2"], T0).await;
    let end = store.log_end().await.unwrap();
    dispatch_all(&*store, 100).await;
    let all = deletion(&source, ordinary(), (None, None));
    store.request_deletion(all).await.unwrap();
    assert_eq!(run_all_deletions(&*store, 100).await, 2);
    let (_, read_up_to) = read(&*store, end, 100).await;
    let store = factory.reopen(store).await;
    emit(&*store, &source, &["3"], T0).await;
    for after in [empty, end, read_up_to] {
        assert_eq!(texts_read(&*store, after).await, ["3"]);
    }
    let end = store.log_end().await.unwrap();
    assert!(texts_read(&*store, end).await.is_empty());
}

/// An event on `$in` has not happened yet.
pub async fn scheduled_events_are_read_when_they_are_released(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let later = event_later(Channel::named("orders"), T0 + SECOND, "1");
    let run = run_of(&source, vec![later, event("2")], T0);
    commit(&*store, run).await.unwrap();
    assert_eq!(texts_read(&*store, LogPosition::default()).await, ["2"]);
    let end = store.log_end().await.unwrap();
    store.release_scheduled(T0 + SECOND, 100).await.unwrap();
    let tail = store.tail(end, 100).await.unwrap();
    assert_eq!(tail.events[0].event.channel, Channel::named("orders"));
    assert_eq!(texts_read(&*store, end).await, ["1"]);
}

/// Deleted events are not shown from then on.
pub async fn requested_deletions_are_not_read(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &source, &["1", "2", "3"], T0).await;
    let second = ids(&*store, &source).await[1];
    let asked = deletion(&source, ordinary(), (Some(second), Some(second)));
    store.request_deletion(asked).await.unwrap();
    emit(&*store, &source, &["4"], T0).await;
    let read = texts_read(&*store, LogPosition::default()).await;
    assert_eq!(read, ["1", "3", "4"]);
}

/// However much of it there is, nothing is looked at twice.
pub async fn what_is_not_shown_does_not_hold_up_the_rest(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let later = event_later(Channel::default(), T0 + SECOND, "1");
    let run = run_of(&source, vec![later.clone(), later.clone(), later], T0);
    commit(&*store, run).await.unwrap();
    let tail = store.tail(LogPosition::default(), 2).await.unwrap();
    assert!(tail.events.is_empty());
    assert_eq!(tail.up_to, store.log_end().await.unwrap());
    emit(&*store, &source, &["2"], T0).await;
    let tail = store.tail(LogPosition::default(), 1).await.unwrap();
    assert_eq!(tail.events[0].event.event.get(), "2");
}

/// A commit of more events than are kept is read whole.
pub async fn trim_never_passes_the_readers(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let begin = store.log_end().await.unwrap();
    emit(&*store, &source, &["1", "2", "3", "4", "5"], T0).await;
    dispatch_all(&*store, 100).await;
    assert_eq!(trim_behind(&*store, 1, 100, Some(begin)).await, 0);
    let step = store.tail(begin, 2).await.unwrap();
    assert_eq!(trim_behind(&*store, 1, 100, Some(step.up_to)).await, 2);
    assert_eq!(texts_read(&*store, step.up_to).await, ["3", "4", "5"]);
    assert_eq!(trim_all(&*store, 1, 100).await, 2);
}

/// Events held back by readers are trimmed later without another append.
pub async fn trim_goes_on_when_the_readers_have(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let begin = store.log_end().await.unwrap();
    emit(&*store, &source, &["1", "2", "3"], T0).await;
    dispatch_all(&*store, 100).await;
    assert_eq!(trim_behind(&*store, 1, 1, Some(begin)).await, 0);
    assert!(!store.trim(1, 1, Some(begin)).await.unwrap().more);
    let (_, end) = read(&*store, begin, 100).await;
    assert_eq!(trim_behind(&*store, 1, 1, Some(end)).await, 2);
    assert_eq!(texts(&*store, &source).await, ["3"]);
}
