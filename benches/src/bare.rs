//! The reference for durable ingest: the same HTTP server and routes, answering 200 without
//! doing anything. Runs as a process of its own, like the node.

use std::net::SocketAddr;

use anyhow::Result;
use axum::{Router, body::Bytes, http::header::CONTENT_TYPE, response::IntoResponse, routing::any};
use tokio::net::TcpListener;

use crate::process::{Process, own_path};

/// The argument that makes this program that server.
pub(crate) const ARGUMENT: &str = "bare-server";

/// Serves until it is killed, on as many threads as the node does.
pub(crate) async fn serve() -> Result<()> {
    let serving = std::thread::spawn(|| {
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(listen())
    });
    serving
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

async fn listen() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("ready on {}", listener.local_addr()?);
    let routes = Router::new()
        .route("/e/{token}", any(accept))
        .route("/e/{token}/", any(accept))
        .route("/e/{token}/{*rest}", any(accept));
    Ok(axum::serve(listener, routes).await?)
}

async fn accept(_body: Bytes) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], r#"{"success":true}"#)
}

/// Starts this program as that server.
pub(crate) async fn start() -> Result<(Process, SocketAddr)> {
    let mut command = tokio::process::Command::new(own_path()?);
    Process::start(command.arg(ARGUMENT)).await
}
