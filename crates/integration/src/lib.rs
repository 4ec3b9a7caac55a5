//! The shared parts of the tests across crates: the real binary as a process, and the real servers around
//! it. Tests reach a node over HTTP and through its command line only, as everybody else does.
//!
//! Nothing here asserts what a node should do; that is said in `tests/it/`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "this crate is test code: what goes wrong here is a failing test, which is told why"
)]

mod account;
mod answer;
mod assistant;
mod binary;
mod browser;
mod certificate;
mod chromium;
mod cli;
mod client;
mod cluster;
mod collector;
mod database;
mod dialogue;
mod disk;
mod events;
mod feed;
mod figures;
mod following;
mod https;
mod mysql;
mod node;
mod npm_registry;
mod oauth_provider;
mod operation;
mod own_server;
mod packages;
mod patroni;
mod pgbouncer;
mod postgres;
mod process;
mod proxy;
mod python;
mod raw;
mod receiver;
mod requests;
mod s3;
mod services;
mod source;
mod ssh;
pub mod standard_webhooks;
mod standing_by;
mod webhook;
mod wire;
mod workers;

pub use answer::Answer;
pub use assistant::{Assistant, Called, Protocol};
pub use browser::{Browser, Decision, Visited, node_with};
pub use certificate::CertificateFiles;
pub use chromium::{Chromium, Look, Tab};
pub use cli::{Seen, headwater_in};
pub use client::{Client, Method};
pub use cluster::CLUSTER_SECRET;
pub use collector::{Collector, RecordedSpan};
pub use database::Database;
pub use dialogue::Dialogue;
pub use events::{fields, payloads};
pub use feed::FeedServer;
pub use figures::tell;
pub use following::{Following, Message};
pub use mysql::Mysql;
pub use node::{Node, NodeBuilder};
pub use npm_registry::NpmRegistry;
pub use oauth_provider::{NODE_URL, OAuthProvider};
pub use operation::Operation;
pub use own_server::ServerEnd;
pub use patroni::{Killed, Patroni};
pub use pgbouncer::PgBouncer;
pub use postgres::Postgres;
pub use proxy::Proxy;
pub use python::Python;
pub use raw::Raw;
pub use receiver::{Received, Receiver, Reply};
pub use s3::S3;
pub use services::{Apify, Gitlab, GoogleDrive, Linear, Monday, Notion, Shopify, Slack};
pub use source::Source;
pub use ssh::Ssh;
pub use standing_by::StandingBy;
pub use wire::{Way, Wire};
