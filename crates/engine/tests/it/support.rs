//! Things that tests share: Deno, a builder with a cache that outlives the run, and a server of modules.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use axum::{Router, extract::State, http::Uri, response::IntoResponse};
use headwater_engine::{
    Build, ComponentCode, EngineError, Rejection,
    build::{
        Builder, BuilderConfig, CODE_BYTES_MAX, LocalBundling, ThrowawayWorkers, bundle_local,
    },
    confine::{Confinement, ConfinementConfig, Launcher},
    deno::{self, DenoSearch},
    network::NetworkPolicy,
};
use url::Url;

/// Kept between runs, so that packages are downloaded once.
pub(crate) fn cache_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("engine-cache")
}

pub(crate) async fn deno() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name);
    let search = DenoSearch {
        override_path: variable("HEADWATER_DENO").map(PathBuf::from),
        path_var: variable("PATH"),
        cache_dir: cache_dir(),
        client_env: std::env::vars_os().collect(),
    };
    deno::locate(&search, &|_| {}).await.expect("Deno").path
}

/// The confinement of a node: complete, or none.
pub(crate) fn confinement() -> ConfinementConfig {
    ConfinementConfig {
        launcher: Launcher {
            program: env!("CARGO_BIN_EXE_headwater-launcher").into(),
            arguments: Vec::new(),
        },
        allow_unconfined: false,
        scratch_dir: cache_dir(),
    }
}

/// The confinement on a kernel without these ways.
pub(crate) fn confinement_without(ways: &str) -> ConfinementConfig {
    let mut config = confinement();
    config.launcher.arguments = vec![format!("--without={ways}").into()];
    config
}

pub(crate) async fn builder(network: NetworkPolicy) -> Builder {
    builder_with(network, registry_env()).await
}

/// A builder with a package client of one's own.
pub(crate) async fn builder_with(
    network: NetworkPolicy,
    registry_env: Vec<(OsString, OsString)>,
) -> Builder {
    builder_of(network, registry_env, CODE_BYTES_MAX).await
}

/// One that takes code up to a size of one's own.
pub(crate) async fn builder_of(
    network: NetworkPolicy,
    registry_env: Vec<(OsString, OsString)>,
    code_bytes_max: u64,
) -> Builder {
    builder_confined(network, registry_env, code_bytes_max, &confinement()).await
}

/// A builder that is confined in a way of one's own.
pub(crate) async fn builder_confined(
    network: NetworkPolicy,
    registry_env: Vec<(OsString, OsString)>,
    code_bytes_max: u64,
    confinement: &ConfinementConfig,
) -> Builder {
    let deno = deno().await;
    let confinement = Confinement::start(confinement, &deno).unwrap();
    let describer = ThrowawayWorkers::start(Arc::clone(&confinement), &cache_dir()).unwrap();
    let config = BuilderConfig {
        confinement,
        cache_dir: cache_dir(),
        kept_in: None,
        registry_env,
        code_bytes_max,
        network,
        ca: None,
    };
    Builder::new(config, Arc::new(describer)).unwrap()
}

pub(crate) fn registry_env() -> Vec<(OsString, OsString)> {
    let passed = |name: &str| {
        name == "HOME" || name.starts_with("NPM_CONFIG") || name.starts_with("SSL_CERT")
    };
    std::env::vars_os()
        .filter(|(name, _)| name.to_str().is_some_and(passed))
        .collect()
}

pub(crate) async fn bundled(file: &Path) -> Result<Option<String>, EngineError> {
    let config = LocalBundling {
        deno: deno().await,
        cache_dir: cache_dir(),
        registry_env: registry_env(),
    };
    let bundle = bundle_local(&config, file).await?;
    Ok(bundle.code)
}

pub(crate) async fn build_text(code: &str) -> Result<Build, Rejection> {
    builder(NetworkPolicy::PublicOnly)
        .await
        .build(ComponentCode::Text(code.to_owned()))
        .await
        .expect("a working host")
}

pub(crate) async fn rejected(code: &str) -> Rejection {
    build_text(code)
        .await
        .map(|build| build.description)
        .expect_err("a rejection")
}

/// A server of modules by path; every other path is 404, and `/elsewhere/X` redirects to `/X`.
pub(crate) async fn module_server(modules: &[(&str, &str)]) -> Url {
    let modules: BTreeMap<String, String> = modules
        .iter()
        .map(|&(path, code)| (path.to_owned(), code.to_owned()))
        .collect();
    serve_router(Router::new().fallback(serve).with_state(Arc::new(modules))).await
}

/// A server on the loopback, and its address.
pub(crate) async fn serve_router(app: Router) -> Url {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    Url::parse(&format!("http://{address}/")).unwrap()
}

async fn serve(
    State(modules): State<Arc<BTreeMap<String, String>>>,
    uri: Uri,
) -> axum::response::Response {
    if let Some(path) = uri.path().strip_prefix("/elsewhere") {
        return axum::response::Redirect::temporary(path).into_response();
    }
    match modules.get(uri.path()) {
        Some(code) => code.clone().into_response(),
        None => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}

/// The files of an archive, by path.
pub(crate) fn files(build: &Build) -> BTreeMap<String, usize> {
    let unzipped = flate2::read::GzDecoder::new(build.artifact.bytes.as_ref());
    let mut archive = tar::Archive::new(unzipped);
    let entries = archive.entries().unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            (
                entry.path().unwrap().display().to_string(),
                usize::try_from(entry.size()).unwrap(),
            )
        })
        .collect()
}
