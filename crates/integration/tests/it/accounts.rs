//! Managed accounts against a real OAuth 2 provider: connected over its consent, renewed before and after their end,
//! revoked. The provider verifies codes, proof keys and the rotation of refresh tokens.

mod connecting;
mod renewal;

use headwater_integration::{Answer, Browser, Node, OAuthProvider, Source, node_with, payloads};
use serde_json::{Value, json};

/// Asks the provider who it is, twice: through an app's method and by itself. What it says is emitted.
const WHOAMI: &str = r#"
async function me(url, token) {
  const response = await fetch(`${url}/me`, { headers: { authorization: `Bearer ${token}` } });
  if (response.ok) return await response.json();
  const error = new Error(`Request failed with status code ${response.status}`);
  throw Object.assign(error, { response: { status: response.status } });
}
export default {
  name: "Who am I",
  version: "0.0.1",
  props: {
    acme: {
      type: "app",
      app: "acme",
      methods: { me(url) { return me(url, this.$auth.oauth_access_token); } },
    },
    url: "string",
  },
  async run({ early }) {
    if (early) this.$emit({ early });
    const { sub } = await this.acme.me(this.url);
    const again = await me(this.url, this.acme.$auth.oauth_access_token);
    const { oauth_client_id, oauth_uid } = this.acme.$auth;
    this.$emit({ sub, same: sub === again.sub, oauth_client_id, oauth_uid });
  },
};
"#;

/// A node with an account at a provider.
struct World {
    provider: OAuthProvider,
    node: Node,
    browser: Browser,
    account: String,
}

impl World {
    async fn connected() -> Self {
        let provider = OAuthProvider::start().await;
        let node = node_with(&provider).await;
        let mut browser = Browser::new(&node);
        let link = link(&node).await;
        let page = browser.consent(url(&link)).await.is(200);
        assert!(page.text.contains("Acme is connected"), "{}", page.text);
        let account = status(&node, &link).await["account_id"]
            .as_str()
            .expect("it is connected")
            .to_owned();
        Self {
            provider,
            node,
            browser,
            account,
        }
    }

    async fn deploy(&self) -> Source {
        let acme = json!({"authProvisionId": self.account});
        let props = json!({"acme": acme, "url": self.provider.url()});
        self.node.deploy(WHOAMI, props).await
    }

    /// Runs a source and returns its events, oldest first.
    async fn run(&self, source: &Source) -> Vec<Value> {
        self.node.run(source, json!({})).await;
        self.emitted(source).await
    }

    async fn emitted(&self, source: &Source) -> Vec<Value> {
        payloads(&self.node.events(source).await)
    }

    async fn try_run(&self, source: &Source) -> Answer {
        let path = format!("{}/run", source.path());
        self.node.post(&path, json!({})).await
    }

    async fn account(&self) -> Value {
        let path = format!("/accounts/{}", self.account);
        self.node.get(&path).await.is(200).data()
    }

    async fn check(&self) -> Value {
        let path = format!("/accounts/{}/check", self.account);
        self.node.post(&path, json!({})).await.is(200).data()
    }

    async fn renewals(&self) -> usize {
        let seen = self.provider.seen().await;
        let grants = seen["grants"].as_array().unwrap().iter();
        grants.filter(|grant| *grant == "refresh_token").count()
    }
}

async fn link(node: &Node) -> Value {
    let body = json!({"app": OAuthProvider::APP, "name": "work"});
    node.post("/accounts/connect", body).await.is(200).data()
}

fn url(link: &Value) -> &str {
    link["url"].as_str().unwrap()
}

async fn status(node: &Node, link: &Value) -> Value {
    let path = format!("/accounts/connect/{}", link["id"].as_str().unwrap());
    node.get(&path).await.is(200).data()
}

fn whoami() -> Value {
    json!({"sub": "ann", "same": true, "oauth_client_id": OAuthProvider::CLIENT_ID, "oauth_uid": "ann"})
}
