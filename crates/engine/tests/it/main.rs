//! The engine against a real Deno and, where it builds, against a real package registry.

mod build;
mod support;
