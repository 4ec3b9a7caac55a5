//! A real PostgreSQL server: Debian's programs, in a folder and on a port of their own.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicU32, Ordering},
    },
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    account::Account,
    process::{Process, start_at_a_port},
};

const PASSWORD: &str = "of-the-tests";
/// Where Debian keeps each major version's programs.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The server of this test process, as long as a test uses it.
static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
/// Numbers the databases of this test process.
static DATABASES: AtomicU32 = AtomicU32::new(1);

struct Server {
    _process: Process,
    folder: TempDir,
    programs: PathBuf,
    port: u16,
    certificate: String,
}

/// A database of its own on a server that tests of one process share. The server ends with its last database.
pub struct Postgres {
    server: Arc<Server>,
    database: String,
}

impl Postgres {
    /// Starts the server if no test of this process has, and makes a database.
    pub async fn start() -> Self {
        let database = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let started = tokio::task::spawn_blocking(move || {
            let mut shared = SHARED
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            let server = shared
                .upgrade()
                .unwrap_or_else(|| Arc::new(Server::start()));
            *shared = Arc::downgrade(&server);
            drop(shared);
            server.psql("postgres", &format!("create database \"{database}\""));
            Self { server, database }
        });
        started
            .await
            .unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
    }

    /// Runs SQL and returns what it printed: a line per row, fields apart by `|`.
    pub fn sql(&self, sql: &str) -> String {
        self.server.psql(&self.database, sql)
    }

    /// Its URL for clients, with these parameters.
    pub fn url(&self, parameters: &str) -> String {
        let (port, database) = (self.server.port, &self.database);
        format!("postgres://postgres:{PASSWORD}@127.0.0.1:{port}/{database}?{parameters}")
    }

    /// The server's certificate, PEM.
    pub fn certificate(&self) -> &str {
        &self.server.certificate
    }

    /// The fields that an account of the app `postgresql` has. The connection is encrypted and the
    /// server's certificate is checked.
    pub fn account_fields(&self) -> Value {
        json!({
            "host": "127.0.0.1",
            "port": self.server.port,
            "user": "postgres",
            "password": PASSWORD,
            "database": self.database,
            "ca": self.server.certificate,
            "ssl_verification_mode": "full_verification",
        })
    }
}

impl Server {
    fn start() -> Self {
        let programs = programs();
        let folder = TempDir::with_prefix("headwater-postgres-").unwrap();
        let account = Account::unprivileged(&["postgres"]);
        let data = folder.path().join("data");
        let certificate = write_certificate(folder.path());
        let password = folder.path().join("password");
        std::fs::write(&password, PASSWORD).unwrap();
        account.take_over(folder.path());
        let mut initdb = account.command(&programs.join("initdb"));
        initdb.args([
            "--username=postgres",
            "--auth=scram-sha-256",
            "--no-sync",
            "--encoding=UTF8",
            "--locale=C",
        ]);
        initdb
            .arg("--pwfile")
            .arg(&password)
            .arg("--pgdata")
            .arg(&data);
        let made = initdb
            .output()
            .unwrap_or_else(|error| panic!("cannot start {initdb:?}: {error}"));
        assert!(
            made.status.success(),
            "initdb: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        let settings = [
            "listen_addresses=127.0.0.1",
            "fsync=off",
            "synchronous_commit=off",
            "full_page_writes=off",
            "max_connections=40",
            "shared_buffers=16MB",
            "ssl=on",
            "ssl_cert_file=../server.crt",
            "ssl_key_file=../server.key",
        ];
        let command = |port: u16| {
            let mut postgres = account.command(&programs.join("postgres"));
            postgres
                .arg("-D")
                .arg(&data)
                .arg("-k")
                .arg(folder.path())
                .args(["-p", &port.to_string()]);
            for setting in settings {
                postgres.args(["-c", setting]);
            }
            postgres
        };
        let (process, port) = start_at_a_port("postgres", "ready to accept connections", command);
        Self {
            _process: process,
            folder,
            programs,
            port,
            certificate,
        }
    }

    fn psql(&self, database: &str, sql: &str) -> String {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "postgres",
            "-p",
            &self.port.to_string(),
        ])
        .arg("-h")
        .arg(self.folder.path())
        .args(["-d", database, "-c", sql])
        .env("PGPASSWORD", PASSWORD);
        let output = psql
            .output()
            .unwrap_or_else(|error| panic!("cannot start {psql:?}: {error}"));
        assert!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }
}

/// The folder with `initdb`, `postgres` and `psql`.
pub(crate) fn programs() -> PathBuf {
    if let Some(given) =
        std::env::var_os("HEADWATER_TEST_POSTGRES_BIN").filter(|path| !path.is_empty())
    {
        return given.into();
    }
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|version| {
            Path::new(DEBIAN)
                .join(version.to_string())
                .join("bin/initdb")
                .is_file()
        })
        .max();
    let newest = newest.expect(
        "no PostgreSQL server is installed; install Debian's with `apt-get install postgresql`, \
         or set HEADWATER_TEST_POSTGRES_BIN to the folder of its programs",
    );
    Path::new(DEBIAN).join(newest.to_string()).join("bin")
}

/// A certificate for 127.0.0.1, and its key as PostgreSQL wants it: nobody else may read it.
fn write_certificate(folder: &Path) -> String {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])
        .unwrap();
    let certificate = made.cert.pem();
    std::fs::write(folder.join("server.crt"), &certificate).unwrap();
    let key = folder.join("server.key");
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    certificate
}
