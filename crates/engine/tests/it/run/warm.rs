//! Warm workers: what they have evaluated before they are given a component.

use std::{fs, path::Path, time::Duration};

use headwater_engine::{EngineConfig, artifact};
use headwater_model::outcome::Outcome;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::{Node, Source};

/// Says whether it was evaluated for a component, and that it was.
const SHARED: &str = r#"import process from "node:process";
export const evaluatedFor = process.env.PD_COMPONENT ?? null;
export default () => { globalThis.evaluated = true; };
"#;

/// A component that imports a shared module with this text.
fn sharing(module: &str) -> Source {
    let folder = tempfile::tempdir().unwrap();
    let map = "{}";
    let name = [module, map].map(Sha256::digest).concat();
    let name = hex::encode(Sha256::digest(name));
    let shared = folder.path().join("shared").join(&name);
    fs::create_dir_all(&shared).unwrap();
    fs::write(shared.join("module.mjs"), module).unwrap();
    fs::write(shared.join("module.mjs.map"), map).unwrap();
    let component = format!(
        "import {{ evaluatedFor }} from \"headwater-shared/{name}/module.mjs\";\n\
         var component = {{ name: \"Shares\", version: \"0.0.1\", run: () => evaluatedFor }};\n\
         export {{ component as default }};\n"
    );
    fs::write(folder.path().join(artifact::ENTRY), component).unwrap();
    let artifact = artifact::pack(folder.path()).unwrap();
    Source::of("sharing", artifact, Map::new())
}

fn plain() -> Source {
    let folder = tempfile::tempdir().unwrap();
    let component = "export default { name: \"Plain\", version: \"0.0.1\", run: () => globalThis.evaluated ?? false };";
    fs::write(folder.path().join(artifact::ENTRY), component).unwrap();
    let artifact = artifact::pack(folder.path()).unwrap();
    Source::of("plain", artifact, Map::new())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warm_worker_has_evaluated_what_the_last_component_shared_and_goes_to_no_other() {
    let node = Node::with(|config| config.warm_workers = 2).await;
    let warm = || node.until(|status| status.warm_workers == 2);
    let (first, second, third) = (sharing(SHARED), sharing(SHARED), sharing(SHARED));
    warm().await;
    let run = node.run(&first, Value::Null).await;
    assert_eq!(run.returned(), "sharing", "nobody knew of it before");
    warm().await;
    let run = node.run(&second, Value::Null).await;
    assert_eq!(run.returned(), Value::Null, "it was there before");
    warm().await;
    for _ in 0..2 {
        let run = node.run(&plain(), Value::Null).await;
        assert_eq!(
            run.returned(),
            false,
            "its code runs for those that import it"
        );
    }
    let run = node.run(&third, Value::Null).await;
    assert_eq!(
        run.returned(),
        Value::Null,
        "it still waits for the next one"
    );
    let other = sharing(&SHARED.replace("evaluated = true", "other = true"));
    let run = node.run(&other, Value::Null).await;
    assert_eq!(run.returned(), json!("sharing"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_module_that_throws_fails_its_component_and_no_worker() {
    let node = Node::with(|config| config.warm_workers = 2).await;
    let throwing = format!("{SHARED}throw new Error(\"at once\");\n");
    for _ in 0..2 {
        node.until(|status| status.warm_workers == 2).await;
        let run = node.run(&sharing(&throwing), Value::Null).await;
        let Outcome::Threw { error } = run.outcome() else {
            panic!("{:?}", run.outcome());
        };
        assert_eq!(error.message, "at once");
    }
    let run = node.run(&plain(), Value::Null).await;
    assert_eq!(run.returned(), false);
}

/// The shared modules whose compiled code is in the caches below a folder.
fn compiled(cache_dir: &Path) -> u32 {
    let caches = fs::read_dir(cache_dir).unwrap().map(|entry| entry.unwrap());
    let caches = caches.filter(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("deno-workers-")
    });
    let counts = caches.map(|cache| {
        let path = cache.path().join("v8_code_cache_v2");
        let code = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        // As Deno opens it; a process that could not would compile everything itself.
        code.execute_batch("PRAGMA optimize").unwrap();
        let shared = "SELECT count(*) FROM codecache WHERE specifier LIKE '%/shared/%/module.mjs'";
        code.query_row(shared, (), |row| row.get(0)).unwrap()
    });
    counts.max().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shared_module_that_was_imported_is_in_the_cache_of_later_workers() {
    let cache_dir = tempfile::tempdir().unwrap();
    let configured = |config: &mut EngineConfig| {
        config.cache_dir = cache_dir.path().to_owned();
    };
    let node = Node::with(configured).await;
    assert_eq!(compiled(cache_dir.path()), 0);
    node.run(&sharing(SHARED), Value::Null).await;
    let known = async {
        while compiled(cache_dir.path()) == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), known)
        .await
        .expect("the node compiles it");
    node.engine.shutdown().await;
    let again = Node::with(configured).await;
    assert_eq!(compiled(cache_dir.path()), 1, "a later start has it");
    let run = again.run(&sharing(SHARED), Value::Null).await;
    assert_eq!(run.returned(), "sharing");
}
