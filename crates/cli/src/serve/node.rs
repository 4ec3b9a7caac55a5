//! Putting a node together from its options.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use headwater_app::{App, AppConfig, DeliveryConfig, Parts, Plan, Tracer};
use headwater_engine::{DenoEngine, EngineConfig};
use headwater_model::{
    app::AppCatalog,
    limits::{RETAINED_EVENTS, RunLimits},
};
use headwater_store_sqlite::SqliteStore;

use super::{
    apps,
    arguments::{self, ServeArguments},
    data_dir::DataDir,
    environment,
    network::Network,
};
use crate::{exit::UsageError, runtime};

const SOURCE_CONCURRENCY: usize = 16;
const WARM_WORKERS: usize = 2;
const WORKERS_MEMORY_MIB: u64 = 2048;
const WORKER_IDLE: Duration = Duration::from_secs(300);
const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);
const MIB: usize = 1024 * 1024;

/// The store, which no other node has open.
pub(super) fn open_store(data_dir: &DataDir) -> Result<SqliteStore> {
    SqliteStore::open(&data_dir.store()).context("cannot open the store")
}

/// Engine and use cases on the store, started.
pub(super) async fn start(
    options: &ServeArguments,
    data_dir: &DataDir,
    address: SocketAddr,
    store: SqliteStore,
    tracer: Option<Arc<dyn Tracer>>,
) -> Result<Arc<App>> {
    let network = Network::of(options)?;
    let apps = apps::catalog(&data_dir.apps(), options.apps.as_deref(), |name| {
        std::env::var(name).ok()
    })?;
    let config = app_config(options, address, &network, apps)?;
    let given = std::env::var("HEADWATER_SECRET_KEY").ok();
    let secret_keys = data_dir.secret_keys(given.as_deref())?;
    let engine = DenoEngine::start(engine_config(options, data_dir, network).await?).await?;
    let parts = Parts {
        store: Arc::new(store),
        engine,
        env: environment::system(),
        secret_keys,
        key_file: given.is_none().then(|| data_dir.key_file()),
        tracer,
        config,
    };
    Ok(App::start(parts).await?)
}

fn app_config(
    options: &ServeArguments,
    address: SocketAddr,
    network: &Network,
    apps: AppCatalog,
) -> Result<AppConfig> {
    let public_url = options
        .public_url
        .clone()
        .unwrap_or_else(|| format!("http://{address}"));
    let parsed = url::Url::parse(&public_url);
    if !parsed.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host()) {
        let reason = format!("--public-url: `{public_url}` is not an http or https URL");
        return Err(UsageError(reason).into());
    }
    let retained_events = options.retained_events.unwrap_or(RETAINED_EVENTS);
    if retained_events < RETAINED_EVENTS {
        let reason = format!(
            "--retained-events: at least {RETAINED_EVENTS} events are kept, not {retained_events}"
        );
        return Err(UsageError(reason).into());
    }
    Ok(AppConfig {
        public_url: public_url.trim_end_matches('/').to_owned(),
        endpoint_domain: options.endpoint_domain.clone(),
        source_concurrency: options
            .source_concurrency
            .unwrap_or(SOURCE_CONCURRENCY)
            .max(1),
        retained_events,
        shutdown_grace: options.shutdown_grace.unwrap_or(SHUTDOWN_GRACE),
        deliveries: delivery_config(options, network)?,
        apps,
        plan: match options.plan {
            None | Some(arguments::Plan::Free) => Plan::Free,
            Some(arguments::Plan::Paid) => Plan::Paid,
        },
        daily_invocations_quota: options.daily_invocations_quota,
        rate_limit: options.rate_limit,
        trusted_proxies: options
            .trusted_proxies
            .as_deref()
            .unwrap_or_default()
            .parse()
            .map_err(|error| UsageError(format!("--trusted-proxies: {error}")))?,
    })
}

fn delivery_config(options: &ServeArguments, network: &Network) -> Result<DeliveryConfig> {
    let defaults = DeliveryConfig::default();
    let backoff = match options.webhook_backoff.as_deref() {
        None => defaults.backoff,
        Some(text) => text
            .parse()
            .map_err(|error| UsageError(format!("--webhook-backoff: {error}")))?,
    };
    Ok(DeliveryConfig {
        backoff,
        webhook_concurrency: options
            .webhook_concurrency
            .unwrap_or(defaults.webhook_concurrency),
        host_concurrency: options
            .webhook_host_concurrency
            .unwrap_or(defaults.host_concurrency),
        network: network.policy.clone(),
        ca: network.ca.clone(),
        ..defaults
    })
}

async fn engine_config(
    options: &ServeArguments,
    data_dir: &DataDir,
    network: Network,
) -> Result<EngineConfig> {
    let defaults = RunLimits::default();
    Ok(EngineConfig {
        deno: runtime::locate().await?,
        cache_dir: data_dir.cache(),
        work_dir: data_dir.workers(),
        limits: RunLimits {
            run_wall: options.run_timeout.unwrap_or(defaults.run_wall),
            hook_wall: options.hook_timeout.unwrap_or(defaults.hook_wall),
            heap_mib: options.worker_heap_mib.unwrap_or(defaults.heap_mib),
            output_bytes: options
                .run_output_mib
                .map_or(defaults.output_bytes, |mib| mib * MIB),
            log_bytes: options
                .run_log_kib
                .map_or(defaults.log_bytes, |kib| kib * 1024),
        },
        network: network.policy,
        ca: network.ca,
        routes: network.routes,
        warm_workers: options.warm_workers.unwrap_or(WARM_WORKERS),
        workers_memory_mib: options.workers_memory_mib.unwrap_or(WORKERS_MEMORY_MIB),
        worker_idle: options.worker_idle.unwrap_or(WORKER_IDLE),
        api_socket: options.self_alias.is_some().then(|| data_dir.api_socket()),
        registry_env: runtime::client_env(),
    })
}
