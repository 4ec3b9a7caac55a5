//! This binary as the launcher of confined processes: the node starts it anew for each of them.
//! Confining it is the engine's business.

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use headwater_engine::confine::{Launcher, launch};

/// The hidden subcommand: for the node alone, and handled before anything starts a thread.
const SUBCOMMAND: &str = "launch-confined";

/// The command with which a node starts it.
pub(crate) fn of_this_binary() -> Launcher {
    Launcher {
        program: this_binary(),
        arguments: vec![SUBCOMMAND.into()],
    }
}

/// Becomes a confined process, if this one was started for that; comes back only if that failed.
pub(crate) fn launch_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let asked = arguments.next() == Some(OsString::from(SUBCOMMAND));
    asked.then(|| launch(arguments))
}

/// Under a name that holds when a newer binary has taken this one's place.
#[cfg(target_os = "linux")]
fn this_binary() -> PathBuf {
    "/proc/self/exe".into()
}

#[cfg(not(target_os = "linux"))]
fn this_binary() -> PathBuf {
    std::env::current_exe().unwrap_or_else(|_| "headwater".into())
}
