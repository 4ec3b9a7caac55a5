//! Sources: deployed, settled, listed and deleted.

use headwater_model::{
    channel::Channel, dedupe, endpoint::EndpointToken, id::SourceId, subscription::EmitterPattern,
    time::EpochMs, time::EpochSeconds,
};

use super::{Factory, fixture::*};
use crate::{
    AfterRun, ChannelFilter, Endpoint, InvocationEnd, KvWrite, NewInvocation, NewSource, NodeEpoch,
    Owner, RunCommit, RunnableFilter, SettledSource, Source, SourceState, Store, Trigger,
};

fn endpoint(prop: &str, token: &str) -> Endpoint {
    Endpoint {
        token: EndpointToken::new(token),
        prop: prop.to_owned(),
    }
}

fn new_source(like: &Source, endpoints: Vec<Endpoint>) -> NewSource {
    let mut spec = like.spec.clone();
    spec.endpoints = endpoints;
    NewSource {
        id: SourceId::new(T0, entropy()),
        owner: like.owner.clone(),
        slug: "source".to_owned(),
        spec,
        now_at: T0.to_seconds(),
    }
}

fn assert_same(one: &Source, two: &Source) {
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
}

/// Every part of a source reads back as it was written, in its order.
pub async fn a_source_reads_back_as_it_was_written(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mut source = begin(&*store, epoch, &workspace_owner(), "New Row").await;
    let mut new = new_source(
        &source,
        vec![endpoint("z", "token-z"), endpoint("a", "token-a")],
    );
    new.spec.timers = vec![timer("z", 60), timer("a", 90)];
    new.spec.dedupe = Some(dedupe::Strategy::Greatest);
    new.spec.is_isolated = true;
    new.spec.name = "Näme".to_owned();
    let props = serde_json::json!({ "b": 1.5, "a": { "y": [null], "x": "é" } });
    new.spec.configured_props = props.as_object().unwrap().clone();
    let begun = begun(&*store, epoch, new.clone()).await;
    assert_eq!(begun.state, SourceState::Deploying);
    assert_eq!(begun.spec.endpoints, new.spec.endpoints);
    assert_eq!(begun.spec.timers, new.spec.timers);
    let store = factory.reopen(store).await;
    assert_same(&store.source(&begun.id).await.unwrap().unwrap(), &begun);
    let settled = store
        .settle_source(settled(&begun, true, T0 + 5 * SECOND))
        .await
        .unwrap();
    source.clone_from(&begun);
    source.state = SourceState::Active;
    source.updated_at = T0.to_seconds() + 5 * SECOND;
    assert_same(&settled, &source);
    assert_same(&store.source(&begun.id).await.unwrap().unwrap(), &source);
    source.spec.is_isolated = false;
    let now_ms = T0 + 5 * SECOND;
    let shared = store.settle_source(self::settled(&source, true, now_ms));
    assert_same(&shared.await.unwrap(), &source);
    let nobody = SourceId::new(T0, entropy());
    assert!(store.source(&nobody).await.unwrap().is_none());
}

/// Slugs are unique among an owner's sources; an empty name is the slug.
pub async fn a_taken_slug_is_numbered(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (shared, alone) = (workspace_owner(), owner());
    let colleague = Owner {
        user_id: alone.user_id.clone(),
        ..shared.clone()
    };
    let slug = async |owner: &Owner, slug: &str| {
        let source = begin(&*store, epoch, owner, slug).await;
        assert_eq!(source.name_slug, source.spec.name);
        source.name_slug.clone()
    };
    assert_eq!(slug(&alone, "new-row").await, "new-row");
    assert_eq!(slug(&alone, "new-row").await, "new-row-1");
    assert_eq!(slug(&shared, "new-row").await, "new-row");
    assert_eq!(slug(&colleague, "new-row").await, "new-row-1");
    assert_eq!(slug(&alone, "new-row-2").await, "new-row-2");
    assert_eq!(slug(&alone, "new-row").await, "new-row-3");
    assert_eq!(slug(&alone, "new-row-1").await, "new-row-1-1");
}

/// Endpoints lead to their source from the first hook to the end of its deletion.
pub async fn endpoints_lead_to_their_source(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let like = begin(&*store, epoch, &owner(), "like").await;
    let new = new_source(
        &like,
        vec![endpoint("http", "one"), endpoint("other", "two")],
    );
    let mut source = begun(&*store, epoch, new).await;
    let behind = async |store: &dyn Store, token: &str| {
        let found = store
            .source_by_endpoint(&EndpointToken::new(token))
            .await
            .unwrap();
        found.map(|source| source.id)
    };
    assert_eq!(behind(&*store, "one").await, Some(source.id.clone()));
    assert_eq!(behind(&*store, "two").await, Some(source.id.clone()));
    source.spec.endpoints = vec![endpoint("http", "one"), endpoint("new", "three")];
    store
        .settle_source(settled(&source, false, T0))
        .await
        .unwrap();
    let store = factory.reopen(store).await;
    assert_eq!(behind(&*store, "one").await, Some(source.id.clone()));
    assert_eq!(behind(&*store, "two").await, None);
    assert_eq!(behind(&*store, "three").await, Some(source.id.clone()));
    store
        .set_source_state(&source.lease, SourceState::Deleting)
        .await
        .unwrap();
    assert_eq!(behind(&*store, "one").await, Some(source.id.clone()));
    store.delete_source(&source.lease).await.unwrap();
    assert_eq!(behind(&*store, "one").await, None);
}

/// A state changes alone; names change alone.
pub async fn states_and_names_change_alone(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mut source = deploy_with_timers(&*store, epoch, &owner(), vec![timer("timer", 60)]).await;
    store
        .set_source_state(&source.lease, SourceState::Updating)
        .await
        .unwrap();
    source.state = SourceState::Updating;
    assert_same(&store.source(&source.id).await.unwrap().unwrap(), &source);
    store
        .rename_source(&source.id, "another", EpochSeconds(99))
        .await
        .unwrap();
    source.spec.name = "another".to_owned();
    source.updated_at = EpochSeconds(99);
    assert_same(&store.source(&source.id).await.unwrap().unwrap(), &source);
}

/// Nothing can be done with a source that is gone.
pub async fn a_source_that_is_gone_is_a_conflict(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    store.delete_source(&source.lease).await.unwrap();
    assert_conflict(store.settle_source(settled(&source, true, T0)).await);
    assert_conflict(
        store
            .set_source_state(&source.lease, SourceState::Active)
            .await,
    );
    assert_conflict(
        store
            .rename_source(&source.id, "name", EpochSeconds(1))
            .await,
    );
    assert!(store.source(&source.id).await.unwrap().is_none());
}

/// Effects of hooks become visible together with the end of the deployment, in order.
pub async fn settling_commits_what_the_hooks_did(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = begin(&*store, epoch, &owner(), "source").await;
    let end = SettledSource {
        commits: vec![
            run_of(&source, vec![event("1")], T0),
            run_of(&source, vec![event("2")], T0),
        ],
        ..settled(&source, true, T0)
    };
    store.settle_source(end).await.unwrap();
    assert_eq!(texts(&*store, &source).await, ["2", "1"]);
}

/// When one part of a settlement cannot be, nothing of it is.
pub async fn settling_is_all_or_nothing(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = begin(&*store, epoch, &owner(), "source").await;
    let lease = store
        .enqueue(manual(&source.id, "1"), held(&source, epoch))
        .await
        .unwrap()
        .unwrap();
    store.release(&lease, None).await.unwrap();
    let mut end = SettledSource {
        commits: vec![
            run_of(&source, vec![event("1")], T0),
            end_of_lease(&source, &lease),
        ],
        ..settled(&source, false, T0)
    };
    end.spec.timers = vec![timer("timer", 60)];
    end.spec.name = "another".to_owned();
    assert_conflict(store.settle_source(end).await);
    assert_same(&store.source(&source.id).await.unwrap().unwrap(), &source);
    assert!(texts(&*store, &source).await.is_empty());
    assert_eq!(claim_all(&*store, &source.id, epoch, T0).await.len(), 1);
}

/// Ticks and events that wait are dropped with the triggers, acknowledged requests wait; one that runs may end.
pub async fn the_queue_is_dropped_when_a_source_ends_inactive(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let (source, other) = (
        deploy(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    let queued = |source: &Leased, text: &str, trigger| NewInvocation {
        trigger,
        ..manual(&source.id, text)
    };
    let running = queued(&source, "1", Trigger::Event);
    let lease = store.enqueue(running, held(&source, epoch)).await;
    for source in [&source, &other] {
        let event = queued(source, "2", Trigger::Event);
        store.enqueue(event, None).await.unwrap();
    }
    let request = queued(&source, "3", Trigger::Http);
    store.enqueue(request, None).await.unwrap();
    store
        .settle_source(settled(&source, false, T0))
        .await
        .unwrap();
    let kept = claim_all(&*store, &source.id, epoch, T0).await;
    let kept: Vec<_> = kept.iter().map(|claimed| claimed.trigger).collect();
    assert_eq!(kept, [Trigger::Http]);
    commit(&*store, end_of_lease(&source, &lease.unwrap().unwrap()))
        .await
        .unwrap();
    assert_eq!(claim_all(&*store, &other.id, epoch, T0).await.len(), 1);
}

/// A tick that has begun and left a checkpoint is none that waits.
pub async fn checkpoints_outlast_an_inactive_source(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let tick = NewInvocation {
        trigger: Trigger::Timer,
        ..manual(&source.id, "1")
    };
    store.enqueue(tick, None).await.unwrap();
    let begun = claim_all(&*store, &source.id, epoch, T0).await.remove(0);
    let checkpoint = RunCommit {
        invocation: Some(InvocationEnd {
            lease: begun.lease.clone(),
            then: AfterRun::Checkpoint {
                state: json("2"),
                due_at_ms: EpochMs(0),
            },
        }),
        ..end_of(&begun)
    };
    commit(&*store, checkpoint).await.unwrap();
    for active in [false, true] {
        let end = settled(&source, active, T0);
        store.settle_source(end).await.unwrap();
    }
    let again = claim_all(&*store, &source.id, epoch, T0).await;
    assert_eq!(again[0].state.as_ref().unwrap().get(), "2");
}

/// An update that ends active keeps what waits.
pub async fn the_queue_is_kept_when_a_source_ends_active(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    store.enqueue(manual(&source.id, "1"), None).await.unwrap();
    store
        .settle_source(settled(&source, true, T0))
        .await
        .unwrap();
    assert_eq!(claim_all(&*store, &source.id, epoch, T0).await.len(), 1);
}

/// The state of one strategy is not used by another; hooks write the new one's.
pub async fn the_dedupe_state_is_reset_when_the_strategy_changes(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mut source = deploy(&*store, epoch, &owner()).await;
    source.spec.dedupe = Some(dedupe::Strategy::Greatest);
    store
        .settle_source(settled(&source, true, T0))
        .await
        .unwrap();
    let greatest = dedupe::State::Greatest { largest: Some(7.5) };
    let run = RunCommit {
        dedupe: Some(greatest.clone()),
        ..run_of(&source, Vec::new(), T0)
    };
    commit(&*store, run).await.unwrap();
    store
        .settle_source(settled(&source, true, T0))
        .await
        .unwrap();
    assert_eq!(
        store.dedupe_state(&runnable(&source)).await.unwrap(),
        Some(greatest)
    );
    source.spec.dedupe = Some(dedupe::Strategy::Last);
    store
        .settle_source(settled(&source, true, T0))
        .await
        .unwrap();
    assert_eq!(store.dedupe_state(&runnable(&source)).await.unwrap(), None);
    source.spec.dedupe = Some(dedupe::Strategy::Unique);
    let unique = dedupe::State::Unique {
        ids: ["1".to_owned()].into(),
    };
    let hook = RunCommit {
        dedupe: Some(unique.clone()),
        ..run_of(&source, Vec::new(), T0)
    };
    let end = SettledSource {
        commits: vec![hook],
        ..settled(&source, true, T0)
    };
    store.settle_source(end).await.unwrap();
    assert_eq!(
        store.dedupe_state(&runnable(&source)).await.unwrap(),
        Some(unique)
    );
    source.spec.dedupe = None;
    store
        .settle_source(settled(&source, true, T0))
        .await
        .unwrap();
    assert_eq!(store.dedupe_state(&runnable(&source)).await.unwrap(), None);
}

/// Changes that a dead node left unfinished are found.
pub async fn unsettled_sources_are_found(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let mut wanted = Vec::new();
    for state in [
        SourceState::Deploying,
        SourceState::Active,
        SourceState::Inactive,
        SourceState::Updating,
        SourceState::Deleting,
    ] {
        let source = deploy(&*store, epoch, &mine).await;
        store.set_source_state(&source.lease, state).await.unwrap();
        if !matches!(state, SourceState::Active | SourceState::Inactive) {
            wanted.push((source.source.id, state));
        }
    }
    let store = factory.reopen(store).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let found = store.unsettled_sources(epoch, T0, None, 10).await.unwrap();
    let mut found: Vec<_> = found
        .into_iter()
        .map(|source| (source.id, source.state))
        .collect();
    found.sort_by(|one, two| one.0.cmp(&two.0));
    assert_eq!(found, wanted);
    assert_eq!(
        store
            .unsettled_sources(epoch, T0, None, 2)
            .await
            .unwrap()
            .len(),
        2
    );
}

/// Sources that cannot be settled hide no others.
pub async fn all_unsettled_sources_are_reached_in_steps(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let mut wanted = Vec::new();
    for _ in 0..5 {
        let source = deploy(&*store, epoch, &mine).await;
        let updating = SourceState::Updating;
        store
            .set_source_state(&source.lease, updating)
            .await
            .unwrap();
        wanted.push(source.source.id);
    }
    wanted.sort();
    let mut found: Vec<SourceId> = Vec::new();
    loop {
        let step = store.unsettled_sources(epoch, T0, found.last(), 2).await;
        let step = step.unwrap();
        if step.is_empty() {
            break;
        }
        assert!(step.len() <= 2);
        found.extend(step.into_iter().map(|source| source.id));
    }
    assert_eq!(found, wanted);
}

/// Listings show what a user made or what lives in a workspace, once it is there and until it goes.
pub async fn sources_are_listed_by_user_and_by_workspace(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let shared = workspace_owner();
    let private = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    let colleague = Owner {
        workspace_id: shared.workspace_id.clone(),
        ..owner()
    };
    let mut ids = Vec::new();
    let mut leases = Vec::new();
    for owner in [&shared, &private, &colleague] {
        let Leased { source, lease } = deploy(&*store, epoch, owner).await;
        ids.push(source.id);
        leases.push(lease);
    }
    begin(&*store, epoch, &shared, "deploying").await;
    let going = deploy(&*store, epoch, &shared).await;
    store
        .set_source_state(&going.lease, SourceState::Deleting)
        .await
        .unwrap();
    store
        .set_source_state(&leases[0], SourceState::Updating)
        .await
        .unwrap();
    let listed = async |filter| {
        let request = headwater_model::page::PageRequest::first(10);
        let page = store.sources(&filter, &request).await.unwrap();
        assert_eq!(page.total_count, page.items.len() as u64);
        page.items
            .into_iter()
            .map(|source| source.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(RunnableFilter::user(shared.user_id)).await, ids[..2]);
    let workspace = RunnableFilter::workspace(shared.workspace_id.unwrap());
    assert_eq!(listed(workspace).await, [ids[0].clone(), ids[2].clone()]);
}

/// A source with something of every kind.
async fn furnished(store: &dyn Store, epoch: NodeEpoch, mine: &Owner) -> Leased {
    let mut source = begin(store, epoch, mine, "furnished").await;
    source.spec.timers = vec![timer("timer", 60)];
    source.spec.endpoints = vec![endpoint("http", "token")];
    source.spec.dedupe = Some(dedupe::Strategy::Last);
    let source = settle(store, source).await;
    let run = RunCommit {
        dedupe: Some(dedupe::State::Last { id: None }),
        kv_writes: vec![KvWrite {
            key: "a".to_owned(),
            value: Some(json("1")),
        }],
        ..run_of(
            &source,
            vec![
                event("1"),
                event_on(Channel::logs(), "2"),
                event_later(Channel::default(), T0 + SECOND, "3"),
            ],
            T0,
        )
    };
    commit(store, run).await.unwrap();
    store.enqueue(manual(&source.id, "1"), None).await.unwrap();
    source
}

/// Nothing is left of a deleted source, and nothing of others goes with it. Deleting twice is harmless.
pub async fn deleting_a_source_removes_everything_of_it(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let (source, other) = (
        furnished(&*store, epoch, &mine).await,
        deploy(&*store, epoch, &mine).await,
    );
    listen(&*store, &mine, &source, &other).await;
    listen(&*store, &mine, &other, &source).await;
    let kept = subscription(
        &mine,
        EmitterPattern::AllSources,
        &other,
        Channel::default(),
    );
    store.subscribe(kept.clone()).await.unwrap();
    emit(&*store, &other, &["1"], T0).await;
    store
        .request_deletion(deletion(&source, ordinary(), (None, None)))
        .await
        .unwrap();
    store.delete_source(&source.lease).await.unwrap();
    store.delete_source(&source.lease).await.unwrap();
    assert_gone(&*store, epoch, &source).await;
    assert_eq!(
        store.subscriptions(&of_user(&mine), 10).await.unwrap(),
        [kept]
    );
    let due = store.fire_timers(T0 + MINUTE, 10).await.unwrap();
    assert_eq!((due.done, due.next_due_ms), (0, None));
    let due = store.release_scheduled(T0 + MINUTE, 10).await.unwrap();
    assert_eq!((due.done, due.next_due_ms), (0, None));
    assert!(claim_all(&*store, &source.id, epoch, T0).await.is_empty());
    assert_eq!(run_all_deletions(&*store, 10).await, 0);
    dispatch_all(&*store, 10).await;
    assert_eq!(trim_all(&*store, 1, 10).await, 0);
    assert_eq!(texts(&*store, &other).await, ["1"]);
}

async fn assert_gone(store: &dyn Store, epoch: NodeEpoch, source: &Source) {
    assert!(store.source(&source.id).await.unwrap().is_none());
    assert!(
        store
            .source_by_endpoint(&EndpointToken::new("token"))
            .await
            .unwrap()
            .is_none()
    );
    assert!(
        store
            .key_values(&runnable(source))
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(store.dedupe_state(&runnable(source)).await.unwrap(), None);
    for channel in [Channel::default(), Channel::logs(), Channel::scheduled()] {
        assert!(
            listed(store, source, &ChannelFilter::Named(channel))
                .await
                .is_empty()
        );
    }
    // Its slug and endpoint can be used again.
    let again = begin(store, epoch, &source.owner, "furnished").await;
    assert_eq!(again.name_slug, "furnished");
    let new = new_source(&again, vec![endpoint("http", "token")]);
    let reused = begun(store, epoch, new).await;
    store.delete_source(&reused.lease).await.unwrap();
}
