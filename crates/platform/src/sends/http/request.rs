//! The request that the arguments of `$.send.http` describe. The worker has checked them; stores may still hold
//! others, so each field is checked here as well.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use headwater_store::SendId;
use percent_encoding::percent_decode_str;
use reqwest::{
    Method,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};
use url::Url;

use super::super::shown;
use crate::{
    credential_names::is_credential,
    outbound::{Outbound, USER_AGENT, visible_ascii},
};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Headers about the connection and the length of the body, which are the client's.
const CONNECTION_HEADERS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The arguments as the worker sends them.
#[derive(Deserialize)]
struct Arguments {
    method: Option<String>,
    url: String,
    headers: Option<Map<String, Value>>,
    params: Option<Map<String, Value>>,
    data: Option<Box<RawValue>>,
    auth: Option<Login>,
}

#[derive(Deserialize)]
struct Login {
    username: String,
    #[serde(default)]
    password: String,
}

/// A request to be sent.
pub(super) struct Request {
    pub(super) outbound: Outbound,
    /// The credentials in it, which nobody is shown.
    pub(super) credentials: Vec<String>,
}

impl Request {
    /// Reads the arguments.
    ///
    /// # Errors
    /// The field that cannot be sent, and why.
    pub(super) fn read(value: &RawValue) -> Result<Self, String> {
        let arguments: Arguments = serde_json::from_str(value.get())
            .map_err(|error| format!("$.send.http: cannot read the arguments: {error}"))?;
        let method = method(arguments.method.as_deref())?;
        let mut url = url(&arguments.url)?;
        let of_url = take_login(&mut url);
        add_params(&mut url, arguments.params.unwrap_or_default())?;
        let mut headers = headers(arguments.headers.unwrap_or_default())?;
        // A header says more than a URL that has been copied.
        let has_header = headers.contains_key(header::AUTHORIZATION);
        let login = arguments.auth.or(of_url.filter(|_| !has_header));
        let mut credentials = Vec::new();
        if let Some(login) = login {
            let basic = STANDARD.encode(format!("{}:{}", login.username, login.password));
            let header = HeaderValue::try_from(format!("Basic {basic}"));
            headers.insert(
                header::AUTHORIZATION,
                header.map_err(|_| no_header("auth"))?,
            );
            credentials.extend([login.password, basic]);
        }
        credentials.extend(of_headers(&headers));
        credentials.extend(of_params(&url));
        let body = body(arguments.data, &mut headers);
        let user_agent = HeaderValue::from_static(USER_AGENT);
        headers.entry(header::USER_AGENT).or_insert(user_agent);
        let outbound = Outbound {
            method,
            url,
            headers,
            body,
        };
        Ok(Self {
            outbound,
            credentials,
        })
    }

    /// The same with a name that all attempts have, unless the step gave it one.
    pub(super) fn named(mut self, id: &SendId) -> Self {
        let name = format!("{}/{}/{}", id.run_id, id.path, id.number);
        // Percent-encoded text consists of visible ASCII.
        if let Ok(name) = HeaderValue::try_from(visible_ascii(&name)) {
            let headers = &mut self.outbound.headers;
            headers.entry(IDEMPOTENCY_KEY).or_insert(name);
        }
        self
    }

    /// The request for people.
    pub(super) fn shown(&self) -> Value {
        let request = &self.outbound;
        let mut shown = json!({
            "method": request.method.as_str(),
            "url": shown::url(&request.url),
            "headers": shown::headers(&request.headers),
        });
        if !request.body.is_empty() {
            let body = String::from_utf8_lossy(&request.body);
            shown["body"] = shown::cut(&shown::without(&self.credentials, &body)).into();
        }
        shown
    }
}

fn method(given: Option<&str>) -> Result<Method, String> {
    let name = given.unwrap_or("GET").to_ascii_uppercase();
    Method::from_bytes(name.as_bytes())
        .map_err(|_| format!("$.send.http: method: `{name}` is not the name of an HTTP method"))
}

fn url(given: &str) -> Result<Url, String> {
    let url = Url::parse(given).ok();
    let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.ok_or_else(|| "$.send.http: url: give an http or https URL".to_owned())
}

/// Takes user and password out of a URL, which may be shown.
fn take_login(url: &mut Url) -> Option<Login> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let username = decoded(url.username());
    let password = decoded(url.password().unwrap_or_default());
    if username.is_empty() && password.is_empty() {
        return None;
    }
    // URLs with a host take both.
    let _ = (url.set_username(""), url.set_password(None));
    Some(Login { username, password })
}

fn add_params(url: &mut Url, params: Map<String, Value>) -> Result<(), String> {
    if params.is_empty() {
        return Ok(());
    }
    let mut query = url.query_pairs_mut();
    for (name, value) in params {
        let values = texts(value)
            .ok_or_else(|| format!("$.send.http: params.{name}: give a text or a list of texts"))?;
        for value in values {
            query.append_pair(&name, &value);
        }
    }
    Ok(())
}

fn headers(given: Map<String, Value>) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let values = texts(value).ok_or_else(|| no_header(&format!("headers.{name}")))?;
        if CONNECTION_HEADERS.contains(&&*name.to_ascii_lowercase()) {
            continue;
        }
        for value in values {
            let field = HeaderName::try_from(&name).ok();
            let field = field.zip(HeaderValue::try_from(value).ok());
            let (field, value) = field.ok_or_else(|| no_header(&format!("headers.{name}")))?;
            headers.append(field, value);
        }
    }
    Ok(headers)
}

fn no_header(field: &str) -> String {
    format!("$.send.http: {field}: give texts that a header may have, without line ends")
}

/// A value as texts; none if it is an object or a list of lists.
fn texts(value: Value) -> Option<Vec<String>> {
    let text = |value| match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(list) => list.into_iter().map(text).collect(),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Object(_) => {
            text(value).map(|text| vec![text])
        }
    }
}

/// Text as it is, everything else as JSON.
fn body(data: Option<Box<RawValue>>, headers: &mut HeaderMap) -> Bytes {
    let Some(data) = data else {
        return Bytes::new();
    };
    if let Ok(text) = serde_json::from_str::<String>(data.get()) {
        return text.into();
    }
    let json = HeaderValue::from_static("application/json");
    headers.entry(header::CONTENT_TYPE).or_insert(json);
    Bytes::copy_from_slice(data.get().as_bytes())
}

/// The values of headers that are credentials, and what is behind a word such as `Bearer`.
fn of_headers(headers: &HeaderMap) -> Vec<String> {
    let headers = headers.iter();
    let credentials = headers.filter(|(name, _)| is_credential(name.as_str()));
    let values = credentials.filter_map(|(_, value)| value.to_str().ok());
    values
        .map(|value| value.split_once(' ').map_or(value, |(_, rest)| rest))
        .map(str::to_owned)
        .collect()
}

fn of_params(url: &Url) -> Vec<String> {
    let pairs = url.query_pairs();
    let credentials = pairs.filter(|(name, _)| is_credential(name));
    credentials.map(|(_, value)| value.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::*;

    fn read(arguments: Value) -> Request {
        Request::read(&to_raw_value(&arguments).unwrap()).unwrap()
    }

    fn refusal(arguments: Value) -> String {
        let refused = Request::read(&to_raw_value(&arguments).unwrap());
        refused.err().unwrap()
    }

    #[test]
    fn the_arguments_become_a_request() {
        let request = read(json!({
            "method": "post",
            "url": "https://a.example/x?a=1",
            "headers": {"X-One": "1", "x-many": ["1", 2], "Host": "b.example", "Content-Length": 3},
            "params": {"b": "2 3", "list": ["x", "y"], "none": null},
            "data": {"n": [1]},
        }));
        let sent = request.outbound;
        assert_eq!(sent.method, Method::POST);
        assert_eq!(
            sent.url.as_str(),
            "https://a.example/x?a=1&b=2+3&list=x&list=y"
        );
        assert_eq!(sent.body, r#"{"n":[1]}"#);
        let names: Vec<_> = sent.headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-one", "x-many", "content-type", "user-agent"]);
        assert_eq!(sent.headers.get_all("x-many").iter().count(), 2);
        assert_eq!(sent.headers["content-type"], "application/json");
        assert_eq!(sent.headers["user-agent"], USER_AGENT);
    }

    #[test]
    fn text_is_sent_as_it_is_and_numbers_keep_their_digits() {
        for (data, body, content_type) in [
            (r#""a=1&b=2""#, "a=1&b=2", None),
            (r#""""#, "", None),
            ("null", "", None),
            (
                "12345678901234567890.50",
                "12345678901234567890.50",
                Some("application/json"),
            ),
            ("[1]", "[1]", Some("application/json")),
        ] {
            let value = format!(r#"{{"url":"https://a.example","data":{data}}}"#);
            let request = Request::read(&RawValue::from_string(value).unwrap()).unwrap();
            assert_eq!(request.outbound.body, body);
            let sent = request.outbound.headers.get("content-type");
            assert_eq!(
                sent.map(|sent| sent.to_str().unwrap()),
                content_type,
                "{data}"
            );
        }
        let own =
            json!({"url": "https://a.example", "data": {}, "headers": {"Content-Type": "a/b"}});
        assert_eq!(read(own).outbound.headers["content-type"], "a/b");
    }

    #[test]
    fn user_and_password_come_from_auth_or_the_url() {
        let bearer =
            json!({"url": "https://u:p@a.example/", "headers": {"Authorization": "Bearer t"}});
        assert_eq!(read(bearer).outbound.headers["authorization"], "Bearer t");
        for arguments in [
            json!({"url": "https://a.example/", "auth": {"username": "u", "password": "p@ssword"}}),
            json!({"url": "https://u:p%40ssword@a.example/"}),
        ] {
            let request = read(arguments);
            let header = &request.outbound.headers["authorization"];
            assert_eq!(header, "Basic dTpwQHNzd29yZA==");
            assert_eq!(request.outbound.url.as_str(), "https://a.example/");
            assert!(request.credentials.contains(&"p@ssword".to_owned()));
        }
    }

    #[test]
    fn nobody_is_shown_a_credential() {
        let request = read(json!({
            "url": "https://u:password-of-u@a.example/?api_key=key-of-a",
            "headers": {"Authorization": "Bearer bearer-of-a", "X-Token": "token-of-a", "X-One": "1"},
            "data": "token-of-a bearer-of-a key-of-a and text",
        }));
        let shown = request.shown();
        assert_eq!(shown["body"], "… … … and text");
        assert_eq!(shown["headers"]["x-one"], "1");
        let shown = shown.to_string();
        assert!(!shown.contains("-of-"), "{shown}");
    }

    #[test]
    fn the_name_of_a_send_is_its_own_unless_the_step_gave_one() {
        let id = SendId {
            run_id: headwater_model::id::InvocationId::new(headwater_model::time::EpochMs(1), 1),
            path: "loop[3].größe".to_owned(),
            number: 2,
        };
        let sent = read(json!({"url": "https://a.example"}))
            .named(&id)
            .outbound;
        let expected = format!("{}/loop[3].gr%C3%B6%C3%9Fe/2", id.run_id);
        assert_eq!(sent.headers["idempotency-key"], expected);
        let headers = json!({"idempotency-key": "own"});
        let sent = read(json!({"url": "https://a.example", "headers": headers})).named(&id);
        assert_eq!(sent.outbound.headers["idempotency-key"], "own");
    }

    #[test]
    fn an_argument_that_cannot_be_sent_is_named() {
        let url = "https://a.example";
        for (arguments, field) in [
            (json!({}), "url"),
            (json!({"url": "a.example"}), "url"),
            (json!({"url": "file:///etc/passwd"}), "url"),
            (json!({"url": url, "method": "GET /"}), "method"),
            (json!({"url": url, "headers": {"a b": "1"}}), "headers.a b"),
            (json!({"url": url, "headers": {"a": "1\n2"}}), "headers.a"),
            (json!({"url": url, "headers": {"a": {}}}), "headers.a"),
            (json!({"url": url, "params": {"a": [[]]}}), "params.a"),
        ] {
            let reason = refusal(arguments);
            assert!(
                reason.starts_with("$.send.http: ") && reason.contains(field),
                "{field}: {reason}"
            );
        }
    }
}
