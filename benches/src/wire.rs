//! HTTP/1.1 over one kept connection, no more of it than the load and the node's API need:
//! requests are bytes, one at a time, and responses have a length.

use std::{io::ErrorKind, net::SocketAddr};

use anyhow::{Context as _, Result, bail};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

const HEAD_END: &[u8] = b"\r\n\r\n";

/// A connection that is kept.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The bytes of the last response's head.
    head: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .with_context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(16 * 1024),
            head: 0,
        })
    }

    /// Whether the server has ended it.
    pub(crate) fn is_closed(&self) -> bool {
        !matches!(self.stream.try_read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Sends a request and waits for the whole response: its status, and where its body is.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<(u16, &[u8])> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let head = loop {
            if let Some(end) = find(&self.buffer, HEAD_END) {
                break end + HEAD_END.len();
            }
            self.read().await?;
        };
        self.head = head;
        let (status, length) = status_and_length(&self.buffer[..head])?;
        while self.buffer.len() < head + length {
            self.read().await?;
        }
        Ok((status, &self.buffer[head..head + length]))
    }

    /// A header of the last response.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let head = std::str::from_utf8(self.buffer.get(..self.head)?).ok()?;
        let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
        let found = lines.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim())
    }

    async fn read(&mut self) -> Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => bail!("the server closed the connection"),
            _ => Ok(()),
        }
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len())
        .position(|window| window == wanted)
}

fn status_and_length(head: &[u8]) -> Result<(u16, usize)> {
    let head = std::str::from_utf8(head)?;
    let status = head.get(9..12).and_then(|status| status.parse().ok());
    let status = status.with_context(|| format!("not a response: {head}"))?;
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|(_, length)| length.trim().parse().ok());
    // 204 has none.
    Ok((status, length.unwrap_or(0)))
}

/// The bytes of a request with a JSON body.
pub(crate) fn request(
    method: &str,
    address: SocketAddr,
    path: &str,
    headers: &str,
    body: &str,
) -> Vec<u8> {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nuser-agent: headwater-benches\r\naccept: */*\r\n{headers}\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
