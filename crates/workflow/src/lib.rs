//! Workflows: their files, and runs of them as data.
//!
//! Responsible for what `workflow.yaml` and `.workflow.state` mean, for what can be said about them before a deployment,
//! and for what follows what in a run ([`run`]). Deliberately without I/O, async and a clock: files come in as text,
//! moments as arguments; JavaScript is evaluated elsewhere.

#![warn(missing_docs)]

pub mod check;
pub mod definition;
pub mod environment;
pub mod finding;
pub mod moment;
pub mod path;
pub mod run;
pub mod state_file;
pub mod template;
pub mod yaml;
