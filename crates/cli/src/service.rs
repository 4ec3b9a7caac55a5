//! `headwater service`: the systemd unit of a node, written, removed and printed. Starting the service is systemd's
//! business: every command names the next one.

mod options;
mod unit;

use std::{
    fs,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use self::unit::{Manager, NAME, Unit, WRITTEN_BY};
use crate::{
    arguments::{
        Global, InstallServiceArguments, ServiceArguments, ServiceCommand,
        UninstallServiceArguments, UnitArguments,
    },
    exit::Exit,
    output,
    usage_error::UsageError,
};

/// The folder of the units of the machine's administrator.
const SYSTEM_UNITS: &str = "/etc/systemd/system";
const USERS: &str = "/etc/passwd";
const USER: &str = "headwater";

pub(crate) fn run(global: &Global, arguments: &ServiceArguments) -> Result<Exit> {
    match &arguments.command {
        ServiceCommand::Install(arguments) => install(global, arguments),
        ServiceCommand::Uninstall(arguments) => uninstall(arguments),
        ServiceCommand::Print(arguments) => {
            output::data(unit(global, arguments)?.to_string().trim_end())?;
            Ok(Exit::Success)
        }
    }
}

fn unit(global: &Global, arguments: &UnitArguments) -> Result<Unit> {
    let manager = Manager::of(arguments.user);
    let binary = match &arguments.binary {
        Some(binary) if binary.is_absolute() => binary.clone(),
        Some(binary) => {
            let reason = format!(
                "--binary: `{}` is not a whole path; give one that begins with /",
                binary.display()
            );
            return Err(UsageError(reason).into());
        }
        None => {
            std::env::current_exe().context("cannot find this binary; name it with --binary")?
        }
    };
    Ok(Unit::new(
        manager,
        binary,
        &global.data_dir,
        &arguments.options,
    )?)
}

fn install(global: &Global, arguments: &InstallServiceArguments) -> Result<Exit> {
    let manager = Manager::of(arguments.unit.user);
    let unit = unit(global, &arguments.unit)?;
    unit.check_sees_its_files()?;
    let text = unit.to_string();
    let folder = folder(manager, arguments.place.unit_dir.as_deref())?;
    let path = folder.join(NAME);
    match fs::read_to_string(&path) {
        Ok(found) if found == text => output::note(&format!("{} is up to date", path.display())),
        Ok(_) if !arguments.force => {
            let reason = format!(
                "{} is there and differs; compare it with `headwater service print`, and replace it with --force",
                path.display()
            );
            return Err(UsageError(reason).into());
        }
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
        Ok(_) | Err(_) => {
            write(&folder, &path, &text)?;
            output::note(&format!("wrote {}", path.display()));
        }
    }
    for next in next_steps(manager, &unit, &folder) {
        output::note(&format!("next: {next}"));
    }
    Ok(Exit::Success)
}

/// The commands that bring the service up, in their order.
fn next_steps(manager: Manager, unit: &Unit, folder: &Path) -> Vec<String> {
    let systemctl = manager.systemctl();
    let mut steps = Vec::new();
    if manager == Manager::System {
        if !has_user() {
            steps.push(format!(
                "useradd --system --home-dir /var/lib/headwater --shell /usr/sbin/nologin {USER}"
            ));
        }
        if let Some(folder) = unit.own_data_dir() {
            steps.push(format!(
                "install -d -o {USER} -g {USER} -m 700 {}",
                folder.display()
            ));
        }
    }
    steps.push(format!("{systemctl} daemon-reload"));
    let was_enabled = wanted(folder).is_some();
    steps.push(match was_enabled {
        true => format!("{systemctl} restart {USER}"),
        false => format!("{systemctl} enable --now {USER}"),
    });
    if manager == Manager::User {
        steps.push("loginctl enable-linger, so that it runs while you are logged out".to_owned());
    }
    steps
}

fn uninstall(arguments: &UninstallServiceArguments) -> Result<Exit> {
    let manager = Manager::of(arguments.user);
    let folder = folder(manager, arguments.place.unit_dir.as_deref())?;
    let path = folder.join(NAME);
    let systemctl = manager.systemctl();
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cannot read the unit {}", path.display()))?;
    if !text.starts_with(WRITTEN_BY) && !arguments.force {
        let reason = format!(
            "`headwater service install` did not write {}; remove it nevertheless with --force",
            path.display()
        );
        return Err(UsageError(reason).into());
    }
    // Without the unit, systemd would not stop the service nor take the link away.
    if let Some(link) = wanted(&folder) {
        let reason = format!(
            "the service is enabled by {}; stop it first with `{systemctl} disable --now {USER}`",
            link.display()
        );
        return Err(UsageError(reason).into());
    }
    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    output::note(&format!(
        "removed {}; the data folder stays",
        path.display()
    ));
    output::note(&format!("next: {systemctl} daemon-reload"));
    Ok(Exit::Success)
}

fn folder(manager: Manager, given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    match manager {
        Manager::System => Ok(SYSTEM_UNITS.into()),
        Manager::User => Ok(unit::own_folder("XDG_CONFIG_HOME", ".config")?.join("systemd/user")),
    }
}

/// The link by which systemd starts the service with the machine, if it is enabled.
fn wanted(folder: &Path) -> Option<PathBuf> {
    let targets = ["multi-user.target.wants", "default.target.wants"];
    let mut links = targets
        .map(|target| folder.join(target).join(NAME))
        .into_iter();
    links.find(|link| link.symlink_metadata().is_ok())
}

/// Whole or not at all, because systemd may read it at any time.
fn write(folder: &Path, path: &Path, text: &str) -> Result<()> {
    let failed = || format!("cannot write {}; are you allowed to?", path.display());
    fs::create_dir_all(folder).with_context(failed)?;
    let mut file = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .tempfile_in(folder)
        .with_context(failed)?;
    file.write_all(text.as_bytes()).with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}

fn has_user() -> bool {
    let users = fs::read_to_string(USERS).unwrap_or_default();
    let mut names = users.lines().filter_map(|line| line.split(':').next());
    names.any(|name| name == USER)
}
