//! Data stores: shared by name, each owner's own, durable when a run hears so.

use headwater_engine::{StoreOperation, StoreReply};
use headwater_model::{id::SourceId, limits::DATA_STORE_VALUE_BYTES};
use headwater_platform::{Caller, NewWorkspace};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use crate::{
    component::Component,
    engine::Run,
    world::{World, deployment, memory},
};

fn keeper() -> Component {
    Component::named("keeper").prop(json!({ "name": "store", "type": "data_store" }))
}

/// A source of the caller with a data store.
async fn deploy(world: &World, caller: &Caller, store: &str) -> SourceId {
    let request = deployment(&keeper(), json!({ "store": store }));
    let deployed = world.platform.deploy_source(caller, request).await;
    deployed.unwrap().source.id
}

/// A run of it that the test drives.
async fn run_as(world: &World, caller: &Caller, id: &SourceId) -> Run {
    let (platform, caller, id) = (world.platform.clone(), caller.clone(), id.clone());
    tokio::spawn(async move { platform.run_source(&caller, &id, Some(json!({}))).await });
    world.engine.next().await
}

fn json_of(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn set(key: &str, value: &Value, ttl_seconds: Option<f64>) -> StoreOperation {
    StoreOperation::Set {
        key: key.to_owned(),
        value: json_of(value),
        ttl_seconds,
    }
}

fn get(key: &str) -> StoreOperation {
    let key = key.to_owned();
    StoreOperation::Get { key }
}

fn value(reply: StoreReply) -> Option<Value> {
    let json = reply.unwrap()?;
    Some(serde_json::from_str(json.get()).unwrap())
}

/// Reads every page of a listing.
async fn listing(run: &Run, store: &str, of: fn(Option<String>) -> StoreOperation) -> Vec<Value> {
    let (mut items, mut after) = (Vec::new(), None);
    loop {
        let mut page = value(run.asks(store, of(after)).await).unwrap();
        items.append(page["items"].as_array_mut().unwrap());
        match page["after"].as_str() {
            Some(key) => after = Some(key.to_owned()),
            None => return items,
        }
    }
}

#[tokio::test]
async fn sources_of_an_owner_share_a_store_by_its_name() {
    let store = memory();
    {
        let world = World::on(&store).await;
        let id = deploy(&world, &world.caller, "orders").await;
        let run = run_as(&world, &world.caller, &id).await;
        assert_eq!(run.props["store"], json!({ "$data_store": "orders" }));
        let reply = run.asks("orders", set("k", &json!({ "n": 1 }), None)).await;
        assert_eq!(value(reply), None);
        // The run goes on and is never committed: what it heard of is there nevertheless.
    }
    let world = World::on(&store).await;
    let _made_again = world.engine.next().await;
    let id = deploy(&world, &world.caller, "orders").await;
    let run = run_as(&world, &world.caller, &id).await;
    assert_eq!(
        value(run.asks("orders", get("k")).await),
        Some(json!({ "n": 1 }))
    );
    let key = "k".to_owned();
    let deleted = run.asks("orders", StoreOperation::Delete { key }).await;
    assert_eq!(value(deleted), Some(json!(true)));
    assert_eq!(value(run.asks("orders", get("k")).await), None);
}

#[tokio::test]
async fn a_store_that_no_prop_names_is_refused() {
    let world = World::new().await;
    let mine = deploy(&world, &world.caller, "secrets").await;
    let given = run_as(&world, &world.caller, &mine).await;
    given
        .asks("secrets", set("k", &json!(1), None))
        .await
        .unwrap();
    let other = deploy(&world, &world.caller, "orders").await;
    let run = run_as(&world, &world.caller, &other).await;
    let every = [
        get("k"),
        set("k", &json!(2), None),
        StoreOperation::Clear,
        StoreOperation::Keys { after: None },
    ];
    for operation in every {
        let refused = run.asks("secrets", operation).await.unwrap_err();
        assert!(
            refused.starts_with("none of the component's props"),
            "{refused}"
        );
    }
    assert_eq!(value(given.asks("secrets", get("k")).await), Some(json!(1)));
}

#[tokio::test]
async fn another_users_store_of_the_name_is_another_store() {
    let world = World::new().await;
    let stranger = world.stranger().await;
    let mine = deploy(&world, &world.caller, "orders").await;
    let run = run_as(&world, &world.caller, &mine).await;
    run.asks("orders", set("k", &json!(1), None)).await.unwrap();
    let theirs = deploy(&world, &stranger, "orders").await;
    let strange = run_as(&world, &stranger, &theirs).await;
    assert_eq!(value(strange.asks("orders", get("k")).await), None);
    let cleared = strange.asks("orders", StoreOperation::Clear).await;
    assert_eq!(value(cleared), None);
    assert_eq!(value(run.asks("orders", get("k")).await), Some(json!(1)));
}

#[tokio::test]
async fn a_workspaces_store_is_its_members_together() {
    let world = World::new().await;
    let new = NewWorkspace {
        orgname: "team".to_owned(),
        name: None,
        email: None,
    };
    let workspace = world.platform.create_workspace(&world.caller, new).await;
    let workspace_id = workspace.unwrap().workspace.id;
    let caller = world.again(&world.caller).await;
    let mut runs = Vec::new();
    for workspace_id in [Some(workspace_id.clone()), Some(workspace_id), None] {
        let mut request = deployment(&keeper(), json!({ "store": "orders" }));
        request.workspace_id = workspace_id;
        let deployed = world
            .platform
            .deploy_source(&caller, request)
            .await
            .unwrap();
        runs.push(run_as(&world, &caller, &deployed.source.id).await);
    }
    let written = runs[0].asks("orders", set("k", &json!(1), None)).await;
    assert_eq!(value(written), None);
    let mut seen = Vec::new();
    for run in &runs {
        seen.push(value(run.asks("orders", get("k")).await));
    }
    assert_eq!(seen, [Some(json!(1)), Some(json!(1)), None]);
}

#[tokio::test]
async fn a_record_is_there_until_its_ttl_has_passed() {
    let world = World::new().await;
    let id = deploy(&world, &world.caller, "s").await;
    let run = run_as(&world, &world.caller, &id).await;
    for (key, ttl) in [("short", Some(1.5)), ("long", Some(1e300)), ("ever", None)] {
        run.asks("s", set(key, &json!(1), ttl)).await.unwrap();
    }
    world.clock.advance(1_499);
    assert_eq!(value(run.asks("s", get("short")).await), Some(json!(1)));
    world.clock.advance(1);
    assert_eq!(value(run.asks("s", get("short")).await), None);
    assert_eq!(
        value(run.asks("s", StoreOperation::Size).await),
        Some(json!(2))
    );
    for (key, ttl_seconds, is_there) in [("ever", Some(1.0), true), ("short", None, false)] {
        let key = key.to_owned();
        let changed = run.asks("s", StoreOperation::SetTtl { key, ttl_seconds });
        assert_eq!(value(changed.await), Some(json!(is_there)));
    }
    world.clock.advance(1_000);
    let keys = listing(&run, "s", |after| StoreOperation::Keys { after }).await;
    assert_eq!(keys, [json!("long")]);
}

#[tokio::test]
async fn requests_that_are_not_awaited_keep_their_order() {
    let world = World::new().await;
    let id = deploy(&world, &world.caller, "s").await;
    let run = run_as(&world, &world.caller, &id).await;
    let mut read = Vec::new();
    for number in 0..200 {
        drop(run.ask("s", set("k", &json!(number), None)));
        drop(run.ask("s", set("other", &json!(0), None)));
        read.push(run.ask("s", get("k")));
    }
    for (number, reply) in read.into_iter().enumerate() {
        assert_eq!(value(reply.await.unwrap()), Some(json!(number)));
    }
}

#[tokio::test]
async fn what_a_run_asked_for_last_is_done_though_it_has_ended() {
    let world = World::new().await;
    let id = deploy(&world, &world.caller, "s").await;
    let run = run_as(&world, &world.caller, &id).await;
    let written = run.ask("s", set("k", &json!(1), None));
    run.returns();
    assert_eq!(value(written.await.unwrap()), None);
    let next = run_as(&world, &world.caller, &id).await;
    assert_eq!(value(next.asks("s", get("k")).await), Some(json!(1)));
}

#[tokio::test]
async fn long_listings_come_in_pages() {
    let world = World::new().await;
    let id = deploy(&world, &world.caller, "s").await;
    let run = run_as(&world, &world.caller, &id).await;
    let keys: Vec<Value> = (0..2_345).map(|n| json!(format!("key{n:05}"))).collect();
    for key in &keys {
        drop(run.ask("s", set(key.as_str().unwrap(), key, None)));
    }
    let listed = listing(&run, "s", |after| StoreOperation::Keys { after }).await;
    assert_eq!(listed, keys);
    let entries = listing(&run, "s", |after| StoreOperation::Entries { after }).await;
    assert_eq!(entries.len(), keys.len());
    assert_eq!(entries[7], json!(["key00007", "key00007"]));
}

#[tokio::test]
async fn what_is_over_a_limit_is_refused_with_the_reason() {
    let world = World::new().await;
    let id = deploy(&world, &world.caller, "s").await;
    let run = run_as(&world, &world.caller, &id).await;
    let large = json!("x".repeat(DATA_STORE_VALUE_BYTES));
    for (key, value, reason) in [
        ("k", &large, "the value of `k` is 1048578 bytes"),
        (&*"k".repeat(1025), &json!(1), "key is 1025 bytes"),
        ("", &json!(1), "key is empty"),
    ] {
        let refused = run.asks("s", set(key, value, None)).await.unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
    assert_eq!(
        value(run.asks("s", StoreOperation::Size).await),
        Some(json!(0))
    );
}

#[tokio::test]
async fn a_name_that_is_none_names_the_prop() {
    let world = World::new().await;
    for (props, reason) in [
        (json!({}), "is required"),
        (json!({ "store": 7 }), "expected the name of a data store"),
        (json!({ "store": " s" }), "no space at its ends"),
        (json!({ "store": "" }), "name is empty"),
    ] {
        let refused = world.try_deploy(&keeper(), props).await.unwrap_err();
        let message = refused.to_string();
        assert!(message.starts_with("configured_props.store: "), "{message}");
        assert!(message.contains(reason), "{message}");
    }
}
