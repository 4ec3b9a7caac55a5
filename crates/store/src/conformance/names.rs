//! Names of many things.

use headwater_model::{
    id::{ComponentId, ListenerId, SourceId, WebhookId},
    time::EpochSeconds,
};

use super::{Factory, fixture::*};
use crate::{NamedComponent, Publication, SavedComponent, WebhookChange};

/// Of every kind; a webhook without a name goes by its URL.
pub async fn things_are_named_and_those_that_are_gone_are_left_out(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = workspace_owner();
    let source = deploy(&*store, epoch, &mine).await;
    let flow = workflow(&*store, &mine).await;
    let unnamed = create_webhook(&*store, &mine).await;
    let webhook = create_webhook(&*store, &mine).await;
    let change = |name: &str| WebhookChange {
        name: Some(Some(name.to_owned())),
        ..WebhookChange::default()
    };
    store
        .update_webhook(&webhook.id, change("Shop"))
        .await
        .unwrap();
    store
        .update_webhook(&unnamed.id, change(" "))
        .await
        .unwrap();
    let ids = [
        ListenerId::Webhook(WebhookId::new(T0, entropy())),
        ListenerId::Source(source.id.clone()),
        ListenerId::Source(SourceId::new(T0, entropy())),
        ListenerId::Workflow(flow.id.clone()),
        ListenerId::Webhook(webhook.id.clone()),
        ListenerId::Webhook(unnamed.id.clone()),
    ];
    let found = store.names(&ids).await.unwrap();
    assert!(found.iter().all(|named| named.owner == mine));
    let names: Vec<_> = found.iter().map(|one| (&one.id, &*one.name)).collect();
    let expected = [
        (&ids[1], &*source.spec.name),
        (&ids[3], &*flow.name),
        (&ids[4], "Shop"),
        (&ids[5], &*unnamed.url),
    ];
    assert_eq!(names.len(), expected.len(), "{names:?}");
    assert!(expected.iter().all(|one| names.contains(one)), "{names:?}");
    assert_eq!(store.names(&[]).await.unwrap(), []);
}

/// With their descriptions, whether they are published, and without their code.
pub async fn components_are_told_of_and_those_that_are_gone_are_left_out(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = workspace_owner();
    let draft = saved_component(&mine, Some("shop-orders"));
    let published = saved_component(&owner(), Some("shop-returns"));
    let publication = Publication {
        key: "shop-returns".to_owned(),
        version: "0.0.1".parse().unwrap(),
        publisher: published.owner.user_id.clone(),
        component: published.clone(),
        artifact: artifact(b"archive"),
        published_at: EpochSeconds(5),
    };
    store
        .save_component(draft.clone(), artifact(b"archive"))
        .await
        .unwrap();
    store.publish(publication).await.unwrap();
    let ids = [
        draft.id.clone(),
        ComponentId::new(T0, entropy()),
        published.id.clone(),
    ];
    let mut found = store.named_components(&ids).await.unwrap();
    found.sort_by_key(|one| one.is_published);
    let told = |of: &SavedComponent, is_published| NamedComponent {
        id: of.id.clone(),
        description: of.description.clone(),
        owner: of.owner.clone(),
        is_published,
    };
    assert_eq!(found, [told(&draft, false), told(&published, true)]);
    assert_eq!(store.named_components(&[]).await.unwrap(), []);
}
