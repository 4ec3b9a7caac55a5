//! The launcher: a process of one thread that confines itself and becomes the program.
//!
//! Responsible for the order of the steps: no step may need a right that an earlier one has dropped.
//! Not responsible for the choice of files, limits and calls, which is the plan's.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt as _,
    path::PathBuf,
    process::{Command, ExitCode},
};

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use super::{
    FAILED,
    failure::{Failure, Step},
    landlock,
    plan::{Method, Plan},
    privileges, root, syscalls,
};

/// Confines this process as its first argument says and becomes the program that the others name.
/// Returns only when that fails, after reporting it on standard error. No other thread may be running.
pub fn launch(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let Err(failure) = attempt(arguments);
    let said = format!("headwater: a process cannot be confined: {failure}\n");
    // Without standard error, the exit code has to suffice.
    let _ = io::Write::write_all(&mut io::stderr(), said.as_bytes());
    ExitCode::from(FAILED)
}

fn attempt(
    mut arguments: impl Iterator<Item = OsString>,
) -> Result<std::convert::Infallible, Failure> {
    let parent = getppid();
    let plan = arguments.next().unwrap_or_default();
    let plan: Plan =
        serde_json::from_slice(plan.as_encoded_bytes()).step(|| "reading the plan".into())?;
    let program = arguments.next().map(PathBuf::from).unwrap_or_default();

    privileges::limit(&plan.limits)?;
    // The root is created by one user and seen by another.
    rustix::process::umask(0o022.into());
    if plan.method == Method::Namespaces {
        root::enter(&plan)?;
    }
    rustix::process::chdir(&plan.folder)
        .step(|| format!("entering the folder {}", plan.folder.display()))?;
    privileges::drop_all(&plan)?;
    landlock::restrict(&plan)?;
    // Changing the user has forgotten it, if it was set before.
    set_parent_process_death_signal(Some(Signal::KILL))
        .step(|| "asking to end with the node".into())?;
    if getppid() != parent {
        return Err("the node is gone").step(|| "asking to end with the node".into());
    }
    syscalls::restrict(plan.calls).step(|| "restricting system calls".into())?;
    let error = Command::new(&program).args(arguments).exec();
    Err(error).step(|| format!("starting {}", program.display()))
}
