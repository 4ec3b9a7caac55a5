//! The HTTP client for a node's API: addresses, the key, and errors told apart. It knows the
//! envelopes (`data`, `page_info`, `error`) and no resource; those are the commands' business.

mod error;
mod feed;
mod forward;
mod listing;
mod page;
mod trust;
mod work;
mod workspace;

use std::time::Duration;

use anyhow::{Context as _, Result};
use http::Uri;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use self::error::ApiError;
pub(crate) use self::error::{ClientError, naming_flags};
pub(crate) use self::feed::Feed;
pub(crate) use self::listing::given;
pub(crate) use self::page::Page;
pub(crate) use self::trust::{http_client, trust, trusting};
use crate::usage_error::UsageError;
use crate::waiting;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longer than a deploy may take: building, then hooks of up to 300 s each.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(900);
/// Reads wait for nothing; a node that takes longer is as good as away.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// Query parameters.
pub(crate) type Query<'a> = &'a [(&'a str, String)];

pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    key: Option<String>,
    /// The place that the key is from; or, without one, the places where none is.
    key_origin: String,
    /// The workspace to work in, by its id or orgname.
    workspace: Option<String>,
    workspace_id: OnceCell<String>,
}

/// An answer outside `/v1`, where any status is information.
pub(crate) struct Probe {
    pub(crate) ok: bool,
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Client {
    pub(crate) fn new(url: &str, key: Option<String>) -> Result<Self> {
        // A redirected POST would arrive as a GET.
        let http = http_client()
            .user_agent(concat!("headwater/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            .build()
            .context("cannot set up the HTTP client")?;
        Ok(Self {
            http,
            base: base_url(url)?,
            key,
            key_origin: "the program".to_owned(),
            workspace: None,
            workspace_id: OnceCell::new(),
        })
    }

    /// Tells about a key that the node does not know where it is from.
    pub(crate) fn with_key_of(self, key_origin: String) -> Self {
        Self { key_origin, ..self }
    }

    /// Works in a workspace, named by its id or orgname.
    pub(crate) fn in_workspace(self, workspace: Option<String>) -> Self {
        Self { workspace, ..self }
    }

    /// A client of the same node with another key.
    pub(crate) fn with_key(&self, key: &str) -> Result<Self> {
        Self::new(self.base.as_str(), Some(key.to_owned()))
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// `data` of one resource.
    pub(crate) async fn get(&self, path: &[&str]) -> Result<Value> {
        self.get_data(path, &[]).await
    }

    /// The same with query parameters.
    pub(crate) async fn get_data(&self, path: &[&str], query: Query<'_>) -> Result<Value> {
        self.get_with(path, query).await.map(data)
    }

    /// `data` of a request that takes the node long, such as a download.
    pub(crate) async fn get_slowly(&self, path: &[&str], query: Query<'_>) -> Result<Value> {
        let request = self.request(Method::GET, path).query(query);
        self.answer(work::of(&Method::GET, path), request)
            .await
            .map(data)
    }

    /// A page of a list.
    pub(crate) async fn page(&self, path: &[&str], query: Query<'_>) -> Result<Page> {
        let body = self.get_with(path, query).await?;
        serde_json::from_value(body).context("the node's answer is not a page of a list")
    }

    /// Sends a body and returns `data`; null when the answer has none.
    pub(crate) async fn send(&self, method: Method, path: &[&str], body: &Value) -> Result<Value> {
        let work = work::of(&method, path);
        let request = self.request(method, path).json(body);
        self.answer(work, request).await.map(data)
    }

    pub(crate) async fn post(&self, path: &[&str], body: &Value) -> Result<Value> {
        self.send(Method::POST, path, body).await
    }

    /// Deletes. The answer is complete: an error may stand beside `data`.
    pub(crate) async fn delete(&self, path: &[&str]) -> Result<Value> {
        let work = work::of(&Method::DELETE, path);
        self.answer(work, self.request(Method::DELETE, path)).await
    }

    /// Asks something outside `/v1`, such as `healthz`.
    pub(crate) async fn probe(&self, path: &str) -> Result<Probe, ClientError> {
        let url = self.url(&[], &[path]);
        let response = self.http.get(url).timeout(READ_TIMEOUT).send().await;
        let response = response.map_err(|error| self.unreachable(error))?;
        let status = response.status();
        let body = response.text().await;
        Ok(Probe {
            ok: status.is_success(),
            status: status.as_u16(),
            body: body.map_err(|error| self.unreachable(error))?,
        })
    }

    async fn get_with(&self, path: &[&str], query: Query<'_>) -> Result<Value> {
        let request = self.request(Method::GET, path).query(query);
        let work = work::of(&Method::GET, path);
        let answer = self.answer(work, request.timeout(READ_TIMEOUT)).await;
        answer.map_err(|error| naming_flags(error, query))
    }

    fn request(&self, method: Method, path: &[&str]) -> RequestBuilder {
        let request = self.http.request(method, self.url(&["v1"], path));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    fn url(&self, prefix: &[&str], path: &[&str]) -> Url {
        let mut url = self.base.clone();
        // `base_url` admits http and https only, and those have a path.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(prefix).extend(path);
        }
        url
    }

    async fn answer(&self, work: &str, request: RequestBuilder) -> Result<Value> {
        waiting::shown(work, self.answered(request)).await
    }

    async fn answered(&self, request: RequestBuilder) -> Result<Value> {
        let response = request.send().await;
        let response = response.map_err(|error| self.unreachable(error))?;
        let response = self.successful(response).await?;
        let text = response.text().await;
        let text = text.map_err(|error| self.unreachable(error))?;
        if text.trim().is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).with_context(|| {
            format!(
                "{} answered something that is not JSON; is it a Headwater node?",
                self.base
            )
        })
    }

    /// The answer, unless the node refused.
    async fn successful(&self, response: Response) -> Result<Response, ClientError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let patience = retry_after(&response);
        let text = response.text().await;
        let text = text.map_err(|error| self.unreachable(error))?;
        let refused = ApiError::from_body(status.as_u16(), &text).asking_for(patience);
        Err(match status == StatusCode::UNAUTHORIZED {
            true => refused.told_as(self.unknown_key()).into(),
            false => refused.into(),
        })
    }

    fn unknown_key(&self) -> String {
        let origin = &self.key_origin;
        match self.key {
            Some(_) => format!(
                "the node at {} does not know the API key of {origin}",
                self.base
            ),
            None => format!(
                "there is no API key for the node at {}: {origin}",
                self.base
            ),
        }
    }

    fn unreachable(&self, source: reqwest::Error) -> ClientError {
        ClientError::unreachable(&self.base, source)
    }

    /// Where a request's target is at the node.
    fn at(&self, target: &Uri) -> Url {
        let mut url = self.base.clone();
        let below = url.path().trim_end_matches('/');
        url.set_path(&format!("{below}{}", target.path()));
        url.set_query(target.query());
        url
    }
}

/// The time after which to ask again, if the answer says it in seconds.
fn retry_after(response: &Response) -> Option<Duration> {
    let header = response.headers().get(reqwest::header::RETRY_AFTER)?;
    let seconds = header.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn data(mut body: Value) -> Value {
    body.get_mut("data").map(Value::take).unwrap_or(Value::Null)
}

/// Whether two addresses are of one node.
pub(crate) fn same_node(one: &str, other: &str) -> bool {
    matches!((base_url(one), base_url(other)), (Ok(one), Ok(other)) if one == other)
}

/// The node's address, without the `/v1` that people copy along with it.
fn base_url(text: &str) -> Result<Url, UsageError> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| {
            UsageError(format!(
                "{text} is not a node's address; write it as http://127.0.0.1:3000"
            ))
        })?;
    let path = url.path().trim_end_matches('/');
    let path = path.strip_suffix("/v1").unwrap_or(path).to_owned();
    let mut base = url;
    base.set_path(&path);
    base.set_query(None);
    base.set_fragment(None);
    Ok(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_url_may_be_given_in_several_ways() {
        let table = [
            ("http://a:3000", "http://a:3000/"),
            ("http://a:3000/v1/", "http://a:3000/"),
            ("https://a/headwater/v1", "https://a/headwater"),
        ];
        for (given, expected) in table {
            assert_eq!(base_url(given).unwrap().as_str(), expected);
        }
        assert!(base_url("localhost:3000").is_err());
        assert!(base_url("").is_err());
    }

    #[test]
    fn path_segments_are_escaped() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::new("http://a/x/", None).unwrap();
        let url = client.url(&["v1"], &["components", "a/b c"]);
        assert_eq!(url.as_str(), "http://a/x/v1/components/a%2Fb%20c");
        let target = Uri::from_static("/v1/components/a%2Fb%20c?q=%26");
        assert_eq!(
            client.at(&target).as_str(),
            "http://a/x/v1/components/a%2Fb%20c?q=%26"
        );
    }
}
