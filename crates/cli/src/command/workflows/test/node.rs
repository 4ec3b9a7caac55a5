//! A node of a test: the platform itself, on the store of the test. It ends as a killed one does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use headwater_engine::network::NetworkPolicy;
use headwater_model::{app::AppCatalog, limits::RunLimits};
use headwater_platform::{
    Caller, Clock, DeliveryConfig, Environment, FirstUserOptions, KeyRing, Parts, Plan, Platform,
    PlatformConfig, Random, ResultLimits, TrustedProxies,
};
use headwater_store::NodeName;
use headwater_store_sqlite::SqliteStore;
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;

use super::engine::{Scene, TestEngine};
use super::workers::Workers;
use crate::serve::environment;
use crate::serve::files::FolderOfFiles;

/// The address in the URLs of the node, which nothing reaches.
pub(super) const PUBLIC_URL: &str = "https://node.example";
const API_KEY: &str = "test";
const CONCURRENCY: usize = 16;
const FILE_BYTES: u64 = 10_000_000_000;
/// A killed node has no time; this one has as long as its threads need to notice.
const GONE_WITHIN: Duration = Duration::from_secs(5);

/// The clock of a test as its nodes see it.
struct SceneClock(Arc<Scene>);

impl Clock for SceneClock {
    fn now_ms(&self) -> headwater_model::time::EpochMs {
        self.0.clock.now_ms()
    }
}

/// The system's randomness for ids and keys, and none for chances: what is tried again is so at the same moment in every
/// trial.
struct NoChance(Arc<dyn Random>);

/// The bytes that a chance is drawn from.
const CHANCE_BYTES: usize = 4;

impl Random for NoChance {
    fn fill(&self, bytes: &mut [u8]) {
        match bytes.len() {
            CHANCE_BYTES => bytes.fill(0),
            _ => self.0.fill(bytes),
        }
    }
}

/// A running node. Everything that it does is done in a runtime of its own.
pub(super) struct Node {
    runtime: Option<Runtime>,
    pub(super) store: Arc<SqliteStore>,
    pub(super) platform: Arc<Platform>,
    pub(super) caller: Caller,
}

impl Node {
    /// Starts a node on what former ones have left in the folder; the commit of that number is its last.
    ///
    /// # Errors
    /// The folder cannot be used.
    pub(super) async fn start(
        folder: &Path,
        workers: &Arc<Workers>,
        scene: &Arc<Scene>,
        last_commit: Option<u64>,
    ) -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let store = Arc::new(SqliteStore::open(&folder.join("store.db"))?);
        if let Some(number) = last_commit {
            store.run_commits().halt_at(number);
        }
        let parts = Parts {
            name: NodeName::new("test"),
            store: Arc::clone(&store) as _,
            engine: Arc::new(TestEngine {
                workers: Arc::clone(workers),
                scene: Arc::clone(scene),
            }),
            env: Environment {
                clock: Arc::new(SceneClock(Arc::clone(scene))),
                random: Arc::new(NoChance(environment::system()?.random)),
            },
            files: Arc::new(FolderOfFiles::open(folder.join("files"))?),
            secret_keys: KeyRing::first([0; 32]),
            key_file: None,
            members: None,
            tracer: None,
            config: config(),
        };
        let started = runtime.spawn(async move {
            let started = Platform::start(parts).await?;
            let platform = started.context("another node has the store of the test")?;
            let first = FirstUserOptions {
                api_key: API_KEY.to_owned(),
                username: "test".to_owned(),
                email: "test@localhost".to_owned(),
            };
            platform.create_first_user(first).await?;
            let caller = platform.authenticate(API_KEY).await?;
            anyhow::Ok((platform, caller))
        });
        let (platform, caller) = started.await.context("the node of the test has ended")??;
        Ok(Self {
            runtime: Some(runtime),
            store,
            platform,
            caller,
        })
    }

    /// Does something as the node, for as long as the caller waits for it.
    ///
    /// # Errors
    /// Those of the work, or its panic.
    pub(super) async fn within<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let runtime = self
            .runtime
            .as_ref()
            .context("the node of the test has ended")?;
        AbortOnDropHandle::new(runtime.spawn(work))
            .await
            .context("the node of the test has ended")?
    }

    /// Ends the node in the middle of all that it does. Nothing of it happens afterwards.
    pub(super) async fn kill(mut self) {
        let runtime = self.runtime.take();
        drop(self);
        let ended = tokio::task::spawn_blocking(move || {
            if let Some(runtime) = runtime {
                runtime.shutdown_timeout(GONE_WITHIN);
            }
        });
        let _ = ended.await;
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn config() -> PlatformConfig {
    PlatformConfig {
        settings: Vec::new(),
        public_url: PUBLIC_URL.to_owned(),
        endpoint_domain: None,
        mail_host: "node.example".to_owned(),
        takes_mail: true,
        source_concurrency: CONCURRENCY,
        retained_events: headwater_model::limits::RETAINED_EVENTS,
        retained_runs: 1,
        retained_failed_runs: 1,
        retained_audit_days: 0,
        shutdown_grace: Duration::ZERO,
        deliveries: DeliveryConfig {
            network: NetworkPolicy::Nothing,
            ..DeliveryConfig::default()
        },
        mail: None,
        s3: None,
        apps: AppCatalog::default(),
        apps_folder: PathBuf::new(),
        plan: Plan::Paid,
        daily_invocations_quota: None,
        rate_limit: None,
        trusted_proxies: TrustedProxies::default(),
        workflow_memory_max_mib: u32::MAX,
        workflow_results: ResultLimits::default(),
        run_limits: RunLimits::default(),
        file_bytes_per_owner: FILE_BYTES,
        queued_events_per_owner: u32::MAX,
    }
}
