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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_below_its_emitter_whatever_that_is() {
        let event: EventId = "00000000-0000-4000-8000-000000000000"
            .parse()
            .unwrap_or_else(|_| panic!("no id"));
        for (emitter, expected) in [
            ("dc_abcdefg", "/sources/dc_abcdefg/events/"),
            ("p_abcdefg", "/workflows/p_abcdefg/events/"),
        ] {
            let emitter: EmitterId = emitter.parse().unwrap();
            assert_eq!(of_event(&emitter, &event), format!("{expected}{event}"));
        }
    }
}
