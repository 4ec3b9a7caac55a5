//! Connections to a node below HTTP, for clients that do not behave.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::node::Node;

/// Far beyond what anything here takes, also on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(90);

/// An open connection.
pub struct Raw(TcpStream);

impl Node {
    /// Opens a connection and says nothing.
    pub async fn raw(&self) -> Raw {
        Raw(TcpStream::connect(self.address()).await.unwrap())
    }

    /// Memory that the node's process has in use, in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let mut lines = status.lines();
        let value = lines.find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        value.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Raw {
    /// Opens a connection to an address.
    pub async fn open(address: &str) -> io::Result<Self> {
        Ok(Self(TcpStream::connect(address).await?))
    }

    /// Sends it all; fails where the node takes no more.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).await
    }

    /// Sends nothing more, and goes on listening.
    pub async fn finish(&mut self) -> io::Result<()> {
        self.0.shutdown().await
    }

    /// All that comes up to the node's end of the connection, in good order or not.
    pub async fn rest(&mut self) -> String {
        let mut received = Vec::new();
        let read = async {
            // A reset ends what can be read as well.
            let _ = self.0.read_to_end(&mut received).await;
        };
        let in_time = tokio::time::timeout(PATIENCE, read).await;
        in_time.expect("the node ends the connection");
        String::from_utf8_lossy(&received).into_owned()
    }

    /// The head of the next answer and what came with it; empty if the node ends the connection.
    pub async fn answer(&mut self) -> String {
        let mut received = Vec::new();
        let read = async {
            let mut piece = [0; 4096];
            while !received.windows(4).any(|end| end == b"\r\n\r\n") {
                match self.0.read(&mut piece).await {
                    Ok(count @ 1..) => received.extend_from_slice(&piece[..count]),
                    Ok(0) | Err(_) => break,
                }
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, read).await;
        in_time.expect("the node answers or ends the connection");
        String::from_utf8_lossy(&received).into_owned()
    }
}
