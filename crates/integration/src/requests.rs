//! The requests that most tests send to a node.

use serde_json::{Value, json};

use crate::{answer::Answer, client::Client, node::Node, source::Source};

impl Node {
    /// Tries to deploy code with these props.
    pub async fn try_deploy(&self, code: &str, props: Value) -> Answer {
        self.post(
            "/sources",
            json!({"component_code": code, "configured_props": props}),
        )
        .await
    }

    /// Deploys code with these props.
    pub async fn deploy(&self, code: &str, props: Value) -> Source {
        Source::new(self.try_deploy(code, props).await.is(200).data())
    }

    /// Saves code.
    pub async fn save(&self, code: &str) -> Value {
        self.post("/components", json!({"component_code": code}))
            .await
            .is(200)
            .data()
    }

    /// Runs a source by hand and returns the report.
    pub async fn run(&self, source: &Source, event: Value) -> Value {
        self.post(&format!("{}/run", source.path()), json!({"event": event}))
            .await
            .is(200)
            .data()
    }

    /// Makes another user, a member of nothing, and speaks as it.
    pub async fn user(&self, username: &str) -> Client {
        let email = format!("{username}@example.com");
        let user = self
            .post("/users", json!({"username": username, "email": email}))
            .await
            .is(200)
            .data();
        self.with_key(user["api_key"].as_str())
    }

    /// Makes an account and returns its id.
    pub async fn account(&self, app: &str, fields: Value) -> String {
        let account = self
            .post("/accounts", json!({"app": app, "fields": fields}))
            .await
            .is(200)
            .data();
        account["id"]
            .as_str()
            .expect("an account has an id")
            .to_owned()
    }
}
