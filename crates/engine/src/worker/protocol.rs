//! The frames of the worker protocol as Rust values; `runtime/worker/protocol.ts` is the other side.
//!
//! Not responsible for bytes (`frames.rs`) nor for handling frames.

use std::{borrow::Cow, collections::BTreeMap, fmt, net::IpAddr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use headwater_model::{
    event::{Emit, EmitOptions},
    outcome::{ComponentError, Outcome},
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    api::{Entry, Export, KvChange, LogLevel},
    data_store::{OperationName, StoreOperation},
    network::{Destination, Route},
    response::Response,
    step::{Flow, FlowOperation, SendKind, Sent, Service, StepResponse},
};

/// The protocol's version, which both sides send in their first frame.
pub(crate) const VERSION: u32 = 5;

/// The number of a component in its worker: chosen by the host, and never given to another one in the same worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ComponentNumber(u32);

impl ComponentNumber {
    /// That of the first component, and of most workers' only one.
    pub(crate) const FIRST: Self = Self(1);

    /// That of the component after this one.
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for ComponentNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A frame of the host.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum HostFrame<'a> {
    Hello {
        version: u32,
        token: String,
        /// The hosts that components reach under another address.
        routes: Vec<RouteFrame<'a>>,
        /// The module to import before there is a component, which imports it too.
        shared_module: Option<String>,
    },
    Load {
        component: ComponentNumber,
        entry: &'a str,
        /// Whether the module is a function that creates the component's exports (`factory.rs`).
        is_factory: bool,
        env: &'a BTreeMap<String, String>,
        kv: &'a Map<String, Value>,
        kv_limit_bytes: usize,
    },
    Unload {
        component: ComponentNumber,
    },
    Describe {
        component: ComponentNumber,
    },
    Invoke {
        id: u64,
        component: ComponentNumber,
        entry: &'a Entry,
        event: &'a RawValue,
        props: &'a Map<String, Value>,
        log_limit_bytes: usize,
    },
    /// Answered as soon as no code of a component runs.
    Ping,
    /// Removes the `/tmp` of a run.
    ForgetTmp {
        tmp: &'a str,
    },
    Reply {
        id: u64,
        request: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<&'a RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a str>,
    },
}

/// The destination of requests to a host: a socket, or an address.
#[derive(Debug, Serialize)]
pub(crate) struct RouteFrame<'a> {
    host: &'a str,
    #[serde(flatten)]
    to: RouteTarget<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RouteTarget<'a> {
    Socket {
        socket: &'a str,
    },
    Address {
        address: IpAddr,
        #[serde(skip_serializing_if = "Option::is_none")]
        port: Option<u16>,
    },
}

impl<'a> RouteFrame<'a> {
    /// `None` for a route to this node when there is no socket that leads there.
    pub(crate) fn new(route: &'a Route, socket: Option<&'a str>) -> Option<Self> {
        let to = match route.destination {
            Destination::ThisNode => RouteTarget::Socket { socket: socket? },
            Destination::Address { ip, port } => RouteTarget::Address { address: ip, port },
        };
        Some(Self {
            host: &route.host,
            to,
        })
    }
}

/// The kind of a worker's frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Ready,
    Pong,
    Loaded,
    LoadFailed,
    Described,
    DescribeFailed,
    Emit,
    Respond,
    Log,
    Kv,
    Export,
    Exit,
    DataStore,
    Skipped,
    Flow,
    Send,
    RespondBody,
    RespondRefused,
    Ask,
    RefreshTimeout,
    Outcome,
}

/// A frame of a worker: the fields of every kind in one, because an enum with a tag inside would have
/// each frame copied before its kind is known, and raw JSON does not survive that.
#[derive(Debug, Deserialize)]
pub(crate) struct WorkerFrame<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    #[serde(default)]
    pub(crate) id: Option<u64>,
    #[serde(default)]
    pub(crate) version: Option<u32>,
    #[serde(default)]
    pub(crate) error: Option<ComponentError>,
    #[serde(default)]
    pub(crate) component: Option<ComponentNumber>,
    #[serde(default)]
    pub(crate) description: Option<Value>,
    #[serde(default, borrow, deserialize_with = "present")]
    event: Option<&'a RawValue>,
    #[serde(default)]
    options: Option<EmitOptions>,
    #[serde(default, borrow, deserialize_with = "present")]
    value: Option<&'a RawValue>,
    #[serde(default)]
    level: Option<LogLevel>,
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(default)]
    seq: u64,
    #[serde(default, borrow)]
    key: Option<Cow<'a, str>>,
    #[serde(default)]
    status: u16,
    #[serde(default)]
    headers: Option<Headers>,
    #[serde(default, borrow)]
    body: Option<Cow<'a, str>>,
    #[serde(default)]
    encoding: Option<Encoding>,
    /// The number of the request in its run.
    #[serde(default)]
    request: u64,
    #[serde(default, borrow)]
    store: Option<Cow<'a, str>>,
    #[serde(default)]
    op: Option<Operation>,
    #[serde(default)]
    ttl: Option<f64>,
    #[serde(default)]
    after_ms: Option<u64>,
    #[serde(default, borrow, deserialize_with = "present")]
    context: Option<&'a RawValue>,
    #[serde(default)]
    max_retries: Option<u32>,
    #[serde(default, rename = "kind")]
    send: Option<SendKind>,
    #[serde(default)]
    immediate: bool,
    #[serde(default)]
    more: bool,
    #[serde(default)]
    service: Option<Service>,
    #[serde(default, borrow)]
    operation: Option<Cow<'a, str>>,
    #[serde(default, borrow, deserialize_with = "present")]
    arguments: Option<&'a RawValue>,
}

/// An operation of a data store or of `$.flow`: no name is in both.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Operation {
    Store(OperationName),
    Flow(FlowOperation),
}

/// Header values by name, in the order given (`serde_json` keeps it).
type Headers = Map<String, Value>;

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Encoding {
    Utf8,
    Base64,
}

impl<'a> WorkerFrame<'a> {
    /// # Errors
    /// The bytes are not a frame of this protocol.
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(body)
    }

    /// The call that an `emit` tells of.
    pub(crate) fn into_emit(self) -> Emit {
        let event = self
            .event
            .map_or_else(|| RawValue::NULL.to_owned(), ToOwned::to_owned);
        Emit {
            event,
            options: self.options.unwrap_or_default(),
        }
    }

    /// The write that a `kv` tells of.
    pub(crate) fn into_kv_change(self) -> KvChange {
        let key = self.key.unwrap_or_default().into_owned();
        KvChange {
            seq: self.seq,
            key,
            value: self.value.map(ToOwned::to_owned),
        }
    }

    /// The value that an `export` gives.
    pub(crate) fn into_export(self) -> Export {
        Export {
            name: self.key.unwrap_or_default().into_owned(),
            value: self.value.map(ToOwned::to_owned),
        }
    }

    /// The reason of an `exit`.
    pub(crate) fn into_exit(self) -> String {
        self.text.unwrap_or_default().into_owned()
    }

    /// The line of a `log`.
    pub(crate) fn into_log(self) -> (LogLevel, String) {
        (
            self.level.unwrap_or(LogLevel::Info),
            self.text.unwrap_or_default().into_owned(),
        )
    }

    /// The response of a `respond`; `None` when its body does not match its encoding.
    pub(crate) fn into_response(mut self) -> Option<Response> {
        let mut headers = Vec::new();
        for (name, value) in self.headers.take().unwrap_or_default() {
            match value {
                Value::String(value) => headers.push((name, value)),
                Value::Array(values) => {
                    let texts = values.iter().filter_map(Value::as_str);
                    headers.extend(texts.map(|value| (name.clone(), value.to_owned())));
                }
                _ => return None,
            }
        }
        let status = self.status;
        let encoded = (self.body, self.encoding);
        Some(Response {
            status,
            headers,
            body: decoded(encoded)?,
        })
    }

    /// The number of the request, the store and the operation of a `data_store`; `None` when a field is missing.
    pub(crate) fn into_store_operation(self) -> Option<(u64, String, StoreOperation)> {
        let key = self.key.map(Cow::into_owned);
        let value = self.value.map(ToOwned::to_owned);
        let Operation::Store(name) = self.op? else {
            return None;
        };
        let operation = name.with(key, value, self.ttl)?;
        Some((self.request, self.store?.into_owned(), operation))
    }

    /// The pause of a `flow`; `None` when a field is missing.
    pub(crate) fn into_flow(self) -> Option<Flow> {
        let Operation::Flow(operation) = self.op? else {
            return None;
        };
        Some(Flow {
            operation,
            after_ms: self.after_ms?,
            context: self.context.map(ToOwned::to_owned),
            max_retries: self.max_retries,
        })
    }

    /// The thing that a `send` sends; `None` when a field is missing.
    pub(crate) fn into_sent(self) -> Option<Sent> {
        Some(Sent {
            kind: self.send?,
            value: self.value?.to_owned(),
        })
    }

    /// The response of a step's `respond`; `None` when its body does not match its encoding.
    pub(crate) fn into_step_response(self) -> Option<StepResponse> {
        let (is_immediate, has_more) = (self.immediate, self.more);
        Some(StepResponse {
            response: self.into_response()?,
            is_immediate,
            has_more,
        })
    }

    /// A further part of a response, and whether more follow; `None` when it does not match its encoding.
    pub(crate) fn into_body(self) -> Option<(Bytes, bool)> {
        let has_more = self.more;
        Some((decoded((self.body, self.encoding))?, has_more))
    }

    /// The number of the request, the service, the operation and the arguments of an `ask`; `None` when a field is
    /// missing.
    pub(crate) fn into_request(self) -> Option<(u64, Service, String, Box<RawValue>)> {
        let operation = self.operation?.into_owned();
        let arguments = self.arguments?.to_owned();
        Some((self.request, self.service?, operation, arguments))
    }

    /// The outcome of an `outcome` frame.
    ///
    /// # Errors
    /// The returned value is not JSON.
    pub(crate) fn into_outcome(self) -> Result<Outcome, serde_json::Error> {
        if let Some(error) = self.error {
            return Ok(Outcome::Threw { error });
        }
        let value = self
            .value
            .map(|value| serde_json::from_str(value.get()))
            .transpose()?;
        Ok(Outcome::Returned { value })
    }
}

/// The bytes of a body; `None` when it does not match its encoding.
fn decoded((body, encoding): (Option<Cow<'_, str>>, Option<Encoding>)) -> Option<Bytes> {
    let body = body.unwrap_or_default();
    match encoding {
        Some(Encoding::Base64) => STANDARD.decode(body.as_bytes()).ok().map(Bytes::from),
        Some(Encoding::Utf8) | None => Some(Bytes::from(body.into_owned())),
    }
}

/// The run that the beginning of a frame names.
pub(crate) fn run_of_beginning(beginning: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(beginning);
    // The runtime writes the kind first and the run second, before anything a component chose.
    let digits = text
        .strip_prefix("{\"type\":\"")?
        .split_once("\",\"id\":")?
        .1;
    let end = digits.find(|character: char| !character.is_ascii_digit())?;
    digits[..end].parse().ok()
}

/// A present field, even if it is `null`, as opposed to a missing one.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use headwater_model::outcome::Outcome;
    use serde_json::{Value, json};

    use super::{WorkerFrame, run_of_beginning};

    fn parse(text: &str) -> WorkerFrame<'_> {
        WorkerFrame::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn null_and_absent_are_different() {
        let outcome = |text| parse(text).into_outcome().unwrap();
        let null = Outcome::Returned {
            value: Some(Value::Null),
        };
        assert_eq!(outcome(r#"{"type":"outcome","id":1,"value":null}"#), null);
        assert_eq!(
            outcome(r#"{"type":"outcome","id":1}"#),
            Outcome::Returned { value: None }
        );
        let change = |text| {
            parse(text)
                .into_kv_change()
                .value
                .map(|value| value.get().to_owned())
        };
        assert_eq!(change(r#"{"type":"kv","id":1,"seq":3,"key":"k"}"#), None);
        assert_eq!(
            change(r#"{"type":"kv","id":1,"seq":3,"key":"k","value":null}"#).as_deref(),
            Some("null")
        );
    }

    #[test]
    fn an_event_is_kept_as_it_was_written() {
        let emit =
            parse(r#"{"type":"emit","id":1,"event":{"b": 1.0,"a":"\u00e9"},"options":{"id":7}}"#)
                .into_emit();
        assert_eq!(emit.event.get(), r#"{"b": 1.0,"a":"\u00e9"}"#);
        assert_eq!(
            parse(r#"{"type":"emit","id":1,"options":{}}"#)
                .into_emit()
                .event
                .get(),
            "null"
        );
    }

    #[test]
    fn a_response_keeps_repeated_headers_and_binary_bodies() {
        let frame = json!({"type": "respond", "id": 1, "status": 201, "headers": {"a": "1", "set-cookie": ["x", "y"]}, "body": "AP8=", "encoding": "base64"});
        let response = parse(&frame.to_string()).into_response().unwrap();
        let headers: Vec<_> = response
            .headers
            .iter()
            .map(|(name, value)| (&name[..], &value[..]))
            .collect();
        assert_eq!(
            headers,
            [("a", "1"), ("set-cookie", "x"), ("set-cookie", "y")]
        );
        assert_eq!((response.status, &response.body[..]), (201, &[0, 255][..]));
    }

    #[test]
    fn a_beginning_names_its_run() {
        assert_eq!(
            run_of_beginning(br#"{"type":"emit","id":42,"event":"#),
            Some(42)
        );
        assert_eq!(
            run_of_beginning(br#"{"type":"log","id":null,"text":"\"id\":3,"#),
            None
        );
        assert_eq!(run_of_beginning(b"garbage"), None);
    }
}
