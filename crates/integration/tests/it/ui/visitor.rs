//! Somebody who looks at pages without a browser: keeps the session's cookie, and sends forms as pages do.

use headwater_integration::{Answer, Client, Method, Node};
use reqwest::RequestBuilder;
use url::form_urlencoded;

/// A person who is signed in.
pub(crate) struct Visitor {
    pub(crate) client: Client,
    pub(crate) cookie: String,
}

impl Visitor {
    /// Signs in with the node's first key.
    pub(crate) async fn of(node: &Node) -> Self {
        Self::with(node, node.api_key()).await
    }

    /// Signs in with a key.
    pub(crate) async fn with(node: &Node, key: &str) -> Self {
        let client = node.with_key(None);
        let answer = sign_in(&client, key, "/").await.is(303);
        assert_eq!(answer.header("location"), "/");
        let cookie = cookie_of(&answer);
        Self { client, cookie }
    }

    /// Opens a page.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = self.client.request(Method::GET, &format!("/{path}"));
        let request = request
            .header("cookie", &self.cookie)
            .header("sec-fetch-site", "same-origin");
        self.client.send(request).await
    }

    /// Sends a form of a page.
    pub(crate) async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let request = self.client.request(Method::POST, &format!("/{path}"));
        let request = request
            .header("cookie", &self.cookie)
            .header("sec-fetch-site", "same-origin");
        self.client.send(with_fields(request, fields)).await
    }
}

/// Sends the form of the page that signs in.
pub(crate) async fn sign_in(client: &Client, key: &str, next: &str) -> Answer {
    let request = client.request(Method::POST, "//signin");
    let request = request.header("sec-fetch-site", "same-origin");
    client
        .send(with_fields(request, &[("key", key), ("next", next)]))
        .await
}

/// The cookie that an answer sets, as a browser sends it.
pub(crate) fn cookie_of(answer: &Answer) -> String {
    let set = answer.header("set-cookie");
    set.split(';').next().unwrap_or_default().to_owned()
}

/// The request with the fields of a form.
pub(crate) fn with_fields(request: RequestBuilder, fields: &[(&str, &str)]) -> RequestBuilder {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(fields);
    let kind = "application/x-www-form-urlencoded";
    request.header("content-type", kind).body(body.finish())
}

/// The attribute of the first element with this name.
pub(super) fn value_of(page: &Answer, name: &str) -> String {
    let (_, rest) = page.text.split_once(&format!("name=\"{name}\"")).unwrap();
    let (_, rest) = rest.split_once("value=\"").unwrap();
    let (value, _) = rest.split_once('"').unwrap();
    value.replace("&quot;", "\"").replace("&amp;", "&")
}
