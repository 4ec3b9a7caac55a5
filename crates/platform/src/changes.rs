//! Changes of this node, told to whoever shows their things: which thing changed, never how.
//!
//! ```text
//!  commits of runs, recorded attempts, changed things ──► recent ones, and all that listen ──► filter by access
//! ```
//!
//! Readers read again. A change may be told more than once, or for nothing; none that was written after a reader began
//! to listen is left out, and one that falls behind is told so by a change of everything. Work of another node on the
//! same store is not told of here.

use std::collections::VecDeque;

use headwater_model::{
    id::{InvocationId, SourceId, WebhookId, WorkflowId},
    time::EpochMs,
};
use headwater_store::{Owner, Source, Webhook, Workflow};
use parking_lot::Mutex;
use tokio::sync::broadcast;

/// Changes that are remembered for readers whose page was read before they listen.
const RECENT: usize = 1_024;

/// The thing that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A source: its name, its state, its runs or its events; or it is gone.
    Source(SourceId, Owner),
    /// A workflow: its name, its state or its deployment; or it is gone.
    Workflow(WorkflowId, Owner),
    /// A run of a workflow.
    Run {
        /// The workflow.
        workflow_id: WorkflowId,
        /// The run.
        run_id: InvocationId,
        /// The workflow's owner.
        owner: Owner,
    },
    /// A webhook or its deliveries; or it is gone.
    Webhook(WebhookId, Owner),
    /// More than can be told one by one.
    Much,
}

impl Change {
    /// A change of this source.
    pub(crate) fn of_source(source: &Source) -> Self {
        Self::Source(source.id.clone(), source.owner.clone())
    }

    /// A change of this workflow.
    pub(crate) fn of_workflow(workflow: &Workflow) -> Self {
        Self::Workflow(workflow.id.clone(), workflow.owner.clone())
    }

    /// A change of this webhook.
    pub(crate) fn of_webhook(webhook: &Webhook) -> Self {
        Self::Webhook(webhook.id.clone(), webhook.owner.clone())
    }

    /// The owner of the thing; `None` if everybody is meant.
    pub(crate) fn owner(&self) -> Option<&Owner> {
        match self {
            Self::Source(_, owner)
            | Self::Workflow(_, owner)
            | Self::Webhook(_, owner)
            | Self::Run { owner, .. } => Some(owner),
            Self::Much => None,
        }
    }
}

/// The changes of this node.
pub(crate) struct Changes {
    /// Nothing is remembered from before.
    started_at_ms: EpochMs,
    recent: Mutex<VecDeque<(EpochMs, Change)>>,
    sender: broadcast::Sender<Change>,
}

impl Changes {
    /// Those of a node that starts now.
    pub(crate) fn new(started_at_ms: EpochMs) -> Self {
        Self {
            started_at_ms,
            recent: Mutex::default(),
            sender: broadcast::Sender::new(RECENT),
        }
    }

    /// Tells that something has been written.
    pub(crate) fn tell(&self, change: Change, now_ms: EpochMs) {
        let mut recent = self.recent.lock();
        if recent.len() >= RECENT {
            recent.pop_front();
        }
        recent.push_back((now_ms, change.clone()));
        // Nobody need listen.
        let _ = self.sender.send(change);
    }

    /// The changes since a moment, and those that come.
    pub(crate) fn listen(&self, since_ms: EpochMs) -> (Vec<Change>, broadcast::Receiver<Change>) {
        let recent = self.recent.lock();
        let receiver = self.sender.subscribe();
        let is_whole = recent.len() < RECENT;
        let reaches_back = is_whole || recent.front().is_some_and(|(at_ms, _)| *at_ms < since_ms);
        if !reaches_back || since_ms < self.started_at_ms {
            return (vec![Change::Much], receiver);
        }
        let since = recent.iter().filter(|(at_ms, _)| *at_ms >= since_ms);
        let since: Vec<Change> = since.map(|(_, change)| change.clone()).collect();
        // Every commit takes the lock.
        drop(recent);
        let mut missed: Vec<Change> = Vec::new();
        for change in since {
            if !missed.contains(&change) {
                missed.push(change);
            }
        }
        (missed, receiver)
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::id::UserId;

    use super::*;

    fn source(number: u64) -> Change {
        let owner = Owner {
            user_id: UserId::new(EpochMs(1), 1),
            workspace_id: None,
        };
        Change::Source(SourceId::new(EpochMs(number), 1), owner)
    }

    #[test]
    fn a_reader_gets_what_changed_since_its_page_was_read_and_what_comes() {
        let changes = Changes::new(EpochMs(0));
        for at in 1..=4 {
            changes.tell(source(at / 2), EpochMs(at));
        }
        let (missed, mut coming) = changes.listen(EpochMs(2));
        assert_eq!(missed, [source(1), source(2)]);
        changes.tell(source(9), EpochMs(5));
        assert_eq!(coming.try_recv().unwrap(), source(9));
        assert!(coming.try_recv().is_err());
    }

    #[test]
    fn a_page_from_before_all_that_is_remembered_is_told_of_everything() {
        let changes = Changes::new(EpochMs(0));
        for at in 0..=RECENT as u64 {
            changes.tell(source(at), EpochMs(at));
        }
        assert_eq!(changes.listen(EpochMs(0)).0, [Change::Much]);
        assert_eq!(changes.listen(EpochMs(1)).0, [Change::Much]);
        assert_eq!(changes.listen(EpochMs(2)).0.len(), RECENT - 1);
        assert_eq!(changes.listen(EpochMs(RECENT as u64 + 1)).0, []);
    }

    #[test]
    fn a_page_from_before_the_start_is_told_of_everything() {
        let changes = Changes::new(EpochMs(5));
        assert_eq!(changes.listen(EpochMs(4)).0, [Change::Much]);
        assert_eq!(changes.listen(EpochMs(5)).0, []);
    }
}
