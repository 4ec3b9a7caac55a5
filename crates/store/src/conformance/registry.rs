//! Publishing components and listing them.

use headwater_model::{
    component::ComponentType,
    hash::{ArtifactHash, CodeHash},
    id::UserId,
    page::{Page, PageRequest},
    prop::PropDefinition,
    time::EpochSeconds,
};
use serde_json::Map;

use super::{
    Factory,
    catalog::{keyed, walk},
    fixture::*,
};
use crate::{
    ComponentFilter, ListedComponent, Owner, Publication, Published, SavedComponent, Store,
};

/// A component of this key and version, its code named after the version.
fn publication(publisher: &UserId, key: &str, version: &str) -> Publication {
    let owner = Owner {
        user_id: publisher.clone(),
        workspace_id: None,
    };
    let mut component = saved_component(&owner, Some(key));
    component.description.version = Some(version.to_owned());
    component.code_hash = CodeHash::new(format!("hash-of-{version}"));
    Publication {
        key: key.to_owned(),
        version: version.parse().unwrap(),
        publisher: publisher.clone(),
        component,
        artifact: artifact(b"archive"),
        published_at: EpochSeconds(5),
    }
}

async fn publish(
    store: &dyn Store,
    publisher: &UserId,
    key: &str,
    version: &str,
) -> SavedComponent {
    let publication = publication(publisher, key, version);
    let component = publication.component.clone();
    let published = store.publish(publication).await.unwrap();
    assert!(matches!(published, Published::Added), "{published:?}");
    component
}

async fn save(store: &dyn Store, component: SavedComponent) -> SavedComponent {
    store
        .save_component(component.clone(), artifact(b"archive"))
        .await
        .unwrap();
    component
}

fn draft(owner: &Owner, key: Option<&str>, version: &str) -> SavedComponent {
    let mut component = saved_component(owner, key);
    component.description.version = Some(version.to_owned());
    component
}

/// Each as `key version`, in listed order, with a star when it is published.
async fn listed(store: &dyn Store, owner: &Owner, filter: &ComponentFilter) -> Vec<String> {
    let page: Page<ListedComponent> = store
        .components(owner, filter, &PageRequest::first(100))
        .await
        .unwrap();
    assert_eq!(page.total_count, page.items.len() as u64);
    let shown = page.items.iter().map(|item| {
        let description = &item.description;
        let name = description.key.as_ref().unwrap_or(&description.name);
        let star = if item.is_published { "*" } else { "" };
        format!("{name} {}{star}", description.version.as_ref().unwrap())
    });
    shown.collect()
}

/// The highest version wins, and every version can be had.
pub async fn the_highest_release_wins(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = owner().user_id;
    let mut versions = Vec::new();
    for (version, wins) in [
        ("0.9.0-rc.1", "0.9.0-rc.1"),
        ("0.9.0-beta.11", "0.9.0-rc.1"),
        ("0.2.0", "0.2.0"),
        ("0.10.0", "0.10.0"),
        ("0.9.0", "0.10.0"),
        ("1.0.0-beta", "0.10.0"),
    ] {
        versions.push(publish(&*store, &ann, "shop-orders", version).await);
        let winner = store
            .published_component("shop-orders", None)
            .await
            .unwrap();
        assert_eq!(winner.unwrap().description.version.as_deref(), Some(wins));
    }
    let store = factory.reopen(store).await;
    for component in versions {
        let version = component.description.version.as_ref().unwrap();
        let version = version.parse().unwrap();
        let found = store
            .published_component("shop-orders", Some(&version))
            .await;
        assert_eq!(
            format!("{:?}", found.unwrap().unwrap()),
            format!("{component:?}")
        );
    }
    let missing = "0.3.0".parse().unwrap();
    let found = store
        .published_component("shop-orders", Some(&missing))
        .await;
    assert!(found.unwrap().is_none());
    assert!(
        store
            .published_component("shop", None)
            .await
            .unwrap()
            .is_none()
    );
}

/// The same code again is harmless, other code is refused.
pub async fn a_published_version_never_changes(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = owner().user_id;
    let first = publish(&*store, &ann, "shop-orders", "1.0.0").await;
    let again = publication(&ann, "shop-orders", "1.0.0");
    let again_id = again.component.id.clone();
    match store.publish(again).await.unwrap() {
        Published::Unchanged(kept) => assert_eq!(kept.id, first.id),
        other @ (Published::Added | Published::VersionTaken | Published::KeyTaken) => {
            panic!("{other:?}")
        }
    }
    assert!(store.component(&again_id).await.unwrap().is_none());
    for version in ["1.0.0", "1.0.0+build"] {
        let mut other = publication(&ann, "shop-orders", version);
        other.component.code_hash = CodeHash::new("other");
        let id = other.component.id.clone();
        let refused = store.publish(other).await.unwrap();
        assert!(matches!(refused, Published::VersionTaken), "{refused:?}");
        assert!(store.component(&id).await.unwrap().is_none());
    }
    let kept = store
        .published_component("shop-orders", None)
        .await
        .unwrap();
    assert_eq!(kept.unwrap().id, first.id);
}

/// A second user cannot publish under the key, not even the same code.
pub async fn a_key_belongs_to_who_published_it_first(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (ann, bob) = (owner().user_id, owner().user_id);
    publish(&*store, &ann, "shop-orders", "1.0.0").await;
    for version in ["1.0.0", "2.0.0"] {
        let refused = store
            .publish(publication(&bob, "shop-orders", version))
            .await;
        assert!(matches!(refused.unwrap(), Published::KeyTaken));
    }
    publish(&*store, &bob, "shop-orders-2", "1.0.0").await;
    publish(&*store, &ann, "shop-orders", "2.0.0").await;
}

/// Saving publishes nothing; publishing saves.
pub async fn published_components_are_told_apart(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    let saved = save(&*store, saved_component(&mine, Some("shop-orders"))).await;
    let published = publish(&*store, &mine.user_id, "shop-orders", "1.0.0").await;
    assert!(!store.is_published(&saved.id).await.unwrap());
    assert!(store.is_published(&published.id).await.unwrap());
    assert!(store.component(&published.id).await.unwrap().is_some());
    assert_eq!(
        store
            .artifact(&ArtifactHash::new("a47"))
            .await
            .unwrap()
            .unwrap(),
        "archive"
    );
}

/// A listing shows one component per key: the one that the key refers to.
pub async fn one_component_per_key_is_listed(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (mine, other) = (owner(), owner());
    let shared = workspace_owner();
    let all = ComponentFilter::default();
    save(&*store, draft(&mine, Some("b"), "0.1.0")).await;
    publish(&*store, &mine.user_id, "b", "2.0.0").await;
    publish(&*store, &mine.user_id, "b", "1.0.0").await;
    publish(&*store, &other.user_id, "a", "1.0.0").await;
    save(&*store, draft(&mine, None, "0.0.1")).await;
    save(&*store, draft(&mine, None, "0.0.2")).await;
    save(&*store, draft(&shared, Some("c"), "7")).await;
    let published = ["a 1.0.0*", "b 2.0.0*"];
    assert_eq!(listed(&*store, &other, &all).await, published);
    let with_drafts = [&published[..], &["New Row 0.0.1", "New Row 0.0.2"]].concat();
    assert_eq!(listed(&*store, &mine, &all).await, with_drafts);

    // A draft that is newer than what was published stands for the key, for its owner alone.
    save(&*store, draft(&mine, Some("b"), "next")).await;
    save(&*store, draft(&mine, Some("b"), "after next")).await;
    assert_eq!(listed(&*store, &mine, &all).await[1], "b after next");
    assert_eq!(listed(&*store, &other, &all).await, published);
    let in_workspace = listed(&*store, &shared, &all).await;
    assert_eq!(in_workspace, [&published[..], &["c 7"]].concat());
}

/// They are there for those who know their id.
pub async fn components_of_steps_are_not_listed(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let shared = workspace_owner();
    let mine = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    let mut steps = Vec::new();
    for owner in [&mine, &shared] {
        save(&*store, draft(owner, None, "0.0.1")).await;
        let of_step = draft(owner, None, "0.0.2");
        store
            .save_step_component(of_step.clone(), artifact(b"of a step"))
            .await
            .unwrap();
        steps.push(of_step);
    }
    let store = factory.reopen(store).await;
    let named = ComponentFilter {
        words: vec!["row".to_owned()],
        ..ComponentFilter::default()
    };
    for filter in [&ComponentFilter::default(), &named] {
        let of_user = ["New Row 0.0.1", "New Row 0.0.1"];
        assert_eq!(listed(&*store, &mine, filter).await, of_user);
        assert_eq!(listed(&*store, &shared, filter).await, of_user[..1]);
    }
    for of_step in steps {
        let found = store.component(&of_step.id).await.unwrap();
        assert_eq!(format!("{found:?}"), format!("{:?}", Some(&of_step)));
        let archive = store.artifact(&of_step.artifact_hash).await.unwrap();
        assert!(archive.is_some());
    }
}

/// Every word has to occur, in whatever case; app and type narrow further.
pub async fn components_are_searched(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    for (key, name, about, app, component_type) in [
        ("shop-new-order", "New Order", "Emits ÄRGER", "", "source"),
        ("shop-refund", "Refund", "Pays an order back", "", "action"),
        ("mail-send", "Send", "100% sent", "shop_mail", "action"),
    ] {
        let mut component = saved_component(&mine, Some(key));
        component.description.name = name.to_owned();
        component.code_url = Some(format!("npm:@acme/{key}/main.mjs"));
        component.description.description = Some(about.to_owned());
        component.description.component_type = match component_type {
            "action" => ComponentType::Action,
            _ => ComponentType::Source,
        };
        let app = Map::from_iter([("app".to_owned(), app.into())]);
        component.description.props = vec![PropDefinition {
            name: "app".to_owned(),
            type_name: "app".to_owned(),
            attributes: app,
        }];
        save(&*store, component).await;
    }
    let (order, refund, send) = (
        "shop-new-order 0.0.1",
        "shop-refund 0.0.1",
        "mail-send 0.0.1",
    );
    for (words, app, component_type, found) in [
        (&["order"][..], None, None, &[order, refund][..]),
        (&["ORDER", "back"], None, None, &[refund]),
        (&["ärger"], None, None, &[order]),
        (&["@acme/shop-refund"], None, None, &[refund]),
        (&["%"], None, None, &[send]),
        (&["_"], None, None, &[]),
        (&[], Some("shop"), None, &[order, refund]),
        (&[], Some("shop_mail"), None, &[send]),
        (&[], Some("mail"), None, &[send]),
        (&[], Some("sho"), None, &[]),
        (&[], None, Some(ComponentType::Action), &[send, refund]),
        (
            &["order"],
            Some("shop"),
            Some(ComponentType::Source),
            &[order],
        ),
        (&["nothing"], None, None, &[]),
    ] {
        let filter = ComponentFilter {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            app: app.map(str::to_owned),
            component_type,
            of_sources: false,
        };
        assert_eq!(listed(&*store, &mine, &filter).await, found, "{filter:?}");
    }
}

/// Published components and those of sources stay, whatever was saved under their keys later.
pub async fn drafts_without_a_source_are_left_out(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = owner();
    begin_of(&*store, epoch, draft(&mine, Some("shop-new"), "0.0.2"), "a").await;
    begin_of(&*store, epoch, draft(&mine, Some("shop-old"), "0.0.2"), "b").await;
    for (key, version) in [
        (Some("shop-new"), "0.0.3"),
        (Some("shop-old"), "0.0.1"),
        (Some("other"), "2.0.0"),
        (Some("trial"), "0.0.1"),
        (None, "0.0.1"),
    ] {
        save(&*store, draft(&mine, key, version)).await;
    }
    publish(&*store, &mine.user_id, "other", "1.0.0").await;
    let of_sources = ComponentFilter {
        of_sources: true,
        ..ComponentFilter::default()
    };
    assert_eq!(
        listed(&*store, &mine, &of_sources).await,
        ["other 1.0.0*", "shop-new 0.0.2", "shop-old 0.0.2"]
    );
    assert_eq!(
        listed(&*store, &mine, &ComponentFilter::default())
            .await
            .len(),
        5
    );
}

/// Components page in the order of keys and back, keyless ones behind them.
pub async fn components_are_paged_both_ways(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    let c = save(&*store, saved_component(&mine, Some("shop-c"))).await;
    let keyless = save(&*store, saved_component(&mine, None)).await;
    let a = publish(&*store, &owner().user_id, "shop-a", "1.0.0").await;
    let keyless_2 = save(&*store, saved_component(&mine, None)).await;
    let b = publish(&*store, &mine.user_id, "shop-b", "1.0.0").await;
    publish(&*store, &mine.user_id, "other", "1.0.0").await;
    let ids = [a, b, c, keyless, keyless_2].map(|component| component.id);
    let filter = ComponentFilter {
        words: vec!["row".to_owned()],
        ..ComponentFilter::default()
    };
    let with_other = store
        .components(&mine, &filter, &PageRequest::first(10))
        .await;
    assert_eq!(with_other.unwrap().total_count, 6);
    let mut renamed = saved_component(&mine, Some("other"));
    renamed.description.name = "Something else".to_owned();
    save(&*store, renamed).await;
    walk(&ids, async |request| {
        let page = store.components(&mine, &filter, &request).await.unwrap();
        keyed(page, |component| component.id.clone())
    })
    .await;
}
