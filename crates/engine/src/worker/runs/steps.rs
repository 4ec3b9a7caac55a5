//! Frames that only steps of workflows send, as messages.

use super::super::protocol::{Kind, WorkerFrame};
use crate::{
    data_store::Replier,
    step::{ServiceRequest, StepMessage},
};

/// The message of a step's frame; `None` for one that is not whole.
pub(super) fn message(
    frame: WorkerFrame<'_>,
    replier: impl FnOnce(u64) -> Replier,
) -> Option<StepMessage> {
    Some(match frame.kind {
        Kind::Skipped => StepMessage::Skipped,
        Kind::Flow => StepMessage::Flow(frame.into_flow()?),
        Kind::Send => StepMessage::Sent(frame.into_sent()?),
        Kind::Respond => StepMessage::Responded(frame.into_step_response()?),
        Kind::RespondBody => {
            let (bytes, has_more) = frame.into_body()?;
            StepMessage::ResponseBody { bytes, has_more }
        }
        Kind::RespondRefused => StepMessage::ResponseRefused(frame.into_exit()),
        Kind::Ask => {
            let (request, service, operation, arguments) = frame.into_request()?;
            StepMessage::Asked(ServiceRequest {
                service,
                operation,
                arguments,
                reply: replier(request),
            })
        }
        _ => return None,
    })
}
