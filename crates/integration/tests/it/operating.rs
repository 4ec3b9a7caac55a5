//! The ways to run a node for others: with a certificate of its own, as a service, in containers, behind a proxy and
//! watched. The files of `deploy/` are used here as an operator uses them.

mod chart;
mod containers;
mod files;
mod proxies;
mod service;
mod tls;
mod watching;
