//! Workflows as records: deployments, triggers, activity and deletion.

use headwater_model::{
    channel::Channel,
    endpoint::EndpointToken,
    id::{EmitterId, ListenerId, SubscriptionId, TriggerKind, WorkflowId},
    page::PageRequest,
    subscription::{AutoSubscription, EmitterPattern, Subscription},
};

use super::{
    Factory,
    fixture::{
        MINUTE, SECOND, T0, assert_conflict, call_of, claim_runs, deploy, deployment, emit,
        emitter, endpoint, entropy, given, owner, start, timer_of, trigger, workflow,
    },
};
use crate::{
    Conflict, NewInvocation, RunnableFilter, StoreError, SubscriptionFilter, Trigger, WorkflowFeed,
    WorkflowState,
};

pub async fn a_workflow_reads_back_as_it_was_written(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let owner = owner();
    let id = WorkflowId::new(T0, entropy());
    let mut wanted = deployment(&id, &owner, T0);
    let way = endpoint("secret-token");
    wanted.endpoints = vec![way.clone()];
    let written = store.deploy_workflow(wanted.clone()).await.unwrap();
    let store = factory.reopen(store).await;
    let read = store.workflow(&id).await.unwrap();
    assert_eq!(read.as_ref(), Some(&written));
    assert_eq!((&*written.name, &*written.name_slug), ("Orders", "orders"));
    assert_eq!(written.state, WorkflowState::Active);
    let kept = store
        .deployment(&written.deployment_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(kept.content.get(), wanted.deployment.content.get());
    let found = store
        .workflow_by_endpoint(&way.token)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found, (written, way));
    let unknown = EndpointToken::new("another");
    assert_eq!(store.workflow_by_endpoint(&unknown).await.unwrap(), None);
}

pub async fn a_taken_slug_of_a_workflow_is_numbered(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let owner = owner();
    let mut slugs = Vec::new();
    for _ in 0..3 {
        slugs.push(workflow(&*store, &owner).await.name_slug);
    }
    assert_eq!(slugs, ["orders", "orders-1", "orders-2"]);
    let page = store
        .workflows(
            &RunnableFilter::user(owner.user_id),
            &PageRequest::first(10),
        )
        .await
        .unwrap();
    assert_eq!(page.total_count, 3);
}

pub async fn an_id_of_another_owner_is_taken(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = workflow(&*store, &owner()).await;
    let stolen = store
        .deploy_workflow(deployment(&mine.id, &owner(), T0))
        .await;
    assert_conflict(stolen);
    let still = store.workflow(&mine.id).await.unwrap().unwrap();
    assert_eq!(still.owner, mine.owner);
}

pub async fn former_deployments_stay(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let owner = owner();
    let first = workflow(&*store, &owner).await;
    let later = deployment(&first.id, &owner, T0 + SECOND);
    let second = store.deploy_workflow(later).await.unwrap();
    assert_ne!(first.deployment_id, second.deployment_id);
    assert!(
        store
            .deployment(&first.deployment_id)
            .await
            .unwrap()
            .is_some()
    );
    let page = store
        .deployments(&first.id, &PageRequest::first(10))
        .await
        .unwrap();
    let ids: Vec<_> = page.items.into_iter().map(|one| one.id).collect();
    assert_eq!(ids, [first.deployment_id, second.deployment_id]);
}

pub async fn an_unchanged_timer_keeps_its_phase(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let id = WorkflowId::new(T0, entropy());
    let (same, changed) = (trigger(TriggerKind::Timer), trigger(TriggerKind::Timer));
    let mut first = deployment(&id, &owner, T0);
    first.timers = vec![timer_of(&same, 60), timer_of(&changed, 60)];
    store.deploy_workflow(first).await.unwrap();
    let later = T0 + 30 * SECOND;
    let mut second = deployment(&id, &owner, later);
    second.timers = vec![timer_of(&same, 60), timer_of(&changed, 50)];
    store.deploy_workflow(second).await.unwrap();
    store.fire_timers(T0 + MINUTE, 10).await.unwrap();
    let fired = claim_runs(&*store, &id, epoch, T0 + MINUTE).await;
    let via: Vec<_> = fired.iter().map(|one| one.via.as_deref()).collect();
    assert_eq!(via, [Some(same.as_str())]);
    store.set_workflow_active(&id, false, later).await.unwrap();
    let progress = store.fire_timers(T0 + 10 * MINUTE, 10).await.unwrap();
    assert_eq!((progress.done, progress.next_due_ms), (0, None));
    store
        .set_workflow_active(&id, true, T0 + 10 * MINUTE)
        .await
        .unwrap();
    let progress = store.fire_timers(T0 + 11 * MINUTE, 10).await.unwrap();
    assert_eq!(progress.done, 2);
}

pub async fn turning_off_drops_ticks_and_events_that_have_not_begun(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let id = workflow(&*store, &owner).await.id;
    for (text, cause) in [
        ("1", Trigger::Http),
        ("2", Trigger::Timer),
        ("3", Trigger::Event),
    ] {
        let mut queued = call_of(&id, text);
        queued.trigger = cause;
        store.enqueue(queued, None).await.unwrap();
    }
    assert!(store.set_workflow_active(&id, false, T0).await.unwrap());
    let refused = store.enqueue(call_of(&id, "4"), None).await;
    assert!(matches!(
        refused,
        Err(StoreError::Conflict(Conflict::Inactive(_)))
    ));
    assert_eq!(
        claim_runs(&*store, &id, epoch, T0).await.len(),
        0,
        "it has not begun"
    );
    assert!(store.set_workflow_active(&id, true, T0).await.unwrap());
    assert_eq!(given(&claim_runs(&*store, &id, epoch, T0).await), ["1"]);
}

pub async fn a_run_by_hand_begins_while_its_workflow_is_inactive(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let id = workflow(&*store, &owner).await.id;
    store.enqueue(call_of(&id, "1"), None).await.unwrap();
    assert!(store.set_workflow_active(&id, false, T0).await.unwrap());
    let by_hand = NewInvocation {
        trigger: Trigger::Manual,
        ..call_of(&id, "2")
    };
    store.enqueue(by_hand, None).await.unwrap();
    let replay = NewInvocation {
        trigger: Trigger::Replay,
        ..call_of(&id, "3")
    };
    store.enqueue(replay, None).await.unwrap();
    let found = store.runnables_with_work(epoch, T0, None, 9).await.unwrap();
    assert_eq!(found, [id.clone().into()]);
    assert_eq!(
        given(&claim_runs(&*store, &id, epoch, T0).await),
        ["2", "3"]
    );
    let found = store.runnables_with_work(epoch, T0, None, 9).await.unwrap();
    assert_eq!(found, [], "the request waits until the triggers are on");
}

pub async fn events_of_its_feeds_reach_a_workflow(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let source = deploy(&*store, epoch, &owner).await;
    let id = WorkflowId::new(T0, entropy());
    let mut wanted = deployment(&id, &owner, T0);
    wanted.feeds = vec![WorkflowFeed {
        subscription: SubscriptionId::new(T0, entropy()),
        trigger: trigger(TriggerKind::Events),
        emitter: EmitterPattern::One(emitter(&source)),
        channel: String::new(),
    }];
    store.deploy_workflow(wanted.clone()).await.unwrap();
    emit(&*store, &source, &["1"], T0).await;
    let progress = store.dispatch(T0, 10, 100).await.unwrap();
    assert_eq!(progress.woken, [id.clone().into()]);
    // The same feed in a later deployment misses nothing in between.
    emit(&*store, &source, &["2"], T0).await;
    let mut later = deployment(&id, &owner, T0 + SECOND);
    later.feeds.clone_from(&wanted.feeds);
    store.deploy_workflow(later).await.unwrap();
    store.dispatch(T0, 10, 100).await.unwrap();
    let runs = claim_runs(&*store, &id, epoch, T0).await;
    assert_eq!(given(&runs), ["1", "2"]);
    assert!(
        runs.iter()
            .all(|run| run.via.as_deref() == Some(source.id.as_str()))
    );
    store
        .deploy_workflow(deployment(&id, &owner, T0 + MINUTE))
        .await
        .unwrap();
    emit(&*store, &source, &["3"], T0).await;
    let progress = store.dispatch(T0, 10, 100).await.unwrap();
    assert_eq!(progress.woken, []);
}

/// A new workflow is subscribed to, one that is deployed again is not.
pub async fn an_automatic_subscription_reaches_later_workflows_only(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let before = workflow(&*store, &mine).await;
    let listener = deploy(&*store, epoch, &mine).await;
    let wanted = AutoSubscription {
        id: SubscriptionId::new(T0, entropy()),
        user_id: mine.user_id.clone(),
        listener: ListenerId::Source(listener.id.clone()),
        channel: Channel::errors(),
    };
    store.subscribe_automatically(wanted).await.unwrap();
    let later = workflow(&*store, &mine).await;
    for id in [&before.id, &later.id] {
        let again = deployment(id, &mine, T0 + SECOND);
        store.deploy_workflow(again).await.unwrap();
    }
    workflow(&*store, &owner()).await;
    let of_user = SubscriptionFilter::User(mine.user_id.clone());
    let created = store.subscriptions(&of_user, 10).await.unwrap();
    let created: Vec<_> = created
        .iter()
        .map(|one| (&one.emitter, &one.channel))
        .collect();
    let emitter = EmitterPattern::One(EmitterId::Workflow(later.id));
    assert_eq!(created, [(&emitter, &Channel::errors())]);
}

/// A subscription may name a workflow that is not there yet; if it becomes somebody else's, it gets nothing.
pub async fn events_reach_no_workflow_that_the_subscriber_cannot_see(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, theirs) = (owner(), owner());
    let source = deploy(&*store, epoch, &mine).await;
    let ids = [(); 2].map(|()| WorkflowId::new(T0, entropy()));
    for id in &ids {
        let wanted = Subscription {
            id: SubscriptionId::new(T0, entropy()),
            user_id: mine.user_id.clone(),
            emitter: EmitterPattern::One(emitter(&source)),
            listener: ListenerId::Workflow(id.clone()),
            channel: Channel::default(),
        };
        store.subscribe(wanted).await.unwrap();
    }
    for (id, owner) in ids.iter().zip([&mine, &theirs]) {
        store
            .deploy_workflow(deployment(id, owner, T0))
            .await
            .unwrap();
    }
    emit(&*store, &source, &["1"], T0).await;
    let progress = store.dispatch(T0, 10, 100).await.unwrap();
    let [seen, unseen] = &ids;
    assert_eq!(progress.woken, [seen.clone().into()]);
    assert_eq!(given(&claim_runs(&*store, seen, epoch, T0).await), ["1"]);
    assert_eq!(claim_runs(&*store, unseen, epoch, T0).await.len(), 0);
}

pub async fn deleting_a_workflow_removes_everything_of_it(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let id = workflow(&*store, &owner).await.id;
    store.enqueue(call_of(&id, "1"), None).await.unwrap();
    assert!(store.begin_workflow_deletion(&id).await.unwrap());
    let page = store
        .workflows(
            &RunnableFilter::user(owner.user_id),
            &PageRequest::first(10),
        )
        .await
        .unwrap();
    assert_eq!(page.total_count, 0);
    let lease = store
        .lease_runnable(&id.clone().into(), epoch, T0)
        .await
        .unwrap();
    while store.empty_workflow(&lease, 1).await.unwrap().more {}
    store.delete_workflow(&lease).await.unwrap();
    store.delete_workflow(&lease).await.unwrap();
    assert_eq!(store.workflow(&id).await.unwrap(), None);
    assert!(!store.begin_workflow_deletion(&id).await.unwrap());
    let backlog = store.backlog(T0).await.unwrap();
    assert_eq!(backlog.invocations, 0);
}
