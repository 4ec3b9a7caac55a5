//! Passing kept events on once more, to those who listen to their emitters now.

use std::{collections::BTreeMap, sync::Arc};

use headwater_model::{
    event::EventRef,
    id::{EmitterId, ListenerId},
};
use headwater_store::{EventListeners, EventReplay};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    changes::Change,
    error::PlatformError,
    platform::Platform,
};

/// Events of one request. Each is a step of its own.
pub const REPLAYED_EVENTS_MAX: usize = 100;
/// Subscriptions of one event that are looked at.
pub(super) const SUBSCRIPTIONS_MAX: u32 = 1_000;

/// The events to pass on once more.
#[derive(Debug, Clone)]
pub struct ReplayEvents {
    /// The events, in any order.
    pub events: Vec<EventRef>,
    /// The only listener that gets them; `None`: all that listen.
    pub only: Option<ListenerId>,
    /// Whether only to tell who would get them.
    pub is_dry: bool,
}

/// The extent of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventsReplayed {
    /// Events that somebody got, or would.
    pub count: u64,
    /// Events that nobody got, or would: nobody listens, or nobody that is active and has room.
    pub unheard: u64,
    /// Events that are not kept any more.
    pub gone: u64,
    /// The listeners that the caller may see.
    pub listeners: Vec<ReplayListener>,
    /// The number of other listeners.
    pub others: u64,
    /// Whether an event has more subscriptions than were looked at.
    pub has_more: bool,
}

/// A listener of replayed events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayListener {
    /// The source, workflow or webhook.
    pub id: ListenerId,
    /// Its name.
    pub name: String,
    /// Events that it got, or would.
    pub reached: u64,
    /// Events that it did not get, or would not: it is not active, or has no room.
    pub left_out: u64,
}

impl Platform {
    /// Passes events on to their listeners once more, oldest first: another run of each listening source and workflow, and
    /// the delivery to each listening webhook again. Listeners that began to listen after an event get it too. If only one
    /// listener is wanted, the others are passed over.
    ///
    /// # Errors
    /// `Invalid` for no events or more than [`REPLAYED_EVENTS_MAX`], `NotFound` for an emitter that the caller may not see.
    pub async fn replay_events(
        self: &Arc<Self>,
        caller: &Caller,
        request: ReplayEvents,
    ) -> Result<EventsReplayed, PlatformError> {
        let mut events = request.events;
        events.sort_by(|one, other| (one.id, &one.emitter).cmp(&(other.id, &other.emitter)));
        events.dedup();
        if events.is_empty() || events.len() > REPLAYED_EVENTS_MAX {
            let reason = format!("`events` must be 1 to {REPLAYED_EVENTS_MAX} events");
            return Err(PlatformError::invalid("events", reason));
        }
        self.pass_on(caller, events, (request.only, request.is_dry))
            .await
    }

    /// Passes on any number of events, oldest first.
    ///
    /// # Errors
    /// `NotFound` for an emitter that the caller may not see.
    pub(super) async fn pass_on(
        self: &Arc<Self>,
        caller: &Caller,
        mut events: Vec<EventRef>,
        (only, is_dry): (Option<ListenerId>, bool),
    ) -> Result<EventsReplayed, PlatformError> {
        events.sort_by(|one, other| (one.id, &one.emitter).cmp(&(other.id, &other.emitter)));
        let emitters = self.emitters_of(caller, &events).await?;
        let mut replayed = EventsReplayed::default();
        let mut by_listener: BTreeMap<ListenerId, (u64, u64)> = BTreeMap::new();
        let count = events.len();
        for event in events {
            let replay = EventReplay {
                event,
                only: only.clone(),
                missed_only: false,
                now_ms: self.core.env.now_ms(),
                limit: SUBSCRIPTIONS_MAX,
                queued_max: self.core.config.queued_events_per_owner,
                salt: self.core.env.salt(),
                is_dry,
            };
            let Some(listeners) = self.core.store.replay_event(&replay).await? else {
                replayed.gone += 1;
                continue;
            };
            match listeners.reached.is_empty() {
                true => replayed.unheard += 1,
                false => replayed.count += 1,
            }
            replayed.has_more |= listeners.has_more;
            for id in &listeners.reached {
                by_listener.entry(id.clone()).or_default().0 += 1;
            }
            for id in &listeners.left_out {
                by_listener.entry(id.clone()).or_default().1 += 1;
            }
            if !is_dry {
                self.wake_listeners(&listeners).await?;
            }
        }
        self.name_listeners(caller, &mut replayed, by_listener)
            .await?;
        if !is_dry {
            let act = self.on_emitters(caller, &emitters).await;
            let act = act.with("count", replayed.count).with("selected", count);
            self.record(caller, act.with("listeners", replayed.listeners.len()))
                .await;
        }
        Ok(replayed)
    }

    /// The emitters of events, all of which the caller may see.
    async fn emitters_of(
        &self,
        caller: &Caller,
        events: &[EventRef],
    ) -> Result<Vec<EmitterId>, PlatformError> {
        let mut emitters: Vec<_> = events.iter().map(|event| event.emitter.clone()).collect();
        emitters.sort();
        emitters.dedup();
        for emitter in &emitters {
            match emitter {
                EmitterId::Source(id) => drop(self.visible_source(caller, id).await?),
                EmitterId::Workflow(id) => drop(self.visible_workflow(caller, id).await?),
            }
        }
        Ok(emitters)
    }

    /// Gives listeners the work that they have got.
    pub(super) async fn wake_listeners(
        self: &Arc<Self>,
        listeners: &EventListeners,
    ) -> Result<(), PlatformError> {
        let webhooks = listeners.webhooks();
        self.wake(&listeners.runnables(), &webhooks);
        let ids: Vec<_> = webhooks.into_iter().map(ListenerId::Webhook).collect();
        if ids.is_empty() {
            return Ok(());
        }
        for named in self.core.store.names(&ids).await? {
            if let ListenerId::Webhook(id) = named.id {
                self.core.tell(Change::Webhook(id, named.owner));
            }
        }
        Ok(())
    }

    async fn name_listeners(
        &self,
        caller: &Caller,
        replayed: &mut EventsReplayed,
        by_listener: BTreeMap<ListenerId, (u64, u64)>,
    ) -> Result<(), PlatformError> {
        let names = self.names(caller, [], by_listener.keys().cloned()).await?;
        for (id, (reached, left_out)) in by_listener {
            match names.of(&id) {
                Some(name) => replayed.listeners.push(ReplayListener {
                    name: name.to_owned(),
                    id,
                    reached,
                    left_out,
                }),
                None => replayed.others += 1,
            }
        }
        Ok(())
    }

    /// An act on the only emitter of events, or on several.
    async fn on_emitters(&self, caller: &Caller, emitters: &[EmitterId]) -> Act {
        let action = AuditAction::EventsReplay;
        match emitters {
            [EmitterId::Source(id)] => match self.visible_source(caller, id).await {
                Ok(source) => Act::on_source(action, &source),
                Err(_) => Act::new(action, "source", id).of_user(caller.user_id()),
            },
            [EmitterId::Workflow(id)] => match self.visible_workflow(caller, id).await {
                Ok(workflow) => Act::on_workflow(action, &workflow),
                Err(_) => Act::new(action, "workflow", id).of_user(caller.user_id()),
            },
            several => Act::new(action, "events", "selected")
                .of_user(caller.user_id())
                .with("emitters", several.len()),
        }
    }
}
