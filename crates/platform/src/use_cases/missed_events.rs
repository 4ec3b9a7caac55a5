//! Events that a webhook missed: those of its emitters that made no delivery to it, as while it was paused or before it
//! was subscribed.

use std::{collections::BTreeSet, sync::Arc};

use headwater_model::{
    event::EventRef,
    event_search::EventMatcher,
    id::{EmitterId, EventId, ListenerId, WebhookId},
    subscription::{EmitterPattern, Subscription},
    time::EpochMs,
};
use headwater_store::{
    ChannelFilter, EventListeners, EventReplay, EventSearch, Owner, ScanLimits, SearchedEmitters,
    Webhook,
};

use super::event_replay::SUBSCRIPTIONS_MAX;
use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
};

/// Events that one request looks at.
const LOOKED_AT_MAX: usize = 10_000;
/// Events that one request sends.
const SENT_MAX: u64 = 1_000;
/// Events that are read at a time.
const READ: u32 = 500;
const SCAN: ScanLimits = ScanLimits {
    events: READ,
    bytes: 32 * 1024 * 1024,
};

/// The events that are meant.
#[derive(Debug, Clone, Copy)]
pub struct MissedEvents {
    /// Those of this time and later, epoch milliseconds.
    pub since_ms: EpochMs,
    /// Those until then; until now if it is absent.
    pub until_ms: Option<EpochMs>,
    /// Whether only to count them.
    pub is_dry: bool,
}

/// The extent of what was missed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MissedSent {
    /// Events that are on their way to the webhook, or would be.
    pub count: u64,
    /// Whether there may be more.
    pub is_capped: bool,
}

impl Platform {
    /// Sends a webhook the kept events of its emitters, oldest first, of which it has no delivery: not one that waits, was
    /// made or was given up. It goes on to its end, also when the caller goes away. After a failure of the store, the same
    /// request sends the rest.
    ///
    /// # Errors
    /// `Invalid` for a range that is none, `NotFound` for a webhook that the caller may not see, `Conflict` when it is not
    /// active.
    pub async fn send_missed(
        self: &Arc<Self>,
        caller: &Caller,
        webhook_id: &WebhookId,
        wanted: MissedEvents,
    ) -> Result<MissedSent, PlatformError> {
        if wanted.is_dry {
            return self.missed_sent(caller, webhook_id, wanted).await;
        }
        let (platform, caller, id) = (Arc::clone(self), caller.clone(), webhook_id.clone());
        let sent = async move { platform.missed_sent(&caller, &id, wanted).await };
        self.core.to_the_end(sent).await
    }

    async fn missed_sent(
        self: &Arc<Self>,
        caller: &Caller,
        webhook_id: &WebhookId,
        wanted: MissedEvents,
    ) -> Result<MissedSent, PlatformError> {
        let now_ms = self.core.env.now_ms();
        let until_ms = wanted.until_ms.map_or(now_ms, |until| until.min(now_ms));
        if until_ms < wanted.since_ms {
            let reason =
                "`until` must not be before `since`, and `since` must not be in the future";
            return Err(PlatformError::invalid("until", reason));
        }
        let webhook = self.webhook(caller, webhook_id).await?;
        self.check_active(&webhook).await?;
        let (events, is_cut) = self
            .events_for(caller, &webhook, (wanted.since_ms, until_ms))
            .await?;
        let listener = ListenerId::Webhook(webhook.id.clone());
        let mut sent = MissedSent {
            is_capped: is_cut,
            ..MissedSent::default()
        };
        let mut failed = None;
        for (id, emitter) in events {
            if sent.count == SENT_MAX {
                sent.is_capped = true;
                break;
            }
            let replay = EventReplay {
                event: EventRef { emitter, id },
                only: Some(listener.clone()),
                missed_only: true,
                now_ms: self.core.env.now_ms(),
                limit: SUBSCRIPTIONS_MAX,
                queued_max: self.core.config.queued_events_per_owner,
                salt: self.core.env.salt(),
                is_dry: wanted.is_dry,
            };
            match self.core.store.replay_event(&replay).await {
                Ok(Some(listeners)) if listeners.reached.contains(&listener) => sent.count += 1,
                Ok(_) => {}
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        if !wanted.is_dry && sent.count > 0 {
            let woken = EventListeners {
                reached: vec![listener],
                ..EventListeners::default()
            };
            self.wake_listeners(&woken).await;
            let act = Act::on_webhook(AuditAction::WebhookReplay, &webhook);
            let act = act.with("count", sent.count).with("missed", true);
            let act = act.with("since_ms", wanted.since_ms.0);
            self.record(caller, act.with("until_ms", until_ms.0)).await;
        }
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(sent),
        }
    }

    /// The kept events that a webhook is subscribed to, of a span of time; and whether there may be more.
    async fn events_for(
        &self,
        caller: &Caller,
        webhook: &Webhook,
        (since_ms, until_ms): (EpochMs, EpochMs),
    ) -> Result<(BTreeSet<(EventId, EmitterId)>, bool), PlatformError> {
        let subscriptions = match &webhook.owner.workspace_id {
            Some(id) => self.workspace_subscriptions(caller, id.clone()).await?,
            None => self.subscriptions(caller).await?,
        };
        let mut events = BTreeSet::new();
        let (mut looked_at, mut is_cut) = (0, false);
        let own = |one: &&Subscription| matches!(&one.listener, ListenerId::Webhook(id) if *id == webhook.id);
        for subscription in subscriptions.iter().filter(own) {
            let mut search = EventSearch {
                emitters: emitters_of(subscription, &webhook.owner),
                channels: ChannelFilter::Named(subscription.channel.clone()),
                since_ms: Some(since_ms),
                until_ms: Some(until_ms),
                matcher: EventMatcher::default(),
                after: None,
                limit: READ,
                scan: SCAN,
            };
            loop {
                let found = self.core.store.search_events(search.clone()).await?;
                looked_at += found.events.len();
                events.extend(found.events.into_iter().map(|one| (one.id, one.emitter)));
                search.after = found.next;
                if search.after.is_none() {
                    break;
                }
                if looked_at >= LOOKED_AT_MAX {
                    is_cut = true;
                    break;
                }
            }
        }
        Ok((events, is_cut))
    }
}

/// The emitters whose events a subscription may bring; which of them it does, the replay of each event decides.
fn emitters_of(subscription: &Subscription, owner: &Owner) -> SearchedEmitters {
    match &subscription.emitter {
        EmitterPattern::One(id) => SearchedEmitters::One(id.clone()),
        EmitterPattern::AllSources | EmitterPattern::AllWorkflows => SearchedEmitters::Of(Owner {
            user_id: subscription.user_id.clone(),
            workspace_id: owner.workspace_id.clone(),
        }),
        EmitterPattern::User(id) => SearchedEmitters::Of(Owner {
            user_id: id.clone(),
            workspace_id: None,
        }),
        EmitterPattern::Workspace(id) => SearchedEmitters::Of(Owner {
            user_id: subscription.user_id.clone(),
            workspace_id: Some(id.clone()),
        }),
    }
}
