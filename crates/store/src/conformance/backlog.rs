//! What dispatch has not passed yet: how much of it a step takes, and whose it is.

use super::{Factory, dispatch::received, fixture::*};

const MIB: usize = 1024 * 1024;

/// Each listening source has a copy; five copies of a large event are more than one transaction is for.
pub async fn a_step_copies_a_bounded_number_of_bytes(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let from = deploy(&*store, &mine).await;
    let mut listeners = Vec::new();
    for _ in 0..5 {
        let to = deploy(&*store, &mine).await;
        listen(&*store, &mine, &from, &to).await;
        listeners.push(to);
    }
    let webhook = listening_webhook(&*store, &mine, &from).await;
    let large = format!("\"{}\"", "x".repeat(6 * MIB));
    emit(&*store, &from, &[&large, "1"], T0).await;
    for _ in 0..5 {
        let step = store.dispatch(T0, 100).await.unwrap();
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
    let (store, _) = start(factory).await;
    let mine = owner();
    let (from, other) = (deploy(&*store, &mine).await, deploy(&*store, &mine).await);
    assert!(!store.awaits_dispatch(&emitter(&from)).await.unwrap());
    emit(&*store, &from, &["1", "2"], T0).await;
    emit(&*store, &other, &["3"], T0).await;
    store.dispatch(T0, 1).await.unwrap();
    let store = factory.reopen(store).await;
    assert!(store.awaits_dispatch(&emitter(&from)).await.unwrap());
    store.dispatch(T0, 1).await.unwrap();
    assert!(!store.awaits_dispatch(&emitter(&from)).await.unwrap());
    assert!(store.awaits_dispatch(&emitter(&other)).await.unwrap());
}
