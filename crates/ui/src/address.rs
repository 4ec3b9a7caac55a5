//! The pages of the things that emit, run and listen, by their ids.

use headwater_model::id::{
    EmitterId, EventId, InvocationId, ListenerId, RunnableId, SourceId, WebhookId, WorkflowId,
};

/// An id whose thing has a page.
pub(crate) trait Address {
    /// The path of the page.
    fn address(&self) -> String;
}

impl Address for SourceId {
    fn address(&self) -> String {
        format!("/sources/{self}")
    }
}

impl Address for WorkflowId {
    fn address(&self) -> String {
        format!("/workflows/{self}")
    }
}

impl Address for WebhookId {
    fn address(&self) -> String {
        format!("/webhooks/{self}")
    }
}

impl Address for EmitterId {
    fn address(&self) -> String {
        match self {
            Self::Source(id) => id.address(),
            Self::Workflow(id) => id.address(),
        }
    }
}

impl Address for RunnableId {
    fn address(&self) -> String {
        match self {
            Self::Source(id) => id.address(),
            Self::Workflow(id) => id.address(),
        }
    }
}

impl Address for ListenerId {
    fn address(&self) -> String {
        match self {
            Self::Source(id) => id.address(),
            Self::Workflow(id) => id.address(),
            Self::Webhook(id) => id.address(),
        }
    }
}

/// The page of an emitter's event.
pub(crate) fn of_event(emitter: &EmitterId, id: &EventId) -> String {
    format!("{}/events/{id}", emitter.address())
}

/// The page of a workflow's run.
pub(crate) fn of_workflow_run(workflow: &WorkflowId, run: &InvocationId) -> String {
    format!("{}/runs/{run}", workflow.address())
}

/// The page of a run.
pub(crate) fn of_run(runnable: &RunnableId, run: &InvocationId) -> String {
    match runnable {
        RunnableId::Workflow(id) => of_workflow_run(id, run),
        RunnableId::Source(_) => format!("/runs/{run}"),
    }
}

/// The list of the runs that a request caused, or that are part of a trace.
pub(crate) fn of_origin(id: &str) -> String {
    let id: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("/runs?status=any&origin={id}")
}

/// The path if it is one of this node; its home otherwise. Browsers take `//` and `/\` for the beginning of another host.
pub(crate) fn own_path(next: &str) -> &str {
    let is_own = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains('\\')
        && !next.chars().any(char::is_control);
    if is_own { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    #[test]
    fn an_event_is_below_its_emitter_whatever_that_is() {
        let event = EventId::next(None, EpochMs(5));
        let [source, workflow] = [
            EmitterId::Source(SourceId::new(EpochMs(1), 1)),
            EmitterId::Workflow(WorkflowId::new(EpochMs(1), 1)),
        ];
        for (emitter, kind) in [(source, "sources"), (workflow, "workflows")] {
            let expected = format!("/{kind}/{emitter}/events/{event}");
            assert_eq!(of_event(&emitter, &event), expected);
        }
    }

    #[test]
    fn ids_of_requests_are_escaped() {
        let address = of_origin("a+b=1&x");
        assert_eq!(address, "/runs?status=any&origin=a%2Bb%3D1%26x");
    }

    #[test]
    fn signing_in_leads_nowhere_else() {
        for (next, expected) in [
            ("/sources?q=a", "/sources?q=a"),
            ("", "/"),
            ("https://other/", "/"),
            ("//other/", "/"),
            ("/\\other", "/"),
            ("/a\nb", "/"),
            ("javascript:alert(1)", "/"),
        ] {
            assert_eq!(own_path(next), expected);
        }
    }
}
