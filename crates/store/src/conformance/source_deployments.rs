//! The deployments of sources: written with their settlements, kept in bounds, and found again.

use headwater_model::{
    id::{DeploymentId, SourceId},
    page::{PageRequest, Position},
    time::EpochMs,
};
use serde_json::json;

use super::{Factory, fixture::*};
use crate::{
    DeployedComponent, NewSourceDeployment, SOURCE_DEPLOYMENTS_KEPT, Source, SourceDeployment,
    Store,
};

fn new_deployment(by: &Source, now_ms: EpochMs) -> NewSourceDeployment {
    NewSourceDeployment {
        id: DeploymentId::new(now_ms, entropy()),
        user_id: by.owner.user_id.clone(),
        restores: None,
    }
}

/// Settles the source as it is, as a deployment.
async fn deploy_anew(store: &dyn Store, source: &Leased, now_ms: EpochMs) -> DeploymentId {
    let new = new_deployment(source, now_ms);
    let id = new.id.clone();
    let mut end = settled(source, true, now_ms);
    end.deployment = Some(new);
    let settled = store.settle_source(end).await.unwrap();
    assert_eq!(settled.deployment_id.as_ref(), Some(&id));
    id
}

async fn all(store: &dyn Store, id: &SourceId) -> Vec<SourceDeployment> {
    let page = store.source_deployments(id, &PageRequest::first(100)).await;
    let page = page.unwrap();
    assert_eq!(page.total_count, page.items.len() as u64, "total_count");
    page.items
}

/// Code and values stay as they were deployed; a settlement that is not a deployment leaves them alone.
pub async fn a_settlement_keeps_what_it_deployed(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (user, workspace) = (user("deployer"), workspace_owner());
    store
        .create_user(user.clone(), key_of(&user, "key"))
        .await
        .unwrap();
    let mut source = begin(&*store, epoch, &workspace, "source").await;
    assert_eq!(source.deployment_id, None);
    assert_eq!(all(&*store, &source.id).await, []);
    let props = json!({ "b": 1.5, "a": { "x": "é" } });
    source.spec.configured_props = props.as_object().unwrap().clone();
    let mut first = settled(&source, true, T0);
    let mut new = new_deployment(&source, T0);
    new.user_id = user.id.clone();
    let first_id = new.id.clone();
    first.deployment = Some(new);
    store.settle_source(first).await.unwrap();
    let expected = SourceDeployment {
        id: first_id.clone(),
        source_id: source.id.clone(),
        component: DeployedComponent {
            id: source.spec.component_id.clone(),
            name: "New Row".to_owned(),
            key: None,
            version: Some("0.0.1".to_owned()),
            code_hash: headwater_model::hash::CodeHash::new(format!(
                "hash of {}",
                source.spec.component_id
            )),
        },
        configured_props: source.spec.configured_props.clone(),
        is_isolated: false,
        created_at_ms: T0,
        deployed_by: Some(user.id.clone()),
        deployed_by_name: Some("deployer".to_owned()),
        restores: None,
    };
    assert_eq!(
        all(&*store, &source.id).await,
        std::slice::from_ref(&expected)
    );

    source.spec.configured_props.clear();
    source.spec.is_isolated = true;
    let mut second = settled(&source, false, T0 + SECOND);
    let mut new = new_deployment(&source, T0 + SECOND);
    new.restores = Some(first_id.clone());
    let second_id = new.id.clone();
    second.deployment = Some(new);
    store.settle_source(second).await.unwrap();
    let other = settled(&source, true, T0 + 2 * SECOND);
    let kept = store.settle_source(other).await.unwrap();
    assert_eq!(kept.deployment_id, Some(second_id.clone()));

    let store = factory.reopen(store).await;
    let found = all(&*store, &source.id).await;
    assert_eq!(found[0], expected);
    assert_eq!(found[1].id, second_id);
    assert_eq!(found[1].restores, Some(first_id));
    assert!(found[1].is_isolated && found[1].configured_props.is_empty());
    // Nobody has this user's name.
    assert_eq!(found[1].deployed_by, Some(workspace.user_id));
    assert_eq!(found[1].deployed_by_name, None);
    assert_eq!(found.len(), 2);
    let read = store.source(&source.id).await.unwrap().unwrap();
    assert_eq!(read.deployment_id, Some(second_id));
}

/// The oldest goes when there are too many, also while the clock runs backwards.
pub async fn the_newest_deployments_are_kept(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let other = deploy(&*store, epoch, &owner()).await;
    let untouched = deploy_anew(&*store, &other, T0).await;
    let mut written = Vec::new();
    for number in 0..u64::from(SOURCE_DEPLOYMENTS_KEPT) + 3 {
        let now_ms = EpochMs(T0.0 + 60_000 - number * 1_000);
        written.push(deploy_anew(&*store, &source, now_ms).await);
    }
    let mut kept = written.split_off(3);
    kept.sort();
    let found = all(&*store, &source.id).await;
    let ids: Vec<_> = found
        .iter()
        .map(|deployment| deployment.id.clone())
        .collect();
    assert_eq!(ids, kept);
    assert_eq!(all(&*store, &other.id).await[0].id, untouched);

    let request = PageRequest {
        position: Position::After(kept[1].clone()),
        limit: 2,
    };
    let page = store.source_deployments(&source.id, &request).await;
    let page = page.unwrap();
    assert_eq!(page.total_count, u64::from(SOURCE_DEPLOYMENTS_KEPT));
    let ids: Vec<_> = page.items.iter().map(|deployment| &deployment.id).collect();
    assert_eq!(ids, [&kept[2], &kept[3]]);
}

/// A deployment is found through its own source, and goes with it.
pub async fn a_deployment_is_its_sources_alone(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    let other = deploy(&*store, epoch, &owner()).await;
    let id = deploy_anew(&*store, &source, T0).await;
    let found = async |source: &Source| {
        let found = store.source_deployment(&source.id, &id).await.unwrap();
        found.map(|deployment| deployment.id)
    };
    assert_eq!(found(&source).await, Some(id.clone()));
    assert_eq!(found(&other).await, None);
    let whose = async || store.deployed_source(&id).await.unwrap();
    assert_eq!(whose().await.as_ref(), Some(&source.id));
    store.delete_source(&source.lease).await.unwrap();
    assert_eq!(found(&source).await, None);
    assert_eq!(whose().await, None);
    assert_eq!(all(&*store, &source.id).await, []);
}

/// A user's components stay when the user goes, as long as a deployment of somebody's source has them.
pub async fn the_component_of_a_former_deployment_stays(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (leaver, mine) = (user("leaver"), owner());
    store
        .create_user(leaver.clone(), key_of(&leaver, "key"))
        .await
        .unwrap();
    let theirs = crate::Owner {
        user_id: leaver.id.clone(),
        workspace_id: None,
    };
    let (former, unused) = (
        saved_component(&theirs, None),
        saved_component(&theirs, None),
    );
    for component in [&former, &unused] {
        let saved = store.save_component(component.clone(), artifact(b"archive"));
        saved.await.unwrap();
    }
    let mut source = begin(&*store, epoch, &mine, "source").await;
    let present = source.spec.component_id.clone();
    source.spec.component_id = former.id.clone();
    deploy_anew(&*store, &source, T0).await;
    source.spec.component_id = present;
    deploy_anew(&*store, &source, T0 + SECOND).await;
    assert!(store.delete_user(&leaver.id).await.unwrap());
    assert!(store.component(&former.id).await.unwrap().is_some());
    assert!(store.component(&unused.id).await.unwrap().is_none());
}
