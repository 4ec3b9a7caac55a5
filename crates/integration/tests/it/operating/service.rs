//! `headwater service`, with systemd's own checks of the unit, and the unit's command as systemd runs it.

use std::{
    net::TcpListener,
    os::{
        fd::OwnedFd,
        unix::{fs::symlink, net::UnixDatagram},
    },
    path::Path,
    process::{Command, Stdio},
};

use headwater_integration::{CertificateFiles, Node, Seen, headwater_in};

use super::files;

const BINARY: &str = "--binary=/usr/local/bin/headwater";

/// `headwater service COMMAND` in a folder, whose `units` is that of units.
async fn service(folder: &Path, command: &[&str], options: &[&str]) -> Seen {
    let place = ["--unit-dir=units"];
    let arguments = [&["service"], command, &place, options].concat();
    headwater_in(folder, &arguments).await
}

#[tokio::test]
async fn a_unit_is_written_once_and_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("units/headwater.service");
    let read = || std::fs::read_to_string(&unit).unwrap();
    let install = ["install", BINARY];
    let written = service(folder.path(), &install, &[]).await.ok();
    for next in [
        "systemctl daemon-reload",
        "systemctl enable --now headwater",
    ] {
        assert!(written.stderr.contains(next), "{}", written.stderr);
    }
    let first = read();
    let again = service(folder.path(), &install, &[]).await.ok();
    assert!(again.stderr.contains("up to date"), "{}", again.stderr);

    let options = ["--", "--listen=0.0.0.0:3000"];
    let refused = service(folder.path(), &install, &options).await;
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(read(), first);
    let forced = [&install[..], &["--force"]].concat();
    service(folder.path(), &forced, &options).await.ok();
    assert!(read().contains(" --listen=0.0.0.0:3000\n"), "{}", read());
}

#[tokio::test]
async fn a_unit_is_removed_once_nothing_starts_it_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let units = folder.path().join("units");
    let unit = units.join("headwater.service");
    service(folder.path(), &["install", BINARY], &[]).await.ok();
    let link = units.join("multi-user.target.wants/headwater.service");
    std::fs::create_dir(link.parent().unwrap()).unwrap();
    symlink("../headwater.service", &link).unwrap();
    let enabled = service(folder.path(), &["uninstall"], &[]).await;
    assert_eq!(enabled.code, 2);
    let told = &enabled.stderr;
    assert!(told.contains("systemctl disable --now headwater"), "{told}");
    std::fs::remove_file(link).unwrap();
    service(folder.path(), &["uninstall"], &[]).await.ok();
    assert!(!unit.exists());

    std::fs::write(&unit, "[Unit]\n").unwrap();
    let foreign = service(folder.path(), &["uninstall"], &[]).await;
    assert_eq!(foreign.code, 2);
    assert!(unit.exists());
}

#[tokio::test]
async fn a_binary_that_the_service_would_not_see_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let install = ["install", "--binary=/tmp/headwater"];
    let refused = service(folder.path(), &install, &[]).await;
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--binary"), "{}", refused.stderr);
    assert!(!folder.path().join("units").exists());
}

#[tokio::test]
async fn systemd_understands_the_units() {
    let folder = tempfile::tempdir().unwrap();
    for manager in ["--system", "--user"] {
        let mut arguments = vec!["service", "print"];
        if manager == "--user" {
            arguments.push(manager);
        }
        let low_port = [
            "--",
            "--listen=0.0.0.0:443",
            "--mail-from=A \"B\" <a@b.example>",
        ];
        for options in [&[][..], &low_port] {
            let printed = headwater_in(folder.path(), &[&arguments, options].concat()).await;
            let unit = folder.path().join("headwater.service");
            std::fs::write(&unit, printed.ok().stdout).unwrap();
            let verified = Command::new("systemd-analyze")
                .args([manager, "--man=no", "verify"])
                .arg(&unit)
                .env("XDG_RUNTIME_DIR", folder.path())
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&verified.stderr);
            assert!(verified.status.success(), "{told}");
            assert!(!told.contains("headwater.service"), "{told}");
        }
    }
    let socket = folder.path().join("headwater.socket");
    std::fs::copy(files::path("systemd/headwater.socket"), &socket).unwrap();
    let verified = Command::new("systemd-analyze")
        .args(["--system", "--man=no", "verify"])
        .arg(&socket)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success(), "{told}");
    assert!(!told.contains("headwater.socket"), "{told}");
}

/// A command as systemd starts it, with the socket that it holds for it.
fn started(
    node: &Node,
    folder: &Path,
    command: &str,
    socket: &TcpListener,
) -> tokio::process::Command {
    // The shell reads quotes as systemd does.
    let passing = format!("exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec {command}");
    let mut started = node.shell(folder, &passing);
    let socket = OwnedFd::from(socket.try_clone().unwrap());
    started
        .stdin(Stdio::from(socket))
        .env("NOTIFY_SOCKET", folder.join("notify"))
        .env_remove("HEADWATER_DATA_DIR")
        .env_remove("HEADWATER_DATABASE_URL");
    if let Some(cache) = std::env::var_os("HOME") {
        started.env("HOME", cache);
    }
    started
}

/// A request of somebody who trusts the authority of the tests.
async fn health(url: String, certificate: &CertificateFiles) -> reqwest::StatusCode {
    let authority = std::fs::read(certificate.authority()).unwrap();
    let authority = reqwest::Certificate::from_pem(&authority).unwrap();
    let client = reqwest::Client::builder().no_proxy();
    let client = client.tls_certs_only([authority]).build().unwrap();
    client.get(url).send().await.unwrap().status()
}

/// The socket is held while the node is started again, with TLS then: a request meanwhile waits, and is not refused.
#[tokio::test]
async fn the_command_of_the_unit_starts_a_node_that_tells_when_it_is_ready() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("a data folder");
    let data_dir = format!("--data-dir={}", data.display());
    let print = ["service", "print", &data_dir, "--", "--listen=127.0.0.1:0"];
    let unit = headwater_in(folder.path(), &print).await.ok().stdout;
    let line = unit
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart="));
    let line = line.unwrap();

    let manager = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    let socket = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = socket.local_addr().unwrap();
    let certificate = CertificateFiles::new();
    let encrypted = format!(
        "{line} --tls-cert={} --tls-key={}",
        certificate.cert().display(),
        certificate.key().display()
    );
    let told = async |text: &'static str| {
        let manager = manager.try_clone().unwrap();
        let told = tokio::task::spawn_blocking(move || {
            let mut told = [0; 64];
            let length = manager.recv(&mut told).unwrap();
            String::from_utf8_lossy(&told[..length]).into_owned()
        });
        assert_eq!(told.await.unwrap(), text);
    };
    for (command, scheme) in [(line, "http"), (encrypted.as_str(), "https")] {
        // Begun while nobody is there to answer.
        let asked = health(format!("{scheme}://{address}/healthz"), &certificate);
        let starting = async {
            let serving = started(&node, folder.path(), command, &socket).spawn();
            told("READY=1").await;
            serving.unwrap()
        };
        let (answered, mut serving) = tokio::join!(asked, starting);
        assert_eq!(answered, 200);
        assert!(data.join("headwater.db").exists());
        let id = serving.id().unwrap().to_string();
        let stopped = Command::new("kill").args(["-s", "TERM", &id]).status();
        assert!(stopped.unwrap().success());
        told("STOPPING=1").await;
        assert!(serving.wait().await.unwrap().success());
    }
}
