//! The platform over HTTP: routes, wire shapes, authentication, status codes, and requests at the
//! endpoints of HTTP interfaces. The only crate that knows status codes. Decides nothing about
//! components, sources or events; every handler is one use case of `headwater_platform`.

#![warn(clippy::wildcard_enum_match_arm)]

mod archive;
mod auth;
mod body;
mod connections;
mod docs;
mod edge;
mod error;
mod extract;
mod fields;
mod ingress;
mod mcp;
mod metrics;
mod missing;
mod near_miss;
mod openapi;
mod operations;
mod page;
mod request_id;
mod router;
mod routes;
mod wire;

pub use body::BodyLimits;
pub use connections::{Closed, ConnectionCounts};
pub use error::unavailable;
pub use openapi::openapi_json;
pub use router::{Pages, Settings, router};
