//! A real OAuth 2 provider: an npm package run with Deno, in a process of its own.

use std::{collections::HashSet, path::Path, process::Command, time::Duration};

use serde_json::Value;

use crate::process::Process;

/// Where the node under test says it is; a [`crate::Browser`] knows where it really is.
pub const NODE_URL: &str = "http://node.test";

/// A running provider, which knows the node as a client of the app `acme`.
pub struct OAuthProvider {
    _process: Process,
    url: String,
    http: reqwest::Client,
}

impl OAuthProvider {
    /// The app that the provider is.
    pub const APP: &'static str = "acme";
    /// The node's id there.
    pub const CLIENT_ID: &'static str = "the-node";
    /// The node's secret there.
    pub const CLIENT_SECRET: &'static str = "secret-of-the-client & more";

    /// Starts it.
    pub async fn start() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/oauth_provider/provider.ts");
        let deno = std::env::var("HEADWATER_DENO").unwrap_or_else(|_| "deno".to_owned());
        let mut command = Command::new(deno);
        command
            .args(["run", "--quiet", "--no-config", "--no-lock", "-A"])
            .arg(script)
            .arg(format!("{NODE_URL}/connect/{}/callback", Self::APP))
            .args([Self::CLIENT_ID, Self::CLIENT_SECRET]);
        let started = tokio::task::spawn_blocking(move || {
            Process::start("the provider", &mut command, |line| {
                let url = line.strip_prefix("provider is ready on ")?;
                Some(url.trim().to_owned())
            })
        });
        let (process, url) = started
            .await
            .unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()));
        Self {
            _process: process,
            url,
            http: crate::client::direct(),
        }
    }

    /// Its address, without a trailing slash.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The app as an operator's file defines it.
    pub fn definition(&self) -> String {
        let url = &self.url;
        format!(
            "[acme]\nname = \"Acme\"\nauth = \"oauth2\"\n[acme.oauth2]\nauthorize_url = \"{url}/auth\"\n\
             token_url = \"{url}/token\"\nrevocation_url = \"{url}/token/revocation\"\nscopes = [\"openid\"]\n\
             client_id = \"{}\"\nclient_secret_env = \"ACME_SECRET\"\n[acme.probe]\nurl = \"{url}/me\"\nuid = \"/sub\"\n",
            Self::CLIENT_ID
        )
    }

    /// Its record so far.
    pub async fn seen(&self) -> Value {
        self.ask("see").await
    }

    /// Sets how it behaves: `accessTtl=1` and the like are JSON values by name.
    pub async fn set(&self, name: &str, value: &str) {
        self.ask(&format!("set?{name}={value}")).await;
    }

    /// Ends every access token, as if the user had signed out everywhere.
    pub async fn end_access(&self) {
        self.ask("end_access").await;
    }

    /// Ends every refresh token, as if the user had withdrawn the consent.
    pub async fn end_refresh(&self) {
        self.ask("end_refresh").await;
    }

    /// Waits until no access token is good any more.
    pub async fn access_ended(&self) {
        let ended = async {
            while self.seen().await["alive"]["access"] != serde_json::json!([]) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(60), ended).await;
        in_time.expect("the provider has short tokens");
    }

    /// Every token that it has given until now.
    pub async fn tokens(&self) -> HashSet<String> {
        let seen = self.seen().await;
        let lists = ["access", "refresh"].map(|kind| seen[kind].as_array().cloned());
        let tokens = lists.into_iter().flatten().flatten();
        tokens
            .filter_map(|token| token.as_str().map(str::to_owned))
            .collect()
    }

    async fn ask(&self, what: &str) -> Value {
        let asked = self.http.get(format!("{}/test/{what}", self.url)).send();
        asked.await.unwrap().json().await.unwrap()
    }
}
