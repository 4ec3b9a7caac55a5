//! `cargo xtask dist`: each package is installed into a clean folder by its own client, and its binary serves.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the task under test is another process, with the environment of this one"
)]

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// The binary that cargo puts beside the one under test. It is another package's: testing the workspace builds it.
fn headwater() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("headwater");
    assert!(path.is_file(), "build it with `cargo build -p headwater`");
    path
}

/// Packs the binary in one format, and returns the package's file.
fn packed(format: &str, folder: &Path) -> PathBuf {
    let mut dist = Command::new(env!("CARGO_BIN_EXE_xtask"));
    dist.args(["dist", format, "--binary"]).arg(headwater());
    let printed = printed(dist.arg("--folder").arg(folder));
    let file = printed.split_whitespace().next().unwrap();
    let files: Vec<_> = fs::read_dir(folder).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    file.into()
}

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// A node of an installed binary; dropping it ends it.
struct Node(Child);

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks the installed binary for its version, and lets it serve until it is ready.
fn runs(binary: &Path, options: &[&str]) {
    let version = printed(Command::new(binary).arg("--version"));
    assert_eq!(
        version,
        concat!("headwater ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let data = tempfile::tempdir().unwrap();
    let mut serve = Command::new(binary);
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(data.path())
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut node = Node(serve.spawn().unwrap());
    let said = BufReader::new(node.0.stderr.take().unwrap()).lines();
    let mut seen = Vec::new();
    for line in said.map_while(Result::ok) {
        if line.contains("is ready on http://127.0.0.1:") {
            return;
        }
        seen.push(line);
    }
    panic!("it ended before it was ready:\n{}", seen.join("\n"));
}

#[test]
fn the_debian_package_has_the_binary_its_manuals_completions_and_a_unit() {
    let (folder, system) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let package = packed("deb", folder.path());
    printed(
        Command::new("dpkg-deb")
            .arg("-x")
            .args([&package, system.path()]),
    );
    for (path, part) in [
        (
            "usr/lib/systemd/system/headwater.service",
            "ExecStart=/usr/bin/headwater serve --data-dir /var/lib/headwater --config /etc/headwater/headwater.toml\n",
        ),
        (
            "usr/lib/systemd/system/headwater.socket",
            "ListenStream=127.0.0.1:3000",
        ),
        ("usr/lib/sysusers.d/headwater.conf", "u headwater"),
        (
            "usr/share/bash-completion/completions/headwater",
            "headwater",
        ),
        (
            "usr/share/zsh/vendor-completions/_headwater",
            "#compdef headwater",
        ),
        (
            "usr/share/fish/vendor_completions.d/headwater.fish",
            "complete",
        ),
    ] {
        let written = fs::read_to_string(system.path().join(path)).unwrap();
        assert!(written.contains(part), "{path}: {written}");
    }
    for manual in ["headwater", "headwater-deploy"] {
        let path = format!("usr/share/man/man1/{manual}.1.gz");
        assert!(system.path().join(&path).is_file(), "{path}");
    }
    let fields = printed(Command::new("dpkg-deb").arg("--field").arg(&package));
    for field in [
        "Package: headwater",
        concat!("Version: ", env!("CARGO_PKG_VERSION")),
        "Installed-Size: ",
        "Depends: libc6 (>= 2.",
        "systemd | systemd-standalone-sysusers",
    ] {
        assert!(fields.contains(field), "{fields}");
    }
    let scripts = system.path().join("scripts");
    printed(
        Command::new("dpkg-deb")
            .arg("-e")
            .args([&package, &scripts]),
    );
    for script in ["postinst", "prerm", "postrm"] {
        printed(Command::new("sh").arg("-n").arg(scripts.join(script)));
    }
    // The node takes each setting of its file, also those that are comments.
    let settings = fs::read_to_string(system.path().join("etc/headwater/headwater.toml")).unwrap();
    let given = settings.lines().map(|line| line.trim_start_matches("# "));
    let given: Vec<&str> = given.filter(|line| line.contains(" = ")).collect();
    assert_eq!(given.len(), 3, "{settings}");
    let file = system.path().join("all.toml");
    fs::write(&file, given.join("\n")).unwrap();
    let binary = system.path().join("usr/bin/headwater");
    runs(&binary, &["--config", file.to_str().unwrap()]);
}

#[test]
fn the_wheel_puts_the_binary_into_a_virtual_environment() {
    let folder = tempfile::tempdir().unwrap();
    let package = packed("wheel", folder.path());
    let venv = folder.path().join("venv");
    printed(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    printed(
        Command::new(venv.join("bin/python"))
            .args([
                "-m",
                "pip",
                "install",
                "--no-index",
                "--disable-pip-version-check",
            ])
            .arg(&package),
    );
    runs(&venv.join("bin/headwater"), &[]);
}

#[test]
fn the_npm_package_is_run_by_npx() {
    let folder = tempfile::tempdir().unwrap();
    let package = packed("npm", folder.path());
    let prefix = folder.path().join("prefix");
    fs::create_dir(&prefix).unwrap();
    printed(
        Command::new("npm")
            .args([
                "install",
                "--offline",
                "--no-audit",
                "--no-fund",
                "--prefix",
            ])
            .args([&prefix, &package]),
    );
    runs(&prefix.join("node_modules/.bin/headwater"), &[]);
    let version = printed(
        Command::new("npx")
            .args(["--offline", "headwater", "--version"])
            .current_dir(&prefix),
    );
    assert!(version.starts_with("headwater "), "{version}");
}
