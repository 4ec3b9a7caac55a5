//! A real PostgreSQL server: that of the whole run of tests, which `cargo xtask test` starts, or one of the test process.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use headwater_store_postgres::PostgresStore;
use tokio_postgres::NoTls;

/// Where Debian keeps each major version's programs.
const DEBIAN: &str = "/usr/lib/postgresql";
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/harness/server.sh");
/// The database whose copies tests get.
const TEMPLATE: &str = "template_headwater";
/// The lock under which the template is created: several processes may be first.
const TEMPLATE_LOCK: i64 = 1;

static SERVER: OnceLock<Server> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(1);

struct Server {
    folder: PathBuf,
    /// Its standard input is what keeps a server of the process going.
    _script: Option<Child>,
}

/// A new database, deleted when it is dropped.
pub(crate) struct Database {
    name: String,
}

impl Database {
    pub(crate) async fn create() -> Self {
        let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(Server::find)).await;
        let server = server.expect("a server");
        let number = DATABASES.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        server
            .run(&format!(
                "CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY file_copy"
            ))
            .await;
        Self { name }
    }

    pub(crate) fn url(&self) -> String {
        self.url_at(server_folder())
    }

    /// Its URL where the server's socket is in that folder.
    pub(crate) fn url_at(&self, folder: &Path) -> String {
        url(folder, &self.name)
    }
}

/// The folder of the server's socket.
pub(crate) fn server_folder() -> &'static Path {
    &SERVER.get().expect("it was found").folder
}

impl Drop for Database {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let server = SERVER.get().expect("it was found");
        on_another_thread(server.run(&sql));
    }
}

impl Server {
    /// The server of the run, or a new one.
    fn find() -> Self {
        let server = match variable("HEADWATER_TEST_POSTGRES_SOCKET") {
            Some(folder) => Self {
                folder,
                _script: None,
            },
            None => Self::start(),
        };
        on_another_thread(server.prepare());
        server
    }

    fn start() -> Self {
        let mut script = Command::new("sh");
        script.arg(SCRIPT).arg(programs());
        script.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut script = script.spawn().expect("a shell");
        let said = BufReader::new(script.stdout.take().expect("its output"))
            .lines()
            .next();
        let folder = said.expect("the server starts").expect("a line");
        Self {
            folder: folder.into(),
            _script: Some(script),
        }
    }

    /// Writes the schema that databases begin with, unless another process has.
    async fn prepare(&self) {
        let connected = tokio_postgres::connect(&url(&self.folder, "postgres"), NoTls).await;
        let (client, connection) = connected.expect("the server");
        let connection = tokio::spawn(connection);
        let locked = client
            .execute("SELECT pg_advisory_lock($1)", &[&TEMPLATE_LOCK])
            .await;
        locked.expect("the lock");
        let there = client
            .query("SELECT FROM pg_database WHERE datname = $1", &[&TEMPLATE])
            .await;
        if there.expect("the databases").is_empty() {
            self.create_template().await;
        }
        drop(client);
        let _ = connection.await;
    }

    async fn create_template(&self) {
        let being = format!("{TEMPLATE}_being");
        self.run(&format!("CREATE DATABASE {being}")).await;
        let store = PostgresStore::open(&url(&self.folder, &being)).await;
        drop(store.expect("an empty database"));
        // The store's connections end on their own.
        let gone = format!(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{being}'"
        );
        self.run(&gone).await;
        self.run(&format!("ALTER DATABASE {being} RENAME TO {TEMPLATE}"))
            .await;
    }

    async fn run(&self, sql: &str) {
        let connected = tokio_postgres::connect(&url(&self.folder, "postgres"), NoTls).await;
        let (client, connection) = connected.expect("the server");
        let connection = tokio::spawn(connection);
        let ran = client.batch_execute(sql).await;
        ran.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        drop(client);
        let _ = connection.await;
    }
}

/// Runs a future to its end where no other may be awaited.
fn on_another_thread(future: impl Future<Output = ()> + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(future);
        });
        thread.join().expect("it has come to its end");
    });
}

/// The URL of a database at a server.
pub(crate) fn url(folder: &Path, database: &str) -> String {
    format!("host={} user=postgres dbname={database}", folder.display())
}

/// The folder with `initdb` and `postgres`.
fn programs() -> PathBuf {
    if let Some(given) = variable("HEADWATER_TEST_POSTGRES_BIN") {
        return given;
    }
    let versions = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .max()
        .expect(
            "no PostgreSQL server is installed; install Debian's with `apt-get install postgresql`, \
             or set HEADWATER_TEST_POSTGRES_BIN to the folder of its programs",
        );
    Path::new(DEBIAN).join(newest.to_string()).join("bin")
}

#[expect(
    clippy::disallowed_methods,
    reason = "the environment says where the programs and the server are that the tests need"
)]
fn variable(name: &str) -> Option<PathBuf> {
    let given = std::env::var_os(name).filter(|path| !path.is_empty());
    given.map(PathBuf::from)
}
