//! Subscriptions of listeners to emitters (docs/guide/webhooks.md).

use headwater_model::{
    channel::{Channel, ChannelClass},
    id::{EmitterId, ListenerId, SubscriptionId, WorkspaceId},
    subscription::{AutoSubscription, EmitterPattern, Subscription},
};
use headwater_store::{Owner, SubscriptionFilter};

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
};

/// Subscriptions listed at once; the listing has no pages.
const LISTED: u32 = 10_000;

impl Platform {
    /// Subscribes a listener to an emitter's channel. Idempotent on the same triple.
    ///
    /// # Errors
    /// `Invalid` for ids that are none and for a source's own errors and logs, `NotFound` for an emitter or
    /// listener that the caller cannot see, `Forbidden` for a workspace of others.
    pub async fn subscribe(
        &self,
        caller: &Caller,
        emitter_id: &str,
        listener_id: &str,
        event_name: &str,
    ) -> Result<Subscription, PlatformError> {
        let wanted = self.subscription(caller, emitter_id, listener_id, event_name)?;
        check_loop(&wanted)?;
        self.check_emitter(caller, &wanted.emitter).await?;
        self.check_listener(caller, &wanted.listener).await?;
        let subscription = self.core.store.subscribe(wanted).await?;
        let act = on_subscription(AuditAction::SubscriptionCreate, &subscription);
        let act = self.of_listener(act, caller, &subscription.listener).await;
        self.record(caller, act).await;
        Ok(subscription)
    }

    /// Checks that the workspace named along with a subscription does not contradict it: ids say where
    /// things live, but `dc_*` and `p_*` mean everything that the caller created, in every workspace.
    ///
    /// # Errors
    /// `Invalid` for such a pattern; `Forbidden` in a workspace of others, `NotFound` in none.
    pub async fn check_subscription_workspace(
        &self,
        caller: &Caller,
        emitter_id: &str,
        workspace_id: &WorkspaceId,
    ) -> Result<(), PlatformError> {
        self.check_member(caller, workspace_id).await?;
        match emitter_id.parse().map_err(PlatformError::Invalid)? {
            EmitterPattern::AllSources | EmitterPattern::AllWorkflows => {
                let reason = format!(
                    "`{emitter_id}` means everything that you created, in every workspace; to select \
                     one workspace, use `emitter_id={workspace_id}` and leave `workspace_id` and \
                     `org_id` out"
                );
                Err(PlatformError::invalid("emitter_id", reason))
            }
            EmitterPattern::One(_) | EmitterPattern::User(_) | EmitterPattern::Workspace(_) => {
                Ok(())
            }
        }
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
    ) -> Result<(), PlatformError> {
        let like = self.subscription(caller, emitter_id, listener_id, event_name)?;
        match self.core.store.unsubscribe(&like).await? {
            true => {
                let act = on_subscription(AuditAction::SubscriptionDelete, &like);
                let act = self.of_listener(act, caller, &like.listener).await;
                self.record(caller, act).await;
                Ok(())
            }
            false => Err(PlatformError::not_found(
                "subscription",
                format!("{emitter_id} → {listener_id}"),
            )),
        }
    }

    /// The caller's subscriptions, in creation order.
    pub async fn subscriptions(&self, caller: &Caller) -> Result<Vec<Subscription>, PlatformError> {
        let filter = SubscriptionFilter::User(caller.user_id().clone());
        Ok(self.core.store.subscriptions(&filter, LISTED).await?)
    }

    /// A workspace's subscriptions, of all users, in creation order.
    ///
    /// # Errors
    /// `Forbidden` when the caller is not a member, `NotFound` when there is no such workspace.
    pub async fn workspace_subscriptions(
        &self,
        caller: &Caller,
        workspace_id: WorkspaceId,
    ) -> Result<Vec<Subscription>, PlatformError> {
        self.check_member(caller, &workspace_id).await?;
        let filter = SubscriptionFilter::Workspace(workspace_id);
        Ok(self.core.store.subscriptions(&filter, LISTED).await?)
    }

    /// Subscribes a listener to `$errors` or `$logs` of every source and workflow that the caller creates from now on.
    /// Idempotent on the pair.
    ///
    /// # Errors
    /// `Invalid` for other channels, `NotFound` for a listener that the caller cannot see.
    pub async fn subscribe_automatically(
        &self,
        caller: &Caller,
        listener_id: &str,
        event_name: &str,
    ) -> Result<AutoSubscription, PlatformError> {
        let wanted = self.auto_subscription(caller, listener_id, event_name)?;
        self.check_listener(caller, &wanted.listener).await?;
        let subscription = self.core.store.subscribe_automatically(wanted).await?;
        let act = on_automatic(AuditAction::SubscriptionCreate, &subscription);
        let act = self.of_listener(act, caller, &subscription.listener).await;
        self.record(caller, act).await;
        Ok(subscription)
    }

    /// Ends an automatic subscription. Subscriptions that it has created stay.
    ///
    /// # Errors
    /// `NotFound` when the caller has none like it.
    pub async fn unsubscribe_automatically(
        &self,
        caller: &Caller,
        listener_id: &str,
        event_name: &str,
    ) -> Result<(), PlatformError> {
        let like = self.auto_subscription(caller, listener_id, event_name)?;
        match self.core.store.unsubscribe_automatically(&like).await? {
            true => {
                let act = on_automatic(AuditAction::SubscriptionDelete, &like);
                let act = self.of_listener(act, caller, &like.listener).await;
                self.record(caller, act).await;
                Ok(())
            }
            false => Err(PlatformError::not_found(
                "automatic subscription",
                format!("{event_name} → {listener_id}"),
            )),
        }
    }

    fn subscription(
        &self,
        caller: &Caller,
        emitter_id: &str,
        listener_id: &str,
        event_name: &str,
    ) -> Result<Subscription, PlatformError> {
        let channel = Channel::named(event_name);
        if channel.class() == ChannelClass::Scheduled {
            let reason = "events on `$in` wait there; subscribe to the channel they are meant for";
            return Err(PlatformError::invalid("event_name", reason));
        }
        Ok(Subscription {
            id: self.core.env.id(SubscriptionId::new),
            user_id: caller.user_id().clone(),
            emitter: emitter_id.parse().map_err(PlatformError::Invalid)?,
            listener: listener(listener_id)?,
            channel,
        })
    }

    fn auto_subscription(
        &self,
        caller: &Caller,
        listener_id: &str,
        event_name: &str,
    ) -> Result<AutoSubscription, PlatformError> {
        let channel = Channel::named(event_name);
        if !matches!(channel.class(), ChannelClass::Errors | ChannelClass::Logs) {
            let reason = "`event_name` must be `$errors` or `$logs`; for other channels use \
                          POST /subscriptions with `dc_*` as `emitter_id`";
            return Err(PlatformError::invalid("event_name", reason));
        }
        Ok(AutoSubscription {
            id: self.core.env.id(SubscriptionId::new),
            user_id: caller.user_id().clone(),
            listener: listener(listener_id)?,
            channel,
        })
    }

    /// Checks that the caller may listen to these emitters.
    ///
    /// # Errors
    /// `NotFound` for an emitter that the caller cannot see, `Forbidden` for a workspace of others.
    pub(crate) async fn check_emitter(
        &self,
        caller: &Caller,
        emitter: &EmitterPattern,
    ) -> Result<(), PlatformError> {
        match emitter {
            EmitterPattern::One(EmitterId::Source(id)) => {
                self.visible_source(caller, id).await.map(drop)
            }
            EmitterPattern::One(EmitterId::Workflow(id)) => {
                self.visible_workflow(caller, id).await.map(drop)
            }
            EmitterPattern::User(id) if id != caller.user_id() => {
                Err(PlatformError::not_found("user", id))
            }
            EmitterPattern::Workspace(id) => self.check_member(caller, id).await,
            EmitterPattern::User(_) | EmitterPattern::AllSources | EmitterPattern::AllWorkflows => {
                Ok(())
            }
        }
    }

    /// The act, with the name and the owner of the listener, who reads its record.
    async fn of_listener(&self, act: Act, caller: &Caller, listener: &ListenerId) -> Act {
        let user_id = caller.user_id();
        let of = |act: Act, name: Option<&str>, owner: &Owner| {
            let act = act.of(owner);
            name.map_or(act.clone(), |name| act.named(name))
        };
        match listener {
            ListenerId::Source(id) => match self.visible_source(caller, id).await {
                Ok(source) => of(act, Some(&source.spec.name), &source.owner),
                Err(_) => act.of_user(user_id),
            },
            ListenerId::Webhook(id) => match self.webhook(caller, id).await {
                Ok(webhook) => of(act, webhook.name.as_deref(), &webhook.owner),
                Err(_) => act.of_user(user_id),
            },
            ListenerId::Workflow(id) => match self.visible_workflow(caller, id).await {
                Ok(workflow) => of(act, Some(&workflow.name), &workflow.owner),
                Err(_) => act.of_user(user_id),
            },
        }
    }

    /// The id of a workflow that is not deployed yet is taken, and delivered to once the caller has such a workflow.
    async fn check_listener(
        &self,
        caller: &Caller,
        listener: &ListenerId,
    ) -> Result<(), PlatformError> {
        match listener {
            ListenerId::Source(id) => self.visible_source(caller, id).await.map(drop),
            ListenerId::Webhook(id) => self.webhook(caller, id).await.map(drop),
            ListenerId::Workflow(id) => match self.core.store.workflow(id).await? {
                Some(_) => self.visible_workflow(caller, id).await.map(drop),
                None => Ok(()),
            },
        }
    }
}

/// An act on a subscription. The listener is the thing: its history has what it is sent.
fn on_subscription(action: AuditAction, subscription: &Subscription) -> Act {
    let act = on_listener(action, &subscription.listener);
    act.with("emitter_id", subscription.emitter.to_string())
        .with_some("event_name", named(&subscription.channel))
}

/// The same for one to everything that the user creates.
fn on_automatic(action: AuditAction, subscription: &AutoSubscription) -> Act {
    let act = on_listener(action, &subscription.listener).with("automatic", true);
    act.with_some("event_name", named(&subscription.channel))
}

/// The name of a channel, unless it is the default one.
fn named(channel: &Channel) -> Option<&str> {
    Some(channel.name()).filter(|name| !name.is_empty())
}

fn on_listener(action: AuditAction, listener: &ListenerId) -> Act {
    let kind = match listener {
        ListenerId::Source(_) => "source",
        ListenerId::Workflow(_) => "workflow",
        ListenerId::Webhook(_) => "webhook",
    };
    Act::new(action, kind, listener.as_str())
}

fn listener(id: &str) -> Result<ListenerId, PlatformError> {
    id.parse()
        .map_err(|error| PlatformError::invalid("listener_id", error))
}

/// Dispatch never hands a source its own errors and logs, so a subscription to nothing else would be
/// silent for ever.
fn check_loop(wanted: &Subscription) -> Result<(), PlatformError> {
    let is_own = match (&wanted.emitter, &wanted.listener) {
        (EmitterPattern::One(EmitterId::Source(emitter)), ListenerId::Source(listener)) => {
            emitter == listener
        }
        _ => false,
    };
    let class = wanted.channel.class();
    if is_own && matches!(class, ChannelClass::Errors | ChannelClass::Logs) {
        let reason = "a source cannot listen to its own `$errors` and `$logs`, because each run would \
                      cause another; subscribe another source or a webhook";
        return Err(PlatformError::invalid("event_name", reason));
    }
    Ok(())
}
