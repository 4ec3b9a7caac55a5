//! Registries whose newest releases do not fit together.

use std::{process::Command, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    routing::get,
};
use headwater_engine::{
    BuildRequest, BuildStage, ComponentCode, build::Builder, network::NetworkPolicy,
};
use serde_json::{Value, json};

use crate::support::{self, builder_with};

/// Old enough for whoever asks.
const OLD: &str = "2020-01-01T00:00:00.000Z";
const CODE: &str =
    "import list from \"list\"; export default { name: \"a\", version: list, run() {} };";

/// A registry of `list` 1.0.0, which needs `item` 1, and of a newer 2.0.0, which needs `item` 2. There is no `item` but
/// 1.0.0.
struct Registry {
    address: String,
    /// The times when 1.0.0 and 2.0.0 were released.
    released_at: [String; 2],
}

async fn registry(released_at: String) -> String {
    registry_of([OLD.to_owned(), released_at]).await
}

async fn registry_of(released_at: [String; 2]) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let registry = Registry {
        address: address.clone(),
        released_at,
    };
    let app = Router::new()
        .route("/{name}", get(metadata))
        .route("/{name}/{version}", get(tarball))
        .with_state(Arc::new(registry));
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn metadata(
    State(registry): State<Arc<Registry>>,
    Path(name): Path<String>,
) -> Result<Json<Value>, StatusCode> {
    let release = |version: &str| {
        let tarball = format!("{}/{name}/{version}.tgz", registry.address);
        let mut manifest = manifest(&name, version);
        manifest["dist"] = json!({ "tarball": tarball });
        manifest
    };
    match &*name {
        "list" => Ok(Json(json!({
            "name": name,
            "dist-tags": { "latest": "2.0.0" },
            "versions": { "1.0.0": release("1.0.0"), "2.0.0": release("2.0.0") },
            "time": { "1.0.0": registry.released_at[0], "2.0.0": registry.released_at[1] },
        }))),
        "item" => Ok(Json(json!({
            "name": name,
            "dist-tags": { "latest": "1.0.0" },
            "versions": { "1.0.0": release("1.0.0") },
            "time": { "1.0.0": OLD },
        }))),
        _ => Err(StatusCode::NOT_FOUND),
    }
}

fn manifest(name: &str, version: &str) -> Value {
    let dependencies = match name {
        "list" => json!({ "item": format!("^{version}") }),
        _ => json!({}),
    };
    json!({ "name": name, "version": version, "dependencies": dependencies })
}

async fn tarball(Path((name, file)): Path<(String, String)>) -> Vec<u8> {
    let version = file.trim_end_matches(".tgz");
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("package");
    std::fs::create_dir(&package).unwrap();
    let manifest = manifest(&name, version).to_string();
    std::fs::write(package.join("package.json"), manifest).unwrap();
    let code = format!("module.exports = {};", json!(version));
    std::fs::write(package.join("index.js"), code).unwrap();
    let mut tar = Command::new("tar");
    let packed = tar
        .args(["czf", "-", "-C"])
        .arg(folder.path())
        .arg("package");
    packed.output().unwrap().stdout
}

async fn builder(registry: &str) -> Builder {
    let real = support::builder(NetworkPolicy::PublicOnly).await;
    // It is not in the registry of the test.
    real.prepare().await.expect("the bundler");
    let client = vec![("NPM_CONFIG_REGISTRY".into(), registry.into())];
    builder_with(NetworkPolicy::PublicOnly, client).await
}

/// That many days ago, as registries write it.
fn days_ago(days: u64) -> String {
    let mut date = Command::new("date");
    let date = date
        .args(["-u", "+%FT%TZ", "-d"])
        .arg(format!("{days} days ago"));
    let printed = String::from_utf8(date.output().unwrap().stdout).unwrap();
    printed.trim().to_owned()
}

#[tokio::test]
async fn older_releases_are_taken_where_the_newest_need_what_is_not_there() {
    let registry = registry(days_ago(40)).await;
    let code = ComponentCode::Text(CODE.to_owned());
    let build = builder(&registry).await.build(code).await.unwrap().unwrap();
    assert_eq!(build.description.version.as_deref(), Some("1.0.0"));
    assert!(build.lock.contains("item@1.0.0"), "{}", build.lock);
}

#[tokio::test]
async fn what_no_release_age_can_help_is_named() {
    let registry = registry(OLD.to_owned()).await;
    let builder = builder(&registry).await;
    let code = ComponentCode::Text(CODE.to_owned());
    let built = builder.build(code).await.unwrap().unwrap_err();
    let package = "npm:list".parse().unwrap();
    let listed = builder
        .package_modules(&package, "")
        .await
        .unwrap()
        .unwrap_err();
    for rejection in [built, listed] {
        assert_eq!(rejection.stage, BuildStage::Resolve);
        let message = rejection.error.message;
        assert!(message.contains("'item' matching '^2.0.0'"), "{message}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_newest_is_told_when_there_are_no_older_ones() {
    let registry = registry_of([days_ago(1), days_ago(1)]).await;
    let code = ComponentCode::Text(CODE.to_owned());
    let built = builder(&registry).await.build(code).await.unwrap();
    let message = built.unwrap_err().error.message;
    assert!(message.contains("'item' matching '^2.0.0'"), "{message}");
    assert!(!message.contains("minimum dependency"), "{message}");
}

/// The version of `list` that a build took, with this `package.json`'s range for it.
async fn taken(code: &str, range: &str) -> String {
    let registry = registry(days_ago(40)).await;
    let request = BuildRequest {
        code: ComponentCode::Text(code.to_owned()),
        ranges: [("list".to_owned(), range.to_owned())].into(),
        owner: "somebody".into(),
        is_step: false,
        observer: headwater_engine::BuildObserver::default(),
    };
    let built = builder(&registry).await.build(request).await.unwrap();
    match built {
        Ok(build) => build.description.version.unwrap_or_default(),
        Err(rejection) => rejection.error.message,
    }
}

#[tokio::test]
async fn an_import_without_a_version_gets_what_is_declared() {
    // The newest release cannot be resolved here, so that nothing else than the range leads to the older one.
    for range in ["^1.0.0", "1", "~1.0", ">=1 <2", "0.9.x || 1.0.x", "1.0.0"] {
        assert_eq!(taken(CODE, range).await, "1.0.0", "{range}");
    }
    let pinned = CODE.replace("\"list\"", "\"list@1.0.0\"");
    assert_eq!(taken(&pinned, "^2").await, "1.0.0");
    let prefixed = CODE.replace("\"list\"", "\"npm:list\"");
    assert_eq!(taken(&prefixed, "^1").await, "1.0.0");
}

#[tokio::test]
async fn a_declared_range_that_nothing_matches_is_named() {
    for range in ["^7", ">=7 <9"] {
        let told = taken(CODE, range).await;
        assert!(told.contains("`list`: no release matches"), "{told}");
    }
}
