//! Slack's Web API: channels in pages, users, messages, and the limit of its rate.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};

use crate::receiver::{Received, Receiver, Reply};

const TOKEN: &str = "xoxp-of-the-tests";
const PAGE: usize = 2;

#[derive(Default)]
struct State {
    channels: Vec<Value>,
    messages: Vec<Value>,
    is_busy: bool,
}

/// slack.com.
pub struct Slack {
    server: Receiver,
    state: Arc<Mutex<State>>,
}

impl Slack {
    /// With these public channels, whose ids count from `C1`, and the user `U1`, Ada.
    pub async fn start(channels: &[&str]) -> Self {
        let channels = channels.iter().enumerate();
        Self::serve(channels.map(|(index, &name)| (format!("C{}", index + 1), name))).await
    }

    /// With these public channels by their ids, and Ada.
    pub async fn with_ids(channels: &[(&str, &str)]) -> Self {
        let channels = channels.iter();
        Self::serve(channels.map(|&(id, name)| (id.to_owned(), name))).await
    }

    async fn serve<'a>(channels: impl Iterator<Item = (String, &'a str)>) -> Self {
        let server = Receiver::secure(&["slack.com"]).await;
        let channel = |(id, name)| json!({"id": id, "name": name, "is_channel": true});
        let state = Arc::new(Mutex::new(State {
            channels: channels.map(channel).collect(),
            ..State::default()
        }));
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
        json!({"oauth_access_token": TOKEN, "oauth_uid": "U1"})
    }

    /// The messages that were posted, by the parameters they were posted with.
    pub fn messages(&self) -> Vec<Value> {
        self.state.lock().unwrap().messages.clone()
    }

    /// How often a method was called.
    pub fn calls(&self, method: &str) -> usize {
        let path = format!("/api/{method}");
        let received = self.server.received();
        received
            .iter()
            .filter(|request| request.path == path)
            .count()
    }

    /// From now on there were too many requests, or no longer.
    pub fn set_busy(&self, is_busy: bool) {
        self.state.lock().unwrap().is_busy = is_busy;
    }
}

impl State {
    fn answer(&mut self, request: &Received) -> Reply {
        if self.is_busy {
            let error = Reply::json(&json!({"ok": false, "error": "ratelimited"}));
            return error.with_status(429).with_header("retry-after", "30");
        }
        let answer = match request.header("authorization") == format!("Bearer {TOKEN}") {
            true => self.call(request),
            false => Err("invalid_auth"),
        };
        let answer = match answer {
            Ok(mut answer) => {
                answer["ok"] = json!(true);
                answer
            }
            Err(error) => json!({"ok": false, "error": error}),
        };
        Reply::json(&answer).with_header("x-oauth-scopes", "channels:read,chat:write")
    }

    fn call(&mut self, request: &Received) -> Result<Value, &'static str> {
        let parameters = parameters(request);
        let parameter = |name: &str| {
            parameters
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        match request.path.trim_start_matches("/api/") {
            "auth.test" => Ok(json!({"user_id": "U1"})),
            "users.conversations" => Ok(self.channels_after(parameter("cursor"))),
            "conversations.info" => {
                let id = parameter("channel");
                let found = self.channels.iter().find(|channel| channel["id"] == id);
                Ok(json!({"channel": found.ok_or("channel_not_found")?}))
            }
            "users.info" if parameter("user") == "U1" => {
                Ok(json!({"user": {"id": "U1", "name": "ada", "real_name": "Ada"}}))
            }
            "users.info" => Err("user_not_found"),
            "users.lookupByEmail" if parameter("email") == "ada@example.com" => {
                Ok(json!({"user": {"id": "U1", "name": "ada"}}))
            }
            "users.lookupByEmail" => Err("users_not_found"),
            "chat.postMessage" => {
                let channel = parameter("channel").to_owned();
                self.messages.push(Value::Object(parameters));
                let ts = format!("1767323045.{:06}", self.messages.len());
                Ok(json!({"channel": channel, "ts": ts, "message": {"type": "message"}}))
            }
            _ => Err("unknown_method"),
        }
    }

    fn channels_after(&self, cursor: &str) -> Value {
        let start: usize = cursor.parse().unwrap_or(0);
        let page: Vec<_> = self.channels.iter().skip(start).take(PAGE).collect();
        let end = start + page.len();
        let next = if end < self.channels.len() {
            end.to_string()
        } else {
            String::new()
        };
        json!({"channels": page, "response_metadata": {"next_cursor": next}})
    }
}

/// The fields of a posted form.
fn parameters(request: &Received) -> Map<String, Value> {
    let pairs = url::form_urlencoded::parse(&request.body);
    pairs
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect()
}
