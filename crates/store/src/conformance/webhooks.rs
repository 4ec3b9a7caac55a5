//! Webhooks as records, and the effect of changes on their deliveries.

use headwater_model::{
    channel::Channel,
    id::WebhookId,
    page::{PageRequest, Position},
    time::{EpochMs, EpochSeconds},
    webhook::DeliveryState,
};

use super::{
    Factory,
    deliveries::{RETRY, one_claimed, waiting},
    fixture::*,
};
use crate::{
    AfterAttempt, ChannelFilter, DisabledWebhook, FormerSecret, NodeEpoch, Owner, Replay, Sealed,
    Store, Webhook, WebhookChange, WebhookSecrets,
};

/// A webhook that listens to a source.
async fn listening(store: &dyn Store, epoch: NodeEpoch) -> (Owner, Leased, Webhook) {
    let mine = owner();
    let from = deploy(store, epoch, &mine).await;
    let webhook = listening_webhook(store, &mine, &from).await;
    (mine, from, webhook)
}

async fn read(store: &dyn Store, webhook: &Webhook) -> Webhook {
    store.webhook(&webhook.id).await.unwrap().unwrap()
}

/// Every part of a webhook reads back as it was written.
pub async fn a_webhook_reads_back_as_it_was_written(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let full = Webhook {
        description: Some("all of them".to_owned()),
        active: false,
        ordering: headwater_model::webhook::DeliveryOrder::Unordered,
        disabled_reason: Some("410 Gone".to_owned()),
        failing_since_ms: Some(T0 + MS),
        updated_at: T0.to_seconds() + MINUTE,
        ..webhook(&workspace_owner())
    };
    let bare = Webhook {
        name: None,
        former_secret: None,
        ..webhook(&owner())
    };
    for one in [&full, &bare] {
        store.create_webhook(one.clone()).await.unwrap();
    }
    let store = factory.reopen(store).await;
    for one in [&full, &bare] {
        assert_eq!(&read(&*store, one).await, one);
    }
    let nobody = WebhookId::new(T0, entropy());
    assert!(store.webhook(&nobody).await.unwrap().is_none());
}

/// Both ways through the list, each user their own.
pub async fn webhooks_are_paged_both_ways(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    create_webhook(&*store, &owner()).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(create_webhook(&*store, &mine).await.id);
    }
    for (position, wanted) in [
        (Position::First, &ids[..2]),
        (Position::After(ids[1].clone()), &ids[2..4]),
        (Position::After(ids[3].clone()), &ids[4..]),
        (Position::Before(ids[4].clone()), &ids[2..4]),
    ] {
        let request = PageRequest { limit: 2, position };
        let page = store.webhooks(&mine, &[], &request).await.unwrap();
        assert_eq!(page.total_count, 5);
        let found: Vec<_> = page.items.into_iter().map(|one| one.id).collect();
        assert_eq!(found, wanted);
    }
}

/// In a workspace, those of all members; else all of the user's, in any workspace.
pub async fn webhooks_are_listed_by_user_or_workspace(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let shared = workspace_owner();
    let alone = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    let colleague = Owner {
        workspace_id: shared.workspace_id.clone(),
        ..owner()
    };
    let private = create_webhook(&*store, &alone).await;
    let mine = create_webhook(&*store, &shared).await;
    let theirs = create_webhook(&*store, &colleague).await;
    create_webhook(&*store, &workspace_owner()).await;
    let first = PageRequest::first(10);
    let in_it = store.webhooks(&shared, &[], &first).await.unwrap();
    assert_eq!(in_it.items, [mine.clone(), theirs]);
    let made = store.webhooks(&alone, &[], &first).await.unwrap();
    assert_eq!(made.items, [private, mine]);
}

/// All words, in any case, of the name, or of the URL of one that has none.
pub async fn webhooks_are_reduced_by_name(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    let mut ids = Vec::new();
    for name in ["Orders of SHOP", "shop 100%", ""] {
        let id = create_webhook(&*store, &mine).await.id;
        let change = WebhookChange {
            name: Some(Some(name.to_owned())),
            ..WebhookChange::default()
        };
        ids.push(store.update_webhook(&id, change).await.unwrap().id);
    }
    for (words, expected) in [
        (&["shop"][..], &ids[..2]),
        (&["Shop", "orders"], &ids[..1]),
        (&["%"], &ids[1..2]),
        (&["HTTP"], &ids[2..]),
        (&["nothing"], &[]),
    ] {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let page = store.webhooks(&mine, &words, &PageRequest::first(9)).await;
        let page = page.unwrap();
        assert_eq!(page.total_count, expected.len() as u64, "{words:?}");
        let found: Vec<_> = page.items.into_iter().map(|one| one.id).collect();
        assert_eq!(found, expected, "{words:?}");
    }
}

/// Everything but whose it is, since when it fails and when it was made.
pub async fn updating_replaces_what_may_change(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    let first = create_webhook(&*store, &mine).await;
    let other = create_webhook(&*store, &mine).await;
    let changed = Webhook {
        owner: workspace_owner(),
        name: None,
        description: Some("new".to_owned()),
        url: "http://elsewhere.example".to_owned(),
        active: true,
        secret: Sealed(vec![9]),
        former_secret: Some(FormerSecret {
            sealed: first.secret.clone(),
            valid_until_ms: T0 + 5 * MS,
        }),
        failing_since_ms: Some(T0),
        created_at: EpochSeconds(1),
        updated_at: T0.to_seconds() + MINUTE,
        ..first.clone()
    };
    rewrite(&*store, &changed).await;
    let expected = Webhook {
        owner: mine,
        failing_since_ms: None,
        created_at: first.created_at,
        ..changed.clone()
    };
    assert_eq!(read(&*store, &first).await, expected);
    assert_eq!(read(&*store, &other).await, other);
    let gone = Webhook {
        id: WebhookId::new(T0, entropy()),
        ..changed
    };
    assert_conflict(store.update_webhook(&gone.id, everything(&gone)).await);
}

/// Five days begin anew with a webhook that somebody has mended; other changes mend nothing.
pub async fn a_webhook_made_active_again_has_failed_for_no_time(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, from, webhook) = listening(&*store, epoch).await;
    emit(&*store, &from, &["1"], T0).await;
    dispatch_all(&*store, 10).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    let retry = AfterAttempt::RetryAt(T0 + MINUTE);
    end_all(&*store, &webhook, &claimed, retry, T0 + 3 * MS).await;
    for (active, since_ms) in [
        (true, Some(T0 + 3 * MS)),
        (false, Some(T0 + 3 * MS)),
        (true, None),
    ] {
        let changed = Webhook {
            active,
            ..webhook.clone()
        };
        rewrite(&*store, &changed).await;
        assert_eq!(read(&*store, &webhook).await.failing_since_ms, since_ms);
    }
}

/// Another URL restarts the time of failure.
pub async fn a_webhook_at_another_url_has_failed_for_no_time(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = waiting(&*store, epoch, &["1"]).await;
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0).await;
    end_all(&*store, &webhook, &claimed, RETRY, T0 + 3 * MS).await;
    for (url, since_ms) in [
        (&*webhook.url, Some(T0 + 3 * MS)),
        ("https://new.example", None),
    ] {
        let change = WebhookChange {
            url: Some(url.to_owned()),
            ..WebhookChange::default()
        };
        let updated = store.update_webhook(&webhook.id, change).await.unwrap();
        assert_eq!(updated, read(&*store, &webhook).await);
        assert_eq!((&*updated.url, updated.failing_since_ms), (url, since_ms));
    }
}

/// Renaming a webhook, or changing its secret, does not reactivate it.
pub async fn an_update_leaves_what_it_does_not_name(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (from, webhook) = waiting(&*store, epoch, &["1"]).await;
    let told = disabled(&from, &webhook, "1");
    let recorded = store.record_attempts(&webhook.id, vec![], Some(told), T0);
    assert!(recorded.await.unwrap().disabled);
    let before = read(&*store, &webhook).await;
    let renaming = WebhookChange {
        name: Some(None),
        updated_at: T0.to_seconds() + MINUTE,
        ..WebhookChange::default()
    };
    let secrets = WebhookSecrets {
        current: Sealed(vec![9]),
        former: None,
    };
    let rotation = WebhookChange {
        secrets: Some(secrets),
        updated_at: T0.to_seconds() + MINUTE + SECOND,
        ..WebhookChange::default()
    };
    for change in [renaming, rotation] {
        store.update_webhook(&webhook.id, change).await.unwrap();
    }
    let expected = Webhook {
        name: None,
        secret: Sealed(vec![9]),
        former_secret: None,
        updated_at: T0.to_seconds() + MINUTE + SECOND,
        ..before
    };
    assert_eq!(read(&*store, &webhook).await, expected);
    assert!(!expected.active && expected.disabled_reason.is_some());
    let switched_on = WebhookChange {
        active: Some(true),
        ..WebhookChange::default()
    };
    let active = store
        .update_webhook(&webhook.id, switched_on)
        .await
        .unwrap();
    assert_eq!((active.active, active.disabled_reason), (true, None));
}

/// Answers of the former URL do not count against the new one.
pub async fn a_webhook_is_not_disabled_for_a_former_url(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (from, webhook) = waiting(&*store, epoch, &["1"]).await;
    let claimed = one_claimed(&*store, &webhook, epoch).await;
    let moved = Webhook {
        url: "https://new.example".to_owned(),
        ..webhook.clone()
    };
    rewrite(&*store, &moved).await;
    let told = disabled(&from, &webhook, "1");
    let attempts = vec![attempted(&claimed, RETRY, T0)];
    let recorded = store.record_attempts(&webhook.id, attempts, Some(told), T0);
    let recorded = recorded.await.unwrap();
    assert!(recorded.results[0].is_ok() && !recorded.disabled);
    assert!(read(&*store, &webhook).await.active);
    let pending = texts_in(&*store, &webhook, DeliveryState::Pending).await;
    assert_eq!(pending, ["1"]);
    let told = disabled(&from, &moved, "1");
    let recorded = store.record_attempts(&webhook.id, vec![], Some(told), T0);
    assert!(recorded.await.unwrap().disabled);
}

/// Pending deliveries of a deactivated webhook are given up, leased or not, and can be retried later.
pub async fn deliveries_of_a_webhook_made_inactive_are_dead_letters(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = listening(&*store, epoch).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    emit(&*store, &from, &["1", "2", "3"], T0).await;
    dispatch_all(&*store, 10).await;
    let claimed = claim_some(&*store, &webhook, epoch, T0, 2).await;
    let done = &claimed[..1];
    end_all(&*store, &webhook, done, AfterAttempt::Delivered, T0).await;
    // Nothing happens to them as long as it is active.
    let renamed = Webhook {
        name: None,
        ..webhook.clone()
    };
    rewrite(&*store, &renamed).await;
    let pending = DeliveryState::Pending;
    assert_eq!(texts_in(&*store, &webhook, pending).await, ["3", "2"]);
    let off = Webhook {
        active: false,
        ..webhook.clone()
    };
    rewrite(&*store, &off).await;
    let (dead, delivered) = (DeliveryState::Dead, DeliveryState::Delivered);
    assert_eq!(texts_in(&*store, &webhook, dead).await, ["3", "2"]);
    assert_eq!(texts_in(&*store, &webhook, delivered).await, ["1"]);
    assert_eq!(texts_in(&*store, &other, pending).await, ["3", "2", "1"]);
    let late = end_all(
        &*store,
        &webhook,
        &claimed[1..],
        AfterAttempt::Delivered,
        T0,
    )
    .await;
    assert_conflict(late.into_iter().next().unwrap());
    rewrite(&*store, &webhook).await;
    assert!(
        claim_deliveries(&*store, &webhook, epoch, T0)
            .await
            .is_empty()
    );
    assert_eq!(texts_in(&*store, &webhook, dead).await, ["3", "2"]);
}

/// Nothing of it is seen any more, and nothing of it stays; the events go when nobody else needs them.
pub async fn deleting_a_webhook_removes_everything_of_it(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, from, webhook) = listening(&*store, epoch).await;
    let other = listening_webhook(&*store, &mine, &from).await;
    emit(&*store, &from, &["1", "2"], T0).await;
    dispatch_all(&*store, 10).await;
    let claimed = claim_some(&*store, &webhook, epoch, T0, 1).await;
    let listed = deliveries_of(&*store, &webhook, None).await;
    assert_eq!(listed.len(), 2);
    assert!(store.delete_webhook(&webhook.id).await.unwrap());
    assert!(!store.delete_webhook(&webhook.id).await.unwrap());
    assert!(store.webhook(&webhook.id).await.unwrap().is_none());
    assert_eq!(
        store
            .subscriptions(&of_user(&mine), 10)
            .await
            .unwrap()
            .len(),
        1
    );
    assert!(deliveries_of(&*store, &webhook, None).await.is_empty());
    assert!(store.delivery(&listed[0].id).await.unwrap().is_none());
    assert_conflict(store.retry_delivery(&listed[0].id, T0).await);
    let late = end_all(&*store, &webhook, &claimed, AfterAttempt::Delivered, T0).await;
    assert_conflict(late.into_iter().next().unwrap());
    let work = store.webhooks_with_work(T0, None, 100).await.unwrap();
    assert_eq!(work.woken_webhooks, std::slice::from_ref(&other.id));
    assert!(
        claim_deliveries(&*store, &webhook, epoch, T0)
            .await
            .is_empty()
    );
    // The disk gets its space back in bounded steps, and the other webhook all of its own.
    assert_eq!(trim_all_deliveries(&*store, 10, T0, 1).await, 2);
    assert_eq!(trim_all_deliveries(&*store, 10, T0, 1).await, 0);
    let claimed = claim_deliveries(&*store, &other, epoch, T0).await;
    assert_eq!(delivered_texts(&claimed), ["1", "2"]);
}

fn disabled(emitter: &Leased, webhook: &Webhook, text: &str) -> DisabledWebhook {
    DisabledWebhook {
        url: webhook.url.clone(),
        reason: "410 Gone".to_owned(),
        emitter: super::fixture::emitter(emitter),
        event: event_on(Channel::errors(), text),
    }
}

/// A webhook that is given up gets no more, what waits is dead, and its emitter's `$errors` say so: all together.
pub async fn a_disabled_webhook_gives_up_what_waits_and_says_so(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (from, webhook) = waiting(&*store, epoch, &["1", "2", "3"]).await;
    let claimed = claim_some(&*store, &webhook, epoch, T0, 2).await;
    let attempts = vec![attempted(&claimed[0], RETRY, T0)];
    let now_ms = T0 + 5 * SECOND;
    let results = store
        .record_attempts(
            &webhook.id,
            attempts,
            Some(disabled(&from, &webhook, "1")),
            now_ms,
        )
        .await;
    assert!(results.unwrap().results[0].is_ok());
    let store = factory.reopen(store).await;
    let found = store.webhook(&webhook.id).await.unwrap().unwrap();
    assert_eq!(
        (found.active, found.disabled_reason.as_deref()),
        (false, Some("410 Gone"))
    );
    let dead = deliveries_of(&*store, &webhook, Some(DeliveryState::Dead)).await;
    let attempts: Vec<usize> = dead.iter().rev().map(|one| one.attempts.len()).collect();
    assert_eq!(attempts, [1, 0, 0]);
    // The others that were on their way are too late, also to disable it once more.
    let late = vec![attempted(&claimed[1], RETRY, T0)];
    let results = store
        .record_attempts(
            &webhook.id,
            late,
            Some(disabled(&from, &webhook, "2")),
            now_ms,
        )
        .await;
    assert_conflict(results.unwrap().results.remove(0));
    let errors = ChannelFilter::Named(Channel::errors());
    assert_eq!(texts_of(&listed(&*store, &from, &errors).await), ["1"]);
    // Nor do they switch off what somebody has switched on again.
    rewrite(&*store, &webhook).await;
    let late = vec![attempted(&claimed[1], RETRY, T0)];
    store
        .record_attempts(
            &webhook.id,
            late,
            Some(disabled(&from, &webhook, "3")),
            now_ms,
        )
        .await
        .unwrap();
    assert!(store.webhook(&webhook.id).await.unwrap().unwrap().active);
    assert_eq!(listed(&*store, &from, &errors).await.len(), 1);
}

/// The emitter may be gone when its event is refused for good.
pub async fn a_webhook_is_disabled_though_the_emitter_is_gone(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (from, webhook) = waiting(&*store, epoch, &["1"]).await;
    let claimed = one_claimed(&*store, &webhook, epoch).await;
    store.delete_source(&from.lease).await.unwrap();
    let attempts = vec![attempted(&claimed, AfterAttempt::Dead, T0)];
    let results = store
        .record_attempts(
            &webhook.id,
            attempts,
            Some(disabled(&from, &webhook, "1")),
            T0,
        )
        .await;
    assert!(results.unwrap().results[0].is_ok());
    assert!(!store.webhook(&webhook.id).await.unwrap().unwrap().active);
}

/// More than is given up at once.
const MANY: u64 = 2_500;

/// How many deliveries of a webhook are pending, and how many dead.
async fn waiting_and_dead(store: &dyn Store, webhook: &Webhook) -> (u64, u64) {
    let mut counts = [0; 2];
    let states = [DeliveryState::Pending, DeliveryState::Dead];
    for (count, state) in counts.iter_mut().zip(states) {
        let page = PageRequest::first(1);
        let page = store.deliveries(&webhook.id, Some(state), &page).await;
        let page = page.unwrap();
        assert!(page.items.iter().all(|one| one.state == state));
        *count = page.total_count;
    }
    (counts[0], counts[1])
}

async fn switch(store: &dyn Store, webhook: &Webhook, active: bool) {
    let switched = Webhook {
        active,
        ..webhook.clone()
    };
    rewrite(store, &switched).await;
}

/// A webhook with [`MANY`] deliveries, called `0`, `1` and so on.
async fn behind(store: &dyn Store, epoch: NodeEpoch) -> (Leased, Webhook) {
    let (_, from, webhook) = listening(store, epoch).await;
    let texts: Vec<String> = (0..MANY).map(|number| number.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    emit(store, &from, &texts, T0).await;
    dispatch_all(store, 1_000).await;
    assert_eq!(waiting_and_dead(store, &webhook).await, (MANY, 0));
    (from, webhook)
}

/// Nobody waits for thousands of them; all are dead at once, however long it takes to write that.
pub async fn a_large_backlog_is_given_up_in_bounded_steps(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (from, webhook) = behind(&*store, epoch).await;
    let held = claim_some(&*store, &webhook, epoch, T0, 1_100).await;
    switch(&*store, &webhook, false).await;
    assert_eq!(waiting_and_dead(&*store, &webhook).await, (0, MANY));
    let step = store.trim_deliveries(100, EpochMs(0), 100).await.unwrap();
    assert_eq!((step.done, step.more), (100, true));
    // None of them is delivered when the webhook is active again; new ones are.
    switch(&*store, &webhook, true).await;
    assert_eq!(waiting_and_dead(&*store, &webhook).await, (0, MANY));
    let late = end_all(&*store, &webhook, &held, RETRY, T0).await;
    late.into_iter().for_each(assert_conflict);
    let store = factory.reopen(store).await;
    assert_eq!(
        store
            .webhooks_with_work(T0, None, 100)
            .await
            .unwrap()
            .woken_webhooks,
        []
    );
    emit(&*store, &from, &["\"new\""], T0).await;
    dispatch_all(&*store, 10).await;
    assert_eq!(waiting_and_dead(&*store, &webhook).await, (1, MANY));
    let backlog = store.webhook_backlogs(std::slice::from_ref(&webhook.id));
    assert_eq!(backlog.await.unwrap()[0].pending, 1);
    let trimmed = trim_all_deliveries(&*store, 100, EpochMs(0), 100).await;
    assert!(trimmed > 0, "switching was bounded");
    assert_eq!(trim_all_deliveries(&*store, 100, EpochMs(0), 100).await, 0);
    assert_eq!(waiting_and_dead(&*store, &webhook).await, (1, MANY));
    let claimed = claim_deliveries(&*store, &webhook, epoch, T0 + MINUTE).await;
    assert_eq!(delivered_texts(&claimed), ["\"new\""]);
}

/// Every delivery that is shown as dead can be made once more, also one whose death is not written yet.
pub async fn a_large_backlog_that_was_given_up_is_made_once_more(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (_, webhook) = behind(&*store, epoch).await;
    let held = claim_some(&*store, &webhook, epoch, T0, MANY as u32).await;
    for active in [false, true, false, true] {
        switch(&*store, &webhook, active).await;
    }
    // The last that was dispatched is the last for which it is written.
    let newest = held.last().unwrap();
    let id = &newest.lease.delivery_id;
    let found = store.delivery(id).await.unwrap().unwrap();
    assert_eq!(found.state, DeliveryState::Dead);
    store.retry_delivery(id, T0).await.unwrap();
    assert_eq!(waiting_and_dead(&*store, &webhook).await, (1, MANY - 1));
    let again = claim_deliveries(&*store, &webhook, epoch, T0).await;
    assert_eq!(&again[0].lease.delivery_id, id);
    let late = vec![attempted(newest, AfterAttempt::Delivered, T0)];
    let late = store.record_attempts(&webhook.id, late, None, T0).await;
    assert_conflict(late.unwrap().results.remove(0));
    let replay = Replay {
        since_ms: EpochMs(0),
        until_ms: EpochMs(u64::MAX),
        delivered: false,
        now_ms: T0,
    };
    let mut replayed = 0;
    while replayed < MANY - 1 {
        let step = store.replay(&webhook.id, &replay, 1_000).await.unwrap();
        assert!((1..=1_000).contains(&step.done));
        replayed += step.done;
    }
    assert_eq!(waiting_and_dead(&*store, &webhook).await, (MANY, 0));
    trim_all_deliveries(&*store, 100, EpochMs(0), 100).await;
    assert_eq!(waiting_and_dead(&*store, &webhook).await, (MANY, 0));
    let claimed = claim_some(&*store, &webhook, epoch, T0, MANY as u32).await;
    assert_eq!(claimed.len() as u64, MANY - 1);
}
