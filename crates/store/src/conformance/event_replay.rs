//! Events that are passed on once more.

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::EventRef,
    id::ListenerId,
    page::PageRequest,
    subscription::EmitterPattern,
};

use super::{
    Factory,
    dispatch::{pair, received, subscribe},
    fixture::*,
};
use crate::{
    AfterAttempt, ChannelFilter, EventListeners, EventReplay, NodeEpoch, Owner, SourceState, Store,
};

/// The newest event of an emitter.
async fn newest(store: &dyn Store, from: &Leased) -> EventRef {
    let emitter = emitter(from);
    let channels = ChannelFilter::Class(ChannelClass::Ordinary);
    let page = PageRequest::first(1);
    let page = store.events(&emitter, &channels, &page).await.unwrap();
    let id = page.items[0].id;
    EventRef { emitter, id }
}

fn replay(event: &EventRef) -> EventReplay {
    EventReplay {
        event: event.clone(),
        only: None,
        missed_only: false,
        now_ms: T0,
        limit: 100,
        queued_max: u32::MAX,
        salt: 1,
        is_dry: false,
    }
}

fn listener(to: &Leased) -> ListenerId {
    ListenerId::Source(to.id.clone())
}

/// An emitter whose one event has been passed on, with a listener that has two subscriptions to it.
async fn passed(store: &dyn Store, epoch: NodeEpoch) -> (Owner, Leased, Leased, EventRef) {
    let (mine, from, to) = pair(store, epoch).await;
    listen(store, &mine, &from, &to).await;
    emit(store, &from, &["1"], T0).await;
    assert_eq!(received(store, &to, epoch).await, ["1"]);
    let all = EmitterPattern::AllSources;
    subscribe(store, &mine, all, &to, Channel::default()).await;
    let event = newest(store, &from).await;
    (mine, from, to, event)
}

/// Listeners get it again, those that began to listen later too; each once.
pub async fn an_event_reaches_each_of_its_listeners_once_more(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to, event) = passed(&*store, epoch).await;
    let later = deploy(&*store, epoch, &mine).await;
    listen(&*store, &mine, &from, &later).await;
    let webhook = listening_webhook(&*store, &mine, &from).await;
    let wanted = EventListeners {
        reached: vec![
            listener(&to),
            listener(&later),
            ListenerId::Webhook(webhook.id.clone()),
        ],
        ..EventListeners::default()
    };
    let reached = store.replay_event(&replay(&event)).await.unwrap();
    assert_eq!(reached, Some(wanted.clone()));
    // At the same time, once more.
    let again = EventReplay {
        salt: 2,
        ..replay(&event)
    };
    assert_eq!(store.replay_event(&again).await.unwrap(), Some(wanted));
    assert_eq!(received(&*store, &to, epoch).await, ["1", "1"]);
    assert_eq!(received(&*store, &later, epoch).await, ["1", "1"]);
    let deliveries = deliveries_of(&*store, &webhook, None).await;
    let texts: Vec<_> = deliveries.iter().map(|one| one.event.event.get()).collect();
    assert_eq!(texts, ["1"], "a webhook has one delivery of an event");
    let first = EventReplay {
        limit: 1,
        ..replay(&event)
    };
    let first = EventReplay { salt: 3, ..first };
    let reached = store.replay_event(&first).await.unwrap().unwrap();
    assert_eq!((reached.reached.len(), reached.has_more), (1, true));
    let gone = EventRef {
        id: headwater_model::id::EventId::default(),
        ..event
    };
    assert_eq!(store.replay_event(&replay(&gone)).await.unwrap(), None);
}

/// The others get nothing; nor does anybody, if the one does not listen.
pub async fn an_event_reaches_one_listener_alone_if_that_is_wanted(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to, event) = passed(&*store, epoch).await;
    let other = deploy(&*store, epoch, &mine).await;
    listen(&*store, &mine, &from, &other).await;
    let only = |one: &Leased| EventReplay {
        only: Some(listener(one)),
        ..replay(&event)
    };
    let reached = store.replay_event(&only(&other)).await.unwrap().unwrap();
    assert_eq!(reached.reached, [listener(&other)]);
    assert_eq!(reached.left_out, []);
    assert_eq!(received(&*store, &to, epoch).await, [""; 0]);
    assert_eq!(received(&*store, &other, epoch).await, ["1"]);
    let reached = store.replay_event(&only(&from)).await.unwrap();
    assert_eq!(reached, Some(EventListeners::default()));
}

/// Once it has a delivery, nothing is missed, also when that has ended.
pub async fn a_webhook_gets_what_it_missed_once(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, _, event) = passed(&*store, epoch).await;
    let webhook = listening_webhook(&*store, &mine, &from).await;
    let missed = EventReplay {
        only: Some(ListenerId::Webhook(webhook.id.clone())),
        missed_only: true,
        ..replay(&event)
    };
    let dry = EventReplay {
        is_dry: true,
        ..missed.clone()
    };
    let reached = |listeners: Option<EventListeners>| listeners.unwrap().reached.len();
    assert_eq!(reached(store.replay_event(&dry).await.unwrap()), 1);
    assert_eq!(reached(store.replay_event(&missed).await.unwrap()), 1);
    assert_eq!(reached(store.replay_event(&dry).await.unwrap()), 0);
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    end_all(&*store, &webhook, &claimed, AfterAttempt::Dead, T0).await;
    let again = store.replay_event(&missed).await.unwrap();
    assert_eq!(again, Some(EventListeners::default()));
    assert_eq!(deliveries_of(&*store, &webhook, None).await.len(), 1);
}

/// A full queue and an inactive listener get nothing.
pub async fn listeners_without_room_are_left_out(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to, event) = passed(&*store, epoch).await;
    let paused = deploy(&*store, epoch, &mine).await;
    listen(&*store, &mine, &from, &paused).await;
    store
        .set_source_state(&paused.lease, SourceState::Inactive)
        .await
        .unwrap();
    let one = EventReplay {
        queued_max: 1,
        ..replay(&event)
    };
    let reached = store.replay_event(&one).await.unwrap().unwrap();
    assert_eq!(reached.reached, [listener(&to)]);
    assert_eq!(reached.left_out, [listener(&paused)]);
    let reached = store.replay_event(&one).await.unwrap().unwrap();
    assert_eq!(reached.reached, []);
    assert_eq!(reached.left_out, [listener(&to), listener(&paused)]);
    assert_eq!(received(&*store, &to, epoch).await, ["1"]);
}

/// It names the same listeners, who get nothing.
pub async fn a_dry_run_tells_who_would_get_an_event(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to, event) = passed(&*store, epoch).await;
    let webhook = listening_webhook(&*store, &mine, &from).await;
    let dry = EventReplay {
        is_dry: true,
        ..replay(&event)
    };
    let reached = store.replay_event(&dry).await.unwrap().unwrap();
    assert_eq!(
        reached.reached,
        [listener(&to), ListenerId::Webhook(webhook.id.clone())]
    );
    assert_eq!(received(&*store, &to, epoch).await, [""; 0]);
    assert_eq!(deliveries_of(&*store, &webhook, None).await.len(), 0);
}
