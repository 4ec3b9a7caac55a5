//! Services that published components are written for, played by servers of the test under the
//! services' own host names, over TLS.
//!
//! Each plays as much of its API as the tests use, and that faithfully: it checks credentials, pages its
//! lists, keeps what it is told, and calls the webhooks that were registered. Each is written after the
//! service's public documentation.

mod apify;
mod gitlab;
mod google_drive;
mod graphql;
mod linear;
mod monday;
mod notion;
mod shopify;
mod slack;

pub use apify::Apify;
pub use gitlab::Gitlab;
pub use google_drive::GoogleDrive;
pub use linear::Linear;
pub use monday::Monday;
pub use notion::Notion;
pub use shopify::Shopify;
pub use slack::Slack;

use serde_json::Value;

use crate::{answer::Answer, client::Client, receiver::Received};

/// Sends a service's call to a webhook that was registered with it.
async fn call(url: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    let client = Client::new(String::new(), None);
    let mut request = client
        .request(reqwest::Method::POST, url)
        .header("content-type", "application/json")
        .body(body.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request).await
}

impl Received {
    /// A header's value; empty if it is missing.
    fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// A parameter of the query, decoded; empty if it is missing.
    fn parameter(&self, name: &str) -> String {
        let pairs = url::form_urlencoded::parse(self.query.as_bytes());
        pairs
            .into_iter()
            .find_map(|(key, value)| (key == name).then(|| value.into_owned()))
            .unwrap_or_default()
    }
}
