//! Runs that are held back, and those that count already when the workflow's actor begins.

use std::collections::{HashSet, VecDeque};

use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use headwater_model::{
    id::{InvocationId, RunnableId, WorkflowId},
    page::PageRequest,
    time::EpochMs,
};
use headwater_store::{RunFilter, StoreError};
use headwater_workflow::definition::Settings;
use serde_json::{Value, value::RawValue};
use tokio::sync::oneshot;

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
    /// Runs that ended while those that count already were read, perhaps as one of them.
    pub(super) ended: HashSet<InvocationId>,
    /// When one of them may begin by the clock.
    pub(super) next_ms: Option<EpochMs>,
    /// Runs whose idempotency keys are being taken.
    pub(super) taking: FuturesUnordered<BoxFuture<'static, Taken>>,
    /// Runs that begin, as long as the store does not know.
    pub(super) beginning: HashSet<InvocationId>,
    /// Those who wait until all runs that may begin have begun.
    pub(super) settling: Vec<oneshot::Sender<()>>,
    /// Whether more may wait than are to.
    pub(super) may_overflow: bool,
    pub(super) overflowing: InFlight<Result<Vec<InvocationId>, StoreError>>,
}

/// The answer of the store about the idempotency key of a run.
pub(super) struct Taken {
    pub(super) run: InvocationId,
    pub(super) keys: Keys,
    /// Whether no other run has the value.
    pub(super) is_first: Result<bool, StoreError>,
}

/// An answer about runs that are held.
pub(super) enum Judged {
    Counted(Result<Counted, PlatformError>),
    Taken(Taken),
    Overflowed(Result<Vec<InvocationId>, StoreError>),
}

impl Held {
    pub(super) fn is_judging(&self) -> bool {
        !self.counting.is_idle() || !self.taking.is_empty() || !self.overflowing.is_idle()
    }

    /// The next answer; forever if none is awaited.
    pub(super) async fn judged(&mut self) -> Judged {
        tokio::select! {
            counted = self.counting.ended() => Judged::Counted(counted),
            Some(taken) = self.taking.next() => Judged::Taken(taken),
            beyond = self.overflowing.ended() => Judged::Overflowed(beyond),
        }
    }
}

/// The text that runs are told apart by.
pub(super) fn key_text(answer: &RawValue) -> String {
    match serde_json::from_str(answer.get()) {
        Ok(Value::String(text)) => text,
        _ => answer.get().to_owned(),
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
    let mut next = Some(PageRequest::first(PAGE));
    while let Some(page) = next {
        let open = store.open_runs(&runnable, &page).await?.items;
        next = page.behind(&open, |run| run.id.clone());
        for run in open {
            let head = Head::read(run.state.as_deref()).unwrap_or_default();
            if let Some(began_at_ms) = head.started_at_ms {
                counted
                    .running
                    .push((run.id, head.keys.unwrap_or_default(), began_at_ms));
            }
        }
    }
    let Some(throttle) = &settings.throttle else {
        return Ok(counted);
    };
    let of_window = RunFilter {
        since_ms: Some(window_start(context.core.env.now_ms(), throttle.per)),
        ..RunFilter::default()
    };
    let mut next = Some(PageRequest::first(PAGE));
    while let Some(page) = next {
        let ended = store.runs(&runnable, of_window, &page).await?.items;
        next = page.behind(&ended, |run| run.id.clone());
        for run in ended {
            let details = store.run_details(&run.id).await?;
            let keys = details.and_then(|details| RunDetails::read(&details)?.head.keys);
            counted
                .began
                .push((keys.unwrap_or_default(), run.ended.started_at_ms));
        }
    }
    Ok(counted)
}
