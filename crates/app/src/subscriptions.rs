//! Who listens to whom (spec "Subscriptions").

use headwater_model::{
    channel::{Channel, ChannelClass},
    id::{ListenerId, SubscriptionId},
    subscription::{EmitterPattern, Subscription},
};
use headwater_store::SubscriptionFilter;

use crate::{access::Caller, app::App, error::AppError};

/// Subscriptions listed at once; the spec's listing is not paginated.
const LISTED: u32 = 10_000;

impl App {
    /// Subscribes a listener to an emitter's channel. Idempotent on the same triple.
    ///
    /// # Errors
    /// `Invalid` for ids that are none, `NotFound` for an emitter or listener that the caller cannot see.
    pub async fn subscribe(
        &self,
        caller: &Caller,
        emitter_id: &str,
        listener_id: &str,
        event_name: &str,
    ) -> Result<Subscription, AppError> {
        let wanted = self.subscription(caller, emitter_id, listener_id, event_name)?;
        self.check_emitter(caller, &wanted.emitter).await?;
        match &wanted.listener {
            ListenerId::Source(id) => self.visible_source(caller, id).await.map(drop)?,
            ListenerId::Workflow(id) => return Err(AppError::not_found("workflow", id)),
            ListenerId::Webhook(id) => return Err(AppError::not_found("webhook", id)),
        }
        Ok(self.store.subscribe(wanted).await?)
    }

    /// Ends a subscription.
    ///
    /// # Errors
    /// `NotFound` when the caller has none like it.
    pub async fn unsubscribe(
        &self,
        caller: &Caller,
        emitter_id: &str,
        listener_id: &str,
        event_name: &str,
    ) -> Result<(), AppError> {
        let like = self.subscription(caller, emitter_id, listener_id, event_name)?;
        match self.store.unsubscribe(&like).await? {
            true => Ok(()),
            false => Err(AppError::not_found(
                "subscription",
                format!("{emitter_id} → {listener_id}"),
            )),
        }
    }

    /// The caller's subscriptions, in creation order.
    pub async fn subscriptions(&self, caller: &Caller) -> Result<Vec<Subscription>, AppError> {
        let mine = SubscriptionFilter::User(caller.user_id().clone());
        Ok(self.store.subscriptions(&mine, LISTED).await?)
    }

    fn subscription(
        &self,
        caller: &Caller,
        emitter_id: &str,
        listener_id: &str,
        event_name: &str,
    ) -> Result<Subscription, AppError> {
        let channel = Channel::named(event_name);
        if channel.class() == ChannelClass::Scheduled {
            let reason = "events on `$in` wait there; subscribe to the channel they are meant for";
            return Err(AppError::invalid("event_name", reason));
        }
        Ok(Subscription {
            id: self.env.id(SubscriptionId::new),
            user_id: caller.user_id().clone(),
            emitter: emitter_id.parse().map_err(AppError::Invalid)?,
            listener: listener_id
                .parse()
                .map_err(|error| AppError::invalid("listener_id", error))?,
            channel,
        })
    }

    async fn check_emitter(
        &self,
        caller: &Caller,
        emitter: &EmitterPattern,
    ) -> Result<(), AppError> {
        use headwater_model::id::EmitterId;
        match emitter {
            EmitterPattern::One(EmitterId::Source(id)) => {
                self.visible_source(caller, id).await.map(drop)
            }
            EmitterPattern::One(EmitterId::Workflow(id)) => {
                Err(AppError::not_found("workflow", id))
            }
            EmitterPattern::User(id) if id != caller.user_id() => {
                Err(AppError::not_found("user", id))
            }
            EmitterPattern::Workspace(id) if !caller.is_member(id) => {
                Err(AppError::not_found("workspace", id))
            }
            _ => Ok(()),
        }
    }
}
