//! The wire between a node and its database, which a test cuts and mends.

use std::{path::PathBuf, sync::Mutex};

use tempfile::TempDir;
use tokio::{
    io::copy_bidirectional,
    net::{UnixListener, UnixStream},
    task::JoinSet,
};
use tokio_util::task::AbortOnDropHandle;

use crate::database::Database;

/// The name of a server's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// A socket of the database's server, in a folder of its own.
pub struct Wire {
    folder: TempDir,
    server: PathBuf,
    database: String,
    /// Carries connections as long as it is there.
    carrying: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Wire {
    /// Leads to the database.
    pub fn to(database: &Database) -> Self {
        let wire = Self {
            folder: TempDir::with_prefix("headwater-wire-").unwrap(),
            server: database.folder().join(SOCKET),
            database: database.name().to_owned(),
            carrying: Mutex::default(),
        };
        wire.mend();
        wire
    }

    /// The URL of the database through the wire.
    pub fn url(&self) -> String {
        let folder = self.folder.path().display();
        format!("postgres:///{}?user=postgres&host={folder}", self.database)
    }

    /// Ends all connections, and lets none begin.
    pub fn cut(&self) {
        *self.carrying.lock().unwrap() = None;
        std::fs::remove_file(self.folder.path().join(SOCKET)).unwrap();
    }

    /// Lets connections begin again.
    pub fn mend(&self) {
        let listener = UnixListener::bind(self.folder.path().join(SOCKET)).unwrap();
        let server = self.server.clone();
        let carrying = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                let server = server.clone();
                connections.spawn(async move {
                    let mut server = UnixStream::connect(server).await?;
                    copy_bidirectional(&mut client, &mut server).await
                });
            }
        });
        *self.carrying.lock().unwrap() = Some(AbortOnDropHandle::new(carrying));
    }
}
