//! The web UI: over HTTP where that says it all, and in a real browser.

mod browser;
mod deploying;
mod missing;
mod pages;
mod policy;
mod routes;
mod settings;
mod signing_in;
mod things;
mod visitor;
mod workflows;

pub(crate) use self::visitor::Visitor;
