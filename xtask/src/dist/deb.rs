//! The Debian package: the binary with its manual pages, completions, the unit of `headwater service`, which runs it as
//! a user of its own, and the socket that may hold its port. Written by `dpkg-deb`. Installing it starts nothing.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use super::{
    binary::Binary,
    staging::{document, fresh, write},
};
use crate::command::{find_program, run};

/// The unit for the paths that packages have.
const UNIT: [&str; 7] = [
    "service",
    "print",
    "--binary=/usr/bin/headwater",
    "--data-dir=/var/lib/headwater",
    "--",
    "--config",
    "/etc/headwater/headwater.toml",
];

const CONFIGURATION: &str = "\
# The node's settings: flags of `headwater serve` with `_` for `-`. Secrets belong in /etc/headwater/environment.
listen = \"127.0.0.1:3000\"
# public_url = \"https://node.example.com\"
# trusted_proxies = \"127.0.0.1\"
";

const USERS: &str = "u headwater - \"Headwater\" /var/lib/headwater\n";

/// The user is created, and systemd reads the unit; an administrator enables it.
const AFTER_INSTALL: &str = "\
#!/bin/sh
set -e
if [ \"$1\" = configure ]; then
  if command -v systemd-sysusers >/dev/null; then systemd-sysusers headwater.conf; fi
  if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
fi
";

/// A node that runs is stopped in order, while its program is still there.
const BEFORE_REMOVE: &str = "\
#!/bin/sh
set -e
if [ \"$1\" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now headwater.socket headwater.service; fi
";

/// Data, secrets and the user stay, also after a purge: they are the administrator's. An empty folder goes.
const AFTER_REMOVE: &str = "\
#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ \"$1\" = purge ]; then
  rm -rf /var/cache/headwater
  for kept in /var/lib/headwater /etc/headwater/environment; do
    if [ -e $kept ]; then echo \"headwater: $kept is kept\"; fi
  done
fi
";

pub(super) fn pack(binary: &Binary, staging: &Path, folder: &Path) -> Result<PathBuf> {
    if find_program("dpkg-deb").is_none() {
        bail!("dpkg-deb is missing; install dpkg, or make the other packages: `wheel npm`");
    }
    fresh(staging)?;
    binary.copy_to(&staging.join("usr/bin/headwater"))?;
    manuals(binary, &staging.join("usr/share/man/man1"))?;
    for (shell, path) in [
        ("bash", "usr/share/bash-completion/completions/headwater"),
        ("zsh", "usr/share/zsh/vendor-completions/_headwater"),
        ("fish", "usr/share/fish/vendor_completions.d/headwater.fish"),
    ] {
        let script = binary.print(&["completions", shell])?;
        write(&staging.join(path), &script)?;
    }
    let texts = [
        (
            "usr/lib/systemd/system/headwater.service",
            binary.print(&UNIT)?,
        ),
        (
            "usr/lib/systemd/system/headwater.socket",
            document("deploy/systemd/headwater.socket")?,
        ),
        ("usr/lib/sysusers.d/headwater.conf", USERS.to_owned()),
        ("etc/headwater/headwater.toml", CONFIGURATION.to_owned()),
        ("usr/share/doc/headwater/copyright", document("LICENSE")?),
        (
            "DEBIAN/conffiles",
            "/etc/headwater/headwater.toml\n".to_owned(),
        ),
        ("DEBIAN/postinst", AFTER_INSTALL.to_owned()),
        ("DEBIAN/prerm", BEFORE_REMOVE.to_owned()),
        ("DEBIAN/postrm", AFTER_REMOVE.to_owned()),
    ];
    for (path, text) in texts {
        write(&staging.join(path), &text)?;
    }
    let kib = installed_kib(&staging.join("usr"))? + installed_kib(&staging.join("etc"))?;
    write(&staging.join("DEBIAN/control"), &control(binary, kib))?;
    for script in ["postinst", "prerm", "postrm"] {
        let script = staging.join("DEBIAN").join(script);
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755))?;
    }
    let name = format!(
        "headwater_{}_{}.deb",
        binary.version, binary.architecture.debian
    );
    let package = folder.join(name);
    // Every version of dpkg reads gzip, and it takes seconds.
    run(Command::new("dpkg-deb")
        .args(["--root-owner-group", "-Zgzip", "--build"])
        .args([staging, &package])
        .stdout(std::io::stderr()))?;
    Ok(package)
}

/// Manual pages are installed compressed.
fn manuals(binary: &Binary, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let shown = folder.to_str().context("the folder's name is not UTF-8")?;
    binary.run_silently(&["man", shown])?;
    let pages = std::fs::read_dir(folder)?;
    let pages: Vec<PathBuf> = pages
        .map(|page| Ok(page?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    run(Command::new("gzip").args(["-9", "--no-name"]).args(pages))
}

/// The room that the files of a folder take where they are installed, in KiB, each folder as one of them.
fn installed_kib(folder: &Path) -> Result<u64> {
    let mut kib = 1;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        kib += match entry.file_type()?.is_dir() {
            true => installed_kib(&entry.path())?,
            false => entry.metadata()?.len().div_ceil(1 << 10),
        };
    }
    Ok(kib)
}

fn control(binary: &Binary, installed_kib: u64) -> String {
    let Binary {
        version,
        architecture,
        glibc_minor,
        ..
    } = binary;
    format!(
        "\
Package: headwater
Version: {version}
Architecture: {}
Maintainer: The Headwater project
Section: net
Priority: optional
Installed-Size: {installed_kib}
Depends: libc6 (>= 2.{glibc_minor}), libgcc-s1, systemd | systemd-standalone-sysusers
Recommends: npm | python3-pip
Description: self-hosted event sources and workflows
 A node runs small JavaScript modules that watch APIs, timers and HTTP
 endpoints, stores the events they emit, and delivers them to webhooks,
 streams and other modules. One binary with an embedded database.
 .
 The JavaScript runtime is fetched by npm or pip at the first start.
",
        architecture.debian
    )
}
