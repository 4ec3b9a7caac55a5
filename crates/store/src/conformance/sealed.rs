//! Sealed values, found and sealed anew.

use headwater_model::id::DeploymentId;

use super::{Factory, fixture::*};
use crate::{
    Account, NewSourceDeployment, NodeEpoch, Resealed, Sealed, SealedRecord, SettledSource, Store,
    Variable, Webhook,
};

/// One record of each kind, of two owners.
struct World {
    account: Account,
    webhook: Webhook,
    source: Leased,
    deployment_id: DeploymentId,
    tenant: String,
}

async fn world(store: &dyn Store, epoch: NodeEpoch) -> World {
    let (mine, other) = (owner(), workspace_owner());
    let (account, webhook) = (account(&mine, "one"), webhook(&other));
    store.create_account(account.clone()).await.unwrap();
    store.create_webhook(webhook.clone()).await.unwrap();
    let source = deploy(store, epoch, &mine).await;
    let deployment_id = DeploymentId::new(T0, entropy());
    let mut end = settled(&source, true, T0);
    end.deployment = Some(NewSourceDeployment {
        id: deployment_id.clone(),
        user_id: mine.user_id.clone(),
        restores: None,
    });
    store.settle_source(end).await.unwrap();
    let variable = Variable {
        name: "TOKEN".to_owned(),
        value: Sealed(vec![7]),
        updated_at: T0.to_seconds(),
    };
    let tenant = mine.tenant().to_owned();
    store.set_variable(&tenant, variable).await.unwrap();
    World {
        account,
        webhook,
        source,
        deployment_id,
        tenant,
    }
}

impl World {
    /// As the store gives them: by kind.
    fn records(&self) -> Vec<SealedRecord> {
        vec![
            SealedRecord::Account {
                id: self.account.id.clone(),
                sealed: self.account.credentials.sealed.clone(),
            },
            SealedRecord::Webhook {
                id: self.webhook.id.clone(),
                secret: self.webhook.secret.clone(),
                former_secret: self
                    .webhook
                    .former_secret
                    .as_ref()
                    .map(|former| former.sealed.clone()),
            },
            SealedRecord::Source {
                id: self.source.id.clone(),
                configured_props: self.source.spec.configured_props.clone(),
            },
            SealedRecord::SourceDeployment {
                id: self.deployment_id.clone(),
                configured_props: self.source.spec.configured_props.clone(),
            },
            SealedRecord::Variable {
                tenant: self.tenant.clone(),
                name: "TOKEN".to_owned(),
                value: Sealed(vec![7]),
            },
        ]
    }
}

async fn all(store: &dyn Store, limit: u32) -> Vec<SealedRecord> {
    let mut found: Vec<SealedRecord> = Vec::new();
    loop {
        let page = store.sealed_records(found.last(), limit).await.unwrap();
        assert!(page.len() <= limit as usize);
        if page.is_empty() {
            return found;
        }
        found.extend(page);
    }
}

fn changed(record: &SealedRecord) -> SealedRecord {
    let mut record = record.clone();
    match &mut record {
        SealedRecord::Account { sealed, .. } => sealed.0.push(2),
        SealedRecord::Webhook {
            secret,
            former_secret,
            ..
        } => {
            secret.0.push(2);
            *former_secret = former_secret.as_ref().map(|_| Sealed(b"2".to_vec()));
        }
        SealedRecord::Source {
            configured_props, ..
        }
        | SealedRecord::SourceDeployment {
            configured_props, ..
        } => {
            configured_props.insert("sealed".to_owned(), 0.1.into());
        }
        SealedRecord::Variable { value, .. } => value.0.push(2),
    }
    record
}

fn resealed(records: Vec<SealedRecord>) -> Vec<Resealed> {
    let resealed = |former: SealedRecord| Resealed {
        record: changed(&former),
        former,
    };
    records.into_iter().map(resealed).collect()
}

/// However small the pages are, each record is in one of them.
pub async fn every_sealed_record_is_found_once(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    assert!(all(&*store, 10).await.is_empty());
    let (one, two) = (world(&*store, epoch).await, world(&*store, epoch).await);
    let expected = [one.records(), two.records()].concat();
    for limit in [1, 2, 3, 100] {
        let found = all(&*store, limit).await;
        assert_eq!(found.len(), expected.len(), "{limit}");
        assert!(expected.iter().all(|record| found.contains(record)));
    }
}

/// A value that is sealed anew reads back, twice too, and nothing else of the record changes.
pub async fn records_are_sealed_anew(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let world = world(&*store, epoch).await;
    for _ in 0..2 {
        let before = all(&*store, 10).await;
        store.reseal(resealed(before.clone())).await.unwrap();
        let expected: Vec<_> = before.iter().map(changed).collect();
        assert_eq!(all(&*store, 10).await, expected);
    }
    let store = factory.reopen(store).await;
    let account = store.account(&world.account.id).await.unwrap().unwrap();
    assert_ne!(account.credentials.sealed, world.account.credentials.sealed);
    let credentials = world.account.credentials.clone();
    let account = Account {
        credentials,
        ..account
    };
    assert_eq!(account, world.account);
    let webhook = store.webhook(&world.webhook.id).await.unwrap().unwrap();
    assert_eq!(webhook.url, world.webhook.url);
    let source = store.source(&world.source.id).await.unwrap().unwrap();
    assert_eq!(source.spec.timers, world.source.spec.timers);
}

/// A change of a record made meanwhile wins; one that is gone stays gone.
pub async fn a_record_that_has_changed_is_not_sealed_anew(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let world = world(&*store, epoch).await;
    let read = all(&*store, 10).await;
    let mut spec = world.source.spec.clone();
    spec.configured_props
        .insert("updated".to_owned(), true.into());
    let settled = SettledSource {
        spec: spec.clone(),
        ..settled(&world.source, true, T0 + 5 * MS)
    };
    store.settle_source(settled).await.unwrap();
    store.delete_account(&world.account.id).await.unwrap();
    store.reseal(resealed(read)).await.unwrap();
    let source = store.source(&world.source.id).await.unwrap().unwrap();
    assert_eq!(source.spec.configured_props, spec.configured_props);
    assert_eq!(store.account(&world.account.id).await.unwrap(), None);
}
