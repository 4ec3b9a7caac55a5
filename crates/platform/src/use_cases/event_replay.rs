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
    /// Events that were not sent because of an error: the one at which it came, and those behind it.
    pub untried: u64,
    /// The error.
    pub reason: Option<String>,
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

/// The extent of a replay so far.
#[derive(Default)]
struct Tally {
    replayed: EventsReplayed,
    /// The events that each listener got, and those that it did not.
    by_listener: BTreeMap<ListenerId, (u64, u64)>,
}

impl Tally {
    fn add(&mut self, listeners: &EventListeners) {
        match listeners.reached.is_empty() {
            true => self.replayed.unheard += 1,
            false => self.replayed.count += 1,
        }
        self.replayed.has_more |= listeners.has_more;
        for id in &listeners.reached {
            self.by_listener.entry(id.clone()).or_default().0 += 1;
        }
        for id in &listeners.left_out {
            self.by_listener.entry(id.clone()).or_default().1 += 1;
        }
    }

    /// Ends with an error and the number of events that were not sent because of it.
    ///
    /// # Errors
    /// That error, if nobody has got anything: it is the whole answer.
    fn end(&mut self, error: PlatformError, untried: usize) -> Result<(), PlatformError> {
        if self.replayed.count == 0 {
            return Err(error);
        }
        self.replayed.untried = untried as u64;
        self.replayed.reason = Some(error.told());
        Ok(())
    }
}

/// The emitters of events, each once.
pub(super) fn emitters_of(events: &[EventRef]) -> Vec<EmitterId> {
    let mut emitters: Vec<_> = events.iter().map(|event| event.emitter.clone()).collect();
    emitters.sort();
    emitters.dedup();
    emitters
}

impl Platform {
    /// Passes events on to their listeners once more, oldest first: another run of each listening source and workflow, and
    /// the delivery to each listening webhook again. Listeners that began to listen after an event get it too. If only one
    /// listener is wanted, the others are passed over. An error ends it; what was sent before it is told.
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
        for emitter in emitters_of(&events) {
            self.check_visible(caller, &emitter).await?;
        }
        self.pass_on(caller, events, (request.only, request.is_dry))
            .await
    }

    /// Passes on any number of events of emitters that the caller may see, oldest first: to the end, even if the caller goes
    /// away.
    pub(super) async fn pass_on(
        self: &Arc<Self>,
        caller: &Caller,
        mut events: Vec<EventRef>,
        how: (Option<ListenerId>, bool),
    ) -> Result<EventsReplayed, PlatformError> {
        events.sort_by(|one, other| (one.id, &one.emitter).cmp(&(other.id, &other.emitter)));
        let (_, is_dry) = how;
        if is_dry {
            return self.pass_all_on(caller, events, how).await;
        }
        let (platform, caller) = (Arc::clone(self), caller.clone());
        let passed_on = async move { platform.pass_all_on(&caller, events, how).await };
        self.core.to_the_end(passed_on).await
    }

    async fn pass_all_on(
        self: &Arc<Self>,
        caller: &Caller,
        events: Vec<EventRef>,
        (only, is_dry): (Option<ListenerId>, bool),
    ) -> Result<EventsReplayed, PlatformError> {
        let emitters = emitters_of(&events);
        let selected = events.len();
        let mut tally = Tally::default();
        for (at, event) in events.into_iter().enumerate() {
            match self.pass_one_on(event, only.clone(), is_dry).await {
                Ok(None) => tally.replayed.gone += 1,
                Ok(Some(listeners)) => {
                    tally.add(&listeners);
                    if !is_dry {
                        self.wake_listeners(&listeners).await;
                    }
                }
                Err(error) if is_dry => return Err(error),
                Err(error) => {
                    tally.end(error, selected - at)?;
                    break;
                }
            }
        }
        let Tally {
            mut replayed,
            by_listener,
        } = tally;
        let listeners = by_listener.len() as u64;
        let named = self.name_listeners(caller, &mut replayed, by_listener);
        let named = named.await;
        if is_dry {
            return named.map(|()| replayed);
        }
        if let Err(error) = named {
            tracing::warn!(%error, "cannot read the names of those who got events again");
            replayed.others = listeners;
        }
        let act = self.on_emitters(caller, &emitters).await;
        let act = act.with("count", replayed.count).with("selected", selected);
        let untried = Some(replayed.untried).filter(|untried| *untried > 0);
        let act = act.with_some("untried", untried);
        self.record(caller, act.with("listeners", replayed.listeners.len()))
            .await;
        Ok(replayed)
    }

    /// Passes on one event; `None` if it is not kept any more.
    async fn pass_one_on(
        &self,
        event: EventRef,
        only: Option<ListenerId>,
        is_dry: bool,
    ) -> Result<Option<EventListeners>, PlatformError> {
        if self.core.stopping.is_cancelled() {
            return Err(PlatformError::Unavailable(
                "the node is stopping".to_owned(),
            ));
        }
        let replay = EventReplay {
            event,
            only,
            missed_only: false,
            now_ms: self.core.env.now_ms(),
            limit: SUBSCRIPTIONS_MAX,
            queued_max: self.core.config.queued_events_per_owner,
            salt: self.core.env.salt(),
            is_dry,
        };
        Ok(self.core.store.replay_event(&replay).await?)
    }

    /// Gives listeners the work that they have got.
    pub(super) async fn wake_listeners(self: &Arc<Self>, listeners: &EventListeners) {
        let webhooks = listeners.webhooks();
        self.wake(&listeners.runnables(), &webhooks);
        let ids: Vec<_> = webhooks.into_iter().map(ListenerId::Webhook).collect();
        if ids.is_empty() {
            return;
        }
        match self.core.store.names(&ids).await {
            Ok(names) => {
                for named in names {
                    if let ListenerId::Webhook(id) = named.id {
                        self.core.tell(Change::Webhook(id, named.owner));
                    }
                }
            }
            // They have their work; only pages that are open are behind.
            Err(error) => {
                tracing::warn!(
                    error = error.in_full(),
                    "cannot tell pages of the webhooks that got an event again"
                );
            }
        }
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

#[cfg(test)]
mod tests {
    use headwater_model::{id::SourceId, time::EpochMs};

    use super::*;

    #[test]
    fn an_error_is_the_whole_answer_only_as_long_as_nobody_has_got_anything() {
        let error = || PlatformError::Unavailable("disk sdb1 is away".to_owned());
        let listener = || ListenerId::Source(SourceId::new(EpochMs(1), 1));
        let mut tally = Tally::default();
        tally.add(&EventListeners {
            left_out: vec![listener()],
            ..EventListeners::default()
        });
        assert!(tally.end(error(), 3).is_err());
        assert_eq!(tally.replayed.untried, 0);
        tally.add(&EventListeners {
            reached: vec![listener()],
            ..EventListeners::default()
        });
        tally.end(error(), 2).unwrap();
        let replayed = &tally.replayed;
        let counts = (replayed.count, replayed.unheard, replayed.untried);
        assert_eq!(counts, (1, 1, 2));
        assert_eq!(tally.by_listener[&listener()], (1, 1));
        let reason = replayed.reason.as_deref().unwrap();
        assert!(reason.contains("the node's log"), "{reason}");
        assert!(!reason.contains("sdb1"), "{reason}");
    }
}
