//! The settings of the pool.

use std::{path::PathBuf, time::Duration};

use super::Isolation;

/// The number of workers, and their time.
#[derive(Debug, Clone)]
pub(crate) struct PoolConfig {
    /// Workers that are kept ready for sources that have none.
    pub(crate) warm_workers: usize,
    /// Memory of all workers together, beyond which idle ones are ended.
    pub(crate) memory_bytes: u64,
    /// Workers that the sources of one tenant may have.
    pub(crate) workers_per_tenant: usize,
    /// Memory of one worker, beyond which it is ended even if it has runs.
    pub(crate) worker_memory_bytes: u64,
    /// Memory of one worker, beyond which it gets no further components.
    pub(crate) shared_worker_bytes: u64,
    /// The sources that may share a worker.
    pub(crate) isolation: Isolation,
    /// Disk of one worker's temporary files, beyond which it is ended even if it has runs.
    pub(crate) worker_tmp_bytes: u64,
    /// The time that a source's worker waits for the next invocation.
    pub(crate) idle: Duration,
    /// The folder in which code is unpacked, once per archive.
    pub(crate) artifacts_dir: PathBuf,
}
