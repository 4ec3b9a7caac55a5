//! The bundler that builds run: pinned, fetched once, and found without the registry from then on.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::{
    Json, Router,
    extract::{Path as UrlPath, State},
    http::StatusCode,
    routing::get,
};
use headwater_engine::{
    ComponentCode, EngineError,
    build::{Builder, BuilderConfig, CODE_BYTES_MAX, ThrowawayWorkers},
    confine::Confinement,
    deno::{BUNDLER_VERSION, Bundler, BundlerSource},
    network::NetworkPolicy,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{self, deno, registry_env};

const CODE: &str = "export default { name: \"a\", version: \"1\", run() {} };";

/// A registry that has the bundler's package, with this binary in it for each platform.
struct Registry {
    address: String,
    binary: Vec<u8>,
    questions: AtomicUsize,
    downloads: AtomicUsize,
}

async fn registry(binary: Vec<u8>) -> Arc<Registry> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let registry = Arc::new(Registry {
        address: format!("http://{}", listener.local_addr().unwrap()),
        binary,
        questions: AtomicUsize::new(0),
        downloads: AtomicUsize::new(0),
    });
    let app = Router::new()
        .route("/{name}", get(metadata))
        .route("/tarballs/{platform}", get(tarball))
        .with_state(Arc::clone(&registry));
    tokio::spawn(async move { axum::serve(listener, app).await });
    registry
}

async fn metadata(
    State(registry): State<Arc<Registry>>,
    UrlPath(name): UrlPath<String>,
) -> Result<Json<Value>, StatusCode> {
    registry.questions.fetch_add(1, Ordering::Relaxed);
    let platform = name
        .strip_prefix("@esbuild/")
        .ok_or(StatusCode::NOT_FOUND)?;
    let tarball = format!("{}/tarballs/{platform}", registry.address);
    Ok(Json(json!({
        "name": name,
        "dist-tags": { "latest": BUNDLER_VERSION },
        "versions": { BUNDLER_VERSION: { "name": name, "version": BUNDLER_VERSION, "dist": { "tarball": tarball } } },
    })))
}

async fn tarball(State(registry): State<Arc<Registry>>) -> Vec<u8> {
    registry.downloads.fetch_add(1, Ordering::Relaxed);
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::fast(),
    ));
    for (name, bytes) in [
        ("package.json", &b"{}"[..]),
        ("bin/esbuild", &registry.binary),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o755);
        archive
            .append_data(&mut header, format!("package/{name}"), bytes)
            .unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

/// A builder with a cache of its own and this registry.
async fn fresh(registry: &str, kept_in: Option<PathBuf>) -> (Builder, TempDir) {
    let cache = tempfile::tempdir().unwrap();
    let deno = deno().await;
    // The runtime's files are the same for everybody.
    let confinement = Confinement::start(&support::confinement(), &deno).unwrap();
    let describer =
        ThrowawayWorkers::start(Arc::clone(&confinement), &support::cache_dir()).unwrap();
    let config = BuilderConfig {
        confinement,
        cache_dir: cache.path().to_owned(),
        kept_in,
        registry_env: vec![("NPM_CONFIG_REGISTRY".into(), registry.into())],
        code_bytes_max: CODE_BYTES_MAX,
        network: NetworkPolicy::PublicOnly,
        ca: None,
    };
    (Builder::new(config, Arc::new(describer)).unwrap(), cache)
}

/// Deno's cache folder that the other tests use, which has the bundler.
async fn kept() -> (PathBuf, PathBuf) {
    let folder = support::cache_dir().join("deno-dir");
    std::fs::create_dir_all(&folder).unwrap();
    let source = BundlerSource {
        deno: deno().await,
        kept_in: None,
        registry_env: registry_env(),
    };
    let binary = Bundler::new(source, folder.clone()).ready().await.unwrap();
    (folder, binary)
}

async fn build_eight(builder: &Builder) {
    let builds = (0..8).map(|_| builder.build(ComponentCode::Text(CODE.to_owned())));
    for built in futures::future::join_all(builds).await {
        built.expect("a working host").expect("a component");
    }
}

async fn refused(builder: &Builder) -> String {
    let built = builder.build(ComponentCode::Text(CODE.to_owned())).await;
    let error = built.map(drop).expect_err("a failure of the host");
    assert!(
        matches!(error, EngineError::Unavailable { .. }),
        "{error:?}"
    );
    error.to_string()
}

#[tokio::test]
async fn it_is_fetched_once_for_builds_that_come_together() {
    let (_, binary) = kept().await;
    let registry = registry(std::fs::read(binary).unwrap()).await;
    let (builder, _cache) = fresh(&registry.address, None).await;
    build_eight(&builder).await;
    assert!(!builder.lacks_bundler());
    assert_eq!(registry.downloads.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn one_that_was_installed_before_is_taken_without_the_registry() {
    let (folder, _) = kept().await;
    let (builder, _cache) = fresh("http://127.0.0.1:9", Some(folder)).await;
    build_eight(&builder).await;
}

#[tokio::test]
async fn without_it_the_host_fails_and_says_what_fetches_it() {
    let (builder, cache) = fresh("http://127.0.0.1:9", None).await;
    let told = refused(&builder).await;
    assert!(told.contains("headwater runtime install"), "{told}");
    assert!(builder.lacks_bundler());
    assert!(
        !told.contains(&cache.path().display().to_string()),
        "{told}"
    );
}

#[tokio::test]
async fn another_program_in_its_place_is_neither_taken_nor_run() {
    let witness = tempfile::tempdir().unwrap();
    let ran = witness.path().join("ran");
    let script = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
    let registry = registry(script.clone().into_bytes()).await;
    let (builder, cache) = fresh(&registry.address, None).await;
    let told = refused(&builder).await;
    assert!(told.contains("another file than the pinned one"), "{told}");
    // Nor one that is in the cache already.
    let (folder, _) = kept().await;
    let (builder, cache_with_script) = fresh("http://127.0.0.1:9", Some(folder)).await;
    builder.prepare().await.unwrap();
    let placed = bundler_in(cache_with_script.path());
    std::fs::remove_file(&placed).unwrap();
    std::fs::write(&placed, &script).unwrap();
    build_eight(&builder).await;
    assert_ne!(std::fs::read(&placed).unwrap(), script.into_bytes());
    assert!(!ran.exists());
    drop(cache);
}

/// The binary below a cache folder.
fn bundler_in(cache: &Path) -> PathBuf {
    let folder = cache
        .join("deno-dir/dl")
        .join(format!("esbuild-{BUNDLER_VERSION}-1"));
    let mut files = std::fs::read_dir(folder).unwrap();
    files.next().unwrap().unwrap().path()
}

/// The tries to get it that a registry without it saw, while this many builds wanted it together.
async fn tries(builds: usize) -> usize {
    let registry = registry(b"another program".to_vec()).await;
    let (builder, _cache) = fresh(&registry.address, None).await;
    let builds = (0..builds).map(|_| refused(&builder));
    for told in futures::future::join_all(builds).await {
        assert!(told.contains("another file than the pinned one"), "{told}");
    }
    registry.questions.load(Ordering::Relaxed)
}

#[tokio::test]
async fn builds_that_waited_while_it_could_not_be_had_fail_with_the_one_that_tried() {
    assert_eq!(tries(8).await, tries(1).await);
}
