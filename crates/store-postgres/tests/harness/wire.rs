//! The wire between a store and its server, which a test cuts around a `COMMIT`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
};

/// The name of a server's socket in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// Where the wire is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server does not get the `COMMIT`.
    Before,
    /// The client does not get the answer to it.
    After,
}

/// A server's socket in a folder of its own.
pub(crate) struct Wire {
    folder: tempfile::TempDir,
    cut: Arc<Mutex<Option<Cut>>>,
}

impl Wire {
    /// Leads to the server whose socket is in `to`.
    pub(crate) fn to(to: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("a socket");
        let (server, cut) = (to.join(SOCKET), Arc::<Mutex<Option<Cut>>>::default());
        let cuts = Arc::clone(&cut);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, server.clone(), Arc::clone(&cuts)));
            }
        });
        Self { folder, cut }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Cuts the connection of the next `COMMIT`.
    pub(crate) fn cut_next(&self, cut: Cut) {
        *self.cut.lock() = Some(cut);
    }

    /// Whether the cut has been done.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.lock().is_none()
    }
}

async fn carry(mut client: UnixStream, server: PathBuf, cuts: Arc<Mutex<Option<Cut>>>) {
    let Ok(mut server) = UnixStream::connect(server).await else {
        return;
    };
    let (mut asked, mut answered) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let sent = &asked[..length];
                let is_commit = sent.windows(6).any(|word| word == b"COMMIT");
                let cut = is_commit.then(|| cuts.lock().take()).flatten();
                if cut == Some(Cut::Before) || server.write_all(sent).await.is_err() {
                    return;
                }
                if cut == Some(Cut::After) {
                    let _ = server.read(&mut answered).await;
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&answered[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}
