//! A real PostgreSQL server of the test process: Debian's programs, in a folder of their own, reached by a socket there.

use std::{
    os::unix::{fs::chown, process::CommandExt as _},
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
/// The database whose copies tests get.
const TEMPLATE: &str = "template_headwater";
/// Ends the server, and removes its folder, when the test process closes the pipe: however it ends.
const UNTIL_CLOSED: &str = r#"
    "$1/initdb" --username=postgres --auth=trust --no-sync --encoding=UTF8 --locale=C --pgdata="$2/data" >"$2/log" 2>&1
    "$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c synchronous_commit=off \
        -c full_page_writes=off -c max_connections=200 -c shared_buffers=64MB -c wal_level=minimal -c max_wal_senders=0 \
        -c deadlock_timeout=100ms >>"$2/log" 2>&1 &
    while read -r _; do :; done
    kill -INT $!
    wait $!
    rm -rf "$2"
"#;

static SERVER: OnceLock<Server> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(1);

struct Server {
    folder: PathBuf,
    /// Its standard input is what keeps the server going.
    _shell: Child,
}

/// A new database, deleted when it is dropped.
pub(crate) struct Database {
    name: String,
}

impl Database {
    pub(crate) async fn create() -> Self {
        let server = tokio::task::spawn_blocking(|| SERVER.get_or_init(Server::start)).await;
        let server = server.expect("a server");
        let name = format!("test_{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        server
            .run(&format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE}"))
            .await;
        Self { name }
    }

    pub(crate) fn url(&self) -> String {
        url(&SERVER.get().expect("it was started").folder, &self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let server = SERVER.get().expect("it was started");
        on_another_thread(server.run(&sql));
    }
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("headwater-postgres-")
            .tempdir()
            .expect("a folder for the server")
            .keep();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", UNTIL_CLOSED, "sh"])
            .arg(programs())
            .arg(&folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .process_group(0);
        if let Some((uid, gid)) = unprivileged() {
            chown(&folder, Some(uid), Some(gid)).expect("the folder is the test's");
            shell.uid(uid).gid(gid);
        }
        let server = Self {
            _shell: shell.spawn().expect("a shell"),
            folder,
        };
        on_another_thread(server.prepare());
        server
    }

    /// Awaits that it answers, and writes the schema that databases begin with.
    async fn prepare(&self) {
        let started = std::time::Instant::now();
        while let Err(error) = tokio_postgres::connect(&url(&self.folder, "postgres"), NoTls).await
        {
            let log = || std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(started.elapsed().as_secs() < 60, "{error}: {}", log());
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        self.run(&format!("CREATE DATABASE {TEMPLATE}")).await;
        let store = PostgresStore::open(&url(&self.folder, TEMPLATE)).await;
        drop(store.expect("an empty database"));
        // The store's connections end on their own.
        let gone = format!(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{TEMPLATE}'"
        );
        self.run(&gone).await;
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

fn url(folder: &Path, database: &str) -> String {
    format!("host={} user=postgres dbname={database}", folder.display())
}

/// The folder with `initdb` and `postgres`.
#[expect(
    clippy::disallowed_methods,
    reason = "the environment says where the programs are that the tests need"
)]
fn programs() -> PathBuf {
    let given = std::env::var_os("HEADWATER_TEST_POSTGRES_BIN").filter(|path| !path.is_empty());
    if let Some(given) = given {
        return given.into();
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

/// The user and group that the server runs as, since it refuses to run as root.
fn unprivileged() -> Option<(u32, u32)> {
    let own = std::fs::metadata("/proc/self").expect("Linux has /proc");
    if std::os::unix::fs::MetadataExt::uid(&own) != 0 {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("users");
    let ids_of = |wanted: &str| {
        users.lines().find_map(|line| {
            let fields: Vec<_> = line.split(':').collect();
            match fields.as_slice() {
                [name, _, uid, gid, ..] if *name == wanted => {
                    Some((uid.parse().ok()?, gid.parse().ok()?))
                }
                _ => None,
            }
        })
    };
    let found = ids_of("postgres").or_else(|| ids_of("nobody"));
    Some(found.expect("a user that the server may run as, such as nobody"))
}
