//! Resource limits that the kernel enforces on one process.

use std::io;

/// Whether limits of another process can be set on this system.
pub(super) const ARE_SUPPORTED: bool = cfg!(target_os = "linux");

/// A single file that a component may write.
#[cfg(target_os = "linux")]
const FILE_BYTES: u64 = 512 * 1024 * 1024;
/// Open files and sockets.
#[cfg(target_os = "linux")]
const OPEN_FILES: u64 = 1024;

/// Limits the process `id`.
#[cfg(target_os = "linux")]
pub(super) fn apply(id: u32) -> io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Nofile, OPEN_FILES),
    ];
    for (resource, limit) in limits {
        // A stricter limit of ours stays: raising it may be refused.
        let limit = getrlimit(resource)
            .maximum
            .map_or(limit, |maximum| limit.min(maximum));
        prlimit(
            pid,
            resource,
            Rlimit {
                current: Some(limit),
                maximum: Some(limit),
            },
        )?;
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn apply(_id: u32) -> io::Result<()> {
    Ok(())
}
