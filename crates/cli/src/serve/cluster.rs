//! A node of a cluster. One node leads: it has all work, and everything that a node keeps in memory. The others pass
//! requests on to it, and one of them takes over when it stops, is drained or is lost. `docs/guide/cluster.md` has the
//! rules, `docs/decisions/0029-one-node-leads.md` the reasons.

mod address;
mod asking;
mod borrowing;
mod connecting;
mod door;
mod keys;
mod lending;
mod membership;
mod office;
mod passing;
mod secret;

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use futures::future::join;
use headwater_store_postgres::PostgresStore;
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use self::{
    address::NodeAddress,
    connecting::Connecting,
    door::Door,
    lending::Lending,
    membership::{Itself, Membership},
    office::{Office, Stopped},
    passing::Passing,
};
pub(super) use self::{keys::ClusterKeys, secret::ClusterSecret};
use super::{
    arguments::ServeArguments,
    network::Network,
    node,
    running::{Ended, Running},
    setup::Setup,
    stop_signals::StopSignals,
    store::NodeStore,
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
        let wrong = |reason: &str| UsageError(format!("--node-address: {reason}"));
        let address: NodeAddress = address.parse().map_err(wrong)?;
        match (address.is_encrypted(), options.tls_cert.is_some()) {
            (false, true) => {
                return Err(wrong(
                    "must begin with https://, as the node speaks HTTPS with --tls-cert, to other nodes too",
                ));
            }
            (true, false) => {
                return Err(UsageError::missing(
                    "--tls-cert",
                    "--node-address https://…",
                ));
            }
            (true, true) | (false, false) => {}
        }
        Ok(Some(Self {
            secret: ClusterSecret::of(&secret)?,
            address,
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
    let (store, database) = admitted(setup, &secret, store)
        .await
        .inspect_err(|_| setup.data_dir.leave_as_found())?;
    let grace = node::shutdown_grace(&setup.options);
    let stopping = CancellationToken::new();
    let endpoint_domain = setup.options.endpoint_domain.as_deref();
    let network = Network::of(&setup.options)?;
    let connecting = Connecting::trusting(network.ca.as_ref())?;
    let passing = Passing::new(secret.clone(), connecting.clone());
    let door = Door::new(passing, endpoint_domain, stopping.clone(), grace);
    let mut signals = StopSignals::watch()?;
    let components = setup.server(door.router(), CancellationToken::new());
    let config = node::engine_config(setup).await?;
    let lending = Arc::new(Lending::new(secret.clone(), config, components));
    let server = setup.server(lending.router(&door), stopping.clone());
    let public = tokio::spawn(server.serve(listener));
    let membership = Membership::begin(Itself::new(
        database.clone(),
        store.node.clone(),
        &address,
        door.clone(),
        setup.data_dir.cache(),
    ));
    let parts = office::Parts {
        store,
        database,
        door,
        secret,
        connecting,
        lending: Arc::clone(&lending),
        itself: membership.itself(),
    };
    let mut office = Office::new(setup, parts);
    let stopped = match office.run(&mut signals).await {
        Ok(stopped) => stopped,
        Err(error) => {
            lending.end(Duration::ZERO).await;
            membership.end().await;
            return Err(error);
        }
    };
    systemd::stopping();
    stopping.cancel();
    let ended = match stopped {
        Stopped::Leading(running) => {
            let has_successor = membership.itself().has_successor();
            Some(leading_ended(setup, running, has_successor, public, &mut signals).await)
        }
        Stopped::Following => {
            following_ended(setup, grace, &lending, public, &mut signals).await;
            None
        }
    };
    membership.end().await;
    if let Some(ended) = ended {
        ended.close().await;
    }
    setup.notes.note("stopped");
    Ok(())
}

/// Ends the work of the node that led: everything that it has taken has its grace.
async fn leading_ended(
    setup: &Setup<'_>,
    running: Running,
    has_successor: bool,
    public: JoinHandle<()>,
    signals: &mut StopSignals,
) -> Ended {
    let grace = match has_successor {
        true => node::handover_grace(&setup.options),
        false => node::shutdown_grace(&setup.options),
    };
    running.tell_stopping(setup.notes, grace);
    let ended = running.stop(setup.notes, grace, signals.another()).await;
    tokio::select! {
        _ = timeout(CLOSED_WITHIN, public) => {}
        () = signals.another() => {}
    }
    ended
}

/// Ends the part of a node that followed: what it passes on, and its runs for the leader, have the grace.
async fn following_ended(
    setup: &Setup<'_>,
    grace: Duration,
    lending: &Lending,
    public: JoinHandle<()>,
    signals: &mut StopSignals,
) {
    setup.notes.note(
        "stopping: requests that are being passed on, and runs for the node that leads, have the time of --shutdown-grace to end",
    );
    tokio::select! {
        _ = join(lending.end(grace), timeout(grace, public)) => {}
        () = signals.another() => lending.end(Duration::ZERO).await,
    }
}

/// The store as a node of the cluster has it, once nothing speaks against this node.
async fn admitted(
    setup: &Setup<'_>,
    secret: &ClusterSecret,
    store: NodeStore,
) -> Result<(NodeStore, Arc<PostgresStore>)> {
    let store = store.of_cluster(&setup.data_dir, secret)?;
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
    Ok((store, database))
}
