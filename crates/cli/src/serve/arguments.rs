//! The configuration of a node: flags, then `HEADWATER_*`, then the TOML file, then defaults.
//!
//! One struct serves the command line and the file, so that neither knows an option which the
//! other does not. Only this crate reads the environment and the file.

#![allow(
    rustdoc::broken_intra_doc_links,
    rustdoc::bare_urls,
    reason = "doc comments of arguments are help texts, in which markup would show"
)]

mod value;

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    path::PathBuf,
    time::Duration,
};

use anyhow::Result;
use clap::{Args, ValueEnum};
use headwater_engine::Isolation;
use serde::Deserialize;

use self::value::{
    address, address_in_file, duration, duration_in_file, lines_in_file, list_in_file,
    ranges_in_file,
};
use super::{
    as_given::{AsGiven, word_of},
    near_name::nearest,
};
use crate::usage_error::UsageError;

macro_rules! options {
    ($($heading:literal { $($(#[$meta:meta])* $name:ident: $kind:ty,)* })*) => {
        /// The options of `serve`; an option that is absent everywhere has the default named in its
        /// help.
        #[derive(Debug, Default, Args, Deserialize)]
        #[serde(deny_unknown_fields, default, rename_all = "snake_case")]
        pub(crate) struct ServeArguments {
            /// TOML file with the options of this command, such as `listen = "0.0.0.0:3000"`
            #[arg(long, env = "HEADWATER_CONFIG")]
            #[serde(skip)]
            pub(crate) config: Option<PathBuf>,
            /// Try what a start needs, change nothing, and list every fault
            #[arg(long)]
            #[serde(skip)]
            pub(crate) check: bool,
            /// `--workspace` of the command line, for the file.
            #[arg(skip)]
            pub(crate) workspace: Option<String>,
            $($($(#[$meta])* #[arg(help_heading = $heading)] pub(crate) $name: Option<$kind>,)*)*
        }

        impl ServeArguments {
            /// Each option's name in the file with its value as it may be given, if it has one.
            pub(super) fn shown(&self) -> Vec<(&'static str, Option<String>)> {
                vec![$($((stringify!($name), self.$name.as_ref().map(AsGiven::as_given)),)*)*]
            }

            /// Whether the file may have an option of this id.
            pub(crate) fn is_in_file(id: &str) -> bool {
                ["workspace", $($(stringify!($name)),*),*].contains(&id)
            }

            /// Fills in from the file the options that neither a flag nor the environment gave.
            fn or(self, file: Self) -> Self {
                Self {
                    config: self.config,
                    check: self.check,
                    workspace: self.workspace.or(file.workspace),
                    $($($name: self.$name.or(file.$name),)*)*
                }
            }
        }
    };
}

options! {
    "Listening and TLS" {
        /// Address to listen on: an IP address or localhost with a port, or a port alone, which is one of 127.0.0.1
        /// [default: 127.0.0.1:3000]
        #[arg(long, env = "HEADWATER_LISTEN", value_name = "ADDRESS", value_parser = address)]
        #[serde(deserialize_with = "address_in_file")]
        listen: SocketAddr,
        /// URL of this node as seen from outside; https with --tls-cert [default: http://ADDRESS]
        #[arg(long, env = "HEADWATER_PUBLIC_URL", value_name = "URL")]
        public_url: String,
        /// Certificate chain (PEM) with which the node itself speaks HTTPS on --listen, in place of HTTP; read again when
        /// the file changes
        #[arg(long, env = "HEADWATER_TLS_CERT", value_name = "FILE")]
        tls_cert: PathBuf,
        /// Key (PEM) of that certificate
        #[arg(long, env = "HEADWATER_TLS_KEY", value_name = "FILE")]
        tls_key: PathBuf,
        /// Serve endpoints at https://TOKEN.DOMAIN/ too
        #[arg(long, env = "HEADWATER_ENDPOINT_DOMAIN", value_name = "DOMAIN")]
        endpoint_domain: String,
        /// Isolate endpoints on this node's own site: pages run in a sandbox, and no headers or cookies
        /// reach beyond the endpoint. Use false only if you trust all authors of components [default: true]
        #[arg(long, env = "HEADWATER_SANDBOX_ENDPOINTS", value_name = "BOOL")]
        sandbox_endpoints: bool,
        /// Proxies in front of this node whose X-Forwarded-For sets the client address of a request
        #[arg(long, env = "HEADWATER_TRUSTED_PROXIES", value_name = "CIDR,…")]
        #[serde(deserialize_with = "list_in_file")]
        trusted_proxies: String,
    }
    "Data and database" {
        /// PostgreSQL database for the store, postgres://USER:PASSWORD@HOST/DATABASE, in place of the embedded one; others can
        /// read a command line, so give a password in the environment or the file
        #[arg(long, env = "HEADWATER_DATABASE_URL", value_name = "URL", hide_env_values = true)]
        database_url: String,
        /// Create a new secret key if DATA_DIR/secret-key is missing; secrets stored with the former key
        /// are lost
        #[arg(long, env = "HEADWATER_NEW_SECRET_KEY", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
        new_secret_key: bool,
    }
    "Several nodes" {
        /// Secret that the nodes on one database share, of 32 characters or more, to be several nodes instead of one: all get the
        /// same; give it in the environment or the file
        #[arg(long, env = "HEADWATER_CLUSTER_SECRET", value_name = "SECRET", hide_env_values = true)]
        cluster_secret: String,
        /// Address at which the other nodes of the cluster reach this one, such as http://10.0.0.5:3000; https with --tls-cert
        #[arg(long, env = "HEADWATER_NODE_ADDRESS", value_name = "URL")]
        node_address: String,
    }
    "Accounts and quotas" {
        /// Name of the first user, created at the first start [default: admin]
        #[arg(long, env = "HEADWATER_USERNAME", value_name = "NAME")]
        username: String,
        /// Email address of the first user [default: admin@localhost]
        #[arg(long, env = "HEADWATER_EMAIL", value_name = "EMAIL")]
        email: String,
        /// TOML file, or folder of TOML files, with apps and the node's OAuth 2 clients, in addition to
        /// DATA_DIR/apps/*.toml
        #[arg(long, env = "HEADWATER_APPS", value_name = "FILE_OR_DIR")]
        apps: PathBuf,
        /// Show users daily quotas and workspaces, or a billing period [default: free]
        #[arg(long, env = "HEADWATER_PLAN", value_name = "PLAN")]
        plan: Plan,
        /// Invocations per user and UTC day [default: no limit]
        #[arg(long, env = "HEADWATER_DAILY_INVOCATIONS_QUOTA", value_name = "N")]
        daily_invocations_quota: u64,
        /// Requests per API key and second [default: no limit]
        #[arg(long, env = "HEADWATER_RATE_LIMIT", value_name = "N")]
        rate_limit: NonZeroU32,
        /// Bytes that the files of one user or workspace may take together, in GB: those of `$.files`, and those that came
        /// with events [default: 10]
        #[arg(long, env = "HEADWATER_FILES_PER_OWNER_GB", value_name = "GB")]
        files_per_owner_gb: u64,
    }
    "Sandbox and network" {
        /// Let components and webhooks reach private and loopback addresses: all, or these ranges
        #[arg(long, env = "HEADWATER_ALLOW_PRIVATE_NETWORK", value_name = "CIDR,…",
            num_args = 0..=1, require_equals = true, default_missing_value = "")]
        #[serde(deserialize_with = "ranges_in_file")]
        allow_private_network: String,
        /// Run components even if the kernel cannot confine them: they could read this node's files. Use it
        /// only if you trust all authors
        #[arg(long, env = "HEADWATER_ALLOW_UNCONFINED", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
        allow_unconfined: bool,
        /// Host names under which components reach this node's API, such as api.pipedream.com
        #[arg(long, env = "HEADWATER_SELF_ALIAS", value_name = "HOST,…", value_delimiter = ',')]
        #[serde(deserialize_with = "lines_in_file")]
        self_alias: Vec<String>,
        /// Address that components connect to for HOST, for tests and special networks; TLS still checks
        /// HOST [repeatable]
        #[arg(long, env = "HEADWATER_RESOLVE", value_name = "HOST=ADDRESS[:PORT]", value_delimiter = ',')]
        #[serde(deserialize_with = "lines_in_file")]
        resolve: Vec<String>,
        /// PEM file with further certificates that components, webhooks, accounts and sends trust
        #[arg(long, env = "HEADWATER_CA_CERTIFICATE", value_name = "FILE")]
        ca_certificate: PathBuf,
    }
    "Runs and workers" {
        /// Wall-clock limit of a run [default: 60s]
        #[arg(long, env = "HEADWATER_RUN_TIMEOUT", value_name = "TIME", value_parser = duration)]
        #[serde(deserialize_with = "duration_in_file")]
        run_timeout: Duration,
        /// Wall-clock limit of a hook [default: 300s]
        #[arg(long, env = "HEADWATER_HOOK_TIMEOUT", value_name = "TIME", value_parser = duration)]
        #[serde(deserialize_with = "duration_in_file")]
        hook_timeout: Duration,
        /// HTTP invocations that run at once per source [default: 16]
        #[arg(long, env = "HEADWATER_SOURCE_CONCURRENCY", value_name = "N")]
        source_concurrency: usize,
        /// Events, responses and stored values of a run together, in MiB [default: 10]
        #[arg(long, env = "HEADWATER_RUN_OUTPUT_MIB", value_name = "MIB")]
        run_output_mib: usize,
        /// Log text kept per run, in KiB [default: 256]
        #[arg(long, env = "HEADWATER_RUN_LOG_KIB", value_name = "KIB")]
        run_log_kib: usize,
        /// JavaScript heap of a worker, in MiB [default: 256]
        #[arg(long, env = "HEADWATER_WORKER_HEAP_MIB", value_name = "MIB")]
        worker_heap_mib: u32,
        /// Sources that may share a worker process; never those of two users or workspaces [default: component]
        #[arg(long, env = "HEADWATER_ISOLATION", value_name = "WHICH")]
        isolation: IsolationChoice,
        /// Workers kept ready for the next source [default: 2]
        #[arg(long, env = "HEADWATER_WARM_WORKERS", value_name = "N")]
        warm_workers: usize,
        /// Memory of all workers together, in MiB; beyond it idle ones end [default: half of the machine's memory;
        /// beyond 1792 MiB, those that had no run for 5 s end too, until the rest fits]
        #[arg(long, env = "HEADWATER_WORKERS_MEMORY_MIB", value_name = "MIB")]
        workers_memory_mib: u64,
        /// Workers for the sources of one user or workspace; further sources wait for a worker [default:
        /// one per 64 MiB of --workers-memory-mib]
        #[arg(long, env = "HEADWATER_WORKERS_PER_OWNER", value_name = "N")]
        workers_per_owner: usize,
        /// Time until a worker without runs is ended [default: 300s]
        #[arg(long, env = "HEADWATER_WORKER_IDLE", value_name = "TIME", value_parser = duration)]
        #[serde(deserialize_with = "duration_in_file")]
        worker_idle: Duration,
        /// Time for runs and deliveries to finish when the node stops; without it, 5s where another node of a cluster takes
        /// over at once [default: 30s]
        #[arg(long, env = "HEADWATER_SHUTDOWN_GRACE", value_name = "TIME", value_parser = duration)]
        #[serde(deserialize_with = "duration_in_file")]
        shutdown_grace: Duration,
    }
    "Workflows" {
        /// Folder of workflows: the folder of each workflow below it is deployed, now and on every save, for the first
        /// user or in its --workspace
        #[arg(long, env = "HEADWATER_WORKFLOWS", value_name = "DIR")]
        workflows: PathBuf,
        /// JavaScript heap of a workflow's worker at most, in MiB, for `lambda_memory` of its settings [default: half of
        /// --workers-memory-mib, --worker-heap-mib at least]
        #[arg(long, env = "HEADWATER_WORKFLOW_MEMORY_MAX_MIB", value_name = "MIB")]
        workflow_memory_max_mib: u32,
        /// Return value and exports of a step of a workflow, in MiB; --run-output-mib holds for them, too [default: 16]
        #[arg(long, env = "HEADWATER_WORKFLOW_STEP_RESULTS_MIB", value_name = "MIB")]
        workflow_step_results_mib: u32,
        /// Return values and exports of all steps of a run of a workflow, in MiB [default: 256]
        #[arg(long, env = "HEADWATER_WORKFLOW_RUN_RESULTS_MIB", value_name = "MIB")]
        workflow_run_results_mib: u32,
    }
    "Retention and queues" {
        /// Events kept per source and channel class; 100 at least [default: 100]
        #[arg(long, env = "HEADWATER_RETAINED_EVENTS", value_name = "N")]
        retained_events: u32,
        /// Records of runs kept per source that returned [default: 100]
        #[arg(long, env = "HEADWATER_RETAINED_RUNS", value_name = "N")]
        retained_runs: u32,
        /// Records of runs kept per source that failed [default: 100]
        #[arg(long, env = "HEADWATER_RETAINED_FAILED_RUNS", value_name = "N")]
        retained_failed_runs: u32,
        /// Days that audit records are kept; 0 keeps none [default: 90]
        #[arg(long, env = "HEADWATER_RETAINED_AUDIT_DAYS", value_name = "DAYS")]
        retained_audit_days: u32,
        /// Events that may wait for the sources of one owner, 64 KiB each on average; further events are
        /// not queued [default: 10000]
        #[arg(long, env = "HEADWATER_QUEUED_EVENTS_PER_OWNER", value_name = "N")]
        queued_events_per_owner: u32,
    }
    "Webhooks" {
        /// Waits after the failed attempts of a delivery, up to a tenth longer; then it becomes a dead
        /// letter [default: 5s,5m,30m,2h,5h,10h,10h]
        #[arg(long, env = "HEADWATER_WEBHOOK_BACKOFF", value_name = "TIME,…")]
        webhook_backoff: String,
        /// Attempts in flight at once per webhook [default: 8]
        #[arg(long, env = "HEADWATER_WEBHOOK_CONCURRENCY", value_name = "N")]
        webhook_concurrency: usize,
        /// Attempts in flight at once per host of webhooks [default: 64]
        #[arg(long, env = "HEADWATER_WEBHOOK_HOST_CONCURRENCY", value_name = "N")]
        webhook_host_concurrency: usize,
    }
    "Mail" {
        /// Mail server through which workflows send, smtp[s]://USER:PASSWORD@HOST:PORT; others can read a command
        /// line, so give a password in the environment or the file
        #[arg(long, env = "HEADWATER_SMTP_URL", value_name = "URL", hide_env_values = true)]
        smtp_url: String,
        /// Address in whose name workflows send mail, such as `Headwater <headwater@example.com>`
        #[arg(long, env = "HEADWATER_MAIL_FROM", value_name = "ADDRESS")]
        mail_from: String,
        /// Address for mail to workflows, such as 0.0.0.0:25 [default: none is taken]
        #[arg(long, env = "HEADWATER_SMTP_LISTEN", value_name = "ADDRESS", value_parser = address)]
        #[serde(deserialize_with = "address_in_file")]
        smtp_listen: SocketAddr,
        /// Host of the addresses of workflows, to which mail comes [default: that of --public-url]
        #[arg(long, env = "HEADWATER_SMTP_HOST", value_name = "HOST")]
        smtp_host: String,
        /// Certificate chain (PEM) for those who send encrypted mail
        #[arg(long, env = "HEADWATER_SMTP_TLS_CERT", value_name = "FILE")]
        smtp_tls_cert: PathBuf,
        /// Key (PEM) of that certificate
        #[arg(long, env = "HEADWATER_SMTP_TLS_KEY", value_name = "FILE")]
        smtp_tls_key: PathBuf,
    }
    "Objects in S3" {
        /// Server that speaks S3, to which workflows send objects [default: Amazon's in --s3-region]
        #[arg(long, env = "HEADWATER_S3_ENDPOINT", value_name = "URL")]
        s3_endpoint: String,
        /// Region of the buckets [default: us-east-1]
        #[arg(long, env = "HEADWATER_S3_REGION", value_name = "REGION")]
        s3_region: String,
        /// Id of the key for S3. Every user of this node can write where it may: let it write to few buckets
        #[arg(long, env = "HEADWATER_S3_ACCESS_KEY", value_name = "ID")]
        s3_access_key: String,
        /// The key for S3; others can read a command line, so give it in the environment or the file
        #[arg(long, env = "HEADWATER_S3_SECRET_KEY", value_name = "KEY", hide_env_values = true)]
        s3_secret_key: String,
    }
    "Connections" {
        /// Connections at once; beyond it, a new one replaces an idle one [default: 10000, or fewer if the
        /// process may not open as many files]
        #[arg(long, env = "HEADWATER_MAX_CONNECTIONS", value_name = "N")]
        max_connections: NonZeroUsize,
        /// Time for the head of a request to arrive [default: 10s]
        #[arg(long, env = "HEADWATER_HEAD_TIMEOUT", value_name = "TIME", value_parser = duration)]
        #[serde(deserialize_with = "duration_in_file")]
        head_timeout: Duration,
        /// Time for the body of a request to arrive [default: 120s]
        #[arg(long, env = "HEADWATER_BODY_TIMEOUT", value_name = "TIME", value_parser = duration)]
        #[serde(deserialize_with = "duration_in_file")]
        body_timeout: Duration,
        /// Time until a connection without a request is closed [default: 120s]
        #[arg(long, env = "HEADWATER_IDLE_TIMEOUT", value_name = "TIME", value_parser = duration)]
        #[serde(deserialize_with = "duration_in_file")]
        idle_timeout: Duration,
        /// Memory for all request bodies, in MiB; a quarter is for bodies up to 64 KiB, and one user may
        /// take half; 112 at least [default: 256]
        #[arg(long, env = "HEADWATER_BODIES_MEMORY_MIB", value_name = "MIB")]
        bodies_memory_mib: NonZeroUsize,
    }
    "Logging and traces" {
        /// Log lines as JSON
        #[arg(long, env = "HEADWATER_LOG_JSON", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
        log_json: bool,
        /// Base URL of the collector for traces, such as http://127.0.0.1:4318
        #[arg(long, env = "HEADWATER_OTLP_ENDPOINT", value_name = "URL")]
        otlp_endpoint: String,
    }
}

/// As which kind of user `GET /users/me` shows everybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Plan {
    /// With daily quotas and workspaces
    Free,
    /// With the billing period, a calendar month, and its credits
    Paid,
}

/// The sources that may share a worker process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IsolationChoice {
    /// All of one user or workspace
    Owner,
    /// Those of one user or workspace with the same component
    Component,
    /// None
    Source,
}

impl AsGiven for Plan {
    fn as_given(&self) -> String {
        word_of(self)
    }
}

impl AsGiven for IsolationChoice {
    fn as_given(&self) -> String {
        word_of(self)
    }
}

impl From<IsolationChoice> for Isolation {
    fn from(choice: IsolationChoice) -> Self {
        match choice {
            IsolationChoice::Owner => Self::Owner,
            IsolationChoice::Component => Self::Component,
            IsolationChoice::Source => Self::Source,
        }
    }
}

impl ServeArguments {
    /// The options with the file's filled in.
    pub(crate) fn with_file(self) -> Result<Self> {
        let Some(path) = self.config.clone() else {
            return Ok(self);
        };
        let shown = path.display();
        let text = std::fs::read_to_string(&path).map_err(|error| {
            UsageError(format!("cannot read the configuration {shown}: {error}"))
        })?;
        let file = toml::from_str(&text).map_err(|error: toml::de::Error| {
            UsageError(match unknown_key(error.message()) {
                Some(reason) => format!("{shown}: {reason}"),
                None => format!("{shown} is not a configuration of `headwater serve`: {error}"),
            })
        })?;
        Ok(self.or(file))
    }
}

/// The complaint about a key that no option has.
fn unknown_key(error: &str) -> Option<String> {
    let (key, known) = error.strip_prefix("unknown field `")?.split_once('`')?;
    if key == "data_dir" {
        let otherwise = "the data folder is not set here; use --data-dir or HEADWATER_DATA_DIR";
        return Some(otherwise.to_owned());
    }
    let known = known.split('`').skip(1).step_by(2);
    Some(match nearest(key, key, known) {
        Some(meant) => format!("the key `{key}` is not known; is `{meant}` meant?"),
        None => format!(
            "the key `{key}` is not known; keys are the flags of `headwater serve` with _ for -"
        ),
    })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser};
    use headwater_api::BodyLimits;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        serve: ServeArguments,
    }

    fn parse(arguments: &[&str]) -> ServeArguments {
        Command::parse_from([&["serve"], arguments].concat()).serve
    }

    #[test]
    fn the_help_names_the_room_for_bodies() {
        let command = Command::command();
        let argument = command
            .get_arguments()
            .find(|one| one.get_id() == "bodies_memory_mib");
        let help = argument.unwrap().get_help().unwrap().to_string();
        let mib = |bytes| bytes / 1024 / 1024;
        let least = mib(BodyLimits::least_memory_bytes());
        let default = mib(BodyLimits::default().memory_bytes);
        let told = format!("{least} at least [default: {default}]");
        assert!(help.contains(&told), "{told}: {help}");
    }

    #[test]
    fn a_flag_wins_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headwater.toml");
        std::fs::write(&path, "warm_workers = 7\nrun_timeout = \"5s\"\n").unwrap();
        let path = path.to_str().unwrap();
        let merged = parse(&["--config", path, "--warm-workers", "3"])
            .with_file()
            .unwrap();
        assert_eq!(merged.warm_workers, Some(3));
        assert_eq!(merged.run_timeout, Some(Duration::from_secs(5)));
    }

    #[test]
    fn private_networks_are_allowed_in_the_file_as_a_whole_or_by_range() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headwater.toml");
        for (text, expected) in [
            ("true", Some("")),
            ("false", None),
            (
                "[\"10.0.0.0/8\", \"fd00::/8\"]",
                Some("10.0.0.0/8,fd00::/8"),
            ),
        ] {
            std::fs::write(&path, format!("allow_private_network = {text}\n")).unwrap();
            let merged = parse(&["--config", path.to_str().unwrap()]);
            let merged = merged.with_file().unwrap();
            assert_eq!(merged.allow_private_network.as_deref(), expected, "{text}");
        }
        let missing = parse(&["--config", "/nowhere/a.toml"]).with_file();
        assert!(missing.unwrap_err().is::<UsageError>());
    }

    #[test]
    fn an_unknown_option_in_the_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headwater.toml");
        std::fs::write(&path, "listne = \"127.0.0.1:1\"\n").unwrap();
        let error = parse(&["--config", path.to_str().unwrap()])
            .with_file()
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{}: the key `listne` is not known; is `listen` meant?",
                path.display()
            )
        );
    }

    #[test]
    fn private_networks_may_be_allowed_as_a_whole_or_by_range() {
        assert_eq!(parse(&[]).allow_private_network, None);
        assert_eq!(
            parse(&["--allow-private-network"])
                .allow_private_network
                .as_deref(),
            Some("")
        );
        let ranges = parse(&["--allow-private-network=10.0.0.0/8"]).allow_private_network;
        assert_eq!(ranges.as_deref(), Some("10.0.0.0/8"));
    }
}
