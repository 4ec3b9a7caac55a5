//! The configuration of a node, as far as the platform needs it. `cli` reads it from flags, environment and file.

use std::{fmt, num::NonZeroU32, path::PathBuf, sync::Arc, time::Duration};

use headwater_engine::network::{CaCertificates, NetworkPolicy};
use headwater_mail::send::Sender;
use headwater_model::{
    app::AppCatalog,
    endpoint::EndpointToken,
    limits::RunLimits,
    webhook::{ATTEMPT_TIMEOUT, Backoff, QUICK_WITHIN},
};
use url::Url;

use crate::proxies::TrustedProxies;

/// A node's configuration.
#[derive(Debug, Clone)]
pub struct PlatformConfig {
    /// The URL of this node as seen from outside, without a trailing slash.
    pub public_url: String,
    /// Serves `https://{token}.{domain}/` besides `{public_url}/e/{token}`.
    pub endpoint_domain: Option<String>,
    /// The host of the addresses to which mail for workflows comes.
    pub mail_host: String,
    /// Whether the node takes mail at all.
    pub takes_mail: bool,
    /// HTTP invocations that run at once in one source's worker.
    pub source_concurrency: usize,
    /// Events kept per emitter and channel class.
    pub retained_events: u32,
    /// Runs kept per source that returned.
    pub retained_runs: u32,
    /// Runs kept per source that failed.
    pub retained_failed_runs: u32,
    /// Days that audit records are kept; with 0, none is written.
    pub retained_audit_days: u32,
    /// Events that may wait for the sources of one owner; more are not queued.
    pub queued_events_per_owner: u32,
    /// The time for runs and attempts to finish when the node is asked to stop.
    pub shutdown_grace: Duration,
    /// The settings for deliveries to webhooks.
    pub deliveries: DeliveryConfig,
    /// The way out for mail, if there is one.
    pub mail: Option<Arc<Sender>>,
    /// The place for objects of `$.send.s3`, if there is one.
    pub s3: Option<S3Config>,
    /// The apps that the node knows.
    pub apps: AppCatalog,
    /// The folder for the operator's files about apps, as its administrator is told of it.
    pub apps_folder: PathBuf,
    /// The plan that the API reports for every user.
    pub plan: Plan,
    /// Invocations that a user may have per UTC day, if that is limited.
    pub daily_invocations_quota: Option<u64>,
    /// Requests per key and second, if that is limited.
    pub rate_limit: Option<NonZeroU32>,
    /// The proxies that are believed about the caller of an endpoint.
    pub trusted_proxies: TrustedProxies,
    /// Heap of a workflow's worker at most, in MiB.
    pub workflow_memory_max_mib: u32,
    /// The results that runs of workflows may keep.
    pub workflow_results: ResultLimits,
    /// Bytes that the files of one owner may have together.
    pub file_bytes_per_owner: u64,
    /// The limits of a run, as the engine holds them.
    pub run_limits: RunLimits,
    /// Every option of the node, to be shown; nothing is decided by it.
    pub settings: Vec<Setting>,
}

/// An option of the node as its administrator set it, or left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name as a flag, without dashes.
    pub name: String,
    /// Its value; `None` where nobody set one, and for secrets.
    pub value: Option<String>,
    /// The value in force where nobody set one, in words, if there is one.
    pub default: Option<String>,
    /// The place where it was set.
    pub origin: SettingOrigin,
    /// Whether its value is not shown.
    pub is_secret: bool,
}

/// The place where an option was set. A flag counts before the environment, and that before the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The command line.
    Flag,
    /// The environment.
    Environment,
    /// The file of `--config`.
    File,
    /// Nowhere.
    Default,
}

impl PlatformConfig {
    /// The URL of an HTTP interface.
    pub fn endpoint_url(&self, token: &EndpointToken) -> String {
        let token = token.as_str();
        match &self.endpoint_domain {
            Some(domain) => format!("https://{token}.{domain}"),
            None => format!("{}/e/{token}", self.public_url),
        }
    }
}

/// Bounds of what steps of workflows return and export (docs/guide/sandbox-and-limits.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultLimits {
    /// MiB of one step.
    pub step_mib: u32,
    /// MiB of all steps of a run.
    pub run_mib: u32,
}

impl Default for ResultLimits {
    fn default() -> Self {
        Self {
            step_mib: 16,
            run_mib: 256,
        }
    }
}

/// The settings for deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryConfig {
    /// The waits after failed attempts.
    pub backoff: Backoff,
    /// The time limit of an attempt.
    pub attempt_timeout: Duration,
    /// The time after which an attempt counts as slow.
    pub quick_within: Duration,
    /// Attempts in flight per webhook.
    pub webhook_concurrency: usize,
    /// Attempts in flight per host.
    pub host_concurrency: usize,
    /// Attempts in flight on the whole node.
    pub node_concurrency: usize,
    /// The addresses that may be reached.
    pub network: NetworkPolicy,
    /// Certificates trusted besides those of the web's authorities.
    pub ca: Option<CaCertificates>,
}

impl Default for DeliveryConfig {
    fn default() -> Self {
        Self {
            backoff: Backoff::default(),
            attempt_timeout: ATTEMPT_TIMEOUT,
            quick_within: QUICK_WITHIN,
            webhook_concurrency: 8,
            host_concurrency: 64,
            node_concurrency: 2048,
            network: NetworkPolicy::default(),
            ca: None,
        }
    }
}

/// A server that speaks S3, and the right to write there.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Config {
    /// The server; Amazon's, if none is given.
    pub endpoint: Option<Url>,
    /// The region.
    pub region: String,
    /// The id of the key.
    pub access_key: String,
    /// The key.
    pub secret_key: String,
}

/// Without the key.
impl fmt::Debug for S3Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("S3Config");
        shown.field("endpoint", &self.endpoint);
        shown.field("region", &self.region);
        shown.field("access_key", &self.access_key);
        shown.finish_non_exhaustive()
    }
}

/// The kind of user that `GET /users/me` reports for everybody.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Plan {
    /// Daily quotas and the workspaces.
    #[default]
    Free,
    /// The billing period, which is the calendar month (UTC), and its credits.
    Paid,
}
