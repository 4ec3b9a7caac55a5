//! Running JavaScript, from the host's side.
//!
//! Responsible for: finding or installing Deno, building a saved component (resolving, locking,
//! describing), worker processes and their protocol, the sandbox and the limits of a run.
//! Deliberately ignorant of: sources' lifecycles, the store, the meaning of events, and JavaScript semantics,
//! which live in `runtime/`.

pub mod api;
pub mod artifact;
pub mod build;
mod built_in_actions;
mod code_folders;
pub mod confine;
pub mod data_store;
pub mod deno;
mod deno_engine;
mod factory;
mod fair_queue;
mod host_failure;
mod json_if_any;
mod lock;
pub mod network;
mod pool;
pub mod remote;
pub mod response;
mod runtime_files;
mod sandbox;
mod shared_modules;
pub mod step;
mod worker;

pub use api::*;
pub use built_in_actions::{built_in_action, built_in_actions};
pub use data_store::{Replier, StoreOperation, StoreReply, StoreRequest};
pub use deno_engine::{DenoEngine, EngineConfig};
pub use lock::{LockedPackage, locked_packages};
pub use pool::{Isolation, WorkerRoom};
pub use response::Response;
pub use step::{
    Flow, FlowOperation, SendKind, Sent, Service, ServiceRequest, StepMessage, StepResponse,
};
