//! The requests that wait for `$.respond`, and the rules of their responses (docs/guide/workflows.md, "Responding").
//!
//! A response is immediate, or is sent at the end of the run, or at its first pause; the first one of a run counts.

use std::collections::HashMap;

use bytes::{Bytes, BytesMut};
use headwater_engine::{Response, StepResponse};
use headwater_model::id::{InvocationId, WorkflowId};
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Bytes of a response's body that are kept at most.
const BODY_BYTES_MAX: usize = 10 * 1024 * 1024;

/// The answer to a request that waits.
#[derive(Debug)]
pub(crate) enum RunResponse {
    /// `$.respond` was called.
    Responded(Response),
    /// The run ended without a response that can be sent.
    None,
    /// The run pauses, and has not responded.
    Paused,
    /// Its event came before: there is no run.
    Repeated,
}

/// A response on its way.
struct Answering {
    workflow: WorkflowId,
    waiting: Option<oneshot::Sender<RunResponse>>,
    response: Option<Response>,
    body: BytesMut,
    is_immediate: bool,
    /// Whether parts of its body are still to come.
    is_partial: bool,
    /// Whether the first response was refused.
    is_refused: bool,
}

/// The requests that wait for runs of this node.
#[derive(Default)]
pub(crate) struct Responders {
    by_run: Mutex<HashMap<InvocationId, Answering>>,
}

impl Responders {
    /// Waits for the response of a run that is about to be queued.
    pub(crate) fn expect(
        &self,
        run: &InvocationId,
        of: &WorkflowId,
    ) -> oneshot::Receiver<RunResponse> {
        let (sender, receiver) = oneshot::channel();
        let answering = Answering {
            workflow: of.clone(),
            waiting: Some(sender),
            response: None,
            body: BytesMut::new(),
            is_immediate: false,
            is_partial: false,
            is_refused: false,
        };
        self.by_run.lock().insert(run.clone(), answering);
        receiver
    }

    /// Nobody waits any more.
    pub(crate) fn forget(&self, run: &InvocationId) {
        self.by_run.lock().remove(run);
    }

    /// Nobody waits for runs of this workflow any more.
    pub(super) fn forget_all(&self, workflow: &WorkflowId) {
        let mut by_run = self.by_run.lock();
        by_run.retain(|_, answering| answering.workflow != *workflow);
    }

    /// A step responded.
    pub(super) fn respond(&self, run: &InvocationId, given: StepResponse) {
        self.with(run, |answering| {
            if answering.response.is_some() || answering.is_refused {
                return;
            }
            answering.body.extend_from_slice(&given.response.body);
            answering.response = Some(given.response);
            answering.is_immediate = given.is_immediate;
            answering.is_partial = given.has_more;
            answering.send_if_immediate();
        });
    }

    /// A further part of a response's body came.
    pub(super) fn body(&self, run: &InvocationId, bytes: &Bytes, has_more: bool) {
        self.with(run, |answering| {
            if !answering.is_partial {
                return;
            }
            answering.body.extend_from_slice(bytes);
            answering.is_partial = has_more;
            if answering.body.len() > BODY_BYTES_MAX {
                answering.refuse();
            }
            answering.send_if_immediate();
        });
    }

    /// The first response of the run cannot be sent.
    pub(super) fn refuse(&self, run: &InvocationId) {
        self.with(run, |answering| {
            if answering.response.is_none() || answering.is_partial {
                answering.refuse();
            }
        });
    }

    /// The run ended, or pauses: what it responded is sent.
    pub(super) fn settle(&self, run: &InvocationId, is_paused: bool) {
        let Some(mut answering) = self.by_run.lock().remove(run) else {
            return;
        };
        let is_whole = !answering.is_partial;
        let otherwise = match is_paused {
            true => RunResponse::Paused,
            false => RunResponse::None,
        };
        let response = answering.take_response().filter(|_| is_whole);
        if let Some(waiting) = answering.waiting.take() {
            let _ = waiting.send(response.map_or(otherwise, RunResponse::Responded));
        }
    }

    /// The event of the run came before, so that it does not begin.
    pub(super) fn turn_away(&self, run: &InvocationId) {
        let answering = self.by_run.lock().remove(run);
        if let Some(waiting) = answering.and_then(|answering| answering.waiting) {
            let _ = waiting.send(RunResponse::Repeated);
        }
    }

    fn with(&self, run: &InvocationId, change: impl FnOnce(&mut Answering)) {
        if let Some(answering) = self.by_run.lock().get_mut(run) {
            change(answering);
        }
    }
}

impl Answering {
    fn take_response(&mut self) -> Option<Response> {
        let response = self.response.take()?;
        Some(Response {
            body: self.body.split().freeze(),
            ..response
        })
    }

    fn send_if_immediate(&mut self) {
        if self.is_immediate
            && !self.is_partial
            && let Some(response) = self.take_response()
            && let Some(waiting) = self.waiting.take()
        {
            let _ = waiting.send(RunResponse::Responded(response));
        }
    }

    fn refuse(&mut self) {
        self.response = None;
        self.body.clear();
        self.is_partial = false;
        self.is_refused = true;
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    fn run() -> InvocationId {
        InvocationId::new(EpochMs(1), 1)
    }

    fn given(body: &'static str, is_immediate: bool, has_more: bool) -> StepResponse {
        StepResponse {
            response: Response {
                status: 200,
                headers: Vec::new(),
                body: Bytes::from_static(body.as_bytes()),
            },
            is_immediate,
            has_more,
        }
    }

    fn sent(receiver: &mut oneshot::Receiver<RunResponse>) -> String {
        match receiver.try_recv() {
            Ok(RunResponse::Responded(response)) => {
                String::from_utf8(response.body.to_vec()).unwrap()
            }
            Ok(RunResponse::None) => "none".to_owned(),
            Ok(RunResponse::Paused) => "paused".to_owned(),
            Ok(RunResponse::Repeated) => "repeated".to_owned(),
            Err(_) => "waits".to_owned(),
        }
    }

    fn workflow() -> WorkflowId {
        WorkflowId::new(EpochMs(1), 2)
    }

    #[test]
    fn a_request_for_a_workflow_that_is_deleted_waits_no_more() {
        let responders = Responders::default();
        let waiting = responders.expect(&run(), &workflow());
        responders.forget_all(&WorkflowId::new(EpochMs(2), 2));
        responders.respond(&run(), given("now", true, false));
        assert_eq!(sent(&mut { waiting }), "now");
        let waiting = responders.expect(&run(), &workflow());
        responders.forget_all(&workflow());
        assert!(waiting.blocking_recv().is_err());
    }

    #[test]
    fn the_first_response_is_sent_at_the_end() {
        let responders = Responders::default();
        let mut waiting = responders.expect(&run(), &workflow());
        responders.respond(&run(), given("first", false, false));
        responders.respond(&run(), given("second", true, false));
        assert_eq!(sent(&mut waiting), "waits");
        responders.settle(&run(), false);
        assert_eq!(sent(&mut waiting), "first");
    }

    #[test]
    fn an_immediate_response_is_sent_at_once() {
        let responders = Responders::default();
        let mut waiting = responders.expect(&run(), &workflow());
        responders.respond(&run(), given("now", true, false));
        assert_eq!(sent(&mut waiting), "now");
        responders.settle(&run(), false);
    }

    #[test]
    fn a_streamed_body_is_put_together() {
        let responders = Responders::default();
        let mut waiting = responders.expect(&run(), &workflow());
        responders.respond(&run(), given("a", false, true));
        responders.body(&run(), &Bytes::from_static(b"b"), true);
        responders.body(&run(), &Bytes::from_static(b"c"), false);
        responders.settle(&run(), true);
        assert_eq!(sent(&mut waiting), "abc");
    }

    #[test]
    fn a_body_that_fails_or_never_ends_is_not_sent() {
        for (fails, expected) in [(true, "none"), (false, "none")] {
            let responders = Responders::default();
            let mut waiting = responders.expect(&run(), &workflow());
            responders.respond(&run(), given("a", false, true));
            if fails {
                responders.refuse(&run());
                responders.respond(&run(), given("later", false, false));
            }
            responders.settle(&run(), false);
            assert_eq!(sent(&mut waiting), expected);
        }
    }

    #[test]
    fn a_run_that_pauses_without_a_response_says_so() {
        let responders = Responders::default();
        let mut waiting = responders.expect(&run(), &workflow());
        responders.settle(&run(), true);
        assert_eq!(sent(&mut waiting), "paused");
    }
}
