//! The settings of the pool.

use std::{path::PathBuf, time::Duration};

use super::Isolation;

/// The room for components in one worker: it gets none beyond any of these.
#[derive(Debug, Clone, Copy)]
pub struct WorkerRoom {
    /// Components. The more there are, the more runs are repeated when the worker ends, and the longer one of them may
    /// wait for others; each worker takes some 60 MiB itself.
    pub components: usize,
    /// Modules that it imports for them. The more there are, the longer Deno takes for one more: 0.4 ms with 300, 1.2
    /// with 1,000, 8.7 with 3,000.
    pub modules: usize,
}

impl Default for WorkerRoom {
    fn default() -> Self {
        Self {
            components: 5000,
            modules: 1250,
        }
    }
}

/// The number of workers, and their time.
#[derive(Debug, Clone)]
pub(crate) struct PoolConfig {
    /// Workers that are kept ready for sources that have none.
    pub(crate) warm_workers: usize,
    /// Memory of all workers together, beyond which idle ones are ended.
    pub(crate) memory_bytes: u64,
    /// Memory of all workers together, beyond which those are ended that have been idle for a while.
    pub(crate) rested_memory_bytes: u64,
    /// Workers that the sources of one tenant may have.
    pub(crate) workers_per_tenant: usize,
    /// The room for components in one worker.
    pub(crate) room: WorkerRoom,
    /// The sources that may share a worker.
    pub(crate) isolation: Isolation,
    /// Disk of one worker's temporary files, beyond which it is ended even if it has runs.
    pub(crate) worker_tmp_bytes: u64,
    /// The time that a source's worker waits for the next invocation.
    pub(crate) idle: Duration,
    /// The folder in which code is unpacked, once per archive.
    pub(crate) artifacts_dir: PathBuf,
}
