//! The secret keys of a cluster: in the database, sealed with a key that is derived from the cluster's secret, so that
//! nothing else has to be the same on all nodes.

use std::{io, sync::Arc};

use anyhow::{Context as _, Result, anyhow, bail};
use headwater_platform::{Environment, KeyFile, KeyRing, PlatformError};
use headwater_store::{Member, MemberPart, Members as _, NodeName, Sealed};
use headwater_store_postgres::PostgresStore;
use tokio::runtime::Handle;

use super::secret::ClusterSecret;

/// The purpose that the keys are sealed for.
const PURPOSE: &str = "secret keys of the cluster";

/// The purpose that the mark of the cluster is sealed for, and its text: that it can be opened is all that counts.
const MARK: &str = "mark of the cluster";

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

    /// Checks that the living nodes of the database have the same secret, also where their secret keys are not in it.
    ///
    /// # Errors
    /// They have another one; the database cannot be reached.
    pub(in crate::serve) async fn check_mark(&self, node: &NodeName) -> Result<()> {
        let Some(mark) = self.database.cluster_mark().await? else {
            return Ok(());
        };
        if self.sealing.open(MARK, &mark).is_ok() {
            return Ok(());
        }
        let members = self.database.members().await?;
        let lives = |member: &Member| member.part != MemberPart::Lost && member.name != *node;
        match members.iter().find(|member| lives(member)) {
            // Of nodes that are gone: the secret may have been changed since.
            None => Ok(()),
            Some(other) => bail!(
                "--cluster-secret: is not the one of the node {} on this database; give the secret that its other nodes have",
                other.name.as_str()
            ),
        }
    }

    /// Leaves the mark by which a node with another secret is found out.
    ///
    /// # Errors
    /// The living nodes have another secret; the database cannot be reached.
    pub(in crate::serve) async fn leave_mark(&self, node: &NodeName) -> Result<()> {
        self.check_mark(node).await?;
        let mark = self.sealing.seal(&self.env, MARK, MARK.as_bytes())?;
        Ok(self.database.set_cluster_mark(&mark).await?)
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
