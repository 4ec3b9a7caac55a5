//! The web UI: over HTTP where that says it all, and in a real browser.

mod browser;
mod deploying;
mod events;
mod pages;
mod policy;
mod runs;
mod settings;
mod signing_in;
mod versions;
mod visitor;
mod workflows;

pub(crate) use self::visitor::Visitor;
