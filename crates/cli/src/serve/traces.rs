//! Traces over OTLP: records the spans of the platform and sends them to a collector, in batches
//! and in the background. A collector that is gone costs its spans and one line of the log.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use headwater_model::trace::TraceParent;
use headwater_platform::{Attribute, NewSpan, RecordedSpan, SpanKind, Tracer};
use opentelemetry::{
    Context, KeyValue, SpanId, TraceFlags, TraceId,
    trace::{
        Span as _, SpanBuilder, SpanContext, Status, TraceContextExt as _, TraceState, Tracer as _,
        TracerProvider as _,
    },
};
use opentelemetry_otlp::{WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    trace::{SdkTracer, SdkTracerProvider, Span, SpanData, SpanExporter},
};
use tokio::runtime::Handle;

use crate::usage_error::UsageError;

/// The time for a collector to answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);
/// The time that the node's end may wait for the last spans to be sent.
const FLUSHED_WITHIN: Duration = Duration::from_secs(6);
/// The path at which a collector takes traces, below its base URL.
const PATH: &str = "/v1/traces";

/// The recorder and sender of spans.
pub(super) struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Begins recording for the collector at that base URL, or at the one that OpenTelemetry's own
    /// variables name. Nothing if nobody names one.
    pub(super) fn start(endpoint: Option<&str>) -> Result<Option<Self>> {
        let Some(url) = collector(endpoint) else {
            return Ok(None);
        };
        if !url::Url::parse(&url).is_ok_and(|url| matches!(url.scheme(), "http" | "https")) {
            let reason = format!("--otlp-endpoint: `{url}` is not an http or https URL");
            return Err(UsageError(reason).into());
        }
        let http = reqwest::Client::builder()
            .timeout(ANSWERED_WITHIN)
            .build()
            .context("cannot create a client for the collector")?;
        let inner = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(http)
            .with_timeout(ANSWERED_WITHIN)
            .with_endpoint(&url)
            .build()
            .with_context(|| format!("cannot send traces to {url}"))?;
        let exporter = Exporter {
            inner: Arc::new(inner),
            url,
            runtime: Handle::current(),
            fails: AtomicBool::new(false),
        };
        let resource = Resource::builder();
        let resource = match given("OTEL_SERVICE_NAME") {
            Some(_) => resource,
            None => resource.with_service_name("headwater"),
        };
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let provider = SdkTracerProvider::builder()
            .with_resource(resource.with_attribute(version).build())
            .with_batch_exporter(exporter)
            .build();
        Ok(Some(Self { provider }))
    }

    /// The tracer with which the platform begins its spans.
    pub(super) fn tracer(&self) -> Arc<dyn Tracer> {
        Arc::new(Recorder(self.provider.tracer("headwater")))
    }

    /// Sends the spans that have not been sent yet.
    pub(super) async fn flush(self) {
        // It waits for the exporter, which runs on this runtime.
        let flushed = tokio::task::spawn_blocking(move || {
            self.provider.shutdown_with_timeout(FLUSHED_WITHIN)
        });
        if let Ok(Err(error)) = flushed.await {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}

fn given(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The URL that spans are sent to.
fn collector(endpoint: Option<&str>) -> Option<String> {
    let below = |base: String| format!("{}{PATH}", base.trim_end_matches('/'));
    let option = endpoint.filter(|endpoint| !endpoint.is_empty());
    option
        .map(|base| below(base.to_owned()))
        .or_else(|| given("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
        .or_else(|| given("OTEL_EXPORTER_OTLP_ENDPOINT").map(below))
}

/// Sends batches from the thread that collects them, by way of the node's runtime.
#[derive(Debug)]
struct Exporter {
    inner: Arc<opentelemetry_otlp::SpanExporter>,
    url: String,
    runtime: Handle,
    /// Whether the last batch was lost.
    fails: AtomicBool,
}

impl SpanExporter for Exporter {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let inner = Arc::clone(&self.inner);
        let sending = self.runtime.spawn(async move { inner.export(batch).await });
        let sent = match sending.await {
            Ok(sent) => sent,
            Err(error) => Err(OTelSdkError::InternalFailure(error.to_string())),
        };
        let failed_before = self.fails.swap(sent.is_err(), Ordering::Relaxed);
        match &sent {
            Err(error) if !failed_before => tracing::warn!(
                %error,
                url = self.url,
                "cannot send traces; they are lost until the collector is reachable"
            ),
            Ok(()) if failed_before => tracing::info!(url = self.url, "traces are sent again"),
            _ => {}
        }
        sent
    }

    fn set_resource(&mut self, resource: &Resource) {
        // Nothing is sent before.
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.set_resource(resource);
        }
    }
}

struct Recorder(SdkTracer);

impl Tracer for Recorder {
    fn begin(&self, span: NewSpan<'_>) -> Box<dyn RecordedSpan> {
        let root = Context::new();
        let parent = match span.parent {
            Some(parent) => root.with_remote_span_context(remote(parent)),
            None => root,
        };
        let kind = match span.kind {
            SpanKind::Server => opentelemetry::trace::SpanKind::Server,
            SpanKind::Client => opentelemetry::trace::SpanKind::Client,
            SpanKind::Internal => opentelemetry::trace::SpanKind::Internal,
        };
        let builder = SpanBuilder::from_name(Cow::Owned(span.name.to_owned()))
            .with_kind(kind)
            .with_attributes(key_values(span.attributes));
        Box::new(Recorded(self.0.build_with_context(builder, &parent)))
    }
}

struct Recorded(Span);

impl RecordedSpan for Recorded {
    fn context(&self) -> Option<TraceParent> {
        let context = self.0.span_context();
        Some(TraceParent {
            trace_id: u128::from_be_bytes(context.trace_id().to_bytes())
                .try_into()
                .ok()?,
            span_id: u64::from_be_bytes(context.span_id().to_bytes())
                .try_into()
                .ok()?,
            flags: context.trace_flags().to_u8(),
        })
    }

    fn end(
        mut self: Box<Self>,
        attributes: &[(&'static str, Attribute<'_>)],
        failure: Option<&str>,
    ) {
        self.0.set_attributes(key_values(attributes));
        if let Some(failure) = failure {
            self.0.set_status(Status::error(failure.to_owned()));
        }
        self.0.end();
    }
}

fn remote(parent: TraceParent) -> SpanContext {
    SpanContext::new(
        TraceId::from_bytes(parent.trace_id.get().to_be_bytes()),
        SpanId::from_bytes(parent.span_id.get().to_be_bytes()),
        TraceFlags::new(parent.flags),
        true,
        TraceState::default(),
    )
}

fn key_values<'a>(
    attributes: &'a [(&'static str, Attribute<'a>)],
) -> impl Iterator<Item = KeyValue> + 'a {
    attributes.iter().map(|(name, value)| match value {
        Attribute::Text(text) => KeyValue::new(*name, (*text).to_owned()),
        Attribute::Number(number) => KeyValue::new(*name, *number),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_go_below_the_base_url() {
        for base in ["http://127.0.0.1:4318", "http://127.0.0.1:4318/"] {
            let url = collector(Some(base)).unwrap();
            assert_eq!(url, "http://127.0.0.1:4318/v1/traces");
        }
    }
}
