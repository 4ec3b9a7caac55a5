//! The secret keys of a cluster: in the database, sealed with a key that is derived from the cluster's secret, so that
//! nothing else has to be the same on all nodes.

use std::{io, sync::Arc};

use anyhow::{Context as _, Result, anyhow};
use headwater_platform::{Environment, KeyFile, KeyRing, PlatformError};
use headwater_store::Sealed;
use headwater_store_postgres::PostgresStore;
use tokio::runtime::Handle;

use super::secret::ClusterSecret;

/// The purpose that the keys are sealed for.
const PURPOSE: &str = "secret keys of the cluster";

/// The place of a cluster's secret keys.
#[derive(Clone)]
pub(in crate::serve) struct ClusterKeys {
    database: Arc<PostgresStore>,
    sealing: KeyRing,
    env: Environment,
}

impl ClusterKeys {
    pub(in crate::serve) fn new(
        database: Arc<PostgresStore>,
        secret: &ClusterSecret,
        env: Environment,
    ) -> Self {
        let sealing = secret.sealing_key();
        Self {
            database,
            sealing,
            env,
        }
    }

    /// The kept keys, if there are any.
    ///
    /// # Errors
    /// The cluster's secret does not open them; the database cannot be reached.
    pub(in crate::serve) async fn kept(&self) -> Result<Option<KeyRing>> {
        let kept = self.database.cluster_keys().await?;
        kept.map(|sealed| self.open(&sealed)).transpose()
    }

    /// Keeps the first keys, and returns those that are kept: another node may have been first.
    ///
    /// # Errors
    /// The same.
    pub(in crate::serve) async fn begin(&self, first: &KeyRing) -> Result<KeyRing> {
        let sealed = self.seal(&first.to_string())?;
        let kept = self.database.begin_cluster_keys(&sealed).await?;
        self.open(&kept)
    }

    fn open(&self, sealed: &Sealed) -> Result<KeyRing> {
        let text = self.sealing.open(PURPOSE, sealed).ok().context(
            "--cluster-secret: does not open the secret keys of this database; give the secret that its other nodes have",
        )?;
        let text =
            String::from_utf8(text).context("the secret keys in the database are no text")?;
        let keys = text.parse();
        keys.map_err(|reason| anyhow!("the secret keys in the database cannot be used: {reason}"))
    }

    fn seal(&self, keys: &str) -> Result<Sealed, PlatformError> {
        self.sealing.seal(&self.env, PURPOSE, keys.as_bytes())
    }
}

impl KeyFile for ClusterKeys {
    fn write(&self, keys: &str) -> io::Result<()> {
        let sealed = self.seal(keys).map_err(io::Error::other)?;
        let written = Handle::current().block_on(self.database.set_cluster_keys(&sealed));
        written.map_err(io::Error::other)
    }
}
