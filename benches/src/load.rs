//! The load: some connections, each with one request in flight, for a while.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::wire::Connection;

/// The request to send, and its address.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) request: Vec<u8>,
    pub(crate) connections: usize,
}

/// The result of a load.
#[derive(Default)]
pub(crate) struct Answered {
    /// In microseconds, one per request.
    pub(crate) latencies: Vec<f64>,
    pub(crate) seconds: f64,
}

impl Answered {
    pub(crate) fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.seconds
    }
}

impl Load {
    /// Runs for `duration`.
    ///
    /// # Errors
    /// A request was not answered with 200: what the server did then is not what is measured.
    pub(crate) async fn run(&self, duration: Duration) -> Result<Answered> {
        let begun = Instant::now();
        let until = begun + duration;
        let mut connections = tokio::task::JoinSet::new();
        for _ in 0..self.connections {
            connections.spawn(one_connection(self.clone(), until));
        }
        let mut answered = Answered::default();
        while let Some(joined) = connections.join_next().await {
            answered.latencies.extend(joined??);
        }
        answered.seconds = begun.elapsed().as_secs_f64();
        Ok(answered)
    }
}

async fn one_connection(load: Load, until: Instant) -> Result<Vec<f64>> {
    let mut connection = Connection::open(load.address).await?;
    let mut latencies = Vec::new();
    let mut now = Instant::now();
    while now < until {
        let (status, body) = connection.exchange(&load.request).await?;
        if status != 200 {
            bail!(
                "the load was answered with {status}: {}",
                String::from_utf8_lossy(body)
            );
        }
        let then = std::mem::replace(&mut now, Instant::now());
        latencies.push((now - then).as_secs_f64() * 1e6);
    }
    Ok(latencies)
}
