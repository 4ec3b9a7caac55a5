//! Dispatch: each event to each of its listeners, once.

use std::collections::BTreeSet;

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::NewEvent,
    limits::HOPS_MAX,
    subscription::EmitterPattern,
};

use super::{Factory, fixture::*};
use crate::{ChannelFilter, NodeEpoch, Owner, SourceState, Store, Trigger, Webhook};

/// An emitter and a listener of one user.
pub(super) async fn pair(store: &dyn Store, epoch: NodeEpoch) -> (Owner, Leased, Leased) {
    let mine = owner();
    let (from, to) = (
        deploy(store, epoch, &mine).await,
        deploy(store, epoch, &mine).await,
    );
    (mine, from, to)
}

/// The events that dispatch queued for a listener, in order.
pub(super) async fn received(store: &dyn Store, to: &Leased, epoch: NodeEpoch) -> Vec<String> {
    dispatch_all(store, 100).await;
    let mut texts = Vec::new();
    for claimed in claim_all(store, &to.id, epoch, T0).await {
        assert_eq!(claimed.trigger, Trigger::Event);
        texts.push(claimed.event.get().to_owned());
        commit(store, end_of(&claimed)).await.unwrap();
    }
    texts
}

pub(super) async fn subscribe(
    store: &dyn Store,
    owner: &Owner,
    emitter: EmitterPattern,
    to: &Leased,
    channel: Channel,
) {
    store
        .subscribe(subscription(owner, emitter, to, channel))
        .await
        .unwrap();
}

/// The cursor is durable: neither lost nor repeated, in any number of steps.
pub async fn each_event_reaches_its_listener_exactly_once_across_reopen(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    listen(&*store, &mine, &from, &to).await;
    emit(&*store, &from, &["1", "2", "3"], T0).await;
    let step = store.dispatch(T0 + 5 * MS, 2, u32::MAX).await.unwrap();
    assert_eq!(
        (step.done, step.more, step.woken),
        (2, true, vec![runnable(&to)])
    );
    let store = factory.reopen(store).await;
    assert_eq!(dispatch_all(&*store, 2).await, 1);
    let store = factory.reopen(store).await;
    assert_eq!(dispatch_all(&*store, 2).await, 0);
    let epoch = store.start_node(&node(), T0).await.unwrap();
    assert_eq!(received(&*store, &to, epoch).await, ["1", "2", "3"]);
}

/// An event counts how many sources its cause has passed through.
pub async fn a_dispatched_event_has_one_hop_more_and_its_exact_text(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    listen(&*store, &mine, &from, &to).await;
    let mut event = event("{ \"a\":  1.0 }");
    event.hops = 3;
    event.trace = Some(trace());
    commit(&*store, run_of(&from, vec![event], T0))
        .await
        .unwrap();
    store.dispatch(T0 + 5 * MS, 10, u32::MAX).await.unwrap();
    let claimed = claim_all(&*store, &to.id, epoch, T0).await.remove(0);
    assert_eq!(claimed.event.get(), "{ \"a\":  1.0 }");
    assert_eq!((claimed.hops, claimed.queued_at_ms), (4, T0 + 5 * MS));
    assert_eq!(claimed.origin.trace, Some(trace()));
}

/// One invocation per event and subscription, however many there are.
pub async fn every_subscription_gets_its_own_invocation(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let other = deploy(&*store, epoch, &mine).await;
    listen(&*store, &mine, &from, &to).await;
    listen(&*store, &mine, &from, &other).await;
    subscribe(
        &*store,
        &mine,
        EmitterPattern::AllSources,
        &to,
        Channel::default(),
    )
    .await;
    emit(&*store, &from, &["1"], T0).await;
    let woken = store.dispatch(T0, 10, u32::MAX).await.unwrap().woken;
    assert_eq!(woken.len(), 2);
    assert_eq!(received(&*store, &to, epoch).await, ["1", "1"]);
    assert_eq!(received(&*store, &other, epoch).await, ["1"]);
}

/// A subscription is to one channel: the default one or the one it names.
pub async fn a_subscription_matches_its_channel_only(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let orders = deploy(&*store, epoch, &mine).await;
    let errors = deploy(&*store, epoch, &mine).await;
    let one = || EmitterPattern::One(emitter(&from));
    listen(&*store, &mine, &from, &to).await;
    subscribe(&*store, &mine, one(), &orders, Channel::named("orders")).await;
    subscribe(&*store, &mine, one(), &errors, Channel::errors()).await;
    for (channel, text) in [
        ("", "1"),
        ("orders", "2"),
        ("Orders", "3"),
        (Channel::ERRORS, "4"),
        (Channel::LOGS, "5"),
    ] {
        emit_on(&*store, &from, Channel::named(channel), text).await;
    }
    assert_eq!(received(&*store, &to, epoch).await, ["1"]);
    assert_eq!(received(&*store, &orders, epoch).await, ["2"]);
    assert_eq!(received(&*store, &errors, epoch).await, ["4"]);
}

/// `dc_*`: every source of the user, also one that came later.
pub async fn the_sources_glob_matches_every_source_of_the_user(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let elsewhere = deploy(&*store, epoch, &owner()).await;
    subscribe(
        &*store,
        &mine,
        EmitterPattern::AllSources,
        &to,
        Channel::default(),
    )
    .await;
    subscribe(
        &*store,
        &mine,
        EmitterPattern::AllWorkflows,
        &from,
        Channel::default(),
    )
    .await;
    let later = deploy(&*store, epoch, &mine).await;
    for (source, text) in [(&from, "1"), (&elsewhere, "2"), (&later, "3")] {
        emit(&*store, source, &[text], T0).await;
    }
    assert_eq!(received(&*store, &to, epoch).await, ["1", "3"]);
    assert!(received(&*store, &from, epoch).await.is_empty());
}

/// `u_…`: every emitter of the user.
pub async fn the_user_glob_matches_every_emitter_of_the_user(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let user = EmitterPattern::User(mine.user_id.clone());
    subscribe(&*store, &mine, user, &to, Channel::default()).await;
    let elsewhere = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &from, &["1"], T0).await;
    emit(&*store, &elsewhere, &["2"], T0).await;
    assert_eq!(received(&*store, &to, epoch).await, ["1"]);
}

/// `o_…`: every emitter of the workspace, and none that its maker keeps elsewhere.
pub async fn the_workspace_glob_matches_every_emitter_of_the_workspace(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let shared = workspace_owner();
    let private = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    let (inside, outside) = (
        deploy(&*store, epoch, &shared).await,
        deploy(&*store, epoch, &private).await,
    );
    let to = deploy(&*store, epoch, &shared).await;
    let workspace = EmitterPattern::Workspace(shared.workspace_id.clone().unwrap());
    subscribe(&*store, &shared, workspace, &to, Channel::default()).await;
    emit(&*store, &inside, &["1"], T0).await;
    emit(&*store, &outside, &["2"], T0).await;
    assert_eq!(received(&*store, &to, epoch).await, ["1"]);
}

/// A subscription matches only emitters that its user may see.
pub async fn subscriptions_of_other_users_are_not_matched(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let theirs = workspace_owner();
    let from = deploy(&*store, epoch, &theirs).await;
    let mine = owner();
    let to = deploy(&*store, epoch, &mine).await;
    for pattern in [
        EmitterPattern::One(emitter(&from)),
        EmitterPattern::AllSources,
        EmitterPattern::User(theirs.user_id.clone()),
        EmitterPattern::Workspace(theirs.workspace_id.clone().unwrap()),
    ] {
        subscribe(&*store, &mine, pattern, &to, Channel::default()).await;
    }
    emit(&*store, &from, &["1"], T0).await;
    assert!(received(&*store, &to, epoch).await.is_empty());
}

/// Resources of a workspace are visible to its members, whoever created them.
pub async fn members_of_a_workspace_may_listen_to_its_emitters(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let ann = first_user("ann");
    store.create_first_user(ann.clone()).await.unwrap();
    let workspace_id = Some(ann.workspace.id);
    let colleague = Owner {
        workspace_id: workspace_id.clone(),
        ..owner()
    };
    let mine = Owner {
        user_id: ann.user.id,
        workspace_id,
    };
    let (from, to) = (
        deploy(&*store, epoch, &colleague).await,
        deploy(&*store, epoch, &mine).await,
    );
    let private = deploy(
        &*store,
        epoch,
        &Owner {
            workspace_id: None,
            ..colleague
        },
    )
    .await;
    listen(&*store, &mine, &from, &to).await;
    listen(&*store, &mine, &private, &to).await;
    emit(&*store, &from, &["1"], T0).await;
    emit(&*store, &private, &["2"], T0).await;
    assert_eq!(received(&*store, &to, epoch).await, ["1"]);
}

/// A new subscription matches later events only, even if dispatch is behind.
pub async fn events_before_the_subscription_are_not_matched(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    emit(&*store, &from, &["1", "2"], T0).await;
    let all = deletion(&from, ordinary(), (None, None));
    listen(&*store, &mine, &from, &to).await;
    assert!(received(&*store, &to, epoch).await.is_empty());
    // The same when nothing is left to tell what was there before.
    store.request_deletion(all).await.unwrap();
    run_all_deletions(&*store, 100).await;
    subscribe(
        &*store,
        &mine,
        EmitterPattern::AllSources,
        &to,
        Channel::default(),
    )
    .await;
    emit(&*store, &from, &["3"], T0).await;
    assert_eq!(received(&*store, &to, epoch).await, ["3", "3"]);
}

/// A cycle of sources ends, and says so once per event however often a step stops among its listeners.
pub async fn an_event_with_the_most_hops_reaches_no_source_and_is_an_error(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    listen(&*store, &mine, &from, &to).await;
    subscribe(
        &*store,
        &mine,
        EmitterPattern::AllSources,
        &to,
        Channel::default(),
    )
    .await;
    for (hops, text) in [(HOPS_MAX - 1, "1"), (HOPS_MAX, "2")] {
        emit_with_hops(&*store, &from, event(text), hops).await;
    }
    assert_eq!(dispatch_all(&*store, 1).await, 3, "two and the error");
    assert_eq!(received(&*store, &to, epoch).await, ["1", "1"]);
    let errors = listed(&*store, &from, &ChannelFilter::Class(ChannelClass::Errors)).await;
    assert_eq!(errors.len(), 1);
    let error: serde_json::Value = serde_json::from_str(errors[0].event.get()).unwrap();
    assert_eq!(error["error"]["code"], "hop_limit");
    assert_eq!(error["original_event"], 2);
    let id = listed(&*store, &from, &ordinary()).await[0].id.to_string();
    assert_eq!(error["original_context"]["id"], id);
}

/// Errors and logs end silently, or a source that listens to both would go on forever. So do events that nobody misses.
pub async fn the_hop_limit_is_no_error_where_no_event_is_held_back(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    for channel in [Channel::errors(), Channel::logs()] {
        let all = EmitterPattern::AllSources;
        subscribe(&*store, &mine, all, &to, channel.clone()).await;
        emit_with_hops(&*store, &from, event_on(channel, "1"), HOPS_MAX).await;
    }
    emit_with_hops(&*store, &from, event("2"), HOPS_MAX).await;
    assert_eq!(dispatch_all(&*store, 10).await, 3);
    assert!(received(&*store, &to, epoch).await.is_empty());
    let errors = ChannelFilter::Class(ChannelClass::Errors);
    assert_eq!(texts_of(&listed(&*store, &from, &errors).await), ["1"]);
}

async fn emit_with_hops(store: &dyn Store, from: &Leased, event: NewEvent, hops: u32) {
    let event = NewEvent { hops, ..event };
    commit(store, run_of(from, vec![event], T0)).await.unwrap();
}

/// A chain ends at a webhook: it closes no circle.
pub async fn a_webhook_gets_events_with_the_most_hops(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, _) = pair(&*store, epoch).await;
    let webhook = listening_webhook(&*store, &mine, &from).await;
    let mut event = event("1");
    event.trace = Some(trace());
    emit_with_hops(&*store, &from, event, HOPS_MAX).await;
    assert_eq!(dispatch_all(&*store, 10).await, 1);
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    assert_eq!(delivered_texts(&claimed), ["1"]);
    assert_eq!(claimed[0].event.trace, Some(trace()));
}

/// However many listen, a step is bounded, and goes on where the last one stopped.
pub async fn a_step_may_stop_among_the_listeners_of_an_event(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    let mut webhooks = Vec::new();
    for _ in 0..5 {
        webhooks.push(listening_webhook(&*store, &mine, &from).await);
    }
    listen(&*store, &mine, &from, &to).await;
    emit(&*store, &from, &["1", "2"], T0).await;
    let step = store.dispatch(T0, 4, u32::MAX).await.unwrap();
    let mut woken: Vec<_> = webhooks[..4].iter().map(|one| one.id.clone()).collect();
    woken.sort_unstable();
    assert_eq!(
        (step.done, step.more, step.woken_webhooks),
        (0, true, woken)
    );
    // A subscription created meanwhile gets nothing of the event.
    let late = listening_webhook(&*store, &mine, &from).await;
    let store = factory.reopen(store).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    assert_eq!(dispatch_all(&*store, 4).await, 2);
    for webhook in &webhooks {
        let claimed = claim_deliveries(&*store, webhook, epoch, T0).await;
        assert_eq!(delivered_texts(&claimed), ["1", "2"]);
    }
    assert!(claim_deliveries(&*store, &late, epoch, T0).await.is_empty());
    assert_eq!(received(&*store, &to, epoch).await, ["1", "2"]);
}

/// An event whose listeners were not all reached is gone with its source; the next one has all of its own.
pub async fn a_step_goes_on_behind_an_event_that_is_gone(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, other) = pair(&*store, epoch).await;
    let mut webhooks = Vec::new();
    for _ in 0..3 {
        let webhook = listening_webhook(&*store, &mine, &from).await;
        deliver(&*store, &mine, &other, &webhook).await;
        webhooks.push(webhook);
    }
    emit(&*store, &from, &["1"], T0).await;
    emit(&*store, &other, &["2"], T0).await;
    store.dispatch(T0, 2, u32::MAX).await.unwrap();
    store.delete_source(&from.lease).await.unwrap();
    dispatch_all(&*store, 2).await;
    let mut received = Vec::new();
    for webhook in &webhooks {
        let claimed = claim_deliveries(&*store, webhook, epoch, T0).await;
        received.extend(delivered_texts(&claimed).into_iter().map(str::to_owned));
    }
    assert_eq!(received, ["1", "2", "1", "2", "2"]);
}

/// A webhook gets the events that its user may see, on the subscribed channel, once per subscription.
pub async fn a_webhook_gets_a_delivery_per_event_and_subscription(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, other) = pair(&*store, epoch).await;
    let foreign = deploy(&*store, epoch, &owner()).await;
    let webhook = create_webhook(&*store, &mine).await;
    let one = deliver(&*store, &mine, &from, &webhook).await;
    deliver(&*store, &mine, &foreign, &webhook).await;
    let all = webhook_subscription(&mine, EmitterPattern::AllSources, &webhook);
    let all = store.subscribe(all).await.unwrap();
    for (source, text) in [(&from, "1"), (&other, "2"), (&foreign, "3")] {
        emit(&*store, source, &[text], T0).await;
        emit_on(&*store, source, Channel::named("orders"), "4").await;
    }
    let step = store.dispatch(T0 + 5 * MS, 100, u32::MAX).await.unwrap();
    assert_eq!(step.woken_webhooks, std::slice::from_ref(&webhook.id));
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0 + 5 * MS).await;
    let found: Vec<_> = claimed
        .iter()
        .map(|one| (one.event.event.get(), &one.subscription_id))
        .collect();
    assert_eq!(found, [("1", &one.id), ("1", &all.id), ("2", &all.id)]);
    let ids: BTreeSet<_> = claimed.iter().map(|one| &one.lease.delivery_id).collect();
    assert_eq!(ids.len(), 3, "ids are unique");
}

/// Webhooks that are off miss events, as sources do.
pub async fn an_inactive_webhook_misses_events(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, _) = pair(&*store, epoch).await;
    let webhook = listening_webhook(&*store, &mine, &from).await;
    for (active, text) in [(false, "1"), (true, "2")] {
        let changed = Webhook {
            active,
            ..webhook.clone()
        };
        rewrite(&*store, &changed).await;
        emit(&*store, &from, &[text], T0).await;
        let step = store.dispatch(T0, 10, u32::MAX).await.unwrap();
        assert_eq!(step.woken_webhooks.len(), usize::from(active));
    }
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    assert_eq!(delivered_texts(&claimed), ["2"]);
}

/// A source that watches errors and logs is not fed its own, but its own events if it asks for them.
pub async fn a_source_is_not_fed_its_own_errors_and_logs(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    for channel in [Channel::errors(), Channel::logs(), Channel::default()] {
        subscribe(&*store, &mine, EmitterPattern::AllSources, &to, channel).await;
    }
    for (source, text) in [(&from, "1"), (&to, "2")] {
        emit_on(&*store, source, Channel::errors(), text).await;
        emit_on(&*store, source, Channel::logs(), text).await;
    }
    emit(&*store, &to, &["3"], T0).await;
    assert_eq!(received(&*store, &to, epoch).await, ["1", "1", "3"]);
}

/// Events are not kept for listeners that are off or gone.
pub async fn inactive_listeners_miss_events(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    listen(&*store, &mine, &from, &to).await;
    for state in [SourceState::Inactive, SourceState::Deleting] {
        store.set_source_state(&to.lease, state).await.unwrap();
        emit(&*store, &from, &["1"], T0).await;
        let step = store.dispatch(T0, 10, u32::MAX).await.unwrap();
        assert_eq!((step.done, step.woken.len()), (1, 0));
    }
    store
        .set_source_state(&to.lease, SourceState::Active)
        .await
        .unwrap();
    emit(&*store, &from, &["2"], T0).await;
    assert_eq!(received(&*store, &to, epoch).await, ["2"]);
    store.delete_source(&to.lease).await.unwrap();
    emit(&*store, &from, &["3"], T0).await;
    dispatch_all(&*store, 10).await;
    assert!(claim_all(&*store, &to.id, epoch, T0).await.is_empty());
}

/// A listener between two versions, or in its hooks, is still a listener.
pub async fn listeners_that_are_updated_or_deployed_get_events(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    listen(&*store, &mine, &from, &to).await;
    for (state, text) in [(SourceState::Updating, "1"), (SourceState::Deploying, "2")] {
        store.set_source_state(&to.lease, state).await.unwrap();
        emit(&*store, &from, &[text], T0).await;
        assert_eq!(received(&*store, &to, epoch).await, [text]);
    }
}

/// Events of a source that is off or going are still passed on.
pub async fn what_an_emitter_emitted_last_is_dispatched(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, to) = pair(&*store, epoch).await;
    listen(&*store, &mine, &from, &to).await;
    emit(&*store, &from, &["1"], T0).await;
    store
        .set_source_state(&from.lease, SourceState::Inactive)
        .await
        .unwrap();
    emit(&*store, &from, &["2"], T0).await;
    assert_eq!(received(&*store, &to, epoch).await, ["1", "2"]);
}
