//! Subscriptions: made, listed, ended, and made automatically.

use std::collections::BTreeSet;

use headwater_model::{
    channel::Channel,
    id::{ListenerId, SubscriptionId},
    subscription::{AutoSubscription, EmitterPattern, Subscription},
};

use super::{
    Factory,
    dispatch::{pair, received},
    fixture::*,
};
use crate::{Owner, Store, SubscriptionFilter};

fn automatic(owner: &Owner, listener: ListenerId, channel: Channel) -> AutoSubscription {
    AutoSubscription {
        id: SubscriptionId::new(T0, entropy()),
        user_id: owner.user_id.clone(),
        listener,
        channel,
    }
}

/// Emitters and listeners of the user's subscriptions.
async fn ends(store: &dyn Store, owner: &Owner) -> Vec<(String, String)> {
    let subscriptions = store.subscriptions(&of_user(owner), 100).await.unwrap();
    subscriptions
        .iter()
        .map(|one| (one.emitter.to_string(), one.listener.to_string()))
        .collect()
}

/// Subscribing twice gives the first subscription, and does not begin anew.
pub async fn subscribing_is_idempotent(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let first = listen(&*store, &mine, &from, &to).await;
    emit(&*store, &from, &["1"], T0).await;
    let second = listen(&*store, &mine, &from, &to).await;
    assert_eq!(first, second);
    assert_eq!(
        store.subscriptions(&of_user(&mine), 10).await.unwrap(),
        [first]
    );
    assert_eq!(received(&*store, &to, epoch).await, ["1"]);
}

/// Another user, emitter, listener or channel makes another subscription.
pub async fn subscriptions_differ_in_user_emitter_listener_and_channel(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let theirs = owner();
    let one = |owner: &Owner, to: &Leased, channel: &str| Subscription {
        ..subscription(
            owner,
            EmitterPattern::One(emitter(&from)),
            to,
            Channel::named(channel),
        )
    };
    let wanted = [
        one(&mine, &to, ""),
        one(&mine, &to, "orders"),
        one(&mine, &from, ""),
        subscription(&mine, EmitterPattern::AllSources, &to, Channel::default()),
    ];
    for subscription in &wanted {
        assert_eq!(
            &store.subscribe(subscription.clone()).await.unwrap(),
            subscription
        );
    }
    let other = store.subscribe(one(&theirs, &to, "")).await.unwrap();
    assert_eq!(
        store.subscriptions(&of_user(&mine), 10).await.unwrap(),
        wanted
    );
    assert_eq!(
        store.subscriptions(&of_user(&mine), 2).await.unwrap(),
        wanted[..2]
    );
    assert_eq!(
        store.subscriptions(&of_user(&theirs), 10).await.unwrap(),
        [other]
    );
}

/// Ending a subscription needs no id, is final, and touches no other.
pub async fn unsubscribing_ends_one_subscription(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let first = listen(&*store, &mine, &from, &to).await;
    let errors = subscription(&mine, first.emitter.clone(), &to, Channel::errors());
    store.subscribe(errors.clone()).await.unwrap();
    let like = subscription(&mine, first.emitter.clone(), &to, Channel::default());
    let not_theirs = subscription(&owner(), first.emitter.clone(), &to, Channel::default());
    assert!(!store.unsubscribe(&not_theirs).await.unwrap());
    assert!(store.unsubscribe(&like).await.unwrap());
    assert!(!store.unsubscribe(&like).await.unwrap());
    emit(&*store, &from, &["1"], T0).await;
    assert!(received(&*store, &to, epoch).await.is_empty());
    assert_eq!(
        store.subscriptions(&of_user(&mine), 10).await.unwrap(),
        [errors]
    );
}

/// Later sources are subscribed on deployment; earlier ones are not.
pub async fn an_automatic_subscription_reaches_later_sources_only(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, before, _) = pair(&*store, epoch).await;
    let webhook = create_webhook(&*store, &mine).await;
    let listener = ListenerId::Webhook(webhook.id.clone());
    for channel in [Channel::errors(), Channel::logs()] {
        let wanted = automatic(&mine, listener.clone(), channel);
        store.subscribe_automatically(wanted).await.unwrap();
    }
    let store = factory.reopen(store).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let before = leased_to(&*store, &before, epoch).await;
    let (first, second) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    let foreign = deploy(&*store, epoch, &owner()).await;
    let made = store.subscriptions(&of_user(&mine), 100).await.unwrap();
    let found: Vec<_> = made
        .iter()
        .map(|one| (one.emitter.to_string(), one.channel.name()))
        .collect();
    let (one, two) = (first.id.to_string(), second.id.to_string());
    assert_eq!(
        found,
        [
            (one.clone(), Channel::ERRORS),
            (one, Channel::LOGS),
            (two.clone(), Channel::ERRORS),
            (two, Channel::LOGS)
        ]
    );
    assert!(made.iter().all(|one| one.listener == listener));
    let ids: BTreeSet<_> = made.iter().map(|one| &one.id).collect();
    assert_eq!(ids.len(), 4, "ids are unique");
    for (source, text) in [
        (&before, "1"),
        (&first, "2"),
        (&foreign, "3"),
        (&second, "4"),
    ] {
        emit_on(&*store, source, Channel::errors(), text).await;
    }
    dispatch_all(&*store, 10).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    assert_eq!(delivered_texts(&claimed), ["2", "4"]);
}

/// The same listener and channel is the same automatic subscription.
pub async fn subscribing_automatically_is_idempotent(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, _, to) = pair(&*store, epoch).await;
    let listener = ListenerId::Source(to.id.clone());
    let first = automatic(&mine, listener.clone(), Channel::errors());
    let again = automatic(&mine, listener.clone(), Channel::errors());
    let logs = automatic(&mine, listener.clone(), Channel::logs());
    let theirs = automatic(&owner(), listener, Channel::errors());
    for (wanted, found) in [
        (&first, &first),
        (&again, &first),
        (&logs, &logs),
        (&theirs, &theirs),
    ] {
        let written = store.subscribe_automatically(wanted.clone()).await.unwrap();
        assert_eq!(&written, found);
    }
    let later = deploy(&*store, epoch, &mine).await;
    let pair = (later.id.to_string(), to.id.to_string());
    assert_eq!(ends(&*store, &mine).await, [pair.clone(), pair]);
}

/// Its subscriptions stay; later sources are no longer subscribed. Ids are never reused.
pub async fn unsubscribing_automatically_keeps_what_was_made(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, _, to) = pair(&*store, epoch).await;
    let wanted = automatic(&mine, ListenerId::Source(to.id.clone()), Channel::errors());
    store.subscribe_automatically(wanted.clone()).await.unwrap();
    let first = deploy(&*store, epoch, &mine).await;
    let like = automatic(&mine, wanted.listener.clone(), Channel::errors());
    let others = AutoSubscription {
        channel: Channel::logs(),
        ..like.clone()
    };
    assert!(!store.unsubscribe_automatically(&others).await.unwrap());
    assert!(store.unsubscribe_automatically(&like).await.unwrap());
    assert!(!store.unsubscribe_automatically(&like).await.unwrap());
    deploy(&*store, epoch, &mine).await;
    let expected = [(first.id.to_string(), to.id.to_string())];
    assert_eq!(ends(&*store, &mine).await, expected);
    // Again, in the same millisecond: the subscription it makes is another one.
    store.subscribe_automatically(like).await.unwrap();
    deploy(&*store, epoch, &mine).await;
    assert_eq!(ends(&*store, &mine).await.len(), 2);
}

/// Automatic subscriptions end with their listener, and the subscriptions created from them with their emitter.
pub async fn automatic_subscriptions_end_with_their_listener(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, _, to) = pair(&*store, epoch).await;
    let webhook = create_webhook(&*store, &mine).await;
    for listener in [
        ListenerId::Source(to.id.clone()),
        ListenerId::Webhook(webhook.id.clone()),
    ] {
        let wanted = automatic(&mine, listener, Channel::errors());
        store.subscribe_automatically(wanted).await.unwrap();
    }
    let later = deploy(&*store, epoch, &mine).await;
    assert_eq!(ends(&*store, &mine).await.len(), 2);
    store.delete_source(&later.lease).await.unwrap();
    assert!(ends(&*store, &mine).await.is_empty());
    store.delete_source(&to.lease).await.unwrap();
    assert!(store.delete_webhook(&webhook.id).await.unwrap());
    deploy(&*store, epoch, &mine).await;
    assert!(ends(&*store, &mine).await.is_empty());
}

/// A deployment that is undone leaves nothing; one of somebody else in the same workspace is somebody else's.
pub async fn an_automatic_subscription_is_of_its_user_wherever_the_source_lives(
    factory: &dyn Factory,
) {
    let (store, epoch) = start(factory).await;
    let (mine, _, to) = pair(&*store, epoch).await;
    let wanted = automatic(&mine, ListenerId::Source(to.id.clone()), Channel::logs());
    store.subscribe_automatically(wanted).await.unwrap();
    let shared = workspace_owner();
    let mine_there = Owner {
        workspace_id: shared.workspace_id.clone(),
        ..mine.clone()
    };
    deploy(&*store, epoch, &shared).await;
    let there = deploy(&*store, epoch, &mine_there).await;
    let expected = [(there.id.to_string(), to.id.to_string())];
    assert_eq!(ends(&*store, &mine).await, expected);
}

/// Subscriptions of any user with one end in the workspace, and those to the whole workspace.
pub async fn subscriptions_are_listed_by_workspace(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let shared = workspace_owner();
    let private = owner();
    let inside = deploy(&*store, epoch, &shared).await;
    let outside = deploy(&*store, epoch, &private).await;
    let webhook = create_webhook(&*store, &shared).await;
    let foreign = create_webhook(&*store, &private).await;
    let workspace_id = shared.workspace_id.clone().unwrap();
    let all = EmitterPattern::Workspace(workspace_id.clone());
    let wanted = [
        listen(&*store, &private, &inside, &outside).await,
        listen(&*store, &private, &outside, &inside).await,
        listen(&*store, &shared, &inside, &inside).await,
        deliver(&*store, &private, &outside, &webhook).await,
        store
            .subscribe(webhook_subscription(&private, all, &foreign))
            .await
            .unwrap(),
    ];
    listen(&*store, &private, &outside, &outside).await;
    deliver(&*store, &private, &outside, &foreign).await;
    let filter = SubscriptionFilter::Workspace(workspace_id);
    assert_eq!(store.subscriptions(&filter, 100).await.unwrap(), wanted);
    assert_eq!(store.subscriptions(&filter, 2).await.unwrap(), wanted[..2]);
    let nobody = SubscriptionFilter::Workspace(workspace_owner().workspace_id.unwrap());
    assert!(store.subscriptions(&nobody, 100).await.unwrap().is_empty());
}
