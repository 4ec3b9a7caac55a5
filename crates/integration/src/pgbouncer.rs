//! A real PgBouncer in transaction mode: Debian's program, on a port of its own.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::{
    account::Account,
    database::Database,
    process::{Process, start_at_a_port},
};

/// Another program than Debian's.
const PROGRAM: &str = "HEADWATER_TEST_PGBOUNCER";
const DEBIAN: &str = "/usr/sbin/pgbouncer";
/// The first version that keeps prepared statements.
const KEEPS_SINCE: (u32, u32) = (1, 21);

/// A pooler before the server of a database.
pub struct PgBouncer {
    _process: Process,
    _folder: TempDir,
    port: u16,
    database: String,
}

impl PgBouncer {
    /// Whether this machine has one that can keep prepared statements.
    pub fn can_keep_statements() -> bool {
        let asked = Command::new(program()).arg("--version").output();
        let said = String::from_utf8(asked.unwrap().stdout).unwrap();
        let version = said.lines().next().unwrap_or_default().rsplit(' ').next();
        let mut parts = version.unwrap_or_default().split('.');
        let mut part = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        (part(), part()) >= KEEPS_SINCE
    }

    /// Starts one with fewer connections to the server than a node has, so that they are shared.
    pub fn before(database: &Database, keeps_statements: bool) -> Self {
        let folder = TempDir::with_prefix("headwater-pgbouncer-").unwrap();
        let account = Account::unprivileged(&["postgres"]);
        let configuration = folder.path().join("pgbouncer.ini");
        let keeps = match (keeps_statements, Self::can_keep_statements()) {
            (true, _) => "max_prepared_statements = 200",
            // Some do so by default.
            (false, true) => "max_prepared_statements = 0",
            (false, false) => "",
        };
        let server = database.folder().display();
        let command = |port: u16| {
            let text = format!(
                "[databases]\n* = host={server} user=postgres\n\
                 [pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
                 pool_mode = transaction\ndefault_pool_size = 3\n{keeps}\n"
            );
            std::fs::write(&configuration, text).unwrap();
            account.take_over(folder.path());
            let mut pgbouncer = account.command(&program());
            pgbouncer.arg(&configuration);
            pgbouncer
        };
        let (process, port) = start_at_a_port("pgbouncer", "process up", command);
        Self {
            _process: process,
            _folder: folder,
            port,
            database: database.name().to_owned(),
        }
    }

    /// The URL of the database through it.
    pub fn url(&self) -> String {
        let (port, database) = (self.port, &self.database);
        format!("postgres://postgres@127.0.0.1:{port}/{database}?sslmode=disable")
    }
}

fn program() -> PathBuf {
    let given = std::env::var_os(PROGRAM).filter(|path| !path.is_empty());
    given.map_or_else(|| Path::new(DEBIAN).to_owned(), PathBuf::from)
}
