//! A real MariaDB server, which speaks MySQL: Debian's programs, in a folder and on a port of their own.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    account::Account,
    https,
    process::{Process, start_at_a_port},
};

const PASSWORD: &str = "of-the-tests";
const DATABASE: &str = "kitchen";

/// The server, with one database.
pub struct Mysql {
    _process: Process,
    folder: TempDir,
    port: u16,
}

impl Mysql {
    /// The name that its certificate is for. `NodeBuilder::resolving` leads there.
    pub const HOST: &str = "mysql.example.com";

    /// Starts it.
    pub async fn start() -> Self {
        let started = tokio::task::spawn_blocking(Self::start_blocking).await;
        started.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
    }

    fn start_blocking() -> Self {
        let folder = TempDir::with_prefix("headwater-mysql-").unwrap();
        let (certificate, key) = https::certificate(&[Self::HOST]);
        std::fs::write(folder.path().join("server.crt"), certificate).unwrap();
        std::fs::write(folder.path().join("server.key"), key).unwrap();
        let account = Account::unprivileged(&["mysql"]);
        account.take_over(folder.path());
        let data = format!("--datadir={}", folder.path().join("data").display());
        let mut install = account.command(&program("mariadb-install-db"));
        install.args([
            "--no-defaults",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
        ]);
        run(install.arg(&data));
        let command = |port: u16| {
            let mut server = account.command(&program("mariadbd"));
            server.args([
                "--no-defaults",
                &data,
                "--bind-address=127.0.0.1",
                "--skip-log-bin",
            ]);
            server
                .arg(format!("--port={port}"))
                .arg(option("socket", folder.path(), "socket"));
            server.arg(option("ssl-cert", folder.path(), "server.crt"));
            server.arg(option("ssl-key", folder.path(), "server.key"));
            // Nothing here has to survive.
            server.args([
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-buffer-pool-size=16M",
            ]);
            server
        };
        let (process, port) = start_at_a_port("mariadbd", "ready for connections", command);
        let mysql = Self {
            _process: process,
            folder,
            port,
        };
        mysql.run_sql("", &format!("create database {DATABASE}"));
        mysql.sql(&format!(
            "create user 'cook'@'%' identified by '{PASSWORD}' require ssl; \
             grant all on {DATABASE}.* to 'cook'@'%'"
        ));
        mysql
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs SQL and returns what it printed: a line per row, fields apart by tabs.
    pub fn sql(&self, sql: &str) -> String {
        self.run_sql(DATABASE, sql)
    }

    fn run_sql(&self, database: &str, sql: &str) -> String {
        let mut client = Command::new(program("mariadb"));
        client.args([
            "--no-defaults",
            "--user=root",
            "--batch",
            "--skip-column-names",
        ]);
        client.arg(option("socket", self.folder.path(), "socket"));
        client.args(["--execute", sql, database]);
        run(&mut client)
    }

    /// The fields that an account of the app `mysql` has. The connection is encrypted, and the server's
    /// certificate is checked with its name.
    pub fn account_fields() -> Value {
        json!({
            "host": Self::HOST,
            "port": 3306,
            "username": "cook",
            "password": PASSWORD,
            "database": DATABASE,
            "ca": https::authority(),
            "ssl_verification_mode": "verify_identity",
        })
    }
}

fn option(name: &str, folder: &Path, file: &str) -> String {
    format!("--{name}={}", folder.join(file).display())
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

/// Debian keeps the server outside of the path of ordinary users.
fn program(name: &str) -> PathBuf {
    let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
    let found = folders.map(|folder| Path::new(folder).join(name));
    found
        .into_iter()
        .find(|path| path.is_file())
        .unwrap_or_else(|| {
            panic!(
                "there is no {name}; install MariaDB's programs with \
             `apt-get install mariadb-server-core mariadb-client-core`"
            )
        })
}
