//! The wire between a node and its database, which a test cuts and mends.

use std::{path::PathBuf, sync::Mutex};

use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
    sync::watch,
    task::JoinSet,
};
use tokio_util::task::AbortOnDropHandle;

use crate::database::Database;

/// The name of a server's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// One direction of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the node to the server.
    There,
    /// From the server to the node.
    Back,
}

/// A socket of the database's server, in a folder of its own.
pub struct Wire {
    folder: TempDir,
    server: PathBuf,
    database: String,
    /// Carries connections as long as it is there.
    carrying: Mutex<Option<AbortOnDropHandle<()>>>,
    /// The way on which nothing arrives.
    held: watch::Sender<Option<Way>>,
}

impl Wire {
    /// Leads to the database.
    pub fn to(database: &Database) -> Self {
        let wire = Self {
            folder: TempDir::with_prefix("headwater-wire-").unwrap(),
            server: database.folder().join(SOCKET),
            database: database.name().to_owned(),
            carrying: Mutex::default(),
            held: watch::Sender::default(),
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

    /// Lets nothing arrive on that way, until it is mended: what is sent meanwhile arrives then.
    pub fn hold(&self, way: Way) {
        self.held.send_replace(Some(way));
    }

    /// Lets connections begin again, and everything arrive.
    pub fn mend(&self) {
        self.held.send_replace(None);
        let mut carrying = self.carrying.lock().unwrap();
        if carrying.is_some() {
            return;
        }
        let listener = UnixListener::bind(self.folder.path().join(SOCKET)).unwrap();
        let (server, held) = (self.server.clone(), self.held.subscribe());
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(carry(client, server.clone(), held.clone()));
            }
        });
        *carrying = Some(AbortOnDropHandle::new(accepting));
    }
}

/// Carries both ways of a connection, until neither side sends any more.
async fn carry(client: UnixStream, server: PathBuf, held: watch::Receiver<Option<Way>>) {
    let Ok(server) = UnixStream::connect(server).await else {
        return;
    };
    let (asked, answered) = client.into_split();
    let (answers, asks) = server.into_split();
    tokio::join!(
        pass(asked, asks, Way::There, held.clone()),
        pass(answers, answered, Way::Back, held)
    );
}

/// Passes on what arrives; dropping the end of its way tells the other side that nothing more comes.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    way: Way,
    mut held: watch::Receiver<Option<Way>>,
) {
    let mut piece = vec![0; 65536];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        let is_open = |held: &Option<Way>| *held != Some(way);
        if held.wait_for(is_open).await.is_err() || to.write_all(&piece[..length]).await.is_err() {
            return;
        }
    }
    let _ = to.shutdown().await;
}
