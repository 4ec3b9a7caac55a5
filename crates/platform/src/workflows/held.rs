//! Runs that are held back, and those that count already when the workflow's actor begins.

use std::collections::VecDeque;

use headwater_model::{
    id::{InvocationId, RunnableId, WorkflowId},
    page::{PageRequest, Position},
    time::EpochMs,
};
use headwater_store::RunFilter;
use headwater_workflow::definition::Settings;

use super::{
    admission::{Admission, Keys, window_start},
    committing::RunDetails,
    context::WorkflowContext,
    head::Head,
};
use crate::{actor::InFlight, error::PlatformError};

/// Runs that are looked through at once.
const PAGE: u32 = 500;

/// The runs that count already.
#[derive(Default)]
pub(super) struct Counted {
    pub(super) running: Vec<(InvocationId, Keys, EpochMs)>,
    pub(super) began: Vec<(Keys, EpochMs)>,
}

/// Runs that are held back.
#[derive(Default)]
pub(super) struct Held {
    pub(super) admission: Admission,
    pub(super) runs: VecDeque<InvocationId>,
    pub(super) counting: InFlight<Result<Counted, PlatformError>>,
    pub(super) is_counted: bool,
    /// When one of them may begin by the clock.
    pub(super) next_ms: Option<EpochMs>,
}

impl Held {
    pub(super) fn is_counting(&self) -> bool {
        !self.counting.is_idle()
    }

    pub(super) async fn counted(&mut self) -> Result<Counted, PlatformError> {
        self.counting.ended().await
    }
}

/// The runs that have begun: all that have not ended, and those of the throttle's present window.
pub(super) async fn counted(
    context: &WorkflowContext,
    id: &WorkflowId,
    settings: &Settings,
) -> Result<Counted, PlatformError> {
    let runnable = RunnableId::from(id.clone());
    let store = &context.core.store;
    let mut counted = Counted::default();
    let mut page = PageRequest::first(PAGE);
    loop {
        let open = store.open_runs(&runnable, &page).await?.items;
        let last = open
            .last()
            .map(|last| last.id.clone())
            .filter(|_| open.len() == PAGE as usize);
        for run in open {
            let head = Head::read(run.state.as_deref()).unwrap_or_default();
            if let Some(began_at_ms) = head.started_at_ms {
                counted
                    .running
                    .push((run.id, head.keys.unwrap_or_default(), began_at_ms));
            }
        }
        match last {
            Some(last) => page.position = Position::After(last),
            None => break,
        }
    }
    let Some(throttle) = &settings.throttle else {
        return Ok(counted);
    };
    let of_window = RunFilter {
        since_ms: Some(window_start(context.core.env.now_ms(), throttle.per)),
        ..RunFilter::default()
    };
    let mut page = PageRequest::first(PAGE);
    loop {
        let ended = store.runs(&runnable, of_window, &page).await?.items;
        let last = ended
            .last()
            .map(|last| last.id.clone())
            .filter(|_| ended.len() == PAGE as usize);
        for run in ended {
            let details = store.run_details(&run.id).await?;
            let keys = details.and_then(|details| RunDetails::read(&details)?.head.keys);
            counted
                .began
                .push((keys.unwrap_or_default(), run.ended.started_at_ms));
        }
        match last {
            Some(last) => page.position = Position::After(last),
            None => return Ok(counted),
        }
    }
}
