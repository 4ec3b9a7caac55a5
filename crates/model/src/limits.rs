//! The numbers that are fixed (docs/guide/sandbox-and-limits.md, "Limits").

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
/// A static value of a configured prop, in characters; escapes of JSON do not count.
pub const PROP_VALUE_CHARS: usize = 64 * 1024;
/// A data store's name, in characters.
pub const DATA_STORE_NAME_CHARS: usize = 100;
/// The key of a data store's record, in bytes.
pub const DATA_STORE_KEY_BYTES: usize = 1024;
/// The value of a data store's record, in bytes of JSON.
pub const DATA_STORE_VALUE_BYTES: usize = 1024 * 1024;
/// Values in one page of a data store's records, in bytes of JSON; the record that reaches it is the page's last.
pub const DATA_STORE_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Keys and values of a source's key-value map together, in bytes of JSON.
pub const KEY_VALUE_BYTES: usize = 16 * 1024 * 1024;
/// A request body at the API, in bytes: components come with their code in it.
pub const API_BODY_BYTES: usize = 20 * 1024 * 1024;
/// A request body at an HTTP interface, in bytes.
pub const INGRESS_BODY_BYTES: usize = 10 * 1024 * 1024;
/// The event of such a request, in bytes of JSON. The body is in it twice, once as text with escapes: three times its
/// size if it is JSON, a form or no text, and twelve times at worst.
pub const INGRESS_EVENT_BYTES: usize = 32 * 1024 * 1024;
/// Fields of a form in a request body at an HTTP interface: each takes more memory than its text.
pub const FORM_FIELDS_MAX: usize = 64 * 1024;
/// Deliveries that wait for a webhook are counted no further: one so far behind is behind.
pub const PENDING_DELIVERIES_COUNTED_MAX: u32 = 1_000;
/// Events pass through at most this many sources and workflows.
pub const HOPS_MAX: u32 = 16;

/// A step of a workflow that refreshes its time limit again and again takes no longer than this, or than its limit if
/// that is longer.
pub const REFRESHED_STEP_MAX: Duration = Duration::from_secs(60 * 60);

/// The limits of the data stores of one owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataStoreLimits {
    /// Stores of an owner.
    pub stores: u64,
    /// Records of a store.
    pub records: u64,
    /// Bytes of keys and values of a store, together.
    pub bytes: u64,
}

impl Default for DataStoreLimits {
    fn default() -> Self {
        Self {
            stores: 1_000,
            records: 100_000,
            bytes: 256 * 1024 * 1024,
        }
    }
}

/// The limits of one run. Every field can be configured on the node.
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

/// Ids of left out events that are kept of a run.
pub const DROPPED_KEYS_MAX: usize = 20;

/// Keys of `$.service.db` that are kept of those that a run changed.
pub const CHANGED_KEYS_MAX: usize = 20;
