//! The store of a node: embedded in its data folder, or a PostgreSQL database that it has for itself.

use std::{path::Path, sync::Arc, time::Duration};

use anyhow::{Context as _, Result};
use headwater_model::time::EpochMs;
use headwater_platform::{Clock, Environment};
use headwater_store::{FileStorage, Members, NodeName, Store};
use headwater_store_postgres::{DatabaseClock, PostgresFiles, PostgresStore};
use headwater_store_sqlite::SqliteStore;

use super::{
    cluster::{ClusterKeys, ClusterSecret},
    data_dir::DataDir,
    environment,
    files::FolderOfFiles,
    folder_fault, unreached,
};
use crate::usage_error::UsageError;

/// The name of the only node of an embedded store.
const ONLY_NODE: &str = "node";
const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
/// The time between two looks at whether another node still has the database.
const LOOKED_EVERY: Duration = Duration::from_millis(500);

/// A store with what a node must know of it. Its clones are the same store.
#[derive(Clone)]
pub(crate) struct NodeStore {
    pub(super) store: Arc<dyn Store>,
    pub(super) node: NodeName,
    database: Option<Arc<PostgresStore>>,
    cluster_keys: Option<ClusterKeys>,
}

impl NodeStore {
    /// Opens a node's data folder with the database at the URL, or else with the embedded store in it, which no other
    /// process may have open. A store that cannot be used leaves the folder as it was.
    ///
    /// # Errors
    /// The database cannot be reached, or the data folder cannot be written or is in use.
    pub(crate) async fn open(root: &Path, url: Option<&str>) -> Result<(DataDir, Self)> {
        url.map(check_scheme).transpose()?;
        let explained = |error| folder_fault::explained(root, error);
        let data_dir = DataDir::open(root).map_err(explained)?;
        let store = match url {
            Some(url) => Self::of_database(&data_dir, url).await?,
            None => match Self::embedded(&data_dir).map_err(explained) {
                Ok(store) => store,
                Err(error) => {
                    data_dir.leave_unless_taken().await;
                    return Err(error);
                }
            },
        };
        Ok((data_dir, store))
    }

    fn embedded(data_dir: &DataDir) -> Result<Self> {
        let store = SqliteStore::open(&data_dir.store()?).context("cannot open the store")?;
        Ok(Self {
            store: Arc::new(store),
            node: NodeName::new(ONLY_NODE),
            database: None,
            cluster_keys: None,
        })
    }

    async fn of_database(data_dir: &DataDir, url: &str) -> Result<Self> {
        data_dir.lock().await?;
        let database = PostgresStore::open_for_one(url).await;
        let database = database.map_err(|error| {
            data_dir.leave_as_found();
            unreached::told(&error)
        })?;
        data_dir.store_is_elsewhere()?;
        let database = Arc::new(database);
        Ok(Self {
            store: Arc::clone(&database) as _,
            node: node_name(data_dir),
            database: Some(database),
            cluster_keys: None,
        })
    }

    /// The same store as one node of a cluster has it, which is known by an id in its data folder.
    ///
    /// # Errors
    /// The data folder cannot be written.
    pub(super) fn of_cluster(self, data_dir: &DataDir, secret: &ClusterSecret) -> Result<Self> {
        let database = self.database.clone().context("a cluster has a database")?;
        let keys = ClusterKeys::new(database, secret, self.environment()?);
        Ok(Self {
            node: NodeName::new(data_dir.node_id()?),
            cluster_keys: Some(keys),
            ..self
        })
    }

    /// The database, if the store is one.
    pub(super) fn database(&self) -> Option<&Arc<PostgresStore>> {
        self.database.as_ref()
    }

    /// The place of the secret keys, if this is one node of a cluster.
    pub(super) fn cluster_keys(&self) -> Option<&ClusterKeys> {
        self.cluster_keys.as_ref()
    }

    /// Makes sure that a node that is alone has the secret keys of its database: those of a cluster are in it, and only the
    /// cluster's secret opens them.
    ///
    /// # Errors
    /// They are, and it has no secret.
    pub(super) async fn check_keys(&self) -> Result<()> {
        if let (Some(database), None) = (&self.database, &self.cluster_keys)
            && database.cluster_keys().await?.is_some()
        {
            anyhow::bail!(
                "the secret keys of this database are those of a cluster: give --cluster-secret and --node-address, or set \
                 HEADWATER_SECRET_KEY"
            );
        }
        Ok(())
    }

    /// The nodes of the cluster, if this is one of them.
    pub(super) fn members(&self) -> Option<Arc<dyn Members>> {
        let database = self
            .database
            .clone()
            .filter(|_| self.cluster_keys.is_some());
        database.map(|database| database as _)
    }

    /// The node that has the database, if it is another one than this.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub(super) async fn holder(&self) -> Result<Option<NodeName>> {
        let Some(database) = &self.database else {
            return Ok(None);
        };
        let others = database.others(&self.node).await?;
        Ok(others.into_iter().next())
    }

    /// Waits until no other node has the database, also while it cannot be reached.
    pub(super) async fn free(&self) {
        loop {
            match self.holder().await {
                Ok(None) => return,
                Ok(Some(_)) => {}
                Err(error) => {
                    tracing::warn!(error = format!("{error:#}"), "cannot look at the database")
                }
            }
            tokio::time::sleep(LOOKED_EVERY).await;
        }
    }

    /// Makes the store ready for use, once no other node has it. `false`: one has.
    ///
    /// # Errors
    /// The database cannot be reached, or its user may not create tables.
    pub(super) async fn prepare(&self) -> Result<bool> {
        let Some(database) = &self.database else {
            return Ok(true);
        };
        let prepared = database.prepare(&self.node).await;
        prepared.map_err(|error| unreached::told(&error))
    }

    /// The files of owners: in the database, where all of its nodes see them, or else in the data folder.
    ///
    /// # Errors
    /// The data folder cannot be used.
    pub(super) fn files(&self, data_dir: &DataDir) -> Result<Arc<dyn FileStorage>> {
        Ok(match &self.database {
            Some(database) => Arc::new(PostgresFiles::of(Arc::clone(database))),
            None => {
                let files = FolderOfFiles::open(data_dir.files());
                Arc::new(files.context("cannot open the folder of files")?)
            }
        })
    }

    /// The system's randomness, with the time that decides in this store: the database's, else the system's.
    ///
    /// # Errors
    /// The variable of tests that sets the clock cannot be read.
    pub(super) fn environment(&self) -> Result<Environment> {
        let system = environment::system()?;
        Ok(match &self.database {
            Some(database) if !environment::is_of_a_test() => Environment {
                clock: Arc::new(ClockOfDatabase(database.clock())),
                ..system
            },
            Some(_) | None => system,
        })
    }
}

/// Whether a text is the URL of a database.
pub(super) fn is_database_url(text: &str) -> bool {
    SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

struct ClockOfDatabase(Arc<DatabaseClock>);

impl Clock for ClockOfDatabase {
    fn now_ms(&self) -> EpochMs {
        self.0.now_ms()
    }
}

/// Checks that the URL is one of PostgreSQL.
pub(super) fn check_scheme(url: &str) -> Result<(), UsageError> {
    match is_database_url(url) {
        true => Ok(()),
        // Not shown: it may have a password.
        false => Err(UsageError(
            "--database-url: must begin with postgres:// or postgresql://".to_owned(),
        )),
    }
}

/// The name of a node of a database: its machine's, with its data folder, of which one node at a time has the lock.
fn node_name(data_dir: &DataDir) -> NodeName {
    let machine = rustix::system::uname();
    let machine = machine.nodename().to_string_lossy();
    NodeName::new(format!("{machine}:{}", data_dir.shown()))
}
