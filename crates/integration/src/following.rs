//! Reading a stream of server-sent events as a client does that has no library for it.

use std::time::Duration;

use reqwest::{Method, Response};
use serde_json::Value;

use crate::client::Client;

/// Far beyond what anything here takes, also on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(90);

/// An open stream.
pub struct Following {
    response: Response,
    text: String,
    /// Up to where no message ends.
    looked_at: usize,
}

/// One message of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// `id:`
    pub id: String,
    /// `event:`, if there is one.
    pub event: Option<String>,
    /// `data:`
    pub data: Value,
}

impl Client {
    /// Opens the stream at a path, behind the event with that id, and reads its handshake: what is emitted
    /// from now on is in it.
    pub async fn follow(&self, path: &str, last_event_id: Option<&str>) -> Following {
        let mut request = self.request(Method::GET, path);
        if let Some(id) = last_event_id {
            request = request.header("Last-Event-ID", id);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        let mut following = Following {
            response,
            text: String::new(),
            looked_at: 0,
        };
        assert_eq!(following.block().await.as_deref(), Some(":sse-handshake"));
        following
    }
}

impl Following {
    /// A header of the answer.
    pub fn header(&self, name: &str) -> &str {
        self.response.headers()[name].to_str().unwrap()
    }

    /// The next message; `None` when the stream has ended, whether in good order or not.
    pub async fn next(&mut self) -> Option<Message> {
        loop {
            let block = self.block().await?;
            if block == ":sse-handshake" {
                continue;
            }
            let field = |name: &str| {
                let mut lines = block.lines();
                lines.find_map(|line| Some(line.strip_prefix(name)?.to_owned()))
            };
            let data = field("data: ").unwrap_or_else(|| panic!("no data in {block}"));
            return Some(Message {
                id: field("id: ").unwrap_or_else(|| panic!("no id in {block}")),
                event: field("event: "),
                data: serde_json::from_str(&data).unwrap(),
            });
        }
    }

    /// The events of the next messages.
    pub async fn payloads(&mut self, count: usize) -> Vec<Value> {
        let mut payloads = Vec::new();
        while payloads.len() < count {
            let message = self.next().await.expect("the stream goes on");
            payloads.push(message.data["event"].clone());
        }
        payloads
    }

    /// Text up to an empty line.
    async fn block(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.text[self.looked_at..].find("\n\n") {
                let rest = self.text.split_off(self.looked_at + end + 2);
                let block = std::mem::replace(&mut self.text, rest);
                self.looked_at = 0;
                return Some(block[..block.len() - 2].to_owned());
            }
            self.looked_at = self.text.len().saturating_sub(1);
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.expect("something comes or the stream ends");
            let chunk = chunk.ok().flatten()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}
