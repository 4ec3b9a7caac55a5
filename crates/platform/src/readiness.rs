//! Whether the node can do its work: for `/readyz`, and with the next step of each failing part for `headwater doctor` and
//! the web UI. The reasons themselves are the operator's, and in the log.

use headwater_engine::EngineStatus;

/// With less on the disk of its data folder a node is about to accept nothing any more.
pub const LITTLE_ROOM_BYTES: u64 = 64 * 1024 * 1024;

/// The state of all parts.
#[derive(Debug, Clone)]
pub struct Readiness {
    /// Why the store does not answer or cannot be written, if so: for the log, not for clients.
    pub store_error: Option<String>,
    /// Why the folders for components' code cannot be written, if so: for the log, not for clients.
    pub code_error: Option<String>,
    /// The state of the engine.
    pub engine: EngineStatus,
    /// Whether the node's secret key decrypts the stored secrets.
    pub is_secret_key_fit: bool,
    /// Sources with work in memory.
    pub running_sources: usize,
}

impl Readiness {
    /// The next step if the store does not do its work.
    pub fn store_hint(&self) -> Option<&'static str> {
        self.store_error.is_some().then_some(
            "the store cannot be read or written: check the free space of the data folder's disk; the node's log has \
             the cause",
        )
    }

    /// The next step if the code of components cannot be written: no worker starts then.
    pub fn code_hint(&self) -> Option<&'static str> {
        self.code_error.is_some().then_some(
            "the folder for components' code (DATA_DIR/cache, DATA_DIR/workers) cannot be written: check the free space \
             of its disk; the node's log has the cause",
        )
    }

    /// The next step if components cannot run. The version is known once the runtime has been started.
    pub fn runtime_hint(&self) -> Option<&'static str> {
        let is_missing = self.engine.runtime_version.is_empty();
        is_missing.then_some("Deno does not start: the node's log has the cause")
    }

    /// The next step if no component can be saved.
    pub fn builder_hint(&self) -> Option<&'static str> {
        (!self.engine.can_build).then_some(
            "the bundler that builds components is missing; fetch it with `headwater runtime install` on a machine that \
             reaches the npm registry",
        )
    }

    /// The next step if stored secrets do not open.
    pub fn secret_key_hint(&self) -> Option<&'static str> {
        (!self.is_secret_key_fit).then_some(
            "stored accounts, webhooks and secret props are encrypted with another secret key: restore that key \
             (DATA_DIR/secret-key, or HEADWATER_SECRET_KEY) and restart, or enter the secrets again",
        )
    }

    /// The next step if the disk of the data folder is nearly full.
    pub fn room_hint(&self) -> Option<&'static str> {
        let is_little = self
            .engine
            .free_bytes
            .is_some_and(|free| free < LITTLE_ROOM_BYTES);
        is_little.then_some("free space on this disk: the node accepts nothing when it is full")
    }
}
