//! A package registry: `npm`'s protocol for one scope, with packages that the test publishes.

use std::{
    collections::BTreeMap,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::{Path as UrlPath, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

/// Tarballs by version, by package.
type Packages = Arc<Mutex<BTreeMap<String, BTreeMap<String, Vec<u8>>>>>;

/// A running registry; it ends with the test.
pub struct NpmRegistry {
    url: String,
    packages: Packages,
    home: TempDir,
}

impl NpmRegistry {
    /// A registry for the packages of `@local/`, without any yet.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let packages = Packages::default();
        let state = (url.clone(), Arc::clone(&packages));
        let router = Router::new()
            .route("/tarballs/{name}/{version}", get(tarball))
            .fallback(package)
            .with_state(state);
        tokio::spawn(async move { axum::serve(listener, router).await });
        let home = TempDir::with_prefix("headwater-npm-").unwrap();
        let user = std::env::var_os("HOME").map(|home| Path::new(&home).join(".npmrc"));
        let mut settings = user
            .and_then(|file| std::fs::read_to_string(file).ok())
            .unwrap_or_default();
        settings.push_str(&format!("\n@local:registry={url}/\n"));
        std::fs::write(home.path().join(".npmrc"), settings).unwrap();
        Self {
            url,
            packages,
            home,
        }
    }

    /// The home folder whose npm settings name this registry, besides those of the person.
    pub fn home(&self) -> &str {
        self.home.path().to_str().unwrap()
    }

    /// Its address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Publishes a version of `@local/NAME` with this main module.
    pub fn publish(&self, name: &str, version: &str, code: &str) {
        let folder = TempDir::with_prefix("headwater-package-").unwrap();
        let package = folder.path().join("package");
        std::fs::create_dir(&package).unwrap();
        std::fs::write(package.join("index.mjs"), code).unwrap();
        let manifest = manifest(name, version);
        std::fs::write(package.join("package.json"), manifest.to_string()).unwrap();
        let packed = Command::new("tar")
            .args(["-czf", "-", "package"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(packed.status.success());
        let mut packages = self.packages.lock().unwrap();
        let versions = packages.entry(name.to_owned()).or_default();
        versions.insert(version.to_owned(), packed.stdout);
    }
}

fn manifest(name: &str, version: &str) -> Value {
    json!({"name": format!("@local/{name}"), "version": version, "type": "module", "main": "index.mjs"})
}

type Registry = State<(String, Packages)>;

/// `GET /@local%2fNAME`, in whatever way the slash is written.
async fn package(State((url, packages)): Registry, uri: axum::http::Uri) -> Response {
    let path = uri
        .path()
        .to_lowercase()
        .replace("%2f", "/")
        .replace("%40", "@");
    let packages = packages.lock().unwrap();
    let name = path.strip_prefix("/@local/").unwrap_or_default();
    let Some(versions) = packages.get(name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let shown: Map<String, Value> = versions
        .keys()
        .map(|version| {
            let mut shown = manifest(name, version);
            shown["dist"] = json!({"tarball": format!("{url}/tarballs/{name}/{version}")});
            (version.clone(), shown)
        })
        .collect();
    let latest = versions.keys().next_back();
    Json(json!({"name": format!("@local/{name}"), "dist-tags": {"latest": latest}, "versions": shown}))
        .into_response()
}

async fn tarball(
    State((_, packages)): Registry,
    UrlPath((name, version)): UrlPath<(String, String)>,
) -> Response {
    let packages = packages.lock().unwrap();
    let found = packages
        .get(&name)
        .and_then(|versions| versions.get(&version));
    match found {
        Some(bytes) => bytes.clone().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
