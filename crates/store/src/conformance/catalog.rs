//! Components, and pages of listings.

use std::fmt::Debug;

use headwater_model::{
    channel::Channel,
    hash::{ArtifactHash, CodeHash},
    page::{Page, PageRequest, Position},
};

use super::{Factory, fixture::*};
use crate::{ChannelFilter, ComponentFilter, Owner, RunnableFilter};

/// A component reads back as it was saved.
pub async fn a_component_is_found_by_its_id(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let saved = saved_component(&workspace_owner(), Some("github-new-row"));
    store
        .save_component(saved.clone(), artifact(b"archive"))
        .await
        .unwrap();
    let store = factory.reopen(store).await;
    let found = store.component(&saved.id).await.unwrap();
    assert_eq!(format!("{found:?}"), format!("{:?}", Some(&saved)));
    let other = saved_component(&owner(), None).id;
    assert!(store.component(&other).await.unwrap().is_none());
}

/// A key means the newest component of that key in the workspace, or of those that the user made.
pub async fn a_key_means_the_newest_component_of_the_workspace_or_the_user(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let shared = workspace_owner();
    let private = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    let colleague = Owner {
        workspace_id: shared.workspace_id.clone(),
        ..owner()
    };
    let save = async |owner: &Owner, key: &str| {
        let component = saved_component(owner, Some(key));
        let id = component.id.clone();
        store
            .save_component(component, artifact(b"archive"))
            .await
            .unwrap();
        id
    };
    let find = async |owner: &Owner, key: &str| {
        let found = store.component_by_key(owner, key).await.unwrap();
        found.map(|component| component.id)
    };
    save(&private, "a").await;
    let workspaces = save(&colleague, "a").await;
    let private_b = save(&private, "b").await;
    for owner in [&shared, &colleague] {
        assert_eq!(find(owner, "a").await.as_ref(), Some(&workspaces));
        assert_eq!(find(owner, "b").await, None);
    }
    let newest = save(&shared, "a").await;
    for owner in [&shared, &colleague, &private] {
        assert_eq!(find(owner, "a").await.as_ref(), Some(&newest));
    }
    assert_eq!(find(&private, "b").await, Some(private_b));
    assert_eq!(find(&owner(), "a").await, None);
}

/// A lower version that is saved later does not hide a higher one, wherever a key is looked up.
pub async fn a_key_means_the_highest_version(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let owner = Owner {
        workspace_id: None,
        ..owner()
    };
    for (version, meant) in [
        ("2.0.0", "2.0.0"),
        ("1.9.1", "2.0.0"),
        ("10.0.0", "10.0.0"),
        ("9.0.0", "10.0.0"),
        // Without an order the last saved counts.
        ("next", "next"),
    ] {
        let mut component = saved_component(&owner, Some("k"));
        component.description.version = Some(version.to_owned());
        store
            .save_component(component, artifact(b"archive"))
            .await
            .unwrap();
        let found = store.component_by_key(&owner, "k").await.unwrap();
        let found = found.unwrap().description.version;
        assert_eq!(found.as_deref(), Some(meant), "after {version}");
        let filter = ComponentFilter::default();
        let page = PageRequest::first(10);
        let listed = store.components(&owner, &filter, &page).await.unwrap();
        assert_eq!((listed.total_count, listed.items.len()), (1, 1));
        let listed = listed.items[0].description.version.as_deref();
        assert_eq!(listed, Some(meant), "after {version}");
    }
}

/// The first bytes under a hash stay.
pub async fn an_artifact_is_kept_once(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    for bytes in [&b"first\0\xff"[..], b"second"] {
        store
            .save_component(saved_component(&mine, None), artifact(bytes))
            .await
            .unwrap();
    }
    let store = factory.reopen(store).await;
    let kept = store
        .artifact(&ArtifactHash::new("a47"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&kept[..], b"first\0\xff");
    assert!(
        store
            .artifact(&ArtifactHash::new("a48"))
            .await
            .unwrap()
            .is_none()
    );
}

/// Saving the same again returns the same, and no listing has it twice.
pub async fn the_same_code_is_one_component(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = Owner {
        workspace_id: None,
        ..owner()
    };
    let save = async |owner: &Owner, key: Option<&str>, code: &str, url: Option<&str>| {
        let mut component = saved_component(owner, key);
        component.code_hash = CodeHash::new(code);
        component.code_url = url.map(str::to_owned);
        let saved = store.save_component(component, artifact(b"archive"));
        saved.await.unwrap().id
    };
    for key in [Some("k"), None] {
        let one = save(&mine, key, "one", None).await;
        assert_eq!(save(&mine, key, "one", None).await, one);
        assert_ne!(save(&owner(), key, "one", None).await, one);
        assert_ne!(save(&mine, Some("other"), "one", None).await, one);
    }
    let from_there = save(&mine, Some("u"), "one", Some("https://code.example")).await;
    assert_ne!(save(&mine, Some("u"), "one", None).await, from_there);

    // A key means what was saved last, so that going back to former code counts.
    let former = save(&mine, Some("back"), "former", None).await;
    save(&mine, Some("back"), "later", None).await;
    let again = save(&mine, Some("back"), "former", None).await;
    assert_ne!(again, former);
    let meant = store.component_by_key(&mine, "back").await.unwrap();
    assert_eq!(meant.unwrap().id, again);

    // A step's is the workflow's alone.
    let mut of_step = saved_component(&mine, None);
    of_step.code_hash = CodeHash::new("step");
    of_step.code_url = None;
    let written = store.save_step_component(of_step.clone(), artifact(b"archive"));
    written.await.unwrap();
    assert_ne!(save(&mine, None, "step", None).await, of_step.id);
}

/// A component that a source has had stays; one that nobody has goes, also from the listing.
pub async fn a_component_is_deleted_while_nothing_uses_it(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = Owner {
        workspace_id: None,
        ..owner()
    };
    let unused = saved_component(&mine, Some("unused"));
    let saved = store.save_component(unused.clone(), artifact(b"archive"));
    saved.await.unwrap();
    let used = begin(&*store, epoch, &mine, "source").await;
    let used = used.spec.component_id.clone();
    assert!(store.delete_component(&unused.id).await.unwrap());
    assert!(!store.delete_component(&used).await.unwrap());
    let store = factory.reopen(store).await;
    assert!(store.component(&unused.id).await.unwrap().is_none());
    assert!(store.component(&used).await.unwrap().is_some());
    let listed = store
        .components(&mine, &ComponentFilter::default(), &PageRequest::first(9))
        .await
        .unwrap();
    let listed: Vec<_> = listed.items.into_iter().map(|item| item.id).collect();
    assert_eq!(listed, [used]);
}

/// Walks a listing of five in every direction; `read` gives the cursors of a page.
pub(super) async fn walk<C: Clone + PartialEq + Debug>(
    all: &[C],
    read: impl AsyncFn(PageRequest<C>) -> Page<C>,
) {
    let page = async |limit, position: Position<C>| {
        let page = read(PageRequest { limit, position }).await;
        assert_eq!(page.total_count, 5);
        page.items
    };
    let (after, before) = (
        |at: usize| Position::After(all[at].clone()),
        |at: usize| Position::Before(all[at].clone()),
    );
    assert_eq!(page(2, Position::First).await, all[..2]);
    assert_eq!(page(100, Position::First).await, all);
    assert_eq!(page(2, after(1)).await, all[2..4]);
    assert_eq!(page(2, after(3)).await, all[4..]);
    assert_eq!(page(2, after(4)).await, []);
    assert_eq!(page(2, before(3)).await, all[1..3]);
    assert_eq!(page(2, before(1)).await, all[..1]);
    assert_eq!(page(2, before(0)).await, []);
    assert_eq!(page(5, before(4)).await, all[..4]);
}

pub(super) fn keyed<T, C>(page: Page<T>, key: impl Fn(&T) -> C) -> Page<C> {
    Page {
        total_count: page.total_count,
        items: page.items.iter().map(key).collect(),
    }
}

/// Events page from newest to oldest and back.
pub async fn events_are_paged_both_ways(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &source, &["1", "2", "3"], T0).await;
    emit_on(&*store, &source, Channel::errors(), "0").await;
    emit(&*store, &source, &["4", "5"], T0 + MS).await;
    let mut newest_first = ids(&*store, &source).await;
    newest_first.reverse();
    for channels in [ordinary(), ChannelFilter::Named(Channel::default())] {
        walk(&newest_first, async |request| {
            let page = store
                .events(&emitter(&source), &channels, &request)
                .await
                .unwrap();
            keyed(page, |event| event.id)
        })
        .await;
    }
}

/// A cursor works even when its event is gone.
pub async fn a_page_begins_behind_a_cursor_that_is_gone(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let source = deploy(&*store, epoch, &owner()).await;
    emit(&*store, &source, &["1", "2", "3"], T0).await;
    let gone = ids(&*store, &source).await[1];
    let one = deletion(&source, ordinary(), (Some(gone), Some(gone)));
    store.request_deletion(one).await.unwrap();
    for (position, text) in [(Position::After(gone), "1"), (Position::Before(gone), "3")] {
        let request = PageRequest {
            limit: 10,
            position,
        };
        let page = store
            .events(&emitter(&source), &ordinary(), &request)
            .await
            .unwrap();
        assert_eq!(
            (texts_of(&page.items), page.total_count),
            (vec![text.to_owned()], 2)
        );
    }
}

/// A listing of one channel shows no other, and nobody else's.
pub async fn channels_and_emitters_are_listed_apart(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (source, other) = (
        deploy(&*store, epoch, &owner()).await,
        deploy(&*store, epoch, &owner()).await,
    );
    for (channel, text) in [
        ("", "1"),
        ("orders", "2"),
        (Channel::ERRORS, "3"),
        (Channel::LOGS, "4"),
    ] {
        emit_on(&*store, &source, Channel::named(channel), text).await;
        let named = ChannelFilter::Named(Channel::named(channel));
        assert_eq!(texts_of(&listed(&*store, &source, &named).await), [text]);
    }
    assert_eq!(texts(&*store, &source).await, ["2", "1"]);
    assert!(texts(&*store, &other).await.is_empty());
}

/// Sources page in creation order and back.
pub async fn sources_are_paged_both_ways(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mine = workspace_owner();
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(deploy(&*store, epoch, &mine).await.source.id);
        deploy(&*store, epoch, &owner()).await;
    }
    for filter in [
        RunnableFilter::user(mine.user_id.clone()),
        RunnableFilter::workspace(mine.workspace_id.clone().unwrap()),
    ] {
        walk(&ids, async |request| {
            let page = store.sources(&filter, &request).await.unwrap();
            keyed(page, |source| source.id.clone())
        })
        .await;
    }
}
