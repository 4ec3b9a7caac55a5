//! A database for the store of a node, on the server that the whole run of tests has.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::{
    own_server::{OwnServer, ServerEnd},
    postgres,
};

/// The folder of the server's socket, which the test command gives.
const SOCKET: &str = "HEADWATER_TEST_POSTGRES_SOCKET";

/// The variable with the URL of a node's database.
pub(crate) const DATABASE_URL: &str = "HEADWATER_DATABASE_URL";
/// The variable that gives every node a database.
const STORE: &str = "HEADWATER_TEST_STORE";

/// Numbers the databases of this test process.
static DATABASES: AtomicU32 = AtomicU32::new(1);

/// A database, deleted when it is dropped.
#[derive(Debug)]
pub struct Database {
    folder: PathBuf,
    name: String,
    /// Its server, if it is not that of the whole run.
    own_server: Option<OwnServer>,
}

impl Database {
    /// Makes an empty one.
    pub fn create() -> Self {
        let folder = std::env::var_os(SOCKET).filter(|folder| !folder.is_empty());
        let folder = folder.unwrap_or_else(|| {
            panic!("run this test with `cargo xtask test`, which sets {SOCKET}")
        });
        let number = DATABASES.fetch_add(1, Ordering::Relaxed);
        let database = Self {
            folder: folder.into(),
            name: format!("node_{}_{number}", std::process::id()),
            own_server: None,
        };
        database.psql("postgres", &format!("CREATE DATABASE {}", database.name));
        database
    }

    /// One on a server of its own, which the test lets suffer.
    pub fn on_its_own_server() -> Self {
        let server = OwnServer::start();
        Self {
            folder: server.folder().to_owned(),
            name: "postgres".to_owned(),
            own_server: Some(server),
        }
    }

    /// Ends its server and starts it again.
    pub async fn restart_server(&self, end: ServerEnd) {
        self.server().restart(end).await;
    }

    /// Whether its disk can be filled: whether this process may mount one.
    pub fn has_disk(&self) -> bool {
        self.server().disk().is_some()
    }

    /// Leaves its server without room.
    pub fn fill_disk(&self) {
        self.server().disk().expect("it has one").fill();
    }

    /// Gives its server room again, and starts it again if it has ended meanwhile.
    pub async fn make_room(&self) {
        self.server().disk().expect("it has one").make_room();
        self.server().revive().await;
    }

    fn server(&self) -> &OwnServer {
        let server = self.own_server.as_ref();
        server.expect("the database has a server of its own")
    }

    /// One for a node that was given none, if the whole run of tests is to be on PostgreSQL.
    pub(crate) fn asked_for() -> Option<Arc<Self>> {
        let is_asked = std::env::var_os(STORE).is_some_and(|store| store == "postgres");
        is_asked.then(|| Arc::new(Self::create()))
    }

    /// Its URL, for `--database-url`.
    pub fn url(&self) -> String {
        format!(
            "postgres:///{}?user=postgres&host={}",
            self.name,
            self.folder.display()
        )
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Another one with everything that `pg_dump` takes out of it.
    pub fn restored_from_dump(&self) -> Self {
        let other = Self::create();
        let program = |name| {
            let mut command = Command::new(postgres::programs().join(name));
            command.args(["--username", "postgres", "--host"]);
            command.arg(&self.folder);
            command
        };
        let dump = program("pg_dump")
            .args(["--format=custom", &self.name])
            .output();
        let dump = dump.expect("pg_dump");
        assert!(dump.status.success(), "{dump:?}");
        let mut restore = program("pg_restore")
            .args(["--exit-on-error", "--dbname", &other.name])
            .stdin(Stdio::piped())
            .spawn()
            .expect("pg_restore");
        let mut input = restore.stdin.take().expect("its input");
        input.write_all(&dump.stdout).expect("it reads the dump");
        drop(input);
        assert!(restore.wait().expect("it ends").success());
        other
    }

    /// Runs SQL and returns what it printed: a line per row, fields apart by `|`.
    pub fn sql(&self, sql: &str) -> String {
        self.psql(&self.name, sql)
    }

    /// The same while the server may be down: `None`.
    pub fn try_sql(&self, sql: &str) -> Option<String> {
        self.try_psql(&self.name, sql).ok()
    }

    fn psql(&self, database: &str, sql: &str) -> String {
        let ran = self.try_psql(database, sql);
        ran.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    fn try_psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut psql = Command::new(postgres::programs().join("psql"));
        psql.args([
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--no-align",
            "--username=postgres",
        ]);
        psql.args([
            "--set=ON_ERROR_STOP=1",
            "--dbname",
            database,
            "--command",
            sql,
        ]);
        psql.arg("--host").arg(&self.folder);
        let ran = psql.output();
        let ran = ran.unwrap_or_else(|error| panic!("cannot start {psql:?}: {error}"));
        match ran.status.success() {
            true => Ok(String::from_utf8_lossy(&ran.stdout).trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if self.own_server.is_some() {
            return;
        }
        self.psql(
            "postgres",
            &format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
    }
}
