//! monday.com: boards in pages, items, columns with labels, and webhooks whose URL has to echo a challenge.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{
    call,
    graphql::{self, Query},
};
use crate::receiver::{Received, Receiver, Reply};

const TOKEN: &str = "monday-api-token";
const PAGE: usize = 2;

#[derive(Default)]
struct State {
    boards: Vec<Value>,
    items: Vec<Value>,
    webhooks: Vec<Value>,
    ids: u64,
}

/// api.monday.com.
pub struct Monday {
    server: Receiver,
    state: Arc<Mutex<State>>,
}

impl Monday {
    /// With these boards, whose ids count from 1, each with a status column and a group.
    pub async fn start(boards: &[&str]) -> Self {
        let server = Receiver::secure(&["api.monday.com"]).await;
        let board = |(index, name): (usize, &&str)| json!({"id": (index + 1).to_string(), "name": name, "type": "board"});
        let state = Arc::new(Mutex::new(State {
            boards: boards.iter().enumerate().map(board).collect(),
            ..State::default()
        }));
        let shared = Arc::clone(&state);
        server.answer_later(move |request| answer(Arc::clone(&shared), request));
        Self { server, state }
    }

    /// The server.
    pub fn server(&self) -> &Receiver {
        &self.server
    }

    /// The fields of an account.
    pub fn account_fields() -> Value {
        json!({"api_key": TOKEN})
    }

    /// The webhooks that are registered.
    pub fn webhooks(&self) -> Vec<Value> {
        self.state.lock().unwrap().webhooks.clone()
    }

    /// The items, as they were asked for, with `id`.
    pub fn items(&self) -> Vec<Value> {
        self.state.lock().unwrap().items.clone()
    }

    /// Somebody makes an item on a board; its webhooks are called.
    pub async fn add_item(&self, board: &str, name: &str) {
        let (item, webhooks) = {
            let mut state = self.state.lock().unwrap();
            let item = state.add_item(json!({"boardId": board, "itemName": name}));
            (item, state.webhooks.clone())
        };
        for webhook in webhooks
            .iter()
            .filter(|webhook| webhook["boardId"] == board)
        {
            let event = json!({"event": {
                "type": "create_pulse", "pulseId": item["id"], "pulseName": name, "boardId": board,
            }});
            call(webhook["url"].as_str().unwrap(), &[], &event)
                .await
                .is(200);
        }
    }
}

async fn answer(state: Arc<Mutex<State>>, request: Received) -> Reply {
    if request.header("authorization") != TOKEN {
        let error = json!({"errors": ["Not Authenticated"]});
        return Reply::json(&error).with_status(401);
    }
    let query = Query::of(&request);
    if query.asks_for("create_webhook") && !echoes(&query.text("url")).await {
        return graphql::error("The webhook's URL did not answer the challenge");
    }
    state.lock().unwrap().answer(&query)
}

/// Whether whoever is at the URL answers what it is told.
async fn echoes(url: &str) -> bool {
    let challenge = json!({"challenge": "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"});
    let answer = call(url, &[], &challenge).await;
    answer.status == 200 && answer.json() == challenge
}

impl State {
    fn answer(&mut self, query: &Query) -> Reply {
        let variables = &query.variables;
        if query.asks_for("create_webhook") {
            let mut webhook = json!({
                "boardId": query.text("boardId"), "url": variables["url"], "event": variables["event"],
            });
            webhook["id"] = json!(self.next_id());
            self.webhooks.push(webhook.clone());
            return graphql::data(&json!({"create_webhook": webhook}));
        }
        if query.asks_for("delete_webhook") {
            let id = query.text("id");
            self.webhooks.retain(|webhook| webhook["id"] != id);
            return graphql::data(&json!({"delete_webhook": {"id": id}}));
        }
        if query.asks_for("create_item") {
            let item = self.add_item(variables.clone());
            return graphql::data(&json!({"create_item": {"id": item["id"]}}));
        }
        if query.asks_for("items") {
            let id = query.text("id");
            let found = self.items.iter().filter(|item| item["id"] == id);
            return graphql::data(&json!({"items": found.map(shown).collect::<Value>()}));
        }
        if query.asks_for("boards") {
            return graphql::data(&json!({"boards": self.boards(query)}));
        }
        graphql::error("Parse error on this query")
    }

    /// One board with everything that is asked of boards, or a page of their names.
    fn boards(&self, query: &Query) -> Value {
        if query.variables["boardId"].is_null() {
            let page: usize = query.text("page").parse().unwrap_or(1);
            return self
                .boards
                .iter()
                .skip((page - 1) * PAGE)
                .take(PAGE)
                .cloned()
                .collect();
        }
        let id = query.text("boardId");
        let items = self.items.iter().filter(|item| item["board"]["id"] == id);
        let labels = json!({"labels": {"0": "Waiting", "1": "Done"}}).to_string();
        json!([{
            "items_page": {"cursor": null, "items": items.map(shown).collect::<Value>()},
            "groups": [{"id": "topics", "title": "Topics"}],
            "columns": [
                {"id": "name", "title": "Name", "type": "name", "settings_str": "{}"},
                {"id": "status", "title": "Status", "type": "status", "settings_str": labels},
            ],
        }])
    }

    fn add_item(&mut self, mut item: Value) -> Value {
        item["id"] = json!(self.next_id());
        item["name"] = item["itemName"].take();
        let board = item["boardId"].take();
        item["board"] = json!({"id": board.as_str().map_or(board.to_string(), str::to_owned)});
        self.items.push(item.clone());
        item
    }

    fn next_id(&mut self) -> String {
        self.ids += 1;
        (1000 + self.ids).to_string()
    }
}

fn shown(item: &Value) -> Value {
    json!({
        "id": item["id"], "name": item["name"], "board": item["board"], "group": {"id": "topics"},
        "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z",
    })
}
