//! The engine against a real Deno and, where it builds, against a real package registry.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking; the lint's exemption does not reach helpers"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "Deno and the registry are those of the machine that runs the tests"
)]

mod build;
mod confine;
mod harness;
mod network;
mod registry;
mod remote;
mod run;
mod support;
