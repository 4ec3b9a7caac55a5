//! Events that dispatch has not passed: the bound of a step, and the owners' shares.

use headwater_model::channel::Channel;

use super::{Factory, dispatch::received, fixture::*};
use crate::ChannelFilter;

const MIB: usize = 1024 * 1024;

/// Each listening source has a copy; five copies of a large event are more than one transaction is for.
pub async fn a_step_copies_a_bounded_number_of_bytes(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let from = deploy(&*store, epoch, &mine).await;
    let mut listeners = Vec::new();
    for _ in 0..5 {
        let to = deploy(&*store, epoch, &mine).await;
        listen(&*store, &mine, &from, &to).await;
        listeners.push(to);
    }
    let webhook = listening_webhook(&*store, &mine, &from).await;
    let large = format!("\"{}\"", "x".repeat(6 * MIB));
    emit(&*store, &from, &[&large, "1"], T0).await;
    for _ in 0..5 {
        let step = store.dispatch(T0, 100, u32::MAX).await.unwrap();
        assert_eq!((step.done, step.woken.len(), step.more), (0, 1, true));
    }
    assert_eq!(dispatch_all(&*store, 100).await, 2);
    for to in &listeners {
        let texts = received(&*store, to, epoch).await;
        assert_eq!(texts, [large.as_str(), "1"]);
    }
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    assert_eq!(delivered_texts(&claimed), [large.as_str(), "1"]);
}

/// Others' events do not count, nor does what is passed.
pub async fn an_emitter_awaits_dispatch_until_its_last_event_is_passed(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let (from, other) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    assert!(!store.awaits_dispatch(&emitter(&from)).await.unwrap());
    emit(&*store, &from, &["1", "2"], T0).await;
    emit(&*store, &other, &["3"], T0).await;
    store.dispatch(T0, 1, u32::MAX).await.unwrap();
    let store = factory.reopen(store).await;
    assert!(store.awaits_dispatch(&emitter(&from)).await.unwrap());
    store.dispatch(T0, 1, u32::MAX).await.unwrap();
    assert!(!store.awaits_dispatch(&emitter(&from)).await.unwrap());
    assert!(store.awaits_dispatch(&emitter(&other)).await.unwrap());
}

/// An owner's sources share the room; others have their own. Room that becomes free is used again.
pub async fn events_beyond_what_may_wait_are_not_queued_and_that_is_said_once(
    factory: &dyn Factory,
) {
    let (store, epoch) = start(factory).await;
    let (mine, other) = (owner(), owner());
    let from = deploy(&*store, epoch, &mine).await;
    let (first, second) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    let (theirs, neighbour) = (
        deploy(&*store, epoch, &other).await,
        deploy(&*store, epoch, &other).await,
    );
    listen(&*store, &mine, &from, &first).await;
    listen(&*store, &mine, &from, &second).await;
    listen(&*store, &other, &theirs, &neighbour).await;
    emit(&*store, &from, &["0", "1", "2"], T0).await;
    emit(&*store, &theirs, &["3"], T0).await;
    store.dispatch(T0, 100, 4).await.unwrap();
    let mut waiting = claim_all(&*store, &first.id, epoch, T0).await;
    waiting.extend(claim_all(&*store, &second.id, epoch, T0).await);
    assert_eq!(waiting.len(), 4);
    assert_eq!(
        given(&claim_all(&*store, &neighbour.id, epoch, T0).await),
        ["3"]
    );
    let told = listed(&*store, &first, &ChannelFilter::Named(Channel::errors())).await;
    assert_eq!(told.len(), 1, "once for both events and listeners");
    assert!(told[0].event.get().contains("queue_full"));
    let store = factory.reopen(store).await;
    emit(&*store, &from, &["4"], T0).await;
    store.dispatch(T0, 100, 4).await.unwrap();
    assert!(claim_all(&*store, &first.id, epoch, T0).await.is_empty());
    let still = listed(&*store, &first, &ChannelFilter::Named(Channel::errors())).await;
    assert_eq!(still.len(), 1, "a step later it is not said again");
    for claimed in &waiting[..3] {
        commit(&*store, end_of(claimed)).await.unwrap();
    }
    emit(&*store, &from, &["5", "6"], T0).await;
    store.dispatch(T0, 100, 4).await.unwrap();
    let queued = claim_all(&*store, &first.id, epoch, T0).await;
    assert_eq!(given(&queued), ["5", "6"]);
    let of_second = listed(&*store, &second, &ChannelFilter::Named(Channel::errors())).await;
    assert_eq!(
        told.len() + of_second.len(),
        2,
        "room has been free in between"
    );
    // Deleted sources make room, too.
    store.delete_source(&first.lease).await.unwrap();
    store.delete_source(&second.lease).await.unwrap();
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let from = leased_to(&*store, &from, epoch).await;
    let last = deploy(&*store, epoch, &mine).await;
    listen(&*store, &mine, &from, &last).await;
    emit(&*store, &from, &["7", "8", "9", "10", "11"], T0).await;
    store.dispatch(T0, 100, 4).await.unwrap();
    assert_eq!(
        given(&claim_all(&*store, &last.id, epoch, T0).await),
        ["7", "8", "9", "10"]
    );
}

/// Events that dispatch has not reached are counted while there are any.
pub async fn a_step_tells_how_far_behind_it_is(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let from = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &from, &["0", "1", "2", "3", "4"], T0).await;
    for (limit, behind) in [(2, 3), (2, 1), (2, 0), (2, 0)] {
        let step = store.dispatch(T0, limit, u32::MAX).await.unwrap();
        assert_eq!(step.behind, behind);
    }
}
