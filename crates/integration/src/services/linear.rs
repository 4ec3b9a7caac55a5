//! Linear: teams and issues in pages, webhooks per team, and whether the user is an admin.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{
    call,
    graphql::{self, Query},
};
use crate::receiver::{Received, Receiver, Reply};

const TOKEN: &str = "lin_api_of_the_tests";
/// One of the addresses that Linear calls webhooks from.
const CALLS_FROM: &str = "35.231.147.226";

struct State {
    is_admin: bool,
    /// Newest first.
    issues: Vec<Value>,
    webhooks: Vec<Value>,
    deliveries: u64,
}

/// api.linear.app.
pub struct Linear {
    server: Receiver,
    state: Arc<Mutex<State>>,
}

impl Linear {
    /// Whose key belongs to an admin or not.
    pub async fn start(is_admin: bool) -> Self {
        let server = Receiver::secure(&["api.linear.app"]).await;
        let state = Arc::new(Mutex::new(State {
            is_admin,
            issues: Vec::new(),
            webhooks: Vec::new(),
            deliveries: 0,
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
        json!({"api_key": TOKEN})
    }

    /// The webhooks that are registered.
    pub fn webhooks(&self) -> Vec<Value> {
        self.state.lock().unwrap().webhooks.clone()
    }

    /// Somebody makes an issue; webhooks are called through a proxy in front of the node.
    pub async fn add_issue(&self, title: &str) {
        let (issue, webhooks, delivery) = {
            let mut state = self.state.lock().unwrap();
            state.deliveries += 1;
            let issue = state.add_issue(title);
            (issue, state.webhooks.clone(), state.deliveries.to_string())
        };
        let event = json!({"action": "create", "type": "Issue", "data": issue, "createdAt": issue["createdAt"]});
        for webhook in webhooks {
            let headers = [
                ("linear-delivery", &delivery[..]),
                ("x-forwarded-for", CALLS_FROM),
            ];
            call(webhook["url"].as_str().unwrap(), &headers, &event)
                .await
                .is(200);
        }
    }
}

impl State {
    fn answer(&mut self, request: &Received) -> Reply {
        if request.header("authorization") != TOKEN {
            let error = json!({"errors": [{
                "message": "Authentication required, not authenticated",
                "extensions": {"type": "authentication error", "code": "AUTHENTICATION_ERROR"},
            }]});
            return Reply::json(&error).with_status(401);
        }
        let query = Query::of(request);
        let variables = &query.variables;
        let (name, value) = if query.asks_for("user") {
            ("user", json!({"admin": self.is_admin}))
        } else if query.asks_for("webhookCreate") {
            ("webhookCreate", self.add_webhook(&variables["input"]))
        } else if query.asks_for("webhookDelete") {
            self.webhooks
                .retain(|webhook| webhook["id"] != variables["id"]);
            let payload = json!({"success": true, "entityId": variables["id"], "lastSyncId": 2});
            ("webhookDelete", payload)
        } else if query.asks_for("teams") {
            let team =
                |name: &&str| json!({"id": format!("team-{name}"), "name": name, "key": name});
            let teams: Vec<_> = ["kitchen", "garden"].iter().map(team).collect();
            ("teams", graphql::connection(&teams, &variables["after"], 1))
        } else if query.asks_for("issues") {
            (
                "issues",
                graphql::connection(&self.issues, &variables["after"], 2),
            )
        } else if query.asks_for("issue") {
            let wanted = |issue: &&Value| issue["id"] == variables["issueId"];
            (
                "issue",
                self.issues.iter().find(wanted).cloned().unwrap_or_default(),
            )
        } else if query.asks_for("issueCreate") {
            let issue = self.add_issue(variables["input"]["title"].as_str().unwrap());
            let payload = json!({"success": true, "lastSyncId": 3, "issue": {"id": issue["id"]}});
            ("issueCreate", payload)
        } else {
            return graphql::error("Cannot query this field");
        };
        graphql::data(&json!({name: value}))
    }

    fn add_webhook(&mut self, input: &Value) -> Value {
        let mut webhook = input.clone();
        webhook["id"] = json!(format!("webhook-{}", self.webhooks.len() + 1));
        self.webhooks.push(webhook.clone());
        json!({"success": true, "lastSyncId": 1, "webhook": {"id": webhook["id"]}})
    }

    fn add_issue(&mut self, title: &str) -> Value {
        let number = self.issues.len() + 1;
        let issue = json!({
            "id": format!("issue-{number}"), "title": title, "identifier": format!("KIT-{number}"),
            "createdAt": format!("2026-01-02T03:04:{number:02}Z"), "team": {"id": "team-kitchen"},
        });
        self.issues.insert(0, issue.clone());
        issue
    }
}
