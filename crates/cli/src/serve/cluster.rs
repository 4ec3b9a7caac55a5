//! A node of a cluster. One node leads: it has all work, and everything that a node keeps in memory. The others pass
//! requests on to it, and one of them takes over when it stops, is drained or is lost. `docs/guide/cluster.md` has the
//! rules, `docs/decisions/0029-one-node-leads.md` the reasons.

mod address;
mod door;
mod keys;
mod membership;
mod office;
mod passing;
mod secret;

use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use self::{
    address::NodeAddress,
    door::Door,
    membership::{Itself, Membership},
    office::{Office, Stopped},
};
pub(super) use self::{keys::ClusterKeys, secret::ClusterSecret};
use super::{
    arguments::ServeArguments, node, setup::Setup, stop_signals::StopSignals, store::NodeStore,
    systemd,
};
use crate::usage_error::UsageError;

/// The time that connections without a request may hold up the end of a node that led.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

/// The options of a node that is one of several.
#[derive(Debug)]
pub(super) struct ClusterOptions {
    secret: ClusterSecret,
    address: NodeAddress,
}

impl ClusterOptions {
    /// The options, if this is to be one of several nodes.
    ///
    /// # Errors
    /// A `UsageError` when one of them is missing or cannot be used.
    pub(super) fn of(options: &ServeArguments) -> Result<Option<Self>, UsageError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let secret = given(&options.cluster_secret);
        let (secret, address) = match (secret, given(&options.node_address)) {
            (None, None) => return Ok(None),
            (Some(secret), Some(address)) => (secret, address),
            (Some(_), None) => {
                return Err(UsageError::missing("--node-address", "--cluster-secret"));
            }
            (None, Some(_)) => {
                return Err(UsageError::missing("--cluster-secret", "--node-address"));
            }
        };
        if options.database_url.is_none() {
            return Err(UsageError::missing("--database-url", "--cluster-secret"));
        }
        if options.tls_cert.is_some() {
            return Err(UsageError(
                "--tls-cert: the nodes of a cluster speak plain HTTP with each other on --listen; leave it out, and let a proxy \
                 before the nodes speak HTTPS"
                    .to_owned(),
            ));
        }
        let wrong = |reason| UsageError(format!("--node-address: {reason}"));
        Ok(Some(Self {
            secret: ClusterSecret::of(&secret)?,
            address: address.parse().map_err(wrong)?,
        }))
    }
}

/// Serves until a signal: leads, or follows the node that does.
///
/// # Errors
/// The secret is not that of the cluster; the store cannot be used.
pub(super) async fn serve(
    setup: &Setup<'_>,
    options: ClusterOptions,
    store: NodeStore,
    listener: TcpListener,
) -> Result<()> {
    let ClusterOptions { secret, address } = options;
    let store = store.of_cluster(&setup.data_dir, &secret)?;
    let database = store
        .database()
        .context("a cluster has a database")?
        .clone();
    if database.knows_members().await?
        && let Some(keys) = store.cluster_keys()
    {
        keys.kept().await?;
        keys.check_mark(&store.node).await?;
    }
    node::check(setup).await?;
    let grace = node::shutdown_grace(&setup.options);
    let stopping = CancellationToken::new();
    let endpoint_domain = setup.options.endpoint_domain.as_deref();
    let door = Door::new(secret, endpoint_domain, stopping.clone(), grace);
    let mut signals = StopSignals::watch()?;
    let server = setup.server(door.router(), stopping.clone());
    let public = tokio::spawn(server.serve(listener));
    let itself = Itself::new(
        database.clone(),
        store.node.clone(),
        &address,
        door.clone(),
        setup.data_dir.cache(),
    );
    let membership = Membership::begin(itself);
    let mut office = Office::new(setup, store, database, door, membership.itself());
    let stopped = match office.run(&mut signals).await {
        Ok(stopped) => stopped,
        Err(error) => {
            membership.end().await;
            return Err(error);
        }
    };
    systemd::stopping();
    stopping.cancel();
    let (ended, within) = match stopped {
        Stopped::Leading(running) => {
            running.tell_stopping(setup.notes);
            let ended = running.stop(setup.notes, signals.another()).await;
            (Some(ended), CLOSED_WITHIN)
        }
        Stopped::Following => {
            setup.notes.note(
                "stopping: requests that are being passed on have the time of --shutdown-grace to end",
            );
            (None, grace)
        }
    };
    tokio::select! {
        _ = tokio::time::timeout(within, public) => {}
        () = signals.another() => {}
    }
    membership.end().await;
    if let Some(ended) = ended {
        ended.close().await;
    }
    setup.notes.note("stopped");
    Ok(())
}
