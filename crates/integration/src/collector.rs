//! A collector of traces: what a node sends over OTLP, read as a test wants it.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{Span, status::StatusCode},
};
use prost::Message as _;

use crate::{Received, Receiver};

/// A span that has arrived; ids are hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedSpan {
    /// The service that sent it.
    pub service: String,
    /// Its name.
    pub name: String,
    /// Its trace.
    pub trace_id: String,
    /// Its own id.
    pub span_id: String,
    /// The span it is part of; empty if it is the first of its trace.
    pub parent_id: String,
    /// Texts and numbers, as text.
    pub attributes: BTreeMap<String, String>,
    /// Whether it failed.
    pub failed: bool,
}

/// Receives OTLP over HTTP; ends with the test.
pub struct Collector(Receiver);

impl Collector {
    /// Starts it on a free port of the loopback interface.
    pub async fn start() -> Self {
        Self(Receiver::start().await)
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        self.0.url()
    }

    /// Waits until what has arrived is as wanted.
    pub async fn until(&self, wanted: impl Fn(&[RecordedSpan]) -> bool) -> Vec<RecordedSpan> {
        let received = self.0.until(|received| wanted(&spans(received))).await;
        spans(&received)
    }
}

fn spans(received: &[Received]) -> Vec<RecordedSpan> {
    let batches = received.iter().flat_map(|received| {
        assert_eq!(received.path, "/v1/traces");
        let batch = ExportTraceServiceRequest::decode(received.body.clone()).unwrap();
        batch.resource_spans
    });
    let mut recorded = Vec::new();
    for batch in batches {
        let resource = batch.resource.unwrap_or_default();
        let service = texts(&resource.attributes)["service.name"].clone();
        let spans = batch.scope_spans.into_iter().flat_map(|scope| scope.spans);
        recorded.extend(spans.map(|span| recorded_span(&service, &span)));
    }
    recorded
}

fn recorded_span(service: &str, span: &Span) -> RecordedSpan {
    let status = span.status.as_ref().map(|status| status.code);
    RecordedSpan {
        service: service.to_owned(),
        name: span.name.clone(),
        trace_id: hexadecimal(&span.trace_id),
        span_id: hexadecimal(&span.span_id),
        parent_id: hexadecimal(&span.parent_span_id),
        attributes: texts(&span.attributes),
        failed: status == Some(StatusCode::Error as i32),
    }
}

fn texts(attributes: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| match attribute.value.clone()?.value? {
        Value::StringValue(text) => Some(text),
        Value::IntValue(number) => Some(number.to_string()),
        _ => None,
    };
    attributes
        .iter()
        .filter_map(|attribute| Some((attribute.key.clone(), text(attribute)?)))
        .collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
