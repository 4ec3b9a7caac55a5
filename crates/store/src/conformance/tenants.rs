//! Users, keys, workspaces, their members and their usage.

use std::time::Duration;

use headwater_model::{
    channel::Channel,
    hash::SecretHash,
    id::{ListenerId, RunnableId, SubscriptionId, TriggerKind, WorkflowId},
    page::PageRequest,
    subscription::{AutoSubscription, EmitterPattern},
    time::EpochSeconds,
};

use super::{
    Factory,
    catalog::{keyed, walk},
    fixture::*,
};
use crate::{
    DayUsage, Owner, RUNNABLE_USAGE_DAYS, RunCommit, RunnableFilter, RunnableUsage, Spender, Store,
    SubscriptionFilter, Usage, User, WorkflowFeed, Workspace,
};

/// A second call returns the first user.
pub async fn the_first_user_is_created_once(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    assert!(!store.has_users().await.unwrap());
    let ann = first_user("ann");
    let created = store.create_first_user(ann.clone()).await.unwrap();
    assert_eq!(created, ann.user);
    let store = factory.reopen(store).await;
    assert!(store.has_users().await.unwrap());
    let found = store.create_first_user(first_user("bob")).await.unwrap();
    assert_eq!(found, created);
    assert!(store.identity(&hash_of("bob")).await.unwrap().is_none());
}

/// Two concurrent calls create one user.
pub async fn two_first_users_at_the_same_time_become_one(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (one, two) = tokio::join!(
        store.create_first_user(first_user("ann")),
        store.create_first_user(first_user("bob")),
    );
    assert_eq!(one.unwrap(), two.unwrap());
}

/// A key leads to its user and the user's workspaces.
pub async fn a_key_identifies_its_user(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = first_user("ann");
    store.create_first_user(ann.clone()).await.unwrap();
    let found = store.identity(&hash_of("ann")).await.unwrap().unwrap();
    assert_eq!(
        (found.user, found.workspaces, found.key),
        (ann.user, vec![ann.workspace], ann.key)
    );
    for unknown in ["", "hash-of-an", "HASH-OF-ANN", "%"] {
        assert!(
            store
                .identity(&SecretHash::new(unknown))
                .await
                .unwrap()
                .is_none()
        );
    }
}

/// Two users are never called the same.
pub async fn usernames_are_unique(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    let again = user("ann");
    let key = key_of(&again, "again");
    assert_conflict(store.create_user(again.clone(), key).await);
    assert_eq!(store.user(&ann.id).await.unwrap(), Some(ann.clone()));
    assert_eq!(store.user_by_name("ann").await.unwrap(), Some(ann));
    assert_eq!(store.user_by_name("an").await.unwrap(), None);
    assert_eq!(store.user(&again.id).await.unwrap(), None);
    assert!(store.identity(&hash_of("again")).await.unwrap().is_none());
}

/// Users page in creation order and back.
pub async fn users_are_paged_both_ways(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mut ids = Vec::new();
    for name in ["e", "d", "c", "b", "a"] {
        ids.push(create_user(&*store, name).await.id);
    }
    walk(&ids, async |request| {
        let page = store.users(&request).await.unwrap();
        keyed(page, |user| user.id.clone())
    })
    .await;
}

/// Each key of a user leads to it, until it is deleted.
pub async fn a_user_has_several_keys(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    create_user(&*store, "bob").await;
    let second = key_of(&ann, "second");
    store.create_key(second.clone()).await.unwrap();
    let store = factory.reopen(store).await;
    let mut ids = Vec::new();
    for name in ["ann", "second"] {
        let found = store.identity(&hash_of(name)).await.unwrap();
        let found = found.unwrap();
        assert_eq!((found.user, found.key.name.as_str()), (ann.clone(), name));
        ids.push(found.key.id);
    }
    let listed = store.keys(&ann.id, &PageRequest::first(10)).await.unwrap();
    assert_eq!(keyed(listed, |key| key.id.clone()).items, ids);
    assert_eq!(store.key(&second.id).await.unwrap(), Some(second.clone()));
    assert!(store.delete_key(&second.id, &ids[0]).await.unwrap());
    assert!(!store.delete_key(&second.id, &ids[0]).await.unwrap());
    assert_eq!(store.key(&second.id).await.unwrap(), None);
    assert!(store.identity(&hash_of("second")).await.unwrap().is_none());
    assert!(store.identity(&hash_of("ann")).await.unwrap().is_some());
    assert_conflict(store.create_key(key_of(&user("nobody"), "x")).await);
}

/// A key cannot delete itself if it is the user's last; another key can.
pub async fn the_last_key_is_not_deleted_by_itself(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    create_user(&*store, "bob").await;
    let key = async |name: &str| {
        let found = store.identity(&hash_of(name)).await.unwrap();
        found.unwrap().key.id
    };
    let first = key("ann").await;
    assert_conflict(store.delete_key(&first, &first).await);
    let second = key_of(&ann, "second");
    store.create_key(second.clone()).await.unwrap();
    assert!(store.delete_key(&first, &first).await.unwrap());
    assert_conflict(store.delete_key(&second.id, &second.id).await);
    let bobs = key("bob").await;
    assert!(store.delete_key(&second.id, &bobs).await.unwrap());
}

/// When a key was last used is kept, and nothing else of it changes.
pub async fn the_use_of_keys_is_noted(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    let gone = key_of(&ann, "gone").id;
    let before = store.identity(&hash_of("ann")).await.unwrap().unwrap().key;
    assert_eq!(before.last_used_at, None);
    let uses = vec![
        (gone, EpochSeconds(5)),
        (before.id.clone(), EpochSeconds(7)),
    ];
    store.note_key_uses(uses).await.unwrap();
    let store = factory.reopen(store).await;
    let after = store.identity(&hash_of("ann")).await.unwrap().unwrap().key;
    assert_eq!(after.last_used_at, Some(EpochSeconds(7)));
    assert_eq!((after.hash, after.id), (before.hash, before.id));
}

/// Two workspaces never have the same orgname.
pub async fn orgnames_are_unique(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    let first = team(&*store, "a", &[&ann]).await;
    let second = workspace("a");
    assert_conflict(store.create_workspace(second.clone(), &ann.id).await);
    assert_eq!(store.workspace(&second.id).await.unwrap(), None);
    assert_eq!(store.workspace(&first.id).await.unwrap(), Some(first));
}

/// Members are added once and removed once.
pub async fn members_come_and_go(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let shared = team(&*store, "a", &[&ann]).await;
    let names = async || {
        let page = PageRequest::first(10);
        let members = store.members(&shared.id, &page).await.unwrap();
        keyed(members, |user| user.username.clone()).items
    };
    assert_eq!(names().await, ["ann"]);
    for _ in 0..2 {
        store.add_member(&shared.id, &bob.id).await.unwrap();
        assert_eq!(names().await, ["ann", "bob"]);
    }
    let found = store.identity(&hash_of("bob")).await.unwrap().unwrap();
    assert_eq!(found.workspaces, std::slice::from_ref(&shared));
    assert!(store.remove_member(&shared.id, &bob.id).await.unwrap());
    assert!(!store.remove_member(&shared.id, &bob.id).await.unwrap());
    assert_eq!(names().await, ["ann"]);
    let found = store.identity(&hash_of("bob")).await.unwrap().unwrap();
    assert_eq!(found.workspaces, []);
    assert_conflict(store.add_member(&shared.id, &user("nobody").id).await);
    assert_conflict(store.add_member(&workspace("none").id, &ann.id).await);
}

/// A user's workspaces, a workspace's members and a user's keys page in creation order and back.
pub async fn workspaces_and_members_are_paged_both_ways(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    let bob = create_user(&*store, "bob").await;
    let (mut workspaces, mut keys) = (Vec::new(), Vec::new());
    keys.push(
        store
            .identity(&hash_of("ann"))
            .await
            .unwrap()
            .unwrap()
            .key
            .id,
    );
    for name in ["e", "d", "c", "b", "a"] {
        workspaces.push(team(&*store, name, &[&ann]).await.id);
        team(&*store, &format!("bobs-{name}"), &[&bob]).await;
        if keys.len() < 5 {
            let key = key_of(&ann, name);
            keys.push(key.id.clone());
            store.create_key(key).await.unwrap();
        }
    }
    walk(&workspaces, async |request| {
        let page = store.workspaces(&ann.id, &request).await.unwrap();
        keyed(page, |workspace| workspace.id.clone())
    })
    .await;
    walk(&keys, async |request| {
        let page = store.keys(&ann.id, &request).await.unwrap();
        keyed(page, |key| key.id.clone())
    })
    .await;
    let mut members = vec![ann.id];
    for name in ["z", "y", "x", "w"] {
        members.push(create_user(&*store, name).await.id);
        let last = members.last().unwrap();
        store.add_member(&workspaces[0], last).await.unwrap();
    }
    walk(&members, async |request| {
        let page = store.members(&workspaces[0], &request).await.unwrap();
        keyed(page, |user| user.id.clone())
    })
    .await;
}

/// A workspace always has a member.
pub async fn the_last_member_stays(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let shared = team(&*store, "a", &[&ann, &bob]).await;
    assert!(store.remove_member(&shared.id, &ann.id).await.unwrap());
    assert_conflict(store.remove_member(&shared.id, &bob.id).await);
    assert!(!store.remove_member(&shared.id, &ann.id).await.unwrap());
    let page = PageRequest::first(10);
    let members = store.members(&shared.id, &page).await.unwrap();
    assert_eq!(members.items, [bob]);
}

/// A workspace's resources stay in it; the leaving member keeps its others.
pub async fn what_a_member_made_passes_to_another_when_it_leaves(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let shared = team(&*store, "a", &[&ann, &bob]).await;
    let in_it = owned(&bob, Some(&shared));
    let (team_source, private) = (
        deploy(&*store, epoch, &in_it).await,
        deploy(&*store, epoch, &owned(&bob, None)).await,
    );
    let account = account(&in_it, "shop");
    store.create_account(account.clone()).await.unwrap();
    assert!(store.remove_member(&shared.id, &bob.id).await.unwrap());
    let store = factory.reopen(store).await;
    let passed = owned(&ann, Some(&shared));
    assert_eq!(owner_of(&*store, &team_source).await, passed);
    assert_eq!(owner_of(&*store, &private).await, owned(&bob, None));
    let account = store.account(&account.id).await.unwrap().unwrap();
    assert_eq!(account.owner, passed);
    let component = store.component(&team_source.spec.component_id).await;
    assert_eq!(component.unwrap().unwrap().owner, passed);
    let page = PageRequest::first(10);
    let bobs = RunnableFilter::user(bob.id.clone());
    let bobs = store.sources(&bobs, &page).await.unwrap();
    assert_eq!(
        keyed(bobs, |source| source.id.clone()).items,
        std::slice::from_ref(&private.id)
    );
}

/// A subscription between things of a workspace goes on; one that leads out of it, or into it, ends.
pub async fn subscriptions_within_a_workspace_outlive_the_membership(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let shared = team(&*store, "a", &[&ann, &bob]).await;
    let (in_it, alone) = (owned(&bob, Some(&shared)), owned(&bob, None));
    let emitter = deploy(&*store, epoch, &in_it).await;
    let (inside, outside) = (
        deploy(&*store, epoch, &in_it).await,
        deploy(&*store, epoch, &alone).await,
    );
    let private = deploy(&*store, epoch, &alone).await;
    listen(&*store, &in_it, &emitter, &inside).await;
    listen(&*store, &in_it, &emitter, &outside).await;
    listen(&*store, &in_it, &private, &inside).await;
    listen(&*store, &alone, &private, &outside).await;
    let everything = EmitterPattern::Workspace(shared.id.clone());
    let everything = subscription(&in_it, everything, &outside, Channel::default());
    store.subscribe(everything).await.unwrap();
    assert!(store.remove_member(&shared.id, &bob.id).await.unwrap());
    let listeners = async |user: &User| {
        let found = store
            .subscriptions(&SubscriptionFilter::User(user.id.clone()), 10)
            .await
            .unwrap();
        found
            .into_iter()
            .map(|subscription| subscription.listener)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        listeners(&ann).await,
        [ListenerId::Source(inside.id.clone())]
    );
    assert_eq!(
        listeners(&bob).await,
        [ListenerId::Source(outside.id.clone())]
    );
    emit(&*store, &emitter, &["1"], T0).await;
    dispatch_all(&*store, 10).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let claimed = claim_all(&*store, &inside.id, epoch, T0).await;
    assert_eq!(given(&claimed), ["1"]);
}

/// A workflow of a workspace passes on with the feeds of its triggers, and is subscribed to as before.
pub async fn a_leaving_members_workflows_are_triggered_as_before(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let shared = team(&*store, "a", &[&ann, &bob]).await;
    let in_it = owned(&bob, Some(&shared));
    let emitter = deploy(&*store, epoch, &in_it).await;
    let to = deploy(&*store, epoch, &in_it).await;
    let id = WorkflowId::new(T0, entropy());
    let mut wanted = deployment(&id, &in_it, T0);
    wanted.feeds = vec![WorkflowFeed {
        subscription: SubscriptionId::new(T0, entropy()),
        trigger: trigger(TriggerKind::Events),
        emitter: EmitterPattern::One(emitter.id.clone().into()),
        channel: String::new(),
    }];
    store.deploy_workflow(wanted.clone()).await.unwrap();
    let of_workflow = EmitterPattern::One(RunnableId::from(id.clone()).into());
    let of_workflow = subscription(&in_it, of_workflow, &to, Channel::errors());
    store.subscribe(of_workflow.clone()).await.unwrap();

    assert!(store.remove_member(&shared.id, &bob.id).await.unwrap());
    let store = factory.reopen(store).await;
    let passed = owned(&ann, Some(&shared));
    assert_eq!(store.workflow(&id).await.unwrap().unwrap().owner, passed);
    let in_workspace = SubscriptionFilter::Workspace(shared.id.clone());
    for filter in [of_user(&passed), in_workspace] {
        let found = store.subscriptions(&filter, 10).await.unwrap();
        let found: Vec<_> = found.into_iter().map(|one| (one.user_id, one.id)).collect();
        let expected = [&wanted.feeds[0].subscription, &of_workflow.id];
        assert_eq!(found, expected.map(|of| (ann.id.clone(), of.clone())));
    }
    emit(&*store, &emitter, &["1"], T0).await;
    dispatch_all(&*store, 10).await;
    let epoch = store.start_node(&node(), T0).await.unwrap();
    assert_eq!(given(&claim_runs(&*store, &id, epoch, T0).await), ["1"]);
}

/// A former member's later deployments feed nothing in the workspace, whether the automatic subscription is
/// from before the end of the membership or, raced by it, from after.
pub async fn automatic_subscriptions_into_a_workspace_end_with_the_membership(
    factory: &dyn Factory,
) {
    let (store, epoch) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let shared = team(&*store, "a", &[&ann, &bob]).await;
    let alone = owned(&bob, None);
    let to = deploy(&*store, epoch, &owned(&ann, Some(&shared))).await;
    let webhook = create_webhook(&*store, &owned(&bob, Some(&shared))).await;
    let own = create_webhook(&*store, &alone).await;
    let automatic = |listener: ListenerId| AutoSubscription {
        id: SubscriptionId::new(T0, entropy()),
        user_id: bob.id.clone(),
        listener,
        channel: Channel::errors(),
    };
    let wanted = [
        automatic(ListenerId::Source(to.id.clone())),
        automatic(ListenerId::Webhook(webhook.id.clone())),
        automatic(ListenerId::Webhook(own.id.clone())),
    ];
    for one in &wanted {
        store.subscribe_automatically(one.clone()).await.unwrap();
    }
    let listeners = async || {
        let found = store.subscriptions(&of_user(&alone), 100).await.unwrap();
        let listeners = found.into_iter().map(|subscription| subscription.listener);
        listeners.collect::<Vec<_>>()
    };
    let first = deploy(&*store, epoch, &alone).await;
    assert_eq!(listeners().await.len(), 3, "a member's go there");
    store.delete_source(&first.lease).await.unwrap();
    assert!(store.remove_member(&shared.id, &bob.id).await.unwrap());
    let mine = [ListenerId::Webhook(own.id.clone())];
    let second = deploy(&*store, epoch, &alone).await;
    assert_eq!(listeners().await, mine);
    store.delete_source(&second.lease).await.unwrap();
    for one in &wanted {
        assert_eq!(
            store.unsubscribe_automatically(one).await.unwrap(),
            one.listener == mine[0]
        );
        store.subscribe_automatically(one.clone()).await.unwrap();
    }
    deploy(&*store, epoch, &alone).await;
    assert_eq!(listeners().await, mine, "one that is not seen is not fed");
}

/// Nothing of a deleted user is left.
pub async fn a_deleted_user_is_gone_with_what_it_had(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let account = account(&owned(&ann, None), "shop");
    store.create_account(account.clone()).await.unwrap();
    let component = saved_component(&owned(&ann, None), Some("k"));
    store
        .save_component(component.clone(), artifact(b"archive"))
        .await
        .unwrap();
    let alone = team(&*store, "a", &[&ann]).await;
    assert!(store.delete_user(&ann.id).await.unwrap());
    assert!(!store.delete_user(&ann.id).await.unwrap());
    let store = factory.reopen(store).await;
    assert_eq!(store.user(&ann.id).await.unwrap(), None);
    assert!(store.identity(&hash_of("ann")).await.unwrap().is_none());
    assert_eq!(store.account(&account.id).await.unwrap(), None);
    assert!(store.component(&component.id).await.unwrap().is_none());
    assert_eq!(store.workspace(&alone.id).await.unwrap(), None);
    assert_eq!(store.user(&bob.id).await.unwrap(), Some(bob));
    // Its names are free again.
    create_user(&*store, "ann").await;
}

/// A user is not deleted while something of it would be left without an owner; nothing changes then.
pub async fn a_user_with_sources_is_not_deleted(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let (shared, alone) = (
        team(&*store, "a", &[&ann, &bob]).await,
        team(&*store, "b", &[&ann]).await,
    );
    let passes = deploy(&*store, epoch, &owned(&ann, Some(&shared))).await;
    let private = deploy(&*store, epoch, &owned(&ann, None)).await;
    assert_conflict(store.delete_user(&ann.id).await);
    assert_eq!(owner_of(&*store, &passes).await, owned(&ann, Some(&shared)));
    let found = store.identity(&hash_of("ann")).await.unwrap().unwrap();
    assert_eq!(found.workspaces, [shared, alone.clone()]);
    store.delete_source(&private.lease).await.unwrap();
    // A workspace that nobody else is a member of counts as the user's own.
    let in_alone = deploy(&*store, epoch, &owned(&ann, Some(&alone))).await;
    assert_conflict(store.delete_user(&ann.id).await);
    store.delete_source(&in_alone.lease).await.unwrap();
    let of_alone = workflow(&*store, &owned(&ann, Some(&alone))).await;
    assert_conflict(store.delete_user(&ann.id).await);
    let runnable = of_alone.id.clone().into();
    let lease = store.lease_runnable(&runnable, epoch, T0).await.unwrap();
    store.delete_workflow(&lease).await.unwrap();
    assert!(store.delete_user(&ann.id).await.unwrap());
}

/// Resources of a deleted user in a workspace pass to another member.
pub async fn a_deleted_user_leaves_its_workspaces(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (ann, bob) = (
        create_user(&*store, "ann").await,
        create_user(&*store, "bob").await,
    );
    let shared = team(&*store, "a", &[&ann, &bob]).await;
    let source = deploy(&*store, epoch, &owned(&ann, Some(&shared))).await;
    let run = crate::RunCommit {
        usage: Usage {
            invocations: 1,
            compute_ms: 20,
        },
        ..run_of(&source, Vec::new(), T0)
    };
    commit(&*store, run).await.unwrap();
    assert!(store.delete_user(&ann.id).await.unwrap());
    assert_eq!(owner_of(&*store, &source).await, owned(&bob, Some(&shared)));
    let page = PageRequest::first(10);
    let members = store.members(&shared.id, &page).await.unwrap();
    assert_eq!(members.items, [bob]);
    let of_user = store.usage(&Spender::User(ann.id), T0, T0).await.unwrap();
    assert_eq!(of_user, Usage::default());
    let workspace = Spender::Workspace(shared.id);
    let of_workspace = store.usage(&workspace, T0, T0).await.unwrap();
    assert_eq!(of_workspace.invocations, 1);
}

/// A workspace with these members, written.
pub(super) async fn team(store: &dyn Store, name: &str, members: &[&User]) -> Workspace {
    let workspace = workspace(name);
    store
        .create_workspace(workspace.clone(), &members[0].id)
        .await
        .unwrap();
    for member in &members[1..] {
        store.add_member(&workspace.id, &member.id).await.unwrap();
    }
    workspace
}

async fn owner_of(store: &dyn Store, source: &Leased) -> crate::Owner {
    store.source(&source.id).await.unwrap().unwrap().owner
}

/// An action that is run once costs like a run of a source.
pub async fn other_usage_counts_for_both(factory: &dyn Factory) {
    let store = factory.open().await;
    let owner = workspace_owner();
    let usage = Usage {
        invocations: 2,
        compute_ms: 30,
    };
    for _ in 0..2 {
        store.add_usage(&owner, usage, T0).await.unwrap();
    }
    let store = factory.reopen(store).await;
    let expected = Usage {
        invocations: 4,
        compute_ms: 60,
    };
    for spender in [
        Spender::User(owner.user_id.clone()),
        Spender::Workspace(owner.workspace_id.clone().unwrap()),
    ] {
        assert_eq!(store.usage(&spender, T0, T0).await.unwrap(), expected);
    }
}

/// Days without runs are not told, and those outside of the range neither; the sum is that of the range.
pub async fn usage_is_told_day_by_day(factory: &dyn Factory) {
    let store = factory.open().await;
    let owner = workspace_owner();
    let spent = |invocations| Usage {
        invocations,
        compute_ms: 10 * invocations,
    };
    let days = |number: u64| T0 + Duration::from_secs(number * 24 * 60 * 60);
    for (day, invocations) in [(0, 1), (1, 2), (1, 3), (3, 4), (9, 5)] {
        let usage = spent(invocations);
        store.add_usage(&owner, usage, days(day)).await.unwrap();
    }
    let store = factory.reopen(store).await;
    for spender in [
        Spender::User(owner.user_id.clone()),
        Spender::Workspace(owner.workspace_id.clone().unwrap()),
    ] {
        let (since_ms, until_ms) = (days(1), days(4));
        let told = store.daily_usage(&spender, since_ms, until_ms).await;
        let told = told.unwrap();
        let expected = [(1, 5), (3, 4)].map(|(day, invocations)| DayUsage {
            day: days(day).day(),
            usage: spent(invocations),
        });
        assert_eq!(told, expected);
        let sum = store.usage(&spender, since_ms, until_ms).await.unwrap();
        assert_eq!(sum, spent(9));
    }
    let nobody = Spender::User(first_user("nobody").user.id);
    let none = store.daily_usage(&nobody, T0, days(9)).await.unwrap();
    assert_eq!(none, []);
}

/// Each source has its own usage, those with most first; a year later it is forgotten, and with the source it goes.
pub async fn usage_is_told_by_source(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = workspace_owner();
    let busy = deploy(&*store, epoch, &owner).await;
    let calm = deploy(&*store, epoch, &owner).await;
    let private = Owner {
        workspace_id: None,
        ..owner.clone()
    };
    let private = deploy(&*store, epoch, &private).await;
    let days = |number: u64| T0 + Duration::from_secs(number * 24 * 60 * 60);
    let spend = async |store: &dyn Store, of: &Leased, day: u64, invocations: u64| {
        let usage = Usage {
            invocations,
            compute_ms: 10 * invocations,
        };
        let run = RunCommit {
            usage,
            ..run_of(of, Vec::new(), days(day))
        };
        commit(store, run).await.unwrap();
    };
    for (of, day, invocations) in [(&calm, 0, 2), (&busy, 0, 4), (&busy, 0, 1), (&busy, 2, 7)] {
        spend(&*store, of, day, invocations).await;
    }
    spend(&*store, &private, 1, 3).await;
    let told = async |store: &dyn Store, spender: &Spender, until: u64, limit: u32| {
        let told = store.usage_by_runnable(spender, T0, days(until), limit);
        let flat = |of: RunnableUsage| {
            assert!(!of.name.is_empty());
            let days = of.days.into_iter().map(|told| {
                assert_eq!(told.usage.compute_ms, 10 * told.usage.invocations);
                (told.day - T0.day(), told.usage.invocations)
            });
            (of.runnable, days.collect::<Vec<_>>())
        };
        let told = told.await.unwrap().into_iter();
        told.map(flat).collect::<Vec<_>>()
    };
    let user = Spender::User(owner.user_id.clone());
    let workspace = Spender::Workspace(owner.workspace_id.clone().unwrap());
    let store = factory.reopen(store).await;
    let of_busy = (runnable(&busy), vec![(0, 5), (2, 7)]);
    let of_calm = (runnable(&calm), vec![(0, 2)]);
    let of_private = (runnable(&private), vec![(1, 3)]);
    assert_eq!(
        told(&*store, &workspace, 2, 9).await,
        [of_busy.clone(), of_calm]
    );
    assert_eq!(told(&*store, &user, 2, 2).await, [of_busy, of_private]);
    assert_eq!(
        told(&*store, &user, 0, 1).await,
        [(runnable(&busy), vec![(0, 5)])]
    );
    let epoch = store.start_node(&node(), T0).await.unwrap();
    let id = runnable(&busy);
    let lease = store.lease_runnable(&id, epoch, T0).await.unwrap();
    let busy = Leased { lease, ..busy };
    spend(&*store, &busy, RUNNABLE_USAGE_DAYS + 1, 1).await;
    let until = RUNNABLE_USAGE_DAYS + 1;
    let kept = (id, vec![(2, 7), (until, 1)]);
    assert_eq!(told(&*store, &workspace, until, 1).await, [kept]);
    let sum = store.usage(&user, T0, days(until)).await.unwrap();
    assert_eq!(sum.invocations, 18, "that of users is not forgotten");
    store.delete_source(&busy.lease).await.unwrap();
    let left = told(&*store, &workspace, until, 9).await;
    assert_eq!(left, [(runnable(&calm), vec![(0, 2)])]);
}
