//! Requests to a node's API, with a key or without.

pub use reqwest::Method;
use reqwest::RequestBuilder;
use serde_json::Value;

use crate::{answer::Answer, https};

/// Speaks to one node.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    key: Option<String>,
}

/// A client without a proxy that follows no redirect.
pub(crate) fn direct() -> reqwest::Client {
    built(builder())
}

/// The same, which trusts the authority of the tests.
fn trusting() -> reqwest::Client {
    let authority = https::authority();
    let authority = reqwest::Certificate::from_pem(authority.as_bytes());
    built(builder().tls_certs_merge([authority.expect("the authority's certificate is one")]))
}

fn built(builder: reqwest::ClientBuilder) -> reqwest::Client {
    builder.build().expect("the client has no special needs")
}

fn builder() -> reqwest::ClientBuilder {
    // Every caller installs the same provider; only the first call counts.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
}

impl Client {
    /// Speaks to the node behind this URL; one of `https` has a certificate of the tests' authority.
    pub fn new(base: String, key: Option<String>) -> Self {
        let http = match base.starts_with("https://") {
            true => trusting(),
            false => direct(),
        };
        Self { http, base, key }
    }

    /// The same client without a key, or with another one.
    pub fn with_key(&self, key: Option<&str>) -> Self {
        Self {
            key: key.map(str::to_owned),
            ..self.clone()
        }
    }

    /// A request to a path of the API (`/sources`), to one outside it (`/healthz` as `//healthz`), or
    /// to a whole URL.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = match path {
            _ if path.starts_with("http://") || path.starts_with("https://") => path.to_owned(),
            _ if path.starts_with("//") => format!("{}{}", self.base, &path[1..]),
            _ => format!("{}/v1{path}", self.base),
        };
        let request = self.http.request(method, url);
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends a request and reads the answer.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        let request = request.build().unwrap();
        let call = format!("{} {}", request.method(), request.url());
        let response = self.http.execute(request).await;
        Answer::read(
            call.clone(),
            response.unwrap_or_else(|error| panic!("{call}: {error:?}")),
        )
        .await
    }

    /// `GET`.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// `POST` with a JSON body.
    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body))
            .await
    }

    /// `PUT` with a JSON body.
    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }

    /// `PATCH` with a JSON body.
    pub async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body))
            .await
    }

    /// `DELETE`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }
}
