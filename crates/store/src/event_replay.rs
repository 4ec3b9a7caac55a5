//! Passing an event of the log on once more, to those who listen to its emitter now.

use async_trait::async_trait;
use headwater_model::{
    event::EventRef,
    id::{ListenerId, RunnableId, WebhookId},
    time::EpochMs,
};

use crate::error::StoreError;

/// An event to pass on once more.
#[derive(Debug, Clone)]
pub struct EventReplay {
    /// The event.
    pub event: EventRef,
    /// The only listener to pass it on to; `None`: all of them.
    pub only: Option<ListenerId>,
    /// Whether webhooks that have a delivery of it are passed over, whatever became of that.
    pub missed_only: bool,
    /// Epoch milliseconds.
    pub now_ms: EpochMs,
    /// Subscriptions that are looked at.
    pub limit: u32,
    /// The number of events that may be queued for one owner, as in a step of dispatch.
    pub queued_max: u32,
    /// Tells the ids of this replay from those of others at the same time; not 0, which is dispatch's.
    pub salt: i64,
    /// Whether only to tell who would get it.
    pub is_dry: bool,
}

/// Those who listen to an event, each once, in the order of their subscriptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventListeners {
    /// Those who got it, or would.
    pub reached: Vec<ListenerId>,
    /// Those who did not, or would not: they are not active or have no room, or the event has gone through too many.
    pub left_out: Vec<ListenerId>,
    /// Whether there are more subscriptions than were looked at.
    pub has_more: bool,
}

impl EventListeners {
    /// Whether a listener is passed over: it was looked at, or another one is wanted.
    pub fn passes_over(&self, listener: &ListenerId, replay: &EventReplay) -> bool {
        let is_other = replay.only.as_ref().is_some_and(|only| only != listener);
        is_other || self.has(listener)
    }

    /// Whether a listener is among them.
    pub fn has(&self, listener: &ListenerId) -> bool {
        self.reached.contains(listener) || self.left_out.contains(listener)
    }

    /// The sources and workflows that have got it.
    pub fn runnables(&self) -> Vec<RunnableId> {
        let runnable = |listener: &ListenerId| match listener {
            ListenerId::Source(id) => Some(id.clone().into()),
            ListenerId::Workflow(id) => Some(id.clone().into()),
            ListenerId::Webhook(_) => None,
        };
        self.reached.iter().filter_map(runnable).collect()
    }

    /// The webhooks that have got it.
    pub fn webhooks(&self) -> Vec<WebhookId> {
        let webhook = |listener: &ListenerId| match listener {
            ListenerId::Webhook(id) => Some(id.clone()),
            ListenerId::Source(_) | ListenerId::Workflow(_) => None,
        };
        self.reached.iter().filter_map(webhook).collect()
    }
}

/// Passing events on once more.
#[async_trait]
pub trait EventReplays {
    /// Passes an event on to the listeners of its emitter and channel, those whose subscription is newer than it too:
    /// another invocation of each source and workflow, and the delivery to each webhook made anew, or a first one.
    /// `None`: the event is not kept, or its emitter is gone.
    /// MUST reach each listener once, however many of its subscriptions match
    /// (`conformance::event_replay::an_event_reaches_each_of_its_listeners_once_more`).
    /// MUST leave out those that are inactive or have no room, and say so
    /// (`conformance::event_replay::listeners_without_room_are_left_out`).
    /// MUST pass over all but the one that is wanted, if one is
    /// (`conformance::event_replay::an_event_reaches_one_listener_alone_if_that_is_wanted`).
    /// MUST pass over webhooks that have a delivery of it, if those that missed it are wanted
    /// (`conformance::event_replay::a_webhook_gets_what_it_missed_once`).
    /// MUST change nothing in a dry run
    /// (`conformance::event_replay::a_dry_run_tells_who_would_get_an_event`).
    async fn replay_event(
        &self,
        replay: &EventReplay,
    ) -> Result<Option<EventListeners>, StoreError>;
}
