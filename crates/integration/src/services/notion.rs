//! Notion: data sources with their properties, and pages in them, newest edit first.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::receiver::{Received, Receiver, Reply};

const TOKEN: &str = "notion-access-token";
/// The version of the API that the tests' components were written for.
const VERSION: &str = "2025-09-03";
const PAGE: usize = 2;

#[derive(Default)]
struct State {
    data_sources: Vec<Value>,
    pages: Vec<Value>,
    seconds: u64,
}

/// api.notion.com.
pub struct Notion {
    server: Receiver,
    state: Arc<Mutex<State>>,
}

impl Notion {
    /// With these data sources, whose ids are their names.
    pub async fn start(data_sources: &[&str]) -> Self {
        let server = Receiver::secure(&["api.notion.com"]).await;
        let data_source = |name: &&str| {
            json!({
                "object": "data_source", "id": name, "title": [{"plain_text": name}],
                "properties": {
                    "Name": {"id": "title", "name": "Name", "type": "title", "title": {}},
                    "Price": {"id": "p", "name": "Price", "type": "number", "number": {}},
                    "Fresh": {"id": "f", "name": "Fresh", "type": "checkbox", "checkbox": {}},
                },
            })
        };
        let state = Arc::new(Mutex::new(State {
            data_sources: data_sources.iter().map(data_source).collect(),
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
        json!({"oauth_access_token": TOKEN})
    }

    /// The pages, as they are shown.
    pub fn pages(&self) -> Vec<Value> {
        self.state.lock().unwrap().pages.clone()
    }

    /// Somebody writes a page.
    pub fn add_page(&self, data_source: &str, title: &str) {
        let title = json!({"Name": {"type": "title", "title": [{"plain_text": title}]}});
        let page = json!({"parent": {"data_source_id": data_source}, "properties": title});
        self.state.lock().unwrap().add_page(page);
    }

    /// Somebody edits a page.
    pub fn edit_page(&self, id: &str) {
        let mut state = self.state.lock().unwrap();
        let now = state.now();
        let page = state
            .pages
            .iter_mut()
            .find(|page| page["id"] == id)
            .unwrap();
        page["last_edited_time"] = json!(now);
    }
}

impl State {
    fn answer(&mut self, request: &Received) -> Reply {
        if request.header("authorization") != format!("Bearer {TOKEN}") {
            return failure(401, "unauthorized", "API token is invalid.");
        }
        if request.header("notion-version") != VERSION {
            return failure(
                400,
                "missing_version",
                "Notion-Version header failed validation",
            );
        }
        let path: Vec<_> = request.path.split('/').skip(2).collect();
        match (request.method.as_str(), path.as_slice()) {
            ("POST", ["search"]) => paged(&self.data_sources, &request.json()),
            ("GET", ["data_sources", id]) => {
                let found = self.data_sources.iter().find(|one| one["id"] == *id);
                found.map_or_else(
                    || failure(404, "object_not_found", "No such data source."),
                    Reply::json,
                )
            }
            ("POST", ["data_sources", id, "query"]) => self.query(id, &request.json()),
            ("POST", ["pages"]) => Reply::json(&self.add_page(request.json())),
            _ => failure(400, "invalid_request_url", "Invalid request URL."),
        }
    }

    /// Pages edited at a time or later, newest first.
    fn query(&self, data_source: &str, query: &Value) -> Reply {
        let since = &query["filter"]["last_edited_time"]["on_or_after"];
        let since = since.as_str().unwrap_or_default();
        let mut pages: Vec<_> = self
            .pages
            .iter()
            .filter(|page| page["parent"]["data_source_id"] == data_source)
            .cloned()
            .collect();
        let edited = |page: &Value| page["last_edited_time"].as_str().unwrap().to_owned();
        pages.retain(|page| edited(page).as_str() >= since);
        pages.sort_by_key(|page| std::cmp::Reverse(edited(page)));
        paged(&pages, query)
    }

    fn add_page(&mut self, mut page: Value) -> Value {
        let now = self.now();
        page["object"] = json!("page");
        page["id"] = json!(format!("page-{}", self.pages.len() + 1));
        page["created_time"] = json!(now);
        page["last_edited_time"] = json!(now);
        self.pages.push(page.clone());
        page
    }

    /// A second later each time it is asked, from now on.
    fn now(&mut self) -> String {
        self.seconds += 1;
        let now = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now());
        let later = now + std::time::Duration::from_secs(self.seconds);
        later.to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
    }
}

fn paged(all: &[Value], request: &Value) -> Reply {
    let start = request["start_cursor"]
        .as_str()
        .map_or(0, |cursor| cursor.parse().unwrap());
    let page: Vec<_> = all.iter().skip(start).take(PAGE).collect();
    let end = start + page.len();
    let has_more = end < all.len();
    Reply::json(&json!({
        "object": "list", "results": page, "has_more": has_more,
        "next_cursor": has_more.then(|| end.to_string()),
    }))
}

fn failure(status: u16, code: &str, message: &str) -> Reply {
    let error = json!({"object": "error", "status": status, "code": code, "message": message});
    Reply::json(&error).with_status(status)
}
