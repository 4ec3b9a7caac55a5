//! The server of a database, and the pools of connections to it.

use std::{str::FromStr as _, time::Duration};

use deadpool_postgres::{
    Manager, ManagerConfig, Object, Pool, PoolError, QueueMode, RecyclingMethod, Runtime,
};
use headwater_store::StoreError;
use tokio_postgres::Config;

use crate::{connection::failed, hosts::Hosts, tls};

/// The name by which the server shows the sessions of nodes.
pub(crate) const APPLICATION: &str = "headwater";
/// The time in which a host takes a connection.
const CONNECTED_WITHIN: Duration = Duration::from_secs(5);
/// The time after which a server that does not answer counts as lost.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
const PROBED_EVERY: Duration = Duration::from_secs(2);
/// The time that a step waits for a connection while others have them all.
const FREE_WITHIN: Duration = Duration::from_secs(30);

/// A server, and the way to it.
pub(crate) struct Server {
    config: Config,
    hosts: Hosts,
}

impl Server {
    /// The server of that URL.
    ///
    /// # Errors
    /// `Unavailable` when the URL, or the authorities that it names, cannot be read.
    pub(crate) fn at(url: &str) -> Result<Self, StoreError> {
        let (url, tls) = tls::of(url)?;
        let mut config = Config::from_str(&url)
            .map_err(|error| StoreError::unavailable("reading the database's URL", error))?;
        config
            .application_name(APPLICATION)
            .connect_timeout(CONNECTED_WITHIN)
            .tcp_user_timeout(ANSWERED_WITHIN)
            .keepalives_idle(ANSWERED_WITHIN)
            .keepalives_interval(PROBED_EVERY)
            .keepalives_retries(3);
        let hosts = Hosts::of(&config, tls);
        Ok(Self { config, hosts })
    }

    /// A pool of so many connections, which begin when they are needed.
    ///
    /// # Errors
    /// `Unavailable` when it cannot be set up.
    pub(crate) fn pool(&self, connections: usize) -> Result<Pool, StoreError> {
        let recycling = ManagerConfig {
            recycling_method: RecyclingMethod::Fast,
        };
        let manager = Manager::from_connect(self.config.clone(), self.hosts.clone(), recycling);
        Pool::builder(manager)
            .max_size(connections)
            .runtime(Runtime::Tokio1)
            // The process that worked last has everything at hand.
            .queue_mode(QueueMode::Lifo)
            .wait_timeout(Some(FREE_WITHIN))
            .create_timeout(Some(ANSWERED_WITHIN))
            .build()
            .map_err(|error| StoreError::unavailable("setting up connections", error))
    }
}

/// A connection of a pool, as soon as one is free.
///
/// # Errors
/// `Unavailable` when the server cannot be reached.
pub(crate) async fn connect(pool: &Pool) -> Result<Object, StoreError> {
    const STEP: &str = "connecting to the database";
    pool.get().await.map_err(|error| match error {
        PoolError::Backend(error) => failed(STEP)(error),
        error @ (PoolError::Timeout(_)
        | PoolError::Closed
        | PoolError::NoRuntimeSpecified
        | PoolError::PostCreateHook(_)) => StoreError::unavailable(STEP, error),
    })
}
