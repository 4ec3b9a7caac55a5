//! The fixture of the benches: a store on a disk with one active source, and its events.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use headwater_model::{
    channel::Channel,
    component::{ComponentType, Description, Hooks},
    event::NewEvent,
    hash::{ArtifactHash, CodeHash},
    id::{ComponentId, InvocationId, SourceId, UserId},
    time::{EpochMs, EpochSeconds},
};
use headwater_store::{
    ArtifactBytes, Catalog, NewSource, NodeName, Nodes, Owner, RunCommit, RunnableLease,
    SavedComponent, SettledSource, SourceSpec, Usage,
};
use headwater_store_sqlite::SqliteStore;
use serde_json::value::RawValue;

pub(crate) const NOW_MS: EpochMs = EpochMs(1_700_000_000_000);

/// Whose everything is.
pub(crate) fn owner() -> Owner {
    Owner {
        user_id: UserId::new(NOW_MS, 1),
        workspace_id: None,
    }
}

pub(crate) fn json() -> Box<RawValue> {
    RawValue::from_string(format!(r#"{{"text":"{}"}}"#, "x".repeat(200))).expect("JSON")
}

/// A run that emits one event.
pub(crate) fn run(lease: &RunnableLease) -> RunCommit {
    let event = NewEvent {
        channel: Channel::default(),
        event: json(),
        key: None,
        summary: None,
        ts: None,
        scheduled: None,
        hops: 0,
        trace: None,
    };
    RunCommit {
        lease: lease.clone(),
        run_id: InvocationId::new(NOW_MS, 1),
        invocation: None,
        events: vec![event],
        dedupe: None,
        kv_writes: Vec::new(),
        usage: Usage::default(),
        progress: None,
        ended: None,
        unrecorded: 0,
        now_ms: NOW_MS,
    }
}

/// A store with one active source.
pub(crate) async fn open(path: &Path) -> (Arc<SqliteStore>, RunnableLease) {
    let store = SqliteStore::open(path).expect("a store");
    let owner = owner();
    let component = component(&owner);
    let spec = SourceSpec {
        component_id: component.id.clone(),
        artifact_hash: component.artifact_hash.clone(),
        name: String::new(),
        configured_props: serde_json::Map::new(),
        dynamic_props: Vec::new(),
        endpoints: Vec::new(),
        timers: Vec::new(),
        dedupe: None,
        is_isolated: false,
    };
    let artifact = ArtifactBytes {
        hash: component.artifact_hash.clone(),
        bytes: Bytes::new(),
    };
    store
        .save_component(component, artifact)
        .await
        .expect("saved");
    let new = NewSource {
        id: SourceId::new(NOW_MS, 1),
        owner,
        slug: "bench".to_owned(),
        spec,
        now_at: EpochSeconds(1),
    };
    let node = NodeName::new("node");
    let epoch = store.start_node(&node, NOW_MS).await.expect("an epoch");
    let begun = store.begin_deploy(new, epoch).await;
    let (source, lease) = begun.expect("begun");
    let settled = SettledSource {
        lease: lease.clone(),
        spec: source.spec,
        deployment: None,
        active: true,
        commits: Vec::new(),
        now_ms: NOW_MS,
    };
    store.settle_source(settled).await.expect("settled");
    (Arc::new(store), lease)
}

fn component(owner: &Owner) -> SavedComponent {
    SavedComponent {
        id: ComponentId::new(NOW_MS, 1),
        owner: owner.clone(),
        code: String::new(),
        code_url: None,
        code_hash: CodeHash::new("c0de"),
        artifact_hash: ArtifactHash::new("a47"),
        lock: String::new(),
        description: Description {
            name: "Bench".to_owned(),
            key: None,
            version: None,
            component_type: ComponentType::Source,
            description: None,
            dedupe: None,
            props: Vec::new(),
            hooks: Hooks::default(),
            has_additional_props: false,
            has_run: true,
            sample_emit: None,
        },
        created_at: EpochSeconds(1),
        updated_at: EpochSeconds(1),
    }
}
