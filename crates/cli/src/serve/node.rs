//! Putting a node together from its options.

use std::{net::SocketAddr, num::NonZeroUsize, sync::Arc, time::Duration};

use anyhow::Result;
use headwater_api::BodyLimits;
use headwater_engine::{
    DenoEngine, Engine, EngineConfig, Isolation, WorkerRoom, confine::ConfinementConfig,
};
use headwater_model::{
    limits::{RETAINED_EVENTS, RunLimits},
    webhook::Backoff,
};
use headwater_platform::{
    DeliveryConfig, InstallationKey, KeyFile, KeyRing, Parts, Plan, Platform, PlatformConfig,
    ResultLimits, TrustedProxies,
};
use headwater_store::Store;

use super::{
    apps::Apps,
    arguments::{self, ServeArguments},
    data_dir::{self, DataDir},
    memory,
    network::Network,
    receiving, sending, settings,
    setup::Setup,
    store::NodeStore,
    tls,
};
use crate::{launcher, runtime, usage_error::UsageError};

const SOURCE_CONCURRENCY: usize = 16;
const WARM_WORKERS: usize = 2;
const RESTED_WORKERS_MEMORY_MIB: u64 = 1792;
/// A common worker with its component.
const MIB_PER_WORKER: u64 = 64;
const WORKER_IDLE: Duration = Duration::from_secs(300);
/// Of those that returned and of those that failed.
const RETAINED_RUNS: u32 = 100;
const RETAINED_AUDIT_DAYS: u32 = 90;
const QUEUED_EVENTS_PER_OWNER: u32 = 10_000;
const FILES_PER_OWNER_GB: u64 = 10;
const GB: u64 = 1_000_000_000;
const SHUTDOWN_GRACE: Duration = Duration::from_secs(30);
const HANDOVER_GRACE: Duration = Duration::from_secs(5);
const MIB: usize = 1024 * 1024;

/// The room that request bodies may take.
///
/// # Errors
/// A `UsageError` when a request that is permitted would never find room.
pub(super) fn body_limits(options: &ServeArguments) -> Result<BodyLimits> {
    let defaults = BodyLimits::default();
    let given_mib = options.bodies_memory_mib.map(NonZeroUsize::get);
    let least_mib = BodyLimits::least_memory_bytes().div_ceil(MIB);
    if let Some(mib) = given_mib.filter(|mib| *mib < least_mib) {
        let reason = format!(
            "--bodies-memory-mib: must be at least {least_mib} MiB for the largest request, not {mib}"
        );
        return Err(UsageError(reason).into());
    }
    Ok(BodyLimits {
        memory_bytes: given_mib.map_or(defaults.memory_bytes, |mib| mib.saturating_mul(MIB)),
        within: options.body_timeout.unwrap_or(defaults.within),
    })
}

/// Checks that a node could be put together, for one that is to lead later.
///
/// # Errors
/// An option cannot be obeyed, or the runtime cannot be had.
pub(super) async fn check(setup: &Setup<'_>) -> Result<()> {
    let Setup {
        options, data_dir, ..
    } = setup;
    let network = Network::of(options)?;
    let apps = Apps::of(options, data_dir.apps())?;
    app_config(options, setup.address, &network, apps)?;
    if let Ok(given) = std::env::var("HEADWATER_SECRET_KEY") {
        data_dir.secret_keys(Some(&given))?;
    }
    runtime::locate().await?;
    Ok(())
}

/// Engine and use cases on the store, started. `None`: another node has the store.
pub(super) async fn start(
    setup: &Setup<'_>,
    store: NodeStore,
    spread: impl FnOnce(Arc<dyn Engine>) -> Arc<dyn Engine>,
) -> Result<Option<Arc<Platform>>> {
    let Setup {
        options,
        data_dir,
        address,
        ..
    } = setup;
    let network = Network::of(options)?;
    let apps = Apps::of(options, data_dir.apps())?;
    let config = app_config(options, *address, &network, apps)?;
    let (secret_keys, key_file) = secret_keys(setup, &store).await?;
    let files = store.files(data_dir)?;
    let engine = spread(DenoEngine::start(engine_config(setup).await?).await?);
    let parts = Parts {
        env: store.environment()?,
        members: store.members(),
        name: store.node,
        store: store.store,
        engine: Arc::clone(&engine),
        files,
        secret_keys,
        key_file,
        tracer: setup.tracer.clone(),
        config,
    };
    let started = Platform::start(parts).await?;
    if started.is_none() {
        engine.shutdown().await;
    }
    Ok(started)
}

/// The secret keys, and the place that keeps them if the node may change them.
async fn secret_keys(
    setup: &Setup<'_>,
    store: &NodeStore,
) -> Result<(KeyRing, Option<Arc<dyn KeyFile>>)> {
    let Setup {
        options, data_dir, ..
    } = setup;
    let given = std::env::var("HEADWATER_SECRET_KEY").ok();
    if given.is_some() {
        return Ok((data_dir.secret_keys(given.as_deref())?, None));
    }
    store.check_keys().await?;
    if let Some(keys) = store.cluster_keys()
        && let Some(kept) = keys.kept().await?
    {
        return Ok((kept, Some(Arc::new(keys.clone()))));
    }
    let has_keys = data_dir.has_secret_keys();
    if !has_keys {
        let gives_up = options.new_secret_key.unwrap_or(false);
        begin_without_key(data_dir, &*store.store, gives_up).await?;
    }
    let Some(keys) = store.cluster_keys() else {
        return Ok((data_dir.secret_keys(None)?, Some(data_dir.key_file())));
    };
    // From the folder of a node that was alone, or new: all nodes have them from now on.
    let first = match has_keys {
        true => data_dir.secret_keys(None)?,
        false => data_dir::new_secret_keys()?,
    };
    Ok((keys.begin(&first).await?, Some(Arc::new(keys.clone()))))
}

/// The time that runs and deliveries have to end when the node stops.
pub(super) fn shutdown_grace(options: &ServeArguments) -> Duration {
    options.shutdown_grace.unwrap_or(SHUTDOWN_GRACE)
}

/// The same when another node is ready to go on: timers, deliveries and requests of all sources wait for it meanwhile.
pub(super) fn handover_grace(options: &ServeArguments) -> Duration {
    options.shutdown_grace.unwrap_or(HANDOVER_GRACE)
}

/// Prepares the store for a new key, unless that replaces a lost one without being told to: the secrets encrypted with
/// it would be lost too.
async fn begin_without_key(data_dir: &DataDir, store: &dyn Store, gives_up: bool) -> Result<()> {
    if gives_up || !headwater_platform::holds_secrets(store).await? {
        return Ok(InstallationKey::forget(store).await?);
    }
    let file = data_dir.shown_secret_key_path();
    anyhow::bail!(
        "the secret key {file} is missing: the key that signs URLs is encrypted with it, and so are accounts, webhooks and \
         secret props, if there are any. Restore the file from a backup or set HEADWATER_SECRET_KEY. To give all that up, \
         start once with --new-secret-key, which creates a new key: secrets must be entered again then, and links of \
         waits, files and invitations that were handed out lead nowhere"
    )
}

/// The configuration of the platform.
///
/// # Errors
/// An option cannot be obeyed.
pub(super) fn app_config(
    options: &ServeArguments,
    address: SocketAddr,
    network: &Network,
    apps: Apps,
) -> Result<PlatformConfig> {
    let public_url = public_url(options, address)?;
    let given: Vec<String> = std::env::args().collect();
    Ok(PlatformConfig {
        settings: settings::of(options, &given, |name| std::env::var_os(name).is_some()),
        mail_host: receiving::host(options, &public_url),
        takes_mail: options.smtp_listen.is_some(),
        public_url: public_url.trim_end_matches('/').to_owned(),
        endpoint_domain: options.endpoint_domain.clone(),
        source_concurrency: options
            .source_concurrency
            .unwrap_or(SOURCE_CONCURRENCY)
            .max(1),
        retained_events: retained_events(options)?,
        retained_runs: options.retained_runs.unwrap_or(RETAINED_RUNS),
        retained_failed_runs: options.retained_failed_runs.unwrap_or(RETAINED_RUNS),
        retained_audit_days: options.retained_audit_days.unwrap_or(RETAINED_AUDIT_DAYS),
        queued_events_per_owner: options
            .queued_events_per_owner
            .unwrap_or(QUEUED_EVENTS_PER_OWNER),
        shutdown_grace: shutdown_grace(options),
        deliveries: delivery_config(options, network)?,
        mail: sending::mail(options)?,
        s3: sending::s3(options)?,
        apps: apps.catalog,
        apps_folder: std::path::absolute(&apps.folder).unwrap_or(apps.folder),
        plan: match options.plan {
            None | Some(arguments::Plan::Free) => Plan::Free,
            Some(arguments::Plan::Paid) => Plan::Paid,
        },
        workflow_memory_max_mib: workflow_memory_max_mib(options),
        workflow_results: workflow_results(options),
        run_limits: run_limits(options),
        file_bytes_per_owner: options
            .files_per_owner_gb
            .unwrap_or(FILES_PER_OWNER_GB)
            .saturating_mul(GB),
        daily_invocations_quota: options.daily_invocations_quota,
        rate_limit: options.rate_limit,
        trusted_proxies: trusted_proxies(options)?,
    })
}

/// The node's URL as others see it.
pub(super) fn public_url(
    options: &ServeArguments,
    address: SocketAddr,
) -> Result<String, UsageError> {
    let given = options.public_url.clone();
    let url = given.unwrap_or_else(|| format!("{}://{address}", tls::scheme(options)));
    let is_web = |url: url::Url| matches!(url.scheme(), "http" | "https") && url.has_host();
    match url::Url::parse(&url).is_ok_and(is_web) {
        true => Ok(url),
        false => Err(UsageError(format!(
            "--public-url: `{url}` is not an http or https URL"
        ))),
    }
}

pub(super) fn retained_events(options: &ServeArguments) -> Result<u32, UsageError> {
    match options.retained_events.unwrap_or(RETAINED_EVENTS) {
        few @ ..RETAINED_EVENTS => Err(UsageError(format!(
            "--retained-events: must be at least {RETAINED_EVENTS}, not {few}"
        ))),
        enough => Ok(enough),
    }
}

pub(super) fn trusted_proxies(options: &ServeArguments) -> Result<TrustedProxies, UsageError> {
    let given = options.trusted_proxies.as_deref().unwrap_or_default();
    given
        .parse()
        .map_err(|error| UsageError(format!("--trusted-proxies: {error}")))
}

pub(super) fn backoff(options: &ServeArguments) -> Result<Backoff, UsageError> {
    match options.webhook_backoff.as_deref() {
        None => Ok(DeliveryConfig::default().backoff),
        Some(text) => text
            .parse()
            .map_err(|error| UsageError(format!("--webhook-backoff: {error}"))),
    }
}

fn delivery_config(options: &ServeArguments, network: &Network) -> Result<DeliveryConfig> {
    let defaults = DeliveryConfig::default();
    Ok(DeliveryConfig {
        backoff: backoff(options)?,
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

/// Memory of all workers together.
fn workers_memory_mib(options: &ServeArguments) -> u64 {
    let half = || (memory::usable_mib() / 2).max(MIB_PER_WORKER);
    options.workers_memory_mib.unwrap_or_else(half)
}

fn worker_heap_mib(options: &ServeArguments) -> u32 {
    let default = RunLimits::default().heap_mib;
    options.worker_heap_mib.unwrap_or(default)
}

/// The most that a workflow may have, so that one takes at most half of the memory of all by default.
fn workflow_memory_max_mib(options: &ServeArguments) -> u32 {
    let half = || u32::try_from(workers_memory_mib(options) / 2).unwrap_or(u32::MAX);
    let default = || half().max(worker_heap_mib(options));
    options.workflow_memory_max_mib.unwrap_or_else(default)
}

fn run_limits(options: &ServeArguments) -> RunLimits {
    let defaults = RunLimits::default();
    RunLimits {
        run_wall: options.run_timeout.unwrap_or(defaults.run_wall),
        hook_wall: options.hook_timeout.unwrap_or(defaults.hook_wall),
        heap_mib: worker_heap_mib(options),
        output_bytes: options
            .run_output_mib
            .map_or(defaults.output_bytes, |mib| mib * MIB),
        log_bytes: options
            .run_log_kib
            .map_or(defaults.log_bytes, |kib| kib * 1024),
    }
}

fn workflow_results(options: &ServeArguments) -> ResultLimits {
    let defaults = ResultLimits::default();
    ResultLimits {
        step_mib: options
            .workflow_step_results_mib
            .unwrap_or(defaults.step_mib),
        run_mib: options.workflow_run_results_mib.unwrap_or(defaults.run_mib),
    }
}

/// The configuration of the engine.
///
/// # Errors
/// An option cannot be obeyed, or the runtime cannot be had.
pub(super) async fn engine_config(setup: &Setup<'_>) -> Result<EngineConfig> {
    let Setup {
        options, data_dir, ..
    } = setup;
    let network = Network::of(options)?;
    let workers_memory_mib = workers_memory_mib(options);
    let rested_workers_memory_mib = match options.workers_memory_mib {
        Some(mib) => mib,
        None => workers_memory_mib.min(RESTED_WORKERS_MEMORY_MIB),
    };
    Ok(EngineConfig {
        deno: runtime::locate().await?,
        confinement: ConfinementConfig {
            launcher: launcher::of_this_binary(),
            allow_unconfined: options.allow_unconfined.unwrap_or(false),
            scratch_dir: data_dir.cache(),
        },
        cache_dir: data_dir.cache(),
        kept_in: Some(runtime::deno_dir()?),
        work_dir: data_dir.workers(),
        limits: run_limits(options),
        network: network.policy,
        ca: network.ca,
        routes: network.routes,
        isolation: options.isolation.map(Isolation::from).unwrap_or_default(),
        room: WorkerRoom::default(),
        warm_workers: options.warm_workers.unwrap_or(WARM_WORKERS),
        workers_memory_mib,
        rested_workers_memory_mib,
        workers_per_tenant: options
            .workers_per_owner
            .unwrap_or(usize::try_from(workers_memory_mib / MIB_PER_WORKER).unwrap_or(usize::MAX)),
        worker_idle: options.worker_idle.unwrap_or(WORKER_IDLE),
        api_socket: options.self_alias.is_some().then(|| data_dir.api_socket()),
        registry_env: runtime::client_env(),
    })
}
