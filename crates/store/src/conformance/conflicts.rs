//! Conflicts: each says its kind and names the thing, in ids.

use headwater_model::{
    endpoint::EndpointToken,
    id::{ComponentId, UserId, WorkspaceId},
};

use super::{Factory, fixture::*};
use crate::{Conflict, Endpoint, Entity, Last, NewSource, StoreError, Taken};

fn conflict<T: std::fmt::Debug>(result: Result<T, StoreError>) -> Conflict {
    match result {
        Err(StoreError::Conflict(conflict)) => conflict,
        other => panic!("expected a conflict, got {other:?}"),
    }
}

/// A key, a membership or a workspace of a deleted user names that user.
pub async fn a_member_or_workspace_that_is_gone_is_named(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    let nobody = user("nobody");
    let gone = |id: &UserId| Conflict::Gone(Entity::User(id.clone()));
    let key = key_of(&nobody, "nobody");
    assert_eq!(conflict(store.create_key(key).await), gone(&nobody.id));
    let shop = workspace("shop");
    let created = store.create_workspace(shop.clone(), &nobody.id).await;
    assert_eq!(conflict(created), gone(&nobody.id));
    assert!(store.workspace(&shop.id).await.unwrap().is_none());
    store.create_workspace(shop.clone(), &ann.id).await.unwrap();
    let added = store.add_member(&shop.id, &nobody.id).await;
    assert_eq!(conflict(added), gone(&nobody.id));
    let nowhere = WorkspaceId::new(T0, entropy());
    let added = store.add_member(&nowhere, &ann.id).await;
    let gone = Conflict::Gone(Entity::Workspace(nowhere));
    assert_eq!(conflict(added), gone);
}

/// Names, hashes and tokens that can be had once.
pub async fn what_can_be_had_once_is_taken(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    let again = store.create_user(user("ann"), key_of(&ann, "other")).await;
    let taken = Taken::Username("ann".to_owned());
    assert_eq!(conflict(again), Conflict::Taken(taken));
    let key = key_of(&ann, "ann");
    let taken = Conflict::Taken(Taken::KeyHash);
    assert_eq!(conflict(store.create_key(key).await), taken);
    let shop = workspace("shop");
    store.create_workspace(shop.clone(), &ann.id).await.unwrap();
    let again = store.create_workspace(workspace("shop"), &ann.id).await;
    let taken = Taken::Orgname(shop.orgname.clone());
    assert_eq!(conflict(again), Conflict::Taken(taken));
    let last = Last::Member {
        workspace_id: shop.id.clone(),
        user_id: ann.id.clone(),
    };
    let removed = store.remove_member(&shop.id, &ann.id).await;
    assert_eq!(conflict(removed), Conflict::Last(last));
}

/// A source of a component that is gone, or at somebody else's endpoint, is not written.
pub async fn a_source_needs_its_component_and_an_endpoint_of_its_own(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    let like = begin(&*store, epoch, &mine, "like").await;
    let mut new = NewSource {
        id: headwater_model::id::SourceId::new(T0, entropy()),
        owner: mine,
        slug: "source".to_owned(),
        spec: like.spec.clone(),
        now_at: T0.to_seconds(),
    };
    new.spec.endpoints = vec![Endpoint {
        token: EndpointToken::new("token"),
        prop: "http".to_owned(),
    }];
    let first = begun(&*store, epoch, new.clone()).await;
    new.id = headwater_model::id::SourceId::new(T0, entropy());
    let taken = Conflict::Taken(Taken::EndpointToken);
    assert_eq!(
        conflict(store.begin_deploy(new.clone(), epoch).await),
        taken
    );
    let mut end = settled(&like, true, T0);
    end.spec.endpoints.clone_from(&new.spec.endpoints);
    assert_eq!(conflict(store.settle_source(end).await), taken);
    let found = store
        .source_by_endpoint(&EndpointToken::new("token"))
        .await
        .unwrap();
    assert_eq!(found.unwrap().id, first.id);
    let nothing = ComponentId::new(T0, entropy());
    let gone = Conflict::Gone(Entity::Component(nothing.clone()));
    new.spec.endpoints.clear();
    new.spec.component_id = nothing.clone();
    assert_eq!(conflict(store.begin_deploy(new, epoch).await), gone);
    let mut end = settled(&like, true, T0);
    end.spec.component_id = nothing;
    assert_eq!(conflict(store.settle_source(end).await), gone);
}

/// Queueing twice queues once.
pub async fn an_invocation_is_queued_once(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let invocation = manual(&source.id, "1");
    store.enqueue(invocation.clone(), None).await.unwrap();
    let taken = Taken::Invocation(invocation.id.clone());
    let again = store.enqueue(invocation, None).await;
    assert_eq!(conflict(again), Conflict::Taken(taken));
    assert_eq!(claim_all(&*store, &source.id, epoch, T0).await.len(), 1);
}
