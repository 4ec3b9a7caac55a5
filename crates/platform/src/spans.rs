//! Spans of a trace: what was done for one cause, from its trigger to its last delivery.
//!
//! Who records them is given at the start. Without anybody, what came in is passed on as it is.

use headwater_model::trace::TraceParent;

/// Whose side of a call a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Answering a request.
    Server,
    /// Making a request.
    Client,
    /// Neither end of a call.
    Internal,
}

/// A fact about a span.
#[derive(Debug, Clone, Copy)]
pub enum Attribute<'a> {
    /// Text.
    Text(&'a str),
    /// A number.
    Number(i64),
}

/// A span to begin.
#[derive(Debug, Clone, Copy)]
pub struct NewSpan<'a> {
    /// Its name: one of few.
    pub name: &'a str,
    /// Whose side it is.
    pub kind: SpanKind,
    /// What it is part of; a trace of its own, if nothing.
    pub parent: Option<TraceParent>,
    /// What is known at its beginning.
    pub attributes: &'a [(&'static str, Attribute<'a>)],
}

/// Records spans.
pub trait Tracer: Send + Sync + 'static {
    /// Begins a span.
    fn begin(&self, span: NewSpan<'_>) -> Box<dyn RecordedSpan>;
}

/// A span that is being recorded.
pub trait RecordedSpan: Send + Sync {
    /// Its place in the trace, for what it causes.
    fn context(&self) -> Option<TraceParent>;

    /// Ends it, with what is known since, and why it failed, if it did.
    fn end(self: Box<Self>, attributes: &[(&'static str, Attribute<'_>)], failure: Option<&str>);
}

/// A span that has begun, recorded or not.
pub struct Span {
    recorded: Option<Box<dyn RecordedSpan>>,
    parent: Option<TraceParent>,
}

impl Span {
    /// Begins a span with this tracer; without one, the span passes on its parent.
    pub(crate) fn begin(tracer: Option<&dyn Tracer>, span: NewSpan<'_>) -> Self {
        Self {
            parent: span.parent,
            recorded: tracer.map(|tracer| tracer.begin(span)),
        }
    }

    /// A no-op span: its children attach to its parent.
    pub fn unrecorded(parent: Option<TraceParent>) -> Self {
        Self {
            recorded: None,
            parent,
        }
    }

    /// The place in the trace of what it causes.
    pub fn context(&self) -> Option<TraceParent> {
        match &self.recorded {
            Some(recorded) => recorded.context(),
            None => self.parent,
        }
    }

    /// Ends it, with what is known since, and why it failed, if it did.
    pub fn end(self, attributes: &[(&'static str, Attribute<'_>)], failure: Option<&str>) {
        if let Some(recorded) = self.recorded {
            recorded.end(attributes, failure);
        }
    }
}
