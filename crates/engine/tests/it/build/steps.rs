//! The processes of a build and how they end, with a script in Deno's place.

use std::{
    fs::{self, File, Permissions},
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    sync::Arc,
    time::Duration,
};

use headwater_engine::{
    ComponentCode, EngineError,
    build::{Builder, BuilderConfig, CODE_BYTES_MAX, ThrowawayWorkers},
    confine::Confinement,
    deno::{Bundler, BundlerSource},
    network::NetworkPolicy,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::support::{self, registry_env};

/// A component that the bundler alone does not bundle.
const CODE: &str = "export default { name: \"a\", version: \"1\", run: () => import.meta.main };";

/// A builder whose Deno runs a line of a shell when it is to bundle or to tell of modules. Scripts need the shell, which
/// a confined process does not see.
async fn builder(cache: &Path, bundle: &str, info: &str) -> Builder {
    let deno = support::deno().await;
    let script = cache.join("deno");
    let cases = format!("--version) echo 'deno 2.9.6' ;; bundle) {bundle} ;; info) {info} ;;");
    fs::write(&script, format!("#!/bin/sh\ncase \"$1\" in {cases} esac\n")).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let mut unconfined = support::confinement_without("Namespaces,Landlock");
    unconfined.allow_unconfined = true;
    let describing = Confinement::start(&support::confinement(), &deno).unwrap();
    let describer = ThrowawayWorkers::start(describing, &support::cache_dir()).unwrap();
    let kept = support::cache_dir().join("deno-dir");
    let source = BundlerSource {
        deno,
        kept_in: None,
        registry_env: registry_env(),
    };
    Bundler::new(source, kept.clone()).ready().await.unwrap();
    let config = BuilderConfig {
        confinement: Confinement::start(&unconfined, &script).unwrap(),
        cache_dir: cache.to_owned(),
        kept_in: Some(kept),
        registry_env: Vec::new(),
        code_bytes_max: CODE_BYTES_MAX,
        network: NetworkPolicy::PublicOnly,
        ca: None,
    };
    Builder::new(config, Arc::new(describer)).unwrap()
}

async fn failure(bundle: &str, info: &str) -> String {
    let cache = tempfile::tempdir().unwrap();
    let builder = builder(cache.path(), bundle, info).await;
    let built = builder.build(ComponentCode::Text(CODE.to_owned())).await;
    let error = built.map(drop).expect_err("a failure of the host");
    assert!(
        matches!(error, EngineError::Unavailable { .. }),
        "{error:?}"
    );
    error.to_string()
}

#[tokio::test]
async fn a_step_that_the_system_ends_is_nothing_of_the_components() {
    let told = failure("exit 0", "kill -KILL $$").await;
    for part in ["signal 9", "memory", "try again"] {
        assert!(told.contains(part), "{told}");
    }
}

#[tokio::test]
async fn a_deno_that_does_not_bundle_is_not_taken() {
    let told = failure("exit 1", "exit 1").await;
    assert!(told.contains("Deno does not run it"), "{told}");
    let wants = "echo 'Failed loading for package \"@esbuild/linux-x64\"' >&2; exit 1";
    let told = failure(wants, "exit 1").await;
    assert!(told.contains("does not run the pinned one"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_goes_on_of_a_build_that_is_given_up() {
    let cache = tempfile::tempdir().unwrap();
    let pipe = cache.path().join("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let starting = format!(
        "exec 9>'{}'; /bin/sleep 1000 & echo started >&9; wait",
        pipe.display()
    );
    let builder = builder(cache.path(), "exit 0", &starting).await;
    let building =
        tokio::spawn(async move { builder.build(ComponentCode::Text(CODE.to_owned())).await });
    let started = tokio::task::spawn_blocking(move || {
        let mut pipe = BufReader::new(File::open(pipe).unwrap());
        pipe.read_line(&mut String::new()).unwrap();
        pipe
    });
    let mut pipe = started.await.unwrap();
    building.abort();
    // The pipe ends when the last process that has it is gone.
    let ended = tokio::task::spawn_blocking(move || pipe.read_to_end(&mut Vec::new()));
    let ended = tokio::time::timeout(Duration::from_secs(60), ended).await;
    ended.expect("no process is left").unwrap().unwrap();
}
