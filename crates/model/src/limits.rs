//! The numbers the specification and the design fix (spec "Limits", design section 6).

use std::time::Duration;

/// Default page size of a paginated endpoint.
pub const PAGE_LIMIT_DEFAULT: u32 = 10;
/// Largest page size of a paginated endpoint.
pub const PAGE_LIMIT_MAX: u32 = 100;
/// Events kept per emitter and channel class.
pub const RETAINED_EVENTS: u32 = 100;
/// Ids that the `unique` strategy remembers per source.
pub const UNIQUE_CACHE_IDS: usize = 100;
/// Event data larger than this many bytes of JSON is a preview unless `expand=event`.
pub const EVENT_PREVIEW_BYTES: usize = 1024;
/// A static value of a configured prop, in bytes of JSON.
pub const PROP_VALUE_BYTES: usize = 64 * 1024;
/// A request body at an HTTP interface, in bytes.
pub const INGRESS_BODY_BYTES: usize = 10 * 1024 * 1024;
/// Events pass through at most this many sources and workflows.
pub const HOPS_MAX: u32 = 16;

/// What one run may take. Every field can be configured on the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimits {
    /// Wall-clock time of `run`.
    pub run_wall: Duration,
    /// Wall-clock time of a hook.
    pub hook_wall: Duration,
    /// V8 heap of a worker, in MiB.
    pub heap_mib: u32,
    /// Bytes of JSON that one run may emit, respond and store, together.
    pub output_bytes: usize,
    /// Bytes of log text that are kept of one run.
    pub log_bytes: usize,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            run_wall: Duration::from_secs(60),
            hook_wall: Duration::from_secs(300),
            heap_mib: 256,
            output_bytes: 10 * 1024 * 1024,
            log_bytes: 256 * 1024,
        }
    }
}
