//! The web UI: over HTTP where that says it all, and in a real browser.

mod browser;
mod deploying;
mod pages;
mod policy;
mod settings;
mod signing_in;
mod verification;
mod visitor;
mod webhooks;
mod workflows;

pub(crate) use self::visitor::Visitor;
