//! The wire between a store and its server, which a test cuts around a `COMMIT`, or closes.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
    sync::watch,
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
    state: Arc<State>,
}

struct State {
    cut: Mutex<Option<Cut>>,
    /// Whether it is closed with the cut.
    closes: AtomicBool,
    /// While it is closed, connections have ended, and new ones get no answer.
    is_open: watch::Sender<bool>,
}

impl Wire {
    /// Leads to the server whose socket is in `to`.
    pub(crate) fn to(to: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join(SOCKET)).expect("a socket");
        let server = to.join(SOCKET);
        let state = Arc::new(State {
            cut: Mutex::default(),
            closes: AtomicBool::new(false),
            is_open: watch::Sender::new(true),
        });
        let carrying = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, server.clone(), Arc::clone(&carrying)));
            }
        });
        Self { folder, state }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Cuts the connection of the next `COMMIT`.
    pub(crate) fn cut_next(&self, cut: Cut) {
        *self.state.cut.lock() = Some(cut);
    }

    /// Whether the cut has been done.
    pub(crate) fn is_cut(&self) -> bool {
        self.state.cut.lock().is_none()
    }

    /// Closes it with the next `COMMIT`, which is cut so, and waits until that has happened.
    pub(crate) async fn close_with_next(&self, cut: Cut) {
        let mut is_open = self.state.is_open.subscribe();
        self.state.closes.store(true, Ordering::SeqCst);
        self.cut_next(cut);
        let closed = is_open.wait_for(|is_open| !is_open).await;
        closed.expect("the wire is there");
    }

    /// Opens or closes it.
    pub(crate) fn set_open(&self, is_open: bool) {
        self.state.is_open.send_replace(is_open);
    }
}

async fn closed(is_open: &mut watch::Receiver<bool>) {
    let _ = is_open.wait_for(|is_open| !is_open).await;
}

async fn carry(mut client: UnixStream, server: PathBuf, state: Arc<State>) {
    let mut is_open = state.is_open.subscribe();
    if is_open.wait_for(|is_open| *is_open).await.is_err() {
        return;
    }
    let Ok(mut server) = UnixStream::connect(server).await else {
        return;
    };
    let (mut asked, mut answered) = (vec![0; 65536], vec![0; 65536]);
    loop {
        tokio::select! {
            () = closed(&mut is_open) => return,
            read = client.read(&mut asked) => {
                let Ok(length @ 1..) = read else { return };
                let sent = &asked[..length];
                let is_commit = sent.windows(7).any(|word| word == b"COMMIT\0");
                let cut = is_commit.then(|| state.cut.lock().take()).flatten();
                if cut != Some(Cut::Before) && server.write_all(sent).await.is_err() {
                    return;
                }
                if cut == Some(Cut::After) {
                    let _ = server.read(&mut answered).await;
                }
                if cut.is_some() {
                    if state.closes.load(Ordering::SeqCst) {
                        state.is_open.send_replace(false);
                    }
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
