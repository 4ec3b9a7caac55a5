//! GitLab: projects in pages, issues, and project hooks with their secret token.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::call;
use crate::{
    answer::Answer,
    receiver::{Received, Receiver, Reply},
};

const TOKEN: &str = "gitlab-access-token";
const PAGE: usize = 2;

#[derive(Default)]
struct State {
    projects: Vec<Value>,
    issues: Vec<Value>,
    hooks: Vec<Value>,
    hooks_made: u64,
}

/// gitlab.com.
pub struct Gitlab {
    server: Receiver,
    state: Arc<Mutex<State>>,
}

impl Gitlab {
    /// With these projects, whose ids count from 1.
    pub async fn start(projects: &[&str]) -> Self {
        let server = Receiver::secure(&["gitlab.com"]).await;
        let project =
            |(index, path): (usize, &&str)| json!({"id": index + 1, "path_with_namespace": path});
        let state = Arc::new(Mutex::new(State {
            projects: projects.iter().enumerate().map(project).collect(),
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
        json!({"oauth_access_token": TOKEN, "base_api_url": "gitlab.com"})
    }

    /// The hooks that are registered, as they were asked for, with `id` and `project`.
    pub fn hooks(&self) -> Vec<Value> {
        self.state.lock().unwrap().hooks.clone()
    }

    /// Calls a hook about an issue, signed with this token.
    pub async fn call_hook(&self, hook: &Value, token: &str, event: &Value) -> Answer {
        let url = hook["url"].as_str().unwrap();
        let headers = [("x-gitlab-event", "Issue Hook"), ("x-gitlab-token", token)];
        call(url, &headers, event).await
    }
}

impl State {
    fn answer(&mut self, request: &Received) -> Reply {
        if request.header("authorization") != format!("Bearer {TOKEN}") {
            return Reply::json(&json!({"message": "401 Unauthorized"})).with_status(401);
        }
        let path: Vec<_> = request.path.split('/').skip(3).collect();
        match (request.method.as_str(), path.as_slice()) {
            ("GET", ["projects"]) => self.projects(request),
            ("POST", ["projects", project, "hooks"]) => self.add_hook(project, request.json()),
            ("DELETE", ["projects", _, "hooks", id]) => {
                let before = self.hooks.len();
                self.hooks
                    .retain(|hook| hook["id"].as_u64() != id.parse().ok());
                Reply::status(if self.hooks.len() < before { 204 } else { 404 })
            }
            ("POST", ["projects", project, "issues"]) => self.add_issue(project, request.json()),
            _ => Reply::json(&json!({"error": "404 Not Found"})).with_status(404),
        }
    }

    fn projects(&self, request: &Received) -> Reply {
        let page: usize = request.parameter("page").parse().unwrap_or(1);
        let projects = self.projects.iter().skip((page - 1) * PAGE).take(PAGE);
        Reply::json(&projects.cloned().collect())
    }

    fn add_hook(&mut self, project: &str, mut hook: Value) -> Reply {
        self.hooks_made += 1;
        hook["id"] = json!(self.hooks_made);
        hook["project"] = json!(project);
        self.hooks.push(hook.clone());
        // GitLab never shows the token again.
        hook.as_object_mut().unwrap().remove("token");
        Reply::json(&hook).with_status(201)
    }

    fn add_issue(&mut self, project: &str, mut issue: Value) -> Reply {
        if issue["title"].as_str().is_none_or(str::is_empty) {
            let error = json!({"message": {"title": ["can't be blank"]}});
            return Reply::json(&error).with_status(400);
        }
        issue["iid"] = json!(self.issues.len() + 1);
        issue["project_id"] = json!(project);
        self.issues.push(issue.clone());
        Reply::json(&issue).with_status(201)
    }
}
