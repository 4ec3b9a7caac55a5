//! A real SSH server that offers files over SFTP: Debian's OpenSSH, with keys, a folder and a port of its own.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    account::Account,
    process::{Process, start_at_a_port},
};

const SSHD: &str = "/usr/sbin/sshd";
/// Where the server, if it runs as root, locks itself in while it does not know a user.
const PRIVILEGE_SEPARATION: &str = "/run/sshd";

/// The server. Whoever runs the tests may log in, with a key.
pub struct Ssh {
    _process: Process,
    folder: TempDir,
    port: u16,
}

impl Ssh {
    /// Starts it.
    pub async fn start() -> Self {
        let started = tokio::task::spawn_blocking(Self::start_blocking).await;
        started.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
    }

    fn start_blocking() -> Self {
        assert!(
            Path::new(SSHD).is_file(),
            "there is no {SSHD}; install it with `apt-get install openssh-server`"
        );
        let folder = TempDir::with_prefix("headwater-ssh-").unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("files")).unwrap();
        make_key(&path("host"));
        make_key(&path("user"));
        if Account::of_the_tests().is_root() {
            std::fs::create_dir_all(PRIVILEGE_SEPARATION).unwrap();
        }
        let settings = [
            format!("HostKey {}", path("host").display()),
            format!("AuthorizedKeysFile {}", path("user.pub").display()),
            "PidFile none".to_owned(),
            "UsePAM no".to_owned(),
            "StrictModes no".to_owned(),
            "PasswordAuthentication no".to_owned(),
            "PermitRootLogin prohibit-password".to_owned(),
            "Subsystem sftp internal-sftp".to_owned(),
            "ForceCommand internal-sftp".to_owned(),
        ];
        std::fs::write(path("config"), settings.join("\n")).unwrap();
        let command = |port: u16| {
            let mut sshd = Command::new(SSHD);
            sshd.args(["-D", "-e", "-f"]).arg(path("config"));
            sshd.arg(format!("-oListenAddress=127.0.0.1:{port}"));
            sshd
        };
        let (process, port) = start_at_a_port("sshd", "Server listening on", command);
        Self {
            _process: process,
            folder,
            port,
        }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A folder that its users may read and write.
    pub fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// The fields that an account of the app `sftp` has.
    pub fn account_fields(&self, host: &str) -> Value {
        let key = std::fs::read_to_string(self.folder.path().join("user")).unwrap();
        json!({"host": host, "username": Account::of_the_tests().name, "privateKey": key})
    }
}

fn make_key(path: &Path) {
    let mut keygen = Command::new("ssh-keygen");
    keygen
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(path);
    let made = keygen
        .status()
        .unwrap_or_else(|error| panic!("cannot start {keygen:?}: {error}"));
    assert!(made.success(), "{keygen:?}: {made}");
}
