//! Components that are published as files of a folder, and built later.

use std::collections::BTreeMap;

use headwater_model::{
    hash::{ArtifactHash, CodeHash},
    id::UserId,
    page::PageRequest,
    time::EpochSeconds,
};

use super::{Factory, fixture::*};
use crate::{
    ArtifactBytes, ComponentFilter, FolderFile, FolderPublication, Owner, Publication, Published,
    SavedComponent, Store,
};

/// A folder of two files, one of which is the component of this key.
fn folder(publisher: &UserId, key: &str, code: &str) -> FolderPublication {
    let owner = Owner {
        user_id: publisher.clone(),
        workspace_id: None,
    };
    let mut component = saved_component(&owner, Some(key));
    component.artifact_hash = ArtifactHash::new("");
    component.code_hash = CodeHash::new(code);
    let version = component.description.version.clone().unwrap();
    let publication = Publication {
        key: key.to_owned(),
        version: version.parse().unwrap(),
        publisher: publisher.clone(),
        component,
        artifact: ArtifactBytes::unbuilt(),
        published_at: EpochSeconds(5),
    };
    let file = |path: &str, text: &str| FolderFile {
        path: path.to_owned(),
        hash: format!("hash of {text}"),
        text: text.to_owned(),
    };
    FolderPublication {
        hash: format!("folder of {key} {code}"),
        files: vec![file("a.mjs", code), file("shop.app.mjs", "shared")],
        ranges: BTreeMap::from([("axios".to_owned(), "^1".to_owned())]),
        components: vec![("a.mjs".to_owned(), publication)],
    }
}

async fn publish(store: &dyn Store, folder: FolderPublication) -> (SavedComponent, Vec<Published>) {
    let component = folder.components[0].1.component.clone();
    (component, store.publish_folder(folder).await.unwrap())
}

/// Published components of folders are found, listed and unbuilt, and their files can be had.
pub async fn components_of_a_folder_are_published_before_they_are_built(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    let publisher = &mine.user_id;
    let (first, published) = publish(&*store, folder(publisher, "shop-a", "first")).await;
    assert!(matches!(published[..], [Published::Added]), "{published:?}");
    let (second, published) = publish(&*store, folder(publisher, "shop-b", "second")).await;
    assert!(matches!(published[..], [Published::Added]), "{published:?}");
    for (component, key, text) in [(&first, "shop-a", "first"), (&second, "shop-b", "second")] {
        let found = store.published_component(key, None).await.unwrap().unwrap();
        assert_eq!(found.id, component.id);
        assert!(!found.is_built());
        let code = store.folder_code(&component.id).await.unwrap().unwrap();
        assert_eq!(code.entry, "a.mjs");
        assert_eq!(code.ranges["axios"], "^1");
        let files: Vec<_> = code
            .files
            .iter()
            .map(|(path, text)| (&**path, &**text))
            .collect();
        assert_eq!(files, [("a.mjs", text), ("shop.app.mjs", "shared")]);
    }
    let all = store
        .components(&mine, &ComponentFilter::default(), &PageRequest::first(10))
        .await;
    assert_eq!(all.unwrap().total_count, 2);

    let (_, again) = publish(&*store, folder(publisher, "shop-a", "first")).await;
    assert!(matches!(&again[..], [Published::Unchanged(same)] if same.id == first.id));
    let (_, changed) = publish(&*store, folder(publisher, "shop-a", "changed")).await;
    assert!(
        matches!(changed[..], [Published::VersionTaken]),
        "{changed:?}"
    );
    let (_, taken) = publish(&*store, folder(&owner().user_id, "shop-a", "first")).await;
    assert!(matches!(taken[..], [Published::KeyTaken]), "{taken:?}");
    let alone = saved_component(&mine, None);
    store
        .save_component(alone.clone(), artifact(b"archive"))
        .await
        .unwrap();
    assert_eq!(store.folder_code(&alone.id).await.unwrap(), None);
}

/// The first build counts, and what it found out is listed.
pub async fn a_component_is_built_once(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    let (component, _) = publish(&*store, folder(&mine.user_id, "shop-a", "code")).await;
    let built = |name: &str, hash: &str| {
        let mut built = component.clone();
        built.description.name = name.to_owned();
        built.artifact_hash = ArtifactHash::new(hash);
        let mut artifact = artifact(b"archive");
        artifact.hash = ArtifactHash::new(hash);
        (built, artifact)
    };
    for (name, hash) in [("First", "a1"), ("Second", "a2")] {
        let (built, artifact) = built(name, hash);
        let stored = store.complete_component(built, artifact).await.unwrap();
        assert_eq!(
            (&*stored.description.name, stored.artifact_hash.as_str()),
            ("First", "a1")
        );
    }
    let found = store.component(&component.id).await.unwrap().unwrap();
    assert!(found.is_built());
    assert!(
        store
            .artifact(&found.artifact_hash)
            .await
            .unwrap()
            .is_some()
    );
    assert!(store.folder_code(&component.id).await.unwrap().is_some());
    for (word, count) in [("first", 1), ("row", 0)] {
        let filter = ComponentFilter {
            words: vec![word.to_owned()],
            ..ComponentFilter::default()
        };
        let listed = store
            .components(&mine, &filter, &PageRequest::first(10))
            .await;
        assert_eq!(listed.unwrap().total_count, count, "{word}");
    }
}
