//! A stream of events as the node pushes it (server-sent events).

use std::time::Duration;

use anyhow::Result;
use reqwest::{Method, Response};
use serde_json::Value;

use super::{Client, ClientError, Query};

/// The node says something every 15 s, be it only that it is there.
const SILENCE_MAX: Duration = Duration::from_secs(50);
/// A stream lasts as long as both ends like.
const NO_TIMEOUT: Duration = Duration::from_secs(u32::MAX as u64);

/// An open stream.
pub(crate) struct Feed<'a> {
    client: &'a Client,
    response: Response,
    lines: Lines,
    data: String,
}

impl Client {
    /// Opens a stream that goes on behind the event with that id.
    pub(crate) async fn feed(
        &self,
        path: &[&str],
        query: Query<'_>,
        last_event_id: &str,
    ) -> Result<Feed<'_>> {
        let request = self
            .request(Method::GET, path)
            .query(query)
            .header("Last-Event-ID", last_event_id)
            .timeout(NO_TIMEOUT);
        let response = self.in_time(request.send()).await?;
        Ok(Feed {
            client: self,
            response: self.successful(response).await?,
            lines: Lines::default(),
            data: String::new(),
        })
    }

    async fn in_time<T>(
        &self,
        answer: impl Future<Output = reqwest::Result<T>>,
    ) -> Result<T, ClientError> {
        match tokio::time::timeout(SILENCE_MAX, answer).await {
            Ok(answer) => answer.map_err(|error| self.unreachable(error)),
            Err(_) => Err(ClientError::Silent {
                url: self.base.clone(),
            }),
        }
    }
}

impl Feed<'_> {
    /// The next events, at least one; `None` when the node has ended the stream.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Value>>> {
        loop {
            let Some(chunk) = self.client.in_time(self.response.chunk()).await? else {
                return Ok(None);
            };
            self.lines.push(&chunk);
            let mut events = Vec::new();
            while let Some(line) = self.lines.next() {
                events.extend(self.read(&line)?);
            }
            if !events.is_empty() {
                return Ok(Some(events));
            }
        }
    }

    /// An empty line ends an event. Of its fields only the data counts: it says everything.
    fn read(&mut self, line: &str) -> Result<Option<Value>> {
        if let Some(data) = line.strip_prefix("data:") {
            self.data.push_str(data);
            self.data.push('\n');
        }
        match line.is_empty() && !self.data.is_empty() {
            true => Ok(Some(serde_json::from_str(&std::mem::take(&mut self.data))?)),
            false => Ok(None),
        }
    }
}

/// Lines out of chunks that end anywhere.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    /// Up to where there is no line end.
    looked_at: usize,
}

impl Lines {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
    }

    fn next(&mut self) -> Option<String> {
        let unseen = self.bytes.get(self.looked_at..).unwrap_or_default();
        let Some(end) = unseen.iter().position(|byte| *byte == b'\n') else {
            self.looked_at = self.bytes.len();
            return None;
        };
        let line: Vec<u8> = self.bytes.drain(..=self.looked_at + end).collect();
        self.looked_at = 0;
        let line = String::from_utf8_lossy(&line);
        Some(line.trim_end_matches(['\r', '\n']).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_wherever_chunks_end() {
        let text = "id: 1-0\r\ndata: {\"é\":1}\n\n:x\n";
        for size in 1..=text.len() {
            let mut lines = Lines::default();
            let mut found = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                lines.push(chunk);
                found.extend(std::iter::from_fn(|| lines.next()));
            }
            assert_eq!(found, ["id: 1-0", "data: {\"é\":1}", "", ":x"], "{size}");
        }
    }
}
