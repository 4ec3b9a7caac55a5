//! Entries of `http` in a test: the requests that each is for, and its answers.

use anyhow::{Context as _, Result, bail};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value};
use url::Url;

use super::asked::{Asked, plain_host, query};
use crate::command::workflows::test::{expectation::is_part_of, reading::read};

/// An answer to some requests.
#[derive(Debug, Clone)]
pub(in super::super) struct HttpMock {
    wanted: Wanted,
    /// One per request; the last one again and again.
    replies: Vec<Reply>,
}

/// The requests that are meant.
#[derive(Debug, Clone)]
struct Wanted {
    method: Option<Method>,
    url: WantedUrl,
    query: Value,
    headers: Value,
    body: Option<Value>,
}

/// Host and path.
#[derive(Debug, Clone)]
enum WantedUrl {
    Whole(String),
    Beginning(String),
}

/// The answer to a request.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenMock {
    #[serde(rename = "match")]
    wanted: Value,
    reply: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenMatch {
    method: Option<String>,
    url: String,
    #[serde(default)]
    query: Map<String, Value>,
    #[serde(default)]
    headers: Map<String, Value>,
    body: Option<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenReply {
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    body: Value,
}

fn ok() -> u16 {
    200
}

impl HttpMock {
    /// Reads an entry.
    ///
    /// # Errors
    /// It is not one; the error names the field.
    pub(in super::super) fn read(given: &Value) -> Result<Self> {
        let given: GivenMock = read(given)?;
        Ok(Self {
            wanted: wanted(&given.wanted).context("match")?,
            replies: replies(&given.reply).context("reply")?,
        })
    }

    pub(super) fn fits(&self, asked: &Asked) -> bool {
        self.wanted.fits(asked)
    }

    /// The answer to the request of that number.
    pub(super) fn reply(&self, number: usize) -> &Reply {
        let last = self.replies.len() - 1;
        &self.replies[number.min(last)]
    }
}

impl Wanted {
    fn fits(&self, asked: &Asked) -> bool {
        let is_method = |method: &Method| method.as_str() == asked.method;
        let is_url = match &self.url {
            WantedUrl::Whole(url) => asked.url == *url,
            WantedUrl::Beginning(beginning) => asked.url.starts_with(beginning),
        };
        self.method.as_ref().is_none_or(is_method)
            && is_url
            && is_part_of(&self.query, &asked.query)
            && is_part_of(&self.headers, &asked.headers)
            && self
                .body
                .as_ref()
                .is_none_or(|body| is_part_of(body, &asked.body))
    }
}

/// `METHOD URL`, a URL, or fields.
fn wanted(given: &Value) -> Result<Wanted> {
    let given = match given {
        Value::String(text) => {
            let (method, url) = match text.trim().split_once(char::is_whitespace) {
                Some((method, url)) => (Some(method), url.trim()),
                None => (None, text.trim()),
            };
            GivenMatch {
                method: method.map(str::to_owned),
                url: url.to_owned(),
                query: Map::new(),
                headers: Map::new(),
                body: None,
            }
        }
        Value::Object(_) => read(given)?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => bail!(
            "{given} is neither a URL such as https://shop.example/orders, nor a method and a URL, nor an object with `url`"
        ),
    };
    let method = given.method.map(|method| {
        let is_word = method
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        let read = Method::from_bytes(method.to_uppercase().as_bytes());
        read.ok()
            .filter(|_| is_word)
            .with_context(|| format!("method: `{method}` is not one such as GET"))
    });
    let (url, mut query) = wanted_url(&given.url).context("url")?;
    query.extend(given.query);
    let query = query
        .into_iter()
        .map(|(name, value)| (name, text_of(value)));
    let headers = given.headers.into_iter();
    let headers = headers.map(|(name, value)| (name.to_lowercase(), text_of(value)));
    Ok(Wanted {
        method: method.transpose()?,
        url,
        query: query.collect(),
        headers: headers.collect(),
        body: given.body,
    })
}

/// The parts of a URL that are compared: scheme and fragment are not.
fn wanted_url(text: &str) -> Result<(WantedUrl, Map<String, Value>)> {
    let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
    if !matches!(scheme.to_lowercase().as_str(), "http" | "https") {
        bail!("`{text}` is not a URL of http or https");
    }
    if let Some(beginning) = rest.strip_suffix('*') {
        if beginning.contains('?') {
            bail!(
                "`{text}`: a `*` stands for the rest of a path; name the parameters that matter, others may be there"
            );
        }
        let (host, path) = beginning.split_at(beginning.find('/').unwrap_or(beginning.len()));
        let host = if path.is_empty() {
            host.to_lowercase()
        } else {
            plain_host(host)
        };
        return Ok((WantedUrl::Beginning(format!("{host}{path}")), Map::new()));
    }
    let invalid = || format!("`{text}` is not a URL such as https://shop.example/orders");
    let url = Url::parse(&format!("https://{rest}")).with_context(invalid)?;
    let host = url.host_str().unwrap_or_default();
    let host = match url.port() {
        Some(port) => plain_host(&format!("{host}:{port}")),
        None => host.to_owned(),
    };
    let whole = format!("{host}{}", url.path());
    Ok((
        WantedUrl::Whole(whole),
        query(url.query().unwrap_or_default()),
    ))
}

/// A value as requests have it in their query and headers: as text.
fn text_of(value: Value) -> Value {
    match value {
        Value::Number(_) | Value::Bool(_) => value.to_string().into(),
        Value::Array(values) => values.into_iter().map(text_of).collect(),
        Value::Null | Value::String(_) | Value::Object(_) => value,
    }
}

fn replies(given: &Value) -> Result<Vec<Reply>> {
    match given {
        Value::Array(list) if list.is_empty() => {
            bail!("the list is empty; name the reply to each request")
        }
        Value::Array(list) => {
            let replies = list.iter().enumerate();
            replies
                .map(|(index, given)| reply(given).with_context(|| format!("[{index}]")))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Ok(vec![reply(given)?])
        }
    }
}

fn reply(given: &Value) -> Result<Reply> {
    if !given.is_object() {
        bail!("{given} is not a reply such as {{ status: 200, body: … }}");
    }
    let given: GivenReply = read(given)?;
    if !(200..=599).contains(&given.status) {
        bail!(
            "status: {} is not the status of a response, 200 to 599",
            given.status
        );
    }
    let mut headers = HeaderMap::new();
    for (name, value) in &given.headers {
        let field = || format!("headers.{name}");
        let key = HeaderName::from_bytes(name.as_bytes()).with_context(field)?;
        let values = value
            .as_array()
            .map_or(std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            let Value::String(text) = text_of(value.clone()) else {
                bail!("headers.{name}: {value} is neither a text nor a list of texts");
            };
            headers.append(&key, HeaderValue::from_str(&text).with_context(field)?);
        }
    }
    Ok(Reply {
        status: StatusCode::from_u16(given.status)?,
        headers,
        body: given.body,
    })
}
