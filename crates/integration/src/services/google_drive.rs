//! Google Drive: files in My Drive, uploads in two parts, and channels that notify of changes. It is busy
//! at the first search, as large services are now and then.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::call;
use crate::{
    answer::Answer,
    receiver::{Received, Receiver, Reply},
};

const TOKEN: &str = "ya29.of-the-tests";

#[derive(Default)]
struct State {
    files: Vec<Value>,
    channels: Vec<Value>,
    was_busy: bool,
}

/// www.googleapis.com.
pub struct GoogleDrive {
    server: Receiver,
    state: Arc<Mutex<State>>,
}

impl GoogleDrive {
    /// An empty drive.
    pub async fn start() -> Self {
        let server = Receiver::secure(&["www.googleapis.com"]).await;
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        server.answer(move |request| shared.lock().unwrap().answer(request));
        Self { server, state }
    }

    /// The server.
    pub fn server(&self) -> &Receiver {
        &self.server
    }

    /// The fields of an account.
    pub fn account_fields() -> Value {
        json!({"oauth_access_token": TOKEN})
    }

    /// The channels that are open.
    pub fn channels(&self) -> Vec<Value> {
        self.state.lock().unwrap().channels.clone()
    }

    /// The files, with their `content`.
    pub fn files(&self) -> Vec<Value> {
        self.state.lock().unwrap().files.clone()
    }

    /// Notifies a channel of a change.
    pub async fn notify(&self, channel: &Value, id: &str) -> Answer {
        let headers = [
            ("x-goog-channel-id", id),
            ("x-goog-resource-id", "the-drive"),
            (
                "x-goog-resource-uri",
                "https://www.googleapis.com/drive/v3/changes",
            ),
            ("x-goog-resource-state", "change"),
            ("x-goog-message-number", "2"),
        ];
        call(channel["address"].as_str().unwrap(), &headers, &Value::Null).await
    }
}

impl State {
    fn answer(&mut self, request: &Received) -> Reply {
        if request.header("authorization") != format!("Bearer {TOKEN}") {
            return failure(401, "Invalid Credentials");
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/drive/v3/files") => self.search(&request.parameter("q")),
            ("POST", "/drive/v3/files") => self.add(request.json(), ""),
            ("POST", "/upload/drive/v3/files") => match parts(request) {
                Some((metadata, content)) => self.add(metadata, &content),
                None => failure(400, "Malformed multipart body."),
            },
            ("GET", "/drive/v3/changes/startPageToken") => {
                Reply::json(&json!({"startPageToken": "1"}))
            }
            ("GET", "/drive/v3/changes") => {
                let change = |file: &Value| json!({"fileId": file["id"], "file": file});
                let changes: Value = self.files.iter().map(change).collect();
                Reply::json(&json!({"changes": changes, "newStartPageToken": "2"}))
            }
            ("POST", "/drive/v3/changes/watch") => {
                let mut channel = request.json();
                channel["resourceId"] = json!("the-drive");
                channel["expiration"] = json!("1999999999000");
                self.channels.push(channel.clone());
                Reply::json(&channel)
            }
            ("POST", "/drive/v3/channels/stop") => {
                let id = request.json()["id"].take();
                self.channels.retain(|channel| channel["id"] != id);
                Reply::status(204)
            }
            _ => failure(404, "Not Found"),
        }
    }

    /// Understands `name contains '…'` and `createdTime > "…"`.
    fn search(&mut self, query: &str) -> Reply {
        if !std::mem::replace(&mut self.was_busy, true) {
            return failure(429, "Quota exceeded for quota metric 'Queries'");
        }
        let value = |before: &str, quote: char| {
            let (_, rest) = query.split_once(before)?;
            rest.trim_start().strip_prefix(quote)?.split(quote).next()
        };
        let name = value("name contains", '\'').unwrap_or_default();
        let since = value("createdTime >", '"').unwrap_or_default();
        let text = |file: &Value, field: &str| file[field].as_str().unwrap().to_owned();
        let found = self.files.iter().filter(|file| {
            text(file, "name").contains(name) && text(file, "createdTime").as_str() > since
        });
        Reply::json(&json!({"kind": "drive#fileList", "files": found.rev().collect::<Vec<_>>()}))
    }

    fn add(&mut self, mut file: Value, content: &str) -> Reply {
        let later = std::time::Duration::from_secs(self.files.len() as u64 + 1);
        let now = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now() + later);
        file["kind"] = json!("drive#file");
        file["id"] = json!(format!("file-{}", self.files.len() + 1));
        file["createdTime"] = json!(now.to_rfc3339_opts(chrono::SecondsFormat::Millis, true));
        let shown = file.clone();
        file["content"] = json!(content);
        self.files.push(file);
        Reply::json(&shown)
    }
}

/// Metadata and content of a `multipart/related` body.
fn parts(request: &Received) -> Option<(Value, String)> {
    let (_, boundary) = request.header("content-type").split_once("boundary=")?;
    let text = request.text();
    let separator = format!("--{}", boundary.trim_matches('"'));
    let mut parts = text.split(&separator).skip(1);
    let mut body = || {
        let (_, body) = parts.next()?.split_once("\r\n\r\n")?;
        Some(body.strip_suffix("\r\n").unwrap_or(body))
    };
    Some((serde_json::from_str(body()?).ok()?, body()?.to_owned()))
}

fn failure(status: u16, message: &str) -> Reply {
    let error =
        json!({"error": {"code": status, "message": message, "errors": [{"message": message}]}});
    Reply::json(&error).with_status(status)
}
