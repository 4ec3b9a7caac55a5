//! Data stores: their records, their limits, their end.

use headwater_model::{
    data_store::DataStoreName,
    limits::{DATA_STORE_PAGE_BYTES, DataStoreLimits},
    page::{Page, PageRequest, Position},
    prop::PropDefinition,
    time::EpochMs,
};
use serde_json::json;

use super::{
    Factory,
    catalog::{keyed, walk},
    fixture::*,
};
use crate::{
    DataStore, DataStoreRef, DataStoreSource, NewRecord, Owner, RecordRange, RecordWritten, Source,
    Store,
};

/// More than one step of sweeping takes.
const MANY: usize = 25;

fn named(owner: &Owner, name: &str) -> DataStoreRef {
    DataStoreRef {
        owner: owner.clone(),
        name: name.parse().unwrap(),
    }
}

fn record(key: &str, value: &str) -> NewRecord {
    NewRecord {
        key: key.to_owned(),
        value: json(value),
        expires_at_ms: None,
    }
}

fn until(expires_at_ms: EpochMs, record: NewRecord) -> NewRecord {
    NewRecord {
        expires_at_ms: Some(expires_at_ms),
        ..record
    }
}

/// Writes at [`T0`] within the default limits.
async fn write(store: &dyn Store, to: &DataStoreRef, record: NewRecord) {
    let limits = DataStoreLimits::default();
    let written = store.write_record(to, record, limits, T0).await;
    assert_eq!(written.unwrap(), RecordWritten::Written);
}

/// The value of a key, as text.
async fn value(store: &dyn Store, of: &DataStoreRef, key: &str, now_ms: EpochMs) -> Option<String> {
    let found = store.record(of, key, now_ms).await.unwrap();
    found.map(|record| record.value.get().to_owned())
}

async fn keys(store: &dyn Store, of: &DataStoreRef, now_ms: EpochMs) -> Vec<String> {
    store.record_keys(of, None, 100, now_ms).await.unwrap()
}

async fn size(store: &dyn Store, of: &DataStoreRef, now_ms: EpochMs) -> (u64, u64) {
    let found = store.data_store(of, now_ms).await.unwrap().unwrap();
    (found.records, found.bytes)
}

async fn sweep(store: &dyn Store, now_ms: EpochMs) -> u64 {
    let mut swept = 0;
    loop {
        let progress = store.sweep_records(now_ms, 10).await.unwrap();
        assert!(progress.done <= 10);
        swept += progress.done;
        if !progress.more {
            return swept;
        }
    }
}

/// Spelling and the order of properties stay, whatever opens the store.
pub async fn a_record_is_kept_byte_for_byte(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "Orders & more");
    let text = r#"{"b": 1.0, "a":"\u00e9",  "c":[null]}"#;
    write(&*store, &mine, record("k\u{0}é", text)).await;
    let store = factory.reopen(store).await;
    let found = store.record(&mine, "k\u{0}é", T0).await.unwrap().unwrap();
    assert_eq!(found.value.get(), text);
    assert_eq!((found.expires_at_ms, found.updated_at_ms), (None, T0));
    assert_eq!(keys(&*store, &mine, T0).await, ["k\u{0}é"]);
    assert_eq!(
        size(&*store, &mine, T0).await,
        (1, 4 + text.len() as u64),
        "key and value"
    );
}

/// A workspace's stores are its members' together; a user's own are nobody else's, and no workspace's.
pub async fn stores_of_a_name_are_their_owners_own(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let shared = workspace_owner();
    let colleague = Owner {
        user_id: owner().user_id,
        ..shared.clone()
    };
    let private = Owner {
        workspace_id: None,
        ..shared.clone()
    };
    for (owner, text) in [(&shared, "1"), (&private, "2"), (&owner(), "3")] {
        write(&*store, &named(owner, "s"), record("k", text)).await;
    }
    let seen = async |owner: &Owner| value(&*store, &named(owner, "s"), "k", T0).await;
    assert_eq!(seen(&colleague).await.as_deref(), Some("1"));
    assert_eq!(seen(&private).await.as_deref(), Some("2"));
    assert_eq!(seen(&owner()).await, None);
    assert_eq!(
        value(&*store, &named(&shared, "S"), "k", T0).await,
        None,
        "case matters"
    );
}

/// From its last millisecond on, swept or not.
pub async fn an_expired_record_is_gone_at_its_time(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    write(&*store, &mine, until(T0 + SECOND, record("a", "1"))).await;
    write(&*store, &mine, record("b", "2")).await;
    for (now_ms, there) in [(T0 + (SECOND - MS), true), (T0 + SECOND, false)] {
        let expected: &[&str] = if there { &["a", "b"] } else { &["b"] };
        let range = RecordRange {
            after: None,
            limit: 10,
            bytes: 100,
        };
        assert_eq!(value(&*store, &mine, "a", now_ms).await.is_some(), there);
        assert_eq!(keys(&*store, &mine, now_ms).await, expected);
        let records = store.records(&mine, range, now_ms).await.unwrap();
        assert_eq!(records.len(), expected.len());
        assert_eq!(size(&*store, &mine, now_ms).await.0, expected.len() as u64);
        let page = PageRequest::first(10);
        let listed = store.data_stores(&mine.owner, &page, now_ms).await.unwrap();
        assert_eq!(listed.items[0].records, expected.len() as u64);
    }
    let later = T0 + SECOND;
    let prolonged = store.set_record_expiry(&mine, "a", None, later).await;
    assert!(!prolonged.unwrap(), "it is gone");
    let kept = store.set_record_expiry(&mine, "b", Some(later + 5 * MS), later);
    assert!(kept.await.unwrap());
    assert_eq!(keys(&*store, &mine, later + 5 * MS).await, [""; 0]);
    let kept = store.set_record_expiry(&mine, "b", None, later).await;
    assert!(kept.unwrap());
    assert_eq!(keys(&*store, &mine, later + 5 * MS).await, ["b"]);
    let strange = named(&owner(), "s");
    let unknown = store.set_record_expiry(&strange, "b", None, T0).await;
    assert!(!unknown.unwrap());
}

/// The later write stands, with its own time to expire.
pub async fn a_record_is_overwritten_and_deleted(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    write(&*store, &mine, until(T0 + MS, record("k", "\"long\""))).await;
    write(&*store, &mine, record("k", "2")).await;
    assert_eq!(value(&*store, &mine, "k", T0 + 9 * MS).await.unwrap(), "2");
    assert_eq!(size(&*store, &mine, T0).await, (1, 2));
    assert!(store.delete_record(&mine, "k", T0).await.unwrap());
    assert!(!store.delete_record(&mine, "k", T0).await.unwrap());
    assert_eq!(size(&*store, &mine, T0).await, (0, 0));
    write(&*store, &mine, until(T0 + MS, record("k", "3"))).await;
    assert!(!store.delete_record(&mine, "k", T0 + MS).await.unwrap());
    assert_eq!(size(&*store, &mine, T0 + MS).await, (0, 0));
}

/// A stretch ends at its number, or behind the record that reaches its bytes.
pub async fn a_stretch_of_records_is_bounded_by_number_and_bytes(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    for key in ["c", "a", "B", "é", "b"] {
        write(&*store, &mine, record(key, "\"12345678\"")).await;
    }
    let stretch = async |after: Option<&str>, limit, bytes| {
        let range = RecordRange {
            after,
            limit,
            bytes,
        };
        let records = store.records(&mine, range, T0).await.unwrap();
        let keys = records.into_iter().map(|record| record.key);
        keys.collect::<Vec<_>>()
    };
    assert_eq!(stretch(None, 9, 1000).await, ["B", "a", "b", "c", "é"]);
    assert_eq!(stretch(None, 2, 1000).await, ["B", "a"]);
    assert_eq!(stretch(Some("a"), 9, 11).await, ["b", "c"]);
    assert_eq!(stretch(Some("aa"), 9, 1).await, ["b"]);
    assert_eq!(stretch(Some("é"), 9, 1000).await, [""; 0]);
    let keys = store.record_keys(&mine, Some("B"), 2, T0).await.unwrap();
    assert_eq!(keys, ["a", "b"]);
}

/// In the order of keys, expired ones left out.
pub async fn records_are_paged_both_ways(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    let keys = ["a", "b", "c", "d", "e"].map(str::to_owned);
    for key in keys.iter().rev() {
        write(&*store, &mine, record(key, "1")).await;
    }
    write(&*store, &mine, until(T0, record("bb", "1"))).await;
    walk(&keys, async |request| {
        let page = store.record_page(&mine, "", &request, T0).await.unwrap();
        keyed(page, |record| record.key.clone())
    })
    .await;
}

/// A prefix is any text, and no pattern; pages lead both ways within it, and do not leave it.
pub async fn records_are_paged_by_the_beginning_of_their_keys(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    let keys = [
        "a%",
        "a%0",
        "a%1",
        "a%\u{10ffff}x",
        "a%é",
        "ab",
        "b",
        "\u{10ffff}",
    ];
    for key in keys {
        write(&*store, &mine, record(key, "1")).await;
    }
    write(&*store, &mine, until(T0, record("a%2", "1"))).await;
    let within = ["a%", "a%0", "a%1", "a%é", "a%\u{10ffff}x"].map(str::to_owned);
    walk(&within, async |request| {
        let page = store.record_page(&mine, "a%", &request, T0).await.unwrap();
        keyed(page, |record| record.key.clone())
    })
    .await;
    for (prefix, position, expected) in [
        ("\u{10ffff}", Position::First, vec!["\u{10ffff}"]),
        ("ab", Position::After("a".to_owned()), vec!["ab"]),
        ("a%", Position::After("b".to_owned()), vec![]),
        ("ab", Position::Before("x".to_owned()), vec!["ab"]),
        ("b", Position::Before("a".to_owned()), vec![]),
        ("c", Position::First, vec![]),
    ] {
        let request = PageRequest { limit: 9, position };
        let page = store.record_page(&mine, prefix, &request, T0).await;
        let items = page.unwrap().items;
        let found: Vec<_> = items.iter().map(|record| &*record.key).collect();
        assert_eq!(found, expected, "{prefix:?}");
    }
}

/// Behind the record that reaches the bytes of a page, whichever way it is read.
pub async fn a_page_of_large_records_ends_early(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    let large = format!("\"{}\"", "x".repeat(DATA_STORE_PAGE_BYTES / 2));
    for key in ["a", "b", "c", "d"] {
        write(&*store, &mine, record(key, &large)).await;
    }
    for (position, expected) in [
        (Position::First, ["a", "b"]),
        (Position::After("a".to_owned()), ["b", "c"]),
        (Position::Before("d".to_owned()), ["b", "c"]),
    ] {
        let request = PageRequest {
            limit: 10,
            position,
        };
        let page = store.record_page(&mine, "", &request, T0).await.unwrap();
        let keys: Vec<_> = page.items.into_iter().map(|record| record.key).collect();
        assert_eq!(
            (page.total_count, &keys[..]),
            (4, &expected.map(str::to_owned)[..])
        );
    }
}

/// Over a limit nothing is written; existing records may still be replaced.
pub async fn a_full_store_takes_no_more(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    let limits = DataStoreLimits {
        stores: 1,
        records: 2,
        bytes: 20,
    };
    let put = async |to: &DataStoreRef, key: &str, value: &str| {
        let written = store.write_record(to, record(key, value), limits, T0);
        written.await.unwrap()
    };
    assert_eq!(put(&mine, "a", "1").await, RecordWritten::Written);
    assert_eq!(put(&mine, "b", "2").await, RecordWritten::Written);
    assert_eq!(put(&mine, "c", "3").await, RecordWritten::TooManyRecords);
    assert_eq!(put(&mine, "b", "22").await, RecordWritten::Written);
    let long = "\"0123456789abcd\"";
    assert_eq!(put(&mine, "a", long).await, RecordWritten::Written);
    assert_eq!(put(&mine, "b", "2222").await, RecordWritten::TooManyBytes);
    let other = named(&mine.owner, "t");
    assert_eq!(put(&other, "a", "1").await, RecordWritten::TooManyStores);
    let strange = named(&owner(), "t");
    let too_long = format!("\"{}\"", "x".repeat(20));
    assert_eq!(
        put(&strange, "a", &too_long).await,
        RecordWritten::TooManyBytes
    );
    assert!(store.data_store(&strange, T0).await.unwrap().is_none());
    assert_eq!(size(&*store, &mine, T0).await, (2, 20));
    assert_eq!(value(&*store, &mine, "b", T0).await.unwrap(), "22");
}

/// A record takes the place of those that have expired, before anything has swept them.
pub async fn expired_records_make_room(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    let limits = DataStoreLimits {
        records: 1,
        ..DataStoreLimits::default()
    };
    write(&*store, &mine, until(T0 + 5 * MS, record("a", "1"))).await;
    for (now_ms, expected) in [
        (T0 + 4 * MS, RecordWritten::TooManyRecords),
        (T0 + 5 * MS, RecordWritten::Written),
    ] {
        let written = store.write_record(&mine, record("b", "2"), limits, now_ms);
        assert_eq!(written.await.unwrap(), expected);
    }
    assert_eq!(size(&*store, &mine, T0 + 5 * MS).await, (1, 2));
}

/// The store is there, empty, and takes records again at once.
pub async fn clearing_leaves_an_empty_store(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (mine, other) = (named(&owner(), "s"), named(&owner(), "s"));
    for number in 0..MANY {
        write(&*store, &mine, record(&number.to_string(), "1")).await;
    }
    write(&*store, &other, record("k", "1")).await;
    store.clear_records(&mine, T0 + MS).await.unwrap();
    assert_eq!(keys(&*store, &mine, T0).await, [""; 0]);
    assert_eq!(size(&*store, &mine, T0).await, (0, 0));
    let cleared = store.data_store(&mine, T0).await.unwrap().unwrap();
    assert_eq!(cleared.created_at_ms, T0);
    write(&*store, &mine, record("1", "2")).await;
    assert_eq!(sweep(&*store, T0).await, MANY as u64);
    assert_eq!(value(&*store, &mine, "1", T0).await.unwrap(), "2");
    assert_eq!(value(&*store, &other, "k", T0).await.unwrap(), "1");
    let unknown = named(&mine.owner, "never written to");
    store.clear_records(&unknown, T0).await.unwrap();
    assert!(store.data_store(&unknown, T0).await.unwrap().is_none());
}

/// In bounded steps, and counted in none.
pub async fn sweeping_frees_what_is_gone(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let (mine, deleted) = (named(&owner(), "s"), named(&owner(), "t"));
    for number in 0..MANY {
        let expiring = until(T0 + SECOND, record(&number.to_string(), "1"));
        write(&*store, &mine, expiring).await;
        write(&*store, &deleted, record(&number.to_string(), "1")).await;
    }
    write(&*store, &mine, record("k", "12")).await;
    assert_eq!(sweep(&*store, T0).await, 0);
    assert!(store.delete_data_store(&deleted).await.unwrap());
    let store = factory.reopen(store).await;
    assert_eq!(sweep(&*store, T0 + SECOND).await, 2 * MANY as u64);
    assert_eq!(size(&*store, &mine, T0).await, (1, 3));
    assert_eq!(keys(&*store, &mine, T0).await, ["k"]);
}

/// In the order of names.
pub async fn data_stores_are_paged_both_ways(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = owner();
    let mut names: Vec<DataStoreName> = Vec::new();
    for name in ["b", "d", "a", "e", "c"] {
        write(&*store, &named(&mine, name), record("k", "1")).await;
        names.push(name.parse().unwrap());
    }
    names.sort();
    write(&*store, &named(&owner(), "f"), record("k", "1")).await;
    walk(&names, async |request| {
        let page: Page<DataStore> = store.data_stores(&mine, &request, T0).await.unwrap();
        keyed(page, |store| store.name.clone())
    })
    .await;
}

/// It may be made anew, and is empty then.
pub async fn a_deleted_data_store_is_gone_with_its_records(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let mine = named(&owner(), "s");
    write(&*store, &mine, record("k", "1")).await;
    assert!(store.delete_data_store(&mine).await.unwrap());
    assert!(!store.delete_data_store(&mine).await.unwrap());
    assert!(store.data_store(&mine, T0).await.unwrap().is_none());
    write(&*store, &mine, record("l", "1")).await;
    assert_eq!(keys(&*store, &mine, T0).await, ["l"]);
}

/// Those of a deleted user are gone, and those of the workspaces that go with it.
pub async fn data_stores_end_with_their_user(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let ann = create_user(&*store, "ann").await;
    let alone = workspace("alone");
    store
        .create_workspace(alone.clone(), &ann.id)
        .await
        .unwrap();
    let stores = [
        named(&owned(&ann, None), "s"),
        named(&owned(&ann, Some(&alone)), "s"),
    ];
    for each in &stores {
        write(&*store, each, record("k", "1")).await;
    }
    assert!(store.delete_user(&ann.id).await.unwrap());
    for each in &stores {
        assert!(store.data_store(each, T0).await.unwrap().is_none());
    }
    assert_eq!(sweep(&*store, T0).await, 2);
}

/// By a value or a default, by props that came later too; not those of others, of other names, or of other types.
pub async fn the_sources_of_a_data_store_are_those_whose_props_stand_for_it(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let (mine, workspace) = (owner(), workspace_owner());
    let prop = |definition: serde_json::Value| -> PropDefinition {
        serde_json::from_value(definition).unwrap()
    };
    let props = [
        prop(json!({"name": "seen", "type": "data_store"})),
        prop(json!({"name": "usual", "type": "data_store", "default": "orders"})),
        prop(json!({"name": "text", "type": "string"})),
    ];
    let begin_with = async |owner: &Owner, name: &str, configured: serde_json::Value| {
        let mut component = saved_component(owner, None);
        component.description.props = props.to_vec();
        let id = component.id.clone();
        let saved = store.save_component(component, artifact(b"archive"));
        saved.await.unwrap();
        let mut source = begin(&*store, epoch, owner, name).await;
        source.spec.component_id = id;
        source.spec.name = name.to_owned();
        source.spec.configured_props = configured.as_object().unwrap().clone();
        if name == "later" {
            let later = json!({"name": "more", "type": "data_store"});
            source.spec.dynamic_props = vec![prop(later)];
        }
        settle(&*store, source).await
    };
    let other = json!({"usual": "other", "text": "orders"});
    begin_with(&mine, "other", other).await;
    let both = begin_with(&mine, "both", json!({"seen": "orders"})).await;
    let later = json!({"usual": "other", "more": "orders"});
    let later = begin_with(&mine, "later", later).await;
    let theirs = begin_with(&workspace, "theirs", json!({})).await;
    let used = async |owner: &Owner| {
        let used = store.data_store_sources(&named(owner, "orders")).await;
        used.unwrap()
    };
    let source = |source: &Source, props: &[&str]| DataStoreSource {
        id: source.id.clone(),
        name: source.spec.name.clone(),
        props: props.iter().map(|&prop| prop.to_owned()).collect(),
    };
    let mut expected = [source(&both, &["seen", "usual"]), source(&later, &["more"])];
    expected.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(used(&mine).await, expected);
    assert_eq!(used(&workspace).await, [source(&theirs, &["usual"])]);
    assert_eq!(used(&owner()).await, []);
}
