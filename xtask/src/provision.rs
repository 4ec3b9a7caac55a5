//! The programs that the tests need besides Rust: Deno, the programs of PostgreSQL, MariaDB and OpenSSH servers, proxies
//! and other programs around a node, Python with packages, and a browser.
//! Installs through the package clients at hand; names no registry and downloads nothing itself.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use crate::command::{cargo, find_program, output, root, run};

/// The Python packages that tests use, pinned.
const REQUIREMENTS: &str = "crates/integration/requirements.txt";
/// Where servers are, outside the `PATH` of ordinary users.
const SERVER_FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];
/// The version of axe-core that pages are checked with.
const AXE_VERSION: &str = "4.14.1";
const PACKAGE_CLIENTS: [&str; 3] = ["npm", "pip", "pip3"];

/// Everything that tests need besides the program under test and its runtime.
pub(crate) fn all() -> Result<()> {
    python()?;
    servers()?;
    operating()?;
    browser()?;
    languages()?;
    postgres_bin()?;
    python_venv()?;
    axe().map(drop)
}

/// The program under test, built with the features that it has by itself.
pub(crate) fn built() -> Result<PathBuf> {
    run(cargo().args(["build", "--package", "headwater"]))?;
    Ok(program())
}

/// The program as it is released.
pub(crate) fn built_for_release() -> Result<PathBuf> {
    let build = ["build", "--release", "--package", "headwater"];
    run(cargo().args(build)).context("building the node")?;
    Ok(target_dir().join("release/headwater"))
}

/// The place of the program under test.
pub(crate) fn program() -> PathBuf {
    target_dir().join("debug/headwater")
}

/// The Deno that workers run on. Finding or installing the pinned version is the product's own
/// business, so the `program` is asked.
pub(crate) fn deno_path(program: &Path) -> Result<PathBuf> {
    if let Some(path) = from_environment("HEADWATER_DENO") {
        return Ok(path);
    }
    let ask = || {
        output(Command::new(program).args(["runtime", "install"]))
            .context("cannot get Deno from `headwater runtime`")
    };
    let has_client = PACKAGE_CLIENTS
        .iter()
        .any(|client| find_program(client).is_some());
    let printed = match ask() {
        Err(_) if !has_client => {
            apt_install(&["nodejs", "npm"]).context("npm or pip is needed to install Deno")?;
            ask()?
        }
        asked => asked?,
    };
    let path = printed.lines().last().unwrap_or_default().trim();
    if !Path::new(path).is_file() {
        bail!("`headwater runtime` printed `{path}`, which is not a file");
    }
    Ok(path.into())
}

/// The folder with `initdb` and `postgres`.
pub(crate) fn postgres_bin() -> Result<PathBuf> {
    if let Some(path) = from_environment("HEADWATER_TEST_POSTGRES_BIN") {
        return Ok(path);
    }
    if let Some(path) = installed_postgres() {
        return Ok(path);
    }
    install_postgres().context(
        "cannot get PostgreSQL; install its server, or set HEADWATER_TEST_POSTGRES_BIN to the \
         folder with `initdb` and `postgres`",
    )?;
    installed_postgres().context("PostgreSQL is installed, but its `initdb` was not found")
}

/// The PostgreSQL server of a run of tests, each of which has databases of its own there. It ends with this process.
pub(crate) struct PostgresServer {
    /// The folder of its socket.
    pub(crate) folder: PathBuf,
    /// Its standard input is what keeps the server going.
    _script: Child,
}

impl PostgresServer {
    /// Starts it with the programs of that folder.
    pub(crate) fn start(programs: &Path) -> Result<Self> {
        let script = root().join("crates/store-postgres/tests/harness/server.sh");
        let mut script = Command::new("sh")
            .arg(script)
            .arg(programs)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let said = script.stdout.take().context("the server says nothing")?;
        let mut folder = String::new();
        BufReader::new(said).read_line(&mut folder)?;
        if folder.is_empty() {
            bail!("the PostgreSQL server of the tests does not start");
        }
        Ok(Self {
            folder: folder.trim_end().into(),
            _script: script,
        })
    }
}

/// The programs of a MariaDB server and of an SSH server, where Debian keeps them.
pub(crate) fn servers() -> Result<()> {
    if !has_server("mariadbd") {
        apt_install(&["mariadb-server-core", "mariadb-client-core"])?;
    }
    if !has_server("sshd") {
        // Where there is an init system, the package lets the whole machine be logged in to.
        if has_init_system() {
            bail!(
                "sshd is missing, which tests start with keys and a port of their own; install it with \
                 `apt-get install openssh-server`, and `systemctl disable --now ssh` if nobody shall log in"
            );
        }
        apt_install(&["openssh-server"])?;
    }
    Ok(())
}

/// The library that sets the clock of a process, of Debian's faketime. `None`: this machine cannot have it.
pub(crate) fn faketime() -> Option<PathBuf> {
    let installed = || {
        let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
        let mut libraries = folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
        libraries.find(|library| library.is_file())
    };
    installed().or_else(|| {
        apt_install(&["libfaketime"]).ok()?;
        installed()
    })
}

/// The programs of a PostgreSQL that fails over.
pub(crate) fn patroni() -> Result<()> {
    if has_server("patroni") && has_server("etcd") {
        return Ok(());
    }
    if has_init_system() {
        bail!(
            "the test starts Patroni and etcd itself, and the packages would start them for the whole machine; install them \
             with `apt-get install patroni etcd-server`, and disable their services"
        );
    }
    apt_install(&["patroni", "etcd-server"])
}

/// The programs that the files of `deploy/` are for.
pub(crate) fn operating() -> Result<()> {
    let programs = [
        ("nginx", "nginx-light"),
        ("caddy", "caddy"),
        ("promtool", "prometheus"),
        ("pgbouncer", "pgbouncer"),
        ("systemd-analyze", "systemd"),
    ];
    let missing: Vec<_> = programs
        .into_iter()
        .filter(|(program, _)| !has_server(program))
        .map(|(_, package)| package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if has_init_system() {
        bail!(
            "tests start {0} themselves, and the packages would start them for the whole machine; install them with \
             `apt-get install {0}`, and disable their services",
            missing.join(" ")
        );
    }
    apt_install(&missing)
}

/// The browser that pages are tested in, the program that drives it, and letters for it.
pub(crate) fn browser() -> Result<()> {
    let programs = ["chromium-headless-shell", "chromedriver"];
    if programs
        .iter()
        .all(|program| find_program(program).is_some())
    {
        return Ok(());
    }
    apt_install(&[
        "chromium-headless-shell",
        "chromium-driver",
        "fonts-dejavu-core",
    ])
}

/// The languages besides JavaScript and Python in which the guide shows how a webhook is verified.
pub(crate) fn languages() -> Result<()> {
    if find_program("ruby").is_some() && find_program("go").is_some() {
        return Ok(());
    }
    apt_install(&["ruby", "golang-go"])
}

/// The script that finds what keeps people from using a page.
pub(crate) fn axe() -> Result<PathBuf> {
    if let Some(path) = from_environment("HEADWATER_TEST_AXE") {
        return Ok(path);
    }
    let folder = target_dir().join("test-npm");
    let script = folder.join("node_modules/axe-core/axe.min.js");
    let description = folder.join("node_modules/axe-core/package.json");
    let wanted = format!("\"version\": \"{AXE_VERSION}\"");
    if std::fs::read_to_string(&description).is_ok_and(|text| text.contains(&wanted)) {
        return Ok(script);
    }
    if find_program("npm").is_none() {
        apt_install(&["nodejs", "npm"])?;
    }
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot create {}", folder.display()))?;
    let package = format!("axe-core@{AXE_VERSION}");
    run(Command::new("npm")
        .args([
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
        ])
        .arg(&folder)
        .arg(package))
    .context("cannot install axe-core; set HEADWATER_TEST_AXE to its axe.min.js")?;
    Ok(script)
}

fn has_init_system() -> bool {
    Path::new("/run/systemd/system").exists()
}

fn has_server(program: &str) -> bool {
    SERVER_FOLDERS
        .iter()
        .any(|folder| Path::new(folder).join(program).is_file())
}

/// The interpreter whose web server serves the feeds that tests poll.
pub(crate) fn python() -> Result<()> {
    match find_program("python3") {
        Some(_) => Ok(()),
        None => apt_install(&["python3"]),
    }
}

/// The interpreter with the packages that tests use.
pub(crate) fn python_venv() -> Result<PathBuf> {
    if let Some(path) = from_environment("HEADWATER_TEST_PYTHON") {
        return Ok(path);
    }
    venv("test-python", REQUIREMENTS).context(
        "cannot install the Python packages that tests use; set HEADWATER_TEST_PYTHON to an \
         interpreter that has them",
    )
}

/// The interpreter of the virtual environment of that name, with the packages of a file. It is made anew whenever
/// that file changes.
pub(crate) fn venv(name: &str, requirements: &str) -> Result<PathBuf> {
    let path = root().join(requirements);
    let wanted =
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {requirements}"))?;
    let venv = target_dir().join(name);
    let interpreter = venv.join("bin/python");
    let installed = venv.join("installed-requirements.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(interpreter);
    }
    install_packages(&venv, &path)?;
    std::fs::write(&installed, wanted)
        .with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(interpreter)
}

fn install_packages(venv: &Path, requirements: &Path) -> Result<()> {
    python()?;
    // Debian keeps what makes virtual environments apart from Python itself.
    if output(Command::new("python3").args(["-c", "import ensurepip"])).is_err() {
        apt_install(&["python3-venv"])?;
    }
    run(Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(venv))?;
    run(Command::new(venv.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet"])
        .args(["--disable-pip-version-check", "--requirement"])
        .arg(requirements))
}

pub(crate) fn target_dir() -> PathBuf {
    from_environment("CARGO_TARGET_DIR").unwrap_or_else(|| root().join("target"))
}

fn from_environment(name: &str) -> Option<PathBuf> {
    let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
    Some(value.into())
}

fn installed_postgres() -> Option<PathBuf> {
    newest_postgres(Path::new("/usr/lib/postgresql")).or_else(|| {
        let initdb = find_program("initdb")?;
        Some(initdb.parent()?.to_owned())
    })
}

/// Debian keeps every major version in its own folder, outside `PATH`.
fn newest_postgres(versions: &Path) -> Option<PathBuf> {
    let major = |folder: &Path| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let folders = std::fs::read_dir(versions).ok()?.flatten();
    folders
        .map(|entry| entry.path())
        .filter(|folder| folder.join("bin/initdb").is_file())
        .max_by_key(|folder| major(folder))
        .map(|folder| folder.join("bin"))
}

/// Installs the server's programs without a cluster of the machine's own: tests start theirs.
fn install_postgres() -> Result<()> {
    apt_install(&["postgresql-common"])?;
    let configuration = Path::new("/etc/postgresql-common/createcluster.conf");
    let text = std::fs::read_to_string(configuration).unwrap_or_default();
    std::fs::write(configuration, without_main_cluster(&text))
        .with_context(|| format!("cannot write {}", configuration.display()))?;
    apt_install(&["postgresql"])
}

fn without_main_cluster(configuration: &str) -> String {
    let is_setting = |line: &&str| {
        let line = line.trim_start_matches(['#', ' ']);
        line.starts_with("create_main_cluster")
    };
    let kept = configuration.lines().filter(|line| !is_setting(line));
    kept.chain(["create_main_cluster = false", ""])
        .collect::<Vec<_>>()
        .join("\n")
}

fn apt_install(packages: &[&str]) -> Result<()> {
    if find_program("apt-get").is_none() {
        bail!(
            "{} is missing, and there is no apt-get to install it with",
            packages.join(" ")
        );
    }
    if output(Command::new("id").arg("-u"))?.trim() != "0" {
        bail!(
            "{0} is missing; install it with `sudo apt-get install {0}`",
            packages.join(" ")
        );
    }
    let apt = || {
        let mut apt = Command::new("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive")
            .stdout(std::io::stderr());
        apt
    };
    run(apt().args(["update", "-qq"]))?;
    run(apt()
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(packages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_is_replaced_whether_commented_out_or_not() {
        for before in [
            "",
            "#create_main_cluster = true\n",
            "create_main_cluster = true\n",
        ] {
            assert_eq!(
                without_main_cluster(before),
                "create_main_cluster = false\n"
            );
        }
        let kept = without_main_cluster("# Default values\nssl = on");
        assert_eq!(
            kept,
            "# Default values\nssl = on\ncreate_main_cluster = false\n"
        );
    }

    #[test]
    fn the_newest_major_version_is_taken_by_number() {
        let versions = crate::tidy::scratch::Scratch::new();
        for file in ["9/bin/initdb", "15/bin/initdb", "16/bin/psql"] {
            versions.write(file, "");
        }
        let expected = versions.path().join("15/bin");
        assert_eq!(newest_postgres(versions.path()), Some(expected));
    }
}
