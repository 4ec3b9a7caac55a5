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
/// Writable memory besides the heap. Deno reserves half a GiB of it before it runs anything, and the
/// pool ends a process that uses much less than this; but it looks from time to time, and a component
/// must not be able to take the machine's memory in between.
#[cfg(target_os = "linux")]
const DATA_BYTES_BESIDES_HEAP: u64 = 3 * 1024 * 1024 * 1024;
/// When the machine is out of memory, the kernel ends a worker rather than the node or its database.
#[cfg(target_os = "linux")]
const OOM_SCORE_ADJUSTMENT: &str = "700";

/// Limits the process `id`, whose heap may have `heap_mib`.
#[cfg(target_os = "linux")]
pub(super) fn apply(id: u32, heap_mib: u32) -> io::Result<()> {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

    let pid = i32::try_from(id).ok().and_then(Pid::from_raw);
    let limits = [
        (Resource::Core, 0),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Nofile, OPEN_FILES),
        (
            Resource::Data,
            (u64::from(heap_mib) << 20) + DATA_BYTES_BESIDES_HEAP,
        ),
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
    if let Err(error) = std::fs::write(format!("/proc/{id}/oom_score_adj"), OOM_SCORE_ADJUSTMENT) {
        tracing::debug!(%error, "a worker is as dear to the kernel as any process");
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn apply(_id: u32, _heap_mib: u32) -> io::Result<()> {
    Ok(())
}
