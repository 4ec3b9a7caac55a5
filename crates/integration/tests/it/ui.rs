//! The web UI: over HTTP where that says it all, and in a real browser.

mod accounts;
mod browser;
mod choosing;
mod deploying;
mod events;
mod home;
mod missing;
mod naming;
mod pages;
mod policy;
mod routes;
mod runs;
mod searching;
mod selecting;
mod settings;
mod signing_in;
mod things;
mod verification;
mod versions;
mod views;
pub(crate) mod visitor;
mod webhooks;
mod why_empty;
mod workflows;
mod writing;

pub(crate) use self::visitor::Visitor;
