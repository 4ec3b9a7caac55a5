//! Deliveries of all webhooks that somebody may see: found, counted, and changed in numbers.

use headwater_model::{
    event::EventRef,
    event_search::EventMatcher,
    id::DeliveryId,
    page::{PageRequest, Position},
    webhook::{AnswerKind, AttemptFailure, DeliveryState},
};

use super::{Factory, deliveries::record, fixture::*};
use crate::{
    AfterAttempt, AttemptRecord, CappedCount, ChangedDeliveries, ClaimedDelivery,
    DELIVERIES_SEARCHED_MAX, DeliveryChange, DeliveryCounts, DeliveryFilter, DeliveryStep,
    NodeEpoch, Owner, Store, Viewer, Webhook,
};

/// Two sources and two webhooks of one owner; each webhook listens to both.
struct Field {
    mine: Owner,
    sources: [Leased; 2],
    webhooks: [Webhook; 2],
}

async fn field(store: &dyn Store, epoch: NodeEpoch) -> Field {
    let mine = owner();
    let sources = [
        deploy(store, epoch, &mine).await,
        deploy(store, epoch, &mine).await,
    ];
    let webhooks = [
        create_webhook(store, &mine).await,
        create_webhook(store, &mine).await,
    ];
    for webhook in &webhooks {
        for source in &sources {
            deliver(store, &mine, source, webhook).await;
        }
    }
    Field {
        mine,
        sources,
        webhooks,
    }
}

/// The attempt got no answer.
fn unanswered(claimed: &ClaimedDelivery, failure: AttemptFailure) -> AttemptRecord {
    let mut record = attempted(claimed, AfterAttempt::Dead, T0);
    record.attempt.status = None;
    record.attempt.failure = Some(failure);
    record
}

async fn found(store: &dyn Store, viewer: &Viewer, filter: &DeliveryFilter) -> Vec<DeliveryId> {
    let page = PageRequest::first(100);
    let found = store.find_deliveries(viewer, filter, &page).await.unwrap();
    assert_eq!(found.searched_to, None);
    found.items.into_iter().map(|one| one.id).collect()
}

fn exactly(count: u64) -> CappedCount {
    CappedCount {
        count,
        is_capped: false,
    }
}

fn step(change: DeliveryChange, after: Option<DeliveryId>, limit: u32) -> DeliveryStep {
    DeliveryStep {
        change,
        after,
        limit,
        now_ms: T0 + MINUTE,
        is_dry: false,
    }
}

/// Changes all that a filter describes, in steps; what was changed, and how many steps it took.
async fn change_all(
    store: &dyn Store,
    viewer: &Viewer,
    filter: &DeliveryFilter,
    change: DeliveryChange,
    limit: u32,
) -> (ChangedDeliveries, usize) {
    let mut all = ChangedDeliveries::default();
    let mut after = None;
    for steps in 1..100 {
        let step = step(change, after.take(), limit);
        let done = store
            .change_deliveries(viewer, filter, &step)
            .await
            .unwrap();
        assert!(done.changed <= u64::from(limit), "a bounded step");
        all.changed += done.changed;
        all.left_out += done.left_out;
        all.webhooks.extend(done.webhooks);
        after = done.continue_after;
        if after.is_none() {
            return (all, steps);
        }
    }
    panic!("it does not come to an end");
}

/// A webhook is its user's, and its workspace's members'.
pub async fn deliveries_of_other_tenants_are_not_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let Field { mine, sources, .. } = field(&*store, epoch).await;
    let (ours, theirs) = (workspace_owner(), owner());
    for other in [&ours, &theirs] {
        let webhook = create_webhook(&*store, other).await;
        deliver(&*store, &mine, &sources[0], &webhook).await;
    }
    emit(&*store, &sources[0], &["1"], T0).await;
    dispatch_all(&*store, 100).await;
    let all = DeliveryFilter::default();
    let of_event = DeliveryFilter {
        event: Some(ids(&*store, &sources[0]).await[0]),
        ..DeliveryFilter::default()
    };
    let mut me = viewer(&mine);
    for filter in [&all, &of_event] {
        assert_eq!(found(&*store, &me, filter).await.len(), 2);
        assert_eq!(found(&*store, &viewer(&theirs), filter).await.len(), 1);
        assert_eq!(found(&*store, &viewer(&owner()), filter).await, []);
    }
    me.workspace_ids.extend(ours.workspace_id.clone());
    assert_eq!(found(&*store, &me, &of_event).await.len(), 3);
    let of_workspace = DeliveryFilter {
        workspace_id: ours.workspace_id.clone(),
        ..DeliveryFilter::default()
    };
    assert_eq!(found(&*store, &me, &of_workspace).await.len(), 1);
    assert_eq!(found(&*store, &viewer(&theirs), &of_workspace).await, []);
    let counts = store.count_deliveries(&me, &all, 10).await.unwrap();
    assert_eq!(counts.pending, exactly(3));
    let (retried, _) = change_all(&*store, &me, &of_event, DeliveryChange::Discard, 10).await;
    assert_eq!(retried.changed, 3);
    let counts = store.count_deliveries(&viewer(&theirs), &all, 10).await;
    assert_eq!(counts.unwrap().pending, exactly(1));
    let theirs = DeliveryFilter {
        webhook_id: Some(create_webhook(&*store, &theirs).await.id),
        ..DeliveryFilter::default()
    };
    assert_eq!(found(&*store, &me, &theirs).await, []);
}

/// In the order of their dispatch, whatever their webhooks and states are; a cursor may be gone.
pub async fn deliveries_of_all_webhooks_are_paged_both_ways(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let me = viewer(&field.mine);
    let [first, second] = &field.webhooks;
    for text in ["1", "2", "3"] {
        emit(&*store, &field.sources[0], &[text], T0).await;
    }
    dispatch_all(&*store, 100).await;
    let claimed = claim_some(&*store, first, epoch, T0, 2).await;
    let attempts = vec![
        attempted(&claimed[0], AfterAttempt::Dead, T0),
        attempted(&claimed[1], AfterAttempt::Delivered, T0),
    ];
    record(&*store, first, attempts).await;
    let all = DeliveryFilter::default();
    let ids = found(&*store, &me, &all).await;
    let mut sorted = ids.clone();
    sorted.sort();
    sorted.reverse();
    assert_eq!((ids.len(), &ids), (6, &sorted));
    for (position, wanted) in [
        (Position::First, &ids[..2]),
        (Position::After(ids[1].clone()), &ids[2..4]),
        (Position::After(ids[4].clone()), &ids[5..]),
        (Position::After(ids[5].clone()), &[]),
        (Position::Before(ids[5].clone()), &ids[3..5]),
        (Position::Before(ids[1].clone()), &ids[..1]),
        (Position::Before(ids[0].clone()), &[]),
    ] {
        let page = PageRequest { limit: 2, position };
        let found = store.find_deliveries(&me, &all, &page).await.unwrap();
        let found: Vec<_> = found.items.iter().map(|one| &one.id).collect();
        assert_eq!(found, wanted.iter().collect::<Vec<_>>(), "{page:?}");
    }
    let gone = Position::After(DeliveryId::new(T0 + MINUTE, entropy()));
    let page = PageRequest {
        limit: 100,
        position: gone,
    };
    let found = store.find_deliveries(&me, &all, &page).await.unwrap();
    assert_eq!(found.items.len(), 6);
    assert_eq!(found.items[0].webhook_id, second.id);
    let whole = store.delivery(&found.items[5].id).await.unwrap().unwrap();
    assert_eq!(format!("{whole:?}"), format!("{:?}", found.items[5]));
}

/// Two events of each source, and an attempt of each delivery to the first webhook.
async fn attempted_field(store: &dyn Store, epoch: NodeEpoch) -> (Field, Vec<ClaimedDelivery>) {
    let field = field(store, epoch).await;
    for (source, at_ms) in field.sources.iter().zip([T0, T0 + MINUTE]) {
        emit(store, source, &["1", "2"], at_ms).await;
        store.dispatch(at_ms, 100, u32::MAX).await.unwrap();
    }
    let first = &field.webhooks[0];
    let claimed = claim_deliveries(store, first, epoch, T0 + MINUTE).await;
    let attempts = vec![
        attempted(&claimed[0], AfterAttempt::Delivered, T0),
        attempted(&claimed[1], AfterAttempt::Dead, T0),
        unanswered(&claimed[2], AttemptFailure::Timeout),
        attempted(&claimed[3], AfterAttempt::RetryAt(T0 + 9 * MINUTE), T0),
    ];
    record(store, first, attempts).await;
    (field, claimed)
}

fn of_state(state: DeliveryState) -> DeliveryFilter {
    DeliveryFilter {
        states: vec![state],
        ..DeliveryFilter::default()
    }
}

fn of_answer(answer: &str) -> DeliveryFilter {
    DeliveryFilter {
        answer: Some(answer.parse().unwrap()),
        ..DeliveryFilter::default()
    }
}

/// They are counted as they are found.
pub async fn deliveries_are_found_by_each_field_of_the_filter(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (field, claimed) = attempted_field(&*store, epoch).await;
    let me = viewer(&field.mine);
    let filter = DeliveryFilter::default;
    let of_event = DeliveryFilter {
        event: Some(claimed[1].event.id),
        emitter: Some(emitter(&field.sources[0])),
        ..filter()
    };
    let of_webhook = DeliveryFilter {
        webhook_id: Some(field.webhooks[1].id.clone()),
        ..filter()
    };
    let of_emitter = DeliveryFilter {
        emitter: Some(emitter(&field.sources[1])),
        ..filter()
    };
    let since = DeliveryFilter {
        since_ms: Some(T0 + MINUTE),
        ..filter()
    };
    let until = DeliveryFilter {
        until_ms: Some((T0 + MINUTE).minus(MS)),
        ..filter()
    };
    for (filter, count) in [
        (filter(), 8),
        (of_state(DeliveryState::Pending), 5),
        (of_state(DeliveryState::Discarded), 0),
        (of_webhook, 4),
        (of_emitter, 4),
        (since, 4),
        (until, 4),
        (of_event, 2),
        (of_answer("4xx"), 0),
    ] {
        let counts = store.count_deliveries(&me, &filter, 100).await.unwrap();
        assert_eq!(counts.total(), exactly(count), "{filter:?}");
        let ids = found(&*store, &me, &filter).await;
        assert_eq!(ids.len() as u64, count, "{filter:?}");
    }
}

/// By either, and by both, also together with an event.
pub async fn deliveries_are_found_by_state_and_result(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (field, claimed) = attempted_field(&*store, epoch).await;
    let me = viewer(&field.mine);
    let both = DeliveryFilter {
        states: vec![DeliveryState::Dead],
        ..of_answer("5xx")
    };
    // A state that is named twice is meant once.
    let ended = DeliveryFilter {
        states: vec![
            DeliveryState::Delivered,
            DeliveryState::Dead,
            DeliveryState::Dead,
        ],
        ..DeliveryFilter::default()
    };
    let delivered_or_dead = DeliveryFilter {
        states: ended.states.clone(),
        ..of_answer("5xx")
    };
    let dead_of_event = DeliveryFilter {
        event: Some(claimed[1].event.id),
        emitter: Some(emitter(&field.sources[0])),
        ..of_state(DeliveryState::Dead)
    };
    for (filter, wanted) in [
        (of_state(DeliveryState::Delivered), vec![&claimed[0]]),
        (
            of_state(DeliveryState::Dead),
            vec![&claimed[2], &claimed[1]],
        ),
        (of_answer("2xx"), vec![&claimed[0]]),
        (of_answer("5xx"), vec![&claimed[3], &claimed[1]]),
        (of_answer("timeout"), vec![&claimed[2]]),
        (both, vec![&claimed[1]]),
        (ended, vec![&claimed[2], &claimed[1], &claimed[0]]),
        (delivered_or_dead, vec![&claimed[1]]),
        (dead_of_event, vec![&claimed[1]]),
    ] {
        let wanted = wanted.into_iter();
        let wanted: Vec<_> = wanted.map(|one| one.lease.delivery_id.clone()).collect();
        assert_eq!(found(&*store, &me, &filter).await, wanted, "{filter:?}");
        let counts = store.count_deliveries(&me, &filter, 100).await.unwrap();
        assert_eq!(counts.total(), exactly(wanted.len() as u64), "{filter:?}");
    }
}

/// In any case, also in a summary, and at places of the JSON; they are counted and changed in the same way.
pub async fn deliveries_are_found_by_the_words_of_their_events(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let me = viewer(&field.mine);
    let texts = [r#"{"order":"ÄPFEL","n":1}"#, r#"{"order":"pears","n":12}"#];
    emit(&*store, &field.sources[0], &texts, T0).await;
    dispatch_all(&*store, 100).await;
    let of = |words: &str, paths: &[&str]| {
        let paths: Vec<_> = paths.iter().map(|path| (*path).to_owned()).collect();
        DeliveryFilter {
            matcher: EventMatcher::new(words, &paths).unwrap(),
            ..DeliveryFilter::default()
        }
    };
    for (filter, count) in [
        (of("äpfel", &[]), 2),
        (of("ORDER", &[]), 4),
        (of("order", &["n=1"]), 2),
        (of("plums", &[]), 0),
    ] {
        assert_eq!(found(&*store, &me, &filter).await.len(), count);
        let counts = store.count_deliveries(&me, &filter, 100).await.unwrap();
        assert_eq!(counts.total(), exactly(count as u64), "{filter:?}");
    }
    let pears = of("pears", &[]);
    let (changed, _) = change_all(&*store, &me, &pears, DeliveryChange::Discard, 1).await;
    assert_eq!(changed.changed, 2);
    let left = of_state(DeliveryState::Pending);
    let counts = store.count_deliveries(&me, &left, 100).await.unwrap();
    assert_eq!(counts.total(), exactly(2));
}

/// In one step, whichever their webhooks are; another's and those that are gone are passed over.
pub async fn those_that_were_chosen_are_changed(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (field, claimed) = attempted_field(&*store, epoch).await;
    let me = viewer(&field.mine);
    let id = |place: usize| claimed[place].lease.delivery_id.clone();
    let chosen = DeliveryFilter {
        ids: vec![id(2), id(0), id(2), DeliveryId::new(T0, entropy())],
        ..DeliveryFilter::default()
    };
    assert_eq!(found(&*store, &me, &chosen).await, [id(2), id(0)]);
    let retry = step(DeliveryChange::Retry, None, 100);
    let other = viewer(&owner());
    let done = store.change_deliveries(&other, &chosen, &retry).await;
    assert_eq!(done.unwrap().changed, 0);
    let done = store.change_deliveries(&me, &chosen, &retry).await.unwrap();
    assert_eq!((done.changed, done.continue_after), (2, None));
    let again = claim_deliveries(&*store, &field.webhooks[0], epoch, T0 + MINUTE).await;
    let again: Vec<_> = again.iter().map(|one| &one.lease.delivery_id).collect();
    assert_eq!(again, [&id(0), &id(2)], "in the order of their events");
}

/// The deliveries keep their event.
pub async fn an_event_that_is_gone_leads_to_its_deliveries(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let from = &field.sources[0];
    emit(&*store, from, &["1", "2"], T0).await;
    dispatch_all(&*store, 100).await;
    let id = ids(&*store, from).await[0];
    trim_all(&*store, 0, 100).await;
    let of = EventRef {
        emitter: emitter(from),
        id,
    };
    assert!(store.event(&of).await.unwrap().is_none());
    let filter = DeliveryFilter {
        emitter: Some(of.emitter),
        event: Some(of.id),
        ..DeliveryFilter::default()
    };
    let page = PageRequest::first(9);
    let me = viewer(&field.mine);
    let found = store.find_deliveries(&me, &filter, &page).await.unwrap();
    let texts: Vec<_> = found
        .items
        .iter()
        .map(|one| one.event.event.get())
        .collect();
    assert_eq!(texts, ["1", "1"]);
}

/// The page is short then, and says where to go on.
pub async fn a_search_is_bounded_and_goes_on_where_it_stopped(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let [wanted, other] = &field.sources;
    emit(&*store, wanted, &["1"], T0).await;
    let events = DELIVERIES_SEARCHED_MAX as usize / 2 + 1;
    let texts = vec!["0"; events];
    emit(&*store, other, &texts, T0).await;
    while store.dispatch(T0, 2_000, u32::MAX).await.unwrap().more {}
    let me = viewer(&field.mine);
    let filter = DeliveryFilter {
        emitter: Some(emitter(wanted)),
        ..DeliveryFilter::default()
    };
    let page = PageRequest::first(10);
    let first = store.find_deliveries(&me, &filter, &page).await.unwrap();
    assert!(first.items.is_empty());
    let page = PageRequest {
        limit: 10,
        position: Position::After(first.searched_to.unwrap()),
    };
    let second = store.find_deliveries(&me, &filter, &page).await.unwrap();
    assert_eq!((second.items.len(), second.searched_to), (2, None));
    let counts = store.count_deliveries(&me, &filter, DELIVERIES_SEARCHED_MAX);
    let counts = counts.await.unwrap();
    assert!(counts.pending.is_capped);
    assert!(counts.pending.count < 3, "{counts:?}");
}

/// Each state by itself.
pub async fn counts_are_capped(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let me = viewer(&field.mine);
    emit(&*store, &field.sources[0], &["1", "2", "3"], T0).await;
    dispatch_all(&*store, 100).await;
    let claimed = claim_some(&*store, &field.webhooks[0], epoch, T0, 2).await;
    let dead = AfterAttempt::Dead;
    end_all(&*store, &field.webhooks[0], &claimed, dead, T0).await;
    store
        .discard_delivery(&claimed[0].lease.delivery_id, T0)
        .await
        .unwrap();
    let all = DeliveryFilter::default();
    for (limit, pending) in [
        (
            3,
            CappedCount {
                count: 3,
                is_capped: true,
            },
        ),
        (4, exactly(4)),
        (5, exactly(4)),
    ] {
        let wanted = DeliveryCounts {
            pending,
            delivered: exactly(0),
            dead: exactly(1),
            discarded: exactly(1),
        };
        let counts = store.count_deliveries(&me, &all, limit).await.unwrap();
        assert_eq!(counts, wanted, "{limit}");
    }
    let dead = DeliveryFilter {
        states: vec![DeliveryState::Dead],
        ..all
    };
    let counts = store.count_deliveries(&me, &dead, 9).await.unwrap();
    assert_eq!((counts.total(), counts.pending), (exactly(1), exactly(0)));
}

/// In the order of their events, also those that are pending already.
pub async fn many_are_retried_in_bounded_steps(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let me = viewer(&field.mine);
    emit(&*store, &field.sources[0], &["1", "2", "3"], T0).await;
    dispatch_all(&*store, 100).await;
    for webhook in &field.webhooks {
        let claimed = claim_deliveries(&*store, webhook, epoch, T0).await;
        let attempts = vec![
            attempted(&claimed[0], AfterAttempt::RetryAt(T0 + 60 * MINUTE), T0),
            attempted(&claimed[1], AfterAttempt::Dead, T0),
            attempted(&claimed[2], AfterAttempt::Delivered, T0),
        ];
        record(&*store, webhook, attempts).await;
    }
    let failed = DeliveryFilter {
        answer: Some(AnswerKind::Status(5)),
        ..DeliveryFilter::default()
    };
    let (retried, steps) = change_all(&*store, &me, &failed, DeliveryChange::Retry, 3).await;
    assert_eq!((retried.changed, retried.left_out, steps), (4, 0, 2));
    let store = factory.reopen(store).await;
    for webhook in &field.webhooks {
        assert!(retried.webhooks.contains(&webhook.id));
        let claimed = claim_deliveries(&*store, webhook, epoch, T0 + MINUTE).await;
        assert_eq!(delivered_texts(&claimed), ["1", "2"]);
    }
}

/// They are counted, and may be discarded.
pub async fn those_of_inactive_webhooks_are_not_retried(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let me = viewer(&field.mine);
    emit(&*store, &field.sources[0], &["1"], T0).await;
    dispatch_all(&*store, 100).await;
    for webhook in &field.webhooks {
        let claimed = claim_deliveries(&*store, webhook, epoch, T0).await;
        end_all(&*store, webhook, &claimed, AfterAttempt::Dead, T0).await;
    }
    let off = Webhook {
        active: false,
        ..field.webhooks[0].clone()
    };
    rewrite(&*store, &off).await;
    let dead = DeliveryFilter {
        states: vec![DeliveryState::Dead],
        ..DeliveryFilter::default()
    };
    let (retried, _) = change_all(&*store, &me, &dead, DeliveryChange::Retry, 10).await;
    assert_eq!((retried.changed, retried.left_out), (1, 1));
    assert_eq!(retried.webhooks, [field.webhooks[1].id.clone()]);
    let (discarded, _) = change_all(&*store, &me, &dead, DeliveryChange::Discard, 10).await;
    assert_eq!((discarded.changed, discarded.left_out), (1, 0));
}

/// The same as the step itself, which comes after it.
pub async fn a_dry_step_tells_what_would_be_changed(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let me = viewer(&field.mine);
    emit(&*store, &field.sources[0], &["1", "2"], T0).await;
    dispatch_all(&*store, 100).await;
    for webhook in &field.webhooks {
        let claimed = claim_some(&*store, webhook, epoch, T0, 1).await;
        end_all(&*store, webhook, &claimed, AfterAttempt::Delivered, T0).await;
    }
    let off = Webhook {
        active: false,
        ..field.webhooks[0].clone()
    };
    rewrite(&*store, &off).await;
    let all = DeliveryFilter::default();
    let before = store.count_deliveries(&me, &all, 10).await.unwrap();
    for change in [DeliveryChange::Retry, DeliveryChange::Discard] {
        let wet = step(change, None, 10);
        let dry = DeliveryStep {
            is_dry: true,
            ..wet.clone()
        };
        let told = store.change_deliveries(&me, &all, &dry).await.unwrap();
        assert!(told.changed > 0);
        if change == DeliveryChange::Retry {
            let counts = store.count_deliveries(&me, &all, 10).await.unwrap();
            assert_eq!(counts, before);
        }
        let changed = store.change_deliveries(&me, &all, &wet).await.unwrap();
        assert_eq!(told, changed);
    }
}

/// Delivered ones stay so.
pub async fn many_are_discarded_in_bounded_steps(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let field = field(&*store, epoch).await;
    let me = viewer(&field.mine);
    emit(&*store, &field.sources[0], &["1", "2", "3"], T0).await;
    dispatch_all(&*store, 100).await;
    let claimed = claim_some(&*store, &field.webhooks[0], epoch, T0, 2).await;
    let attempts = vec![
        attempted(&claimed[0], AfterAttempt::Delivered, T0),
        attempted(&claimed[1], AfterAttempt::Dead, T0),
    ];
    record(&*store, &field.webhooks[0], attempts).await;
    let all = DeliveryFilter::default();
    let discard = DeliveryChange::Discard;
    let (discarded, steps) = change_all(&*store, &me, &all, discard, 4).await;
    assert_eq!((discarded.changed, steps), (5, 2));
    let (discarded, _) = change_all(&*store, &me, &all, discard, 4).await;
    assert_eq!(discarded.changed, 0);
    let counts = store.count_deliveries(&me, &all, 10).await.unwrap();
    assert_eq!(
        (counts.delivered, counts.discarded),
        (exactly(1), exactly(5))
    );
}
