//! Spans of a trace: the work for one cause, from its trigger to its last delivery.
//!
//! The recorder is given at the start. Without one, an incoming trace is passed on as it is.

use headwater_model::trace::TraceParent;

/// The side of a call that a span is on.
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
    /// The side that it is on.
    pub kind: SpanKind,
    /// Its parent; a trace of its own, if none.
    pub parent: Option<TraceParent>,
    /// The attributes known at its beginning.
    pub attributes: &'a [(&'static str, Attribute<'a>)],
}

/// Records spans.
pub trait Tracer: Send + Sync + 'static {
    /// Begins a span.
    fn begin(&self, span: NewSpan<'_>) -> Box<dyn RecordedSpan>;
}

/// A span that is being recorded.
pub trait RecordedSpan: Send + Sync {
    /// Its place in the trace, for things that it causes.
    fn context(&self) -> Option<TraceParent>;

    /// Ends it, with the attributes known since, and the reason of its failure, if it failed.
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

    /// The place in the trace of things that it causes.
    pub fn context(&self) -> Option<TraceParent> {
        match &self.recorded {
            Some(recorded) => recorded.context(),
            None => self.parent,
        }
    }

    /// Ends it, with the attributes known since, and the reason of its failure, if it failed.
    pub fn end(self, attributes: &[(&'static str, Attribute<'_>)], failure: Option<&str>) {
        if let Some(recorded) = self.recorded {
            recorded.end(attributes, failure);
        }
    }
}
