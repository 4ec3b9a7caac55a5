//! The API in the words of tools: envelopes, errors, names instead of ids. Knows no tool.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::TryStreamExt as _;
use headwater_model::{package::PackageReference, prop::PropDefinition};
use http::{Method, Request, header::CONTENT_TYPE, request::Parts};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    node::{Answer, Node, Unreachable},
    reply::Refusal,
    settings::Settings,
};

/// Everything but what RFC 3986 calls unreserved.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Query parameters; those without a value are left out.
pub(crate) type Query<'a> = &'a [(&'a str, Option<String>)];

/// The API for one call of a tool.
pub(crate) struct Api {
    node: Arc<dyn Node>,
    from: Option<Parts>,
    settings: Settings,
}

/// The API's errors.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Refused {
    error: RefusedBecause,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RefusedBecause {
    message: String,
    param: Option<String>,
    stack: Option<String>,
}

impl Api {
    pub(crate) fn new(node: Arc<dyn Node>, from: Option<Parts>, settings: Settings) -> Self {
        Self {
            node,
            from,
            settings,
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reads something: the whole answer.
    pub(crate) async fn get(&self, path: &[&str], query: Query<'_>) -> Result<Value, Refusal> {
        self.call(Method::GET, path, query, None).await
    }

    /// Reads a list of the workspace that the server works in.
    pub(crate) async fn list(&self, path: &[&str], query: Query<'_>) -> Result<Value, Refusal> {
        let mut query = query.to_vec();
        query.push(("workspace_id", self.settings.workspace_id.clone()));
        self.get(path, &query).await
    }

    /// Sends a body: `data` of the answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &[&str],
        body: Value,
    ) -> Result<Value, Refusal> {
        let answer = self.call(method, path, &[], Some(body)).await;
        answer.map(data)
    }

    /// Creates something in the workspace that the server works in.
    pub(crate) async fn create(&self, path: &[&str], mut body: Value) -> Result<Value, Refusal> {
        if let Some(id) = &self.settings.workspace_id {
            body["workspace_id"] = id.as_str().into();
        }
        self.send(Method::POST, path, body).await
    }

    /// Opens a stream of events that goes on behind the one with that id.
    pub(crate) async fn follow(
        &self,
        path: &[&str],
        after: Option<String>,
    ) -> Result<Answer, Refusal> {
        let query = [("last_event_id", after)];
        let answer = self.answer(Method::GET, path, &query, None).await?;
        match answer.status.is_success() {
            true => Ok(answer),
            false => Err(refusal(answer).await),
        }
    }

    async fn call(
        &self,
        method: Method,
        path: &[&str],
        query: Query<'_>,
        body: Option<Value>,
    ) -> Result<Value, Refusal> {
        let answer = self.answer(method, path, query, body).await?;
        if !answer.status.is_success() {
            return Err(refusal(answer).await);
        }
        let bytes = whole(answer).await.map_err(unreachable)?;
        if bytes.is_empty() {
            return Ok(json!({}));
        }
        serde_json::from_slice(&bytes).map_err(|_| {
            Refusal::new("the node's answer is not JSON; check that its URL is a Headwater node's")
        })
    }

    async fn answer(
        &self,
        method: Method,
        path: &[&str],
        query: Query<'_>,
        body: Option<Value>,
    ) -> Result<Answer, Refusal> {
        let body = body.map(|body| Bytes::from(body.to_string()));
        let request = Request::builder()
            .method(method)
            .uri(target(path, query))
            .header(CONTENT_TYPE, "application/json")
            .body(body.unwrap_or_default())
            .map_err(|error| Refusal::new(error.to_string()))?;
        let sent = self.node.send(request, self.from.as_ref());
        sent.await.map_err(unreachable)
    }

    /// The component that a text names: an id, a key, `key@version`, a file of an npm package, or a URL of code.
    /// Those that are no component of the node yet are saved there.
    pub(crate) async fn component(&self, reference: &str) -> Result<Value, Refusal> {
        let schemes = ["https:", "http:", "built-in:"];
        if schemes.iter().any(|scheme| reference.starts_with(scheme)) {
            let body = json!({ "component_url": reference });
            return self.create(&["components"], body).await;
        }
        if !reference.starts_with("npm:") {
            return self.list(&["components", reference], &[]).await.map(data);
        }
        let package = reference.parse::<PackageReference>();
        let package = package.map_err(|error| Refusal::new(error.to_string()))?;
        if package.path.is_none() {
            return Err(Refusal::new(format!(
                "{package} is a package, not a component; `list_package` shows the components in it"
            )));
        }
        let body = json!({ "component_code": package.component_code() });
        self.create(&["components"], body).await
    }

    /// The id of the source with that id, name or name slug.
    pub(crate) async fn source_id(&self, given: &str) -> Result<String, Refusal> {
        let of = Named {
            kind: "source",
            prefix: "dc_",
            path: &["users", "me", "sources"],
            tool: "list_sources",
        };
        self.id_of(&of, given).await
    }

    /// The id of the workflow with that id, name or name slug.
    pub(crate) async fn workflow_id(&self, given: &str) -> Result<String, Refusal> {
        let of = Named {
            kind: "workflow",
            prefix: "p_",
            path: &["workflows"],
            tool: "list_workflows",
        };
        self.id_of(&of, given).await
    }

    async fn id_of(&self, of: &Named, given: &str) -> Result<String, Refusal> {
        if given.starts_with(of.prefix) {
            return Ok(given.to_owned());
        }
        let query = [
            ("q", Some(given.to_owned())),
            ("limit", Some("100".to_owned())),
        ];
        let found = self.list(of.path, &query).await?;
        let items = found["data"].as_array().into_iter().flatten();
        let called: Vec<&str> = items
            .filter(|item| {
                ["name", "name_slug"]
                    .iter()
                    .any(|field| item[*field] == given)
            })
            .filter_map(|item| item["id"].as_str())
            .collect();
        match called[..] {
            [id] => Ok(id.to_owned()),
            [] => Err(Refusal::new(format!(
                "no {} is called {given}; `{}` shows those that there are",
                of.kind, of.tool
            ))),
            [..] => Err(Refusal::new(format!(
                "{} {}s are called {given}; use one of their ids: {}",
                called.len(),
                of.kind,
                called.join(", ")
            ))),
        }
    }
}

/// Things that people call by name.
struct Named {
    kind: &'static str,
    prefix: &'static str,
    path: &'static [&'static str],
    tool: &'static str,
}

/// The props of a component, as the API shows it.
pub(crate) fn props(component: &Value) -> Result<Vec<PropDefinition>, Refusal> {
    let props = component["configurable_props"].clone();
    serde_json::from_value(props)
        .map_err(|error| Refusal::new(format!("the component's props cannot be read: {error}")))
}

/// `data` of an answer.
pub(crate) fn data(mut answer: Value) -> Value {
    answer.get_mut("data").map(Value::take).unwrap_or_default()
}

fn target(path: &[&str], query: Query<'_>) -> String {
    let escaped = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
    let mut target = String::from("/v1");
    for segment in path {
        target.push('/');
        target.push_str(&escaped(segment));
    }
    let given = query
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)));
    for (n, (name, value)) in given.enumerate() {
        target.push(if n == 0 { '?' } else { '&' });
        target.push_str(&format!("{name}={}", escaped(value)));
    }
    target
}

async fn whole(answer: Answer) -> Result<Bytes, Unreachable> {
    let whole = answer.body.try_fold(BytesMut::new(), |mut whole, chunk| {
        whole.extend_from_slice(&chunk);
        futures::future::ready(Ok(whole))
    });
    whole.await.map(BytesMut::freeze)
}

/// The API's error as a sentence, with the stack of a component that threw.
async fn refusal(answer: Answer) -> Refusal {
    let status = answer.status;
    let bytes = match whole(answer).await {
        Ok(bytes) => bytes,
        Err(error) => return unreachable(error),
    };
    let because = serde_json::from_slice::<Refused>(&bytes).unwrap_or_default();
    let because = because.error;
    if because.message.is_empty() {
        return Refusal(format!("the node answered status {status}"));
    }
    let mut text = because.message;
    if let Some(param) = because.param.filter(|param| !text.contains(param.as_str())) {
        text.push_str(&format!(" (parameter {param})"));
    }
    if let Some(stack) = because.stack.filter(|stack| !stack.is_empty()) {
        text.push_str(&format!("\n{stack}"));
    }
    Refusal(text)
}

pub(crate) fn unreachable(error: Unreachable) -> Refusal {
    Refusal(error.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_escaped_and_leave_out_what_is_not_given() {
        let query = [
            ("q", Some("a b&c".to_owned())),
            ("after", None),
            ("limit", Some("3".to_owned())),
        ];
        assert_eq!(
            target(&["components", "@a/b c"], &query),
            "/v1/components/%40a%2Fb%20c?q=a%20b%26c&limit=3"
        );
        assert_eq!(target(&["apps"], &[]), "/v1/apps");
    }
}
