//! Apify: runs of tasks, and webhooks that tell of their end with a payload made from a template.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::call;
use crate::{
    answer::Answer,
    receiver::{Received, Receiver, Reply},
};

const TOKEN: &str = "apify_api_of_the_tests";

#[derive(Default)]
struct State {
    runs: Vec<Value>,
    webhooks: Vec<Value>,
    webhooks_made: usize,
}

/// api.apify.com.
pub struct Apify {
    server: Receiver,
    state: Arc<Mutex<State>>,
}

impl Apify {
    /// Starts it: any task can be run.
    pub async fn start() -> Self {
        let server = Receiver::secure(&["api.apify.com"]).await;
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
        json!({"api_token": TOKEN})
    }

    /// The webhooks that are registered.
    pub fn webhooks(&self) -> Vec<Value> {
        self.state.lock().unwrap().webhooks.clone()
    }

    /// The runs that were started, oldest first.
    pub fn runs(&self) -> Vec<Value> {
        self.state.lock().unwrap().runs.clone()
    }

    /// A run comes to its end, and nobody is told.
    pub fn end(&self, run: &str, status: &str) {
        let mut state = self.state.lock().unwrap();
        let run = state.runs.iter_mut().find(|one| one["id"] == run).unwrap();
        run["status"] = json!(status);
    }

    /// Calls a webhook about a run, as it is now.
    pub async fn call_webhook(&self, webhook: &Value, run: &str) -> Answer {
        let run = {
            let state = self.state.lock().unwrap();
            let found = state.runs.iter().find(|one| one["id"] == run);
            found.unwrap().clone()
        };
        let template = webhook["payloadTemplate"].as_str().unwrap();
        let mut payload: Value = serde_json::from_str(template).unwrap();
        for value in payload.as_object_mut().unwrap().values_mut() {
            *value = match value.as_str().unwrap() {
                "{{resource.id}}" => run["id"].clone(),
                "{{resource.status}}" => run["status"].clone(),
                _ => Value::Null,
            };
        }
        call(webhook["requestUrl"].as_str().unwrap(), &[], &payload).await
    }
}

impl State {
    fn answer(&mut self, request: &Received) -> Reply {
        if request.header("authorization") != format!("Bearer {TOKEN}") {
            return failure(
                401,
                "user-or-token-not-found",
                "Authentication token is not valid.",
            );
        }
        let path: Vec<_> = request.path.split('/').skip(2).collect();
        let found = match (request.method.as_str(), path.as_slice()) {
            ("POST", ["actor-tasks", task, "runs"]) => Some(self.start_run(task, request)),
            ("GET", ["actor-runs", id]) => self.runs.iter().find(|run| run["id"] == *id).cloned(),
            ("POST", ["webhooks"]) => Some(self.add_webhook(request.json())),
            ("DELETE", ["webhooks", id]) => {
                let before = self.webhooks.len();
                self.webhooks.retain(|webhook| webhook["id"] != *id);
                match self.webhooks.len() < before {
                    true => return Reply::status(204),
                    false => None,
                }
            }
            _ => None,
        };
        match found {
            Some(data) => Reply::json(&json!({ "data": data })),
            None => failure(404, "record-not-found", "Not found"),
        }
    }

    fn start_run(&mut self, task: &str, request: &Received) -> Value {
        let run = json!({
            "id": format!("run-{}", self.runs.len() + 1), "actorTaskId": task, "status": "RUNNING",
            "defaultDatasetId": "dataset-1", "input": request.text(),
        });
        self.runs.push(run.clone());
        run
    }

    fn add_webhook(&mut self, mut webhook: Value) -> Value {
        self.webhooks_made += 1;
        webhook["id"] = json!(format!("webhook-{}", self.webhooks_made));
        self.webhooks.push(webhook.clone());
        webhook
    }
}

fn failure(status: u16, kind: &str, message: &str) -> Reply {
    let error = json!({"error": {"type": kind, "message": message}});
    Reply::json(&error).with_status(status)
}
