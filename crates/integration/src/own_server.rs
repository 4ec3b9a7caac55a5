//! A PostgreSQL server that one test has for itself: it is ended, started again, and left without room.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tokio::{sync::Mutex, task::block_in_place};

use crate::{account::Account, disk::Disk, postgres, process::Process};

/// The room of its disk, if it has one of its own.
const DISK_MIB: u32 = 4096;
/// Files outlive a crash of the server without `fsync`; crashes of the machine are not among the faults.
const SETTINGS: [&str; 8] = [
    "listen_addresses=",
    "fsync=off",
    "max_connections=200",
    "shared_buffers=128MB",
    "max_wal_size=256MB",
    "wal_level=minimal",
    "max_wal_senders=0",
    "deadlock_timeout=100ms",
];

/// The way in which a server ends.
#[derive(Debug, Clone, Copy)]
pub enum ServerEnd {
    /// `pg_ctl stop -m fast`: transactions are rolled back, and everything is written.
    Fast,
    /// `pg_ctl stop -m immediate`: like a crash.
    Immediate,
}

/// A server with a folder of its own. It ends with the test.
#[derive(Debug)]
pub(crate) struct OwnServer {
    /// `None` while it is down.
    process: Mutex<Option<Process>>,
    account: Account,
    programs: PathBuf,
    /// Given back before the folder it is in is removed.
    disk: Option<Disk>,
    folder: TempDir,
}

impl OwnServer {
    /// Starts one, with a disk of its own where this process may mount one.
    pub(crate) fn start() -> Self {
        let programs = postgres::programs();
        let folder = TempDir::with_prefix("headwater-own-server-").unwrap();
        let account = Account::unprivileged(&["postgres"]);
        let disk = Disk::mount(folder.path(), DISK_MIB);
        account.take_over(folder.path());
        let mut initdb = account.command(&programs.join("initdb"));
        initdb.args(["--username=postgres", "--auth=trust", "--no-sync"]);
        initdb.args(["--encoding=UTF8", "--locale=C", "--pgdata"]);
        let made = initdb.arg(folder.path().join("data")).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        let server = Self {
            process: Mutex::default(),
            account,
            programs,
            disk,
            folder,
        };
        *server.process.try_lock().expect("it is new") = Some(server.begun());
        server
    }

    /// The folder of its socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it and starts it again.
    pub(crate) async fn restart(&self, end: ServerEnd) {
        let mut process = self.process.lock().await;
        let mut running = process.take().expect("it is up");
        running.signal(match end {
            ServerEnd::Fast => "INT",
            ServerEnd::Immediate => "QUIT",
        });
        running.wait().await;
        *process = Some(block_in_place(|| self.begun()));
    }

    /// Its disk, if it has one of its own.
    pub(crate) fn disk(&self) -> Option<&Disk> {
        self.disk.as_ref()
    }

    /// Starts it again if it has ended by itself, as whoever starts services does.
    pub(crate) async fn revive(&self) {
        let mut process = self.process.lock().await;
        if process.as_mut().is_none_or(Process::has_ended) {
            *process = Some(block_in_place(|| self.begun()));
        }
    }

    fn begun(&self) -> Process {
        let mut postgres = self.account.command(&self.programs.join("postgres"));
        let folder = self.folder();
        postgres.arg("-D").arg(folder.join("data"));
        postgres.arg("-k").arg(folder);
        for setting in SETTINGS {
            postgres.args(["-c", setting]);
        }
        let is_ready = |line: &str| line.contains("ready to accept connections").then_some(());
        Process::start("postgres", &mut postgres, is_ready).0
    }
}
