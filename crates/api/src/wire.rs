//! The shapes of requests and responses (spec "Resources and their fields"), one file per resource.
//! Field names are the spec's. Only shapes and how to fill them; no decisions.

mod account;
mod call;
mod component;
mod delivery;
mod envelope;
mod error;
mod event;
mod feed;
mod health;
pub(crate) mod id;
mod registry;
mod run;
mod source;
mod subscription;
mod user;
mod webhook;

pub(crate) use self::{
    account::{Account, AccountsRequest, CreateAccount},
    call::{CallRequest, ComponentProps, OptionsRequest, PropOptions},
    component::{
        Component, ComponentScope, ComponentSummary, ListComponents, PropDefinition, SaveComponent,
    },
    delivery::{DeliveriesRequest, Delivery, DeliveryRequest, ReplayDeliveries, Replayed},
    envelope::{Data, Paged},
    error::{ErrorBody, ErrorCode},
    event::{DeleteEvents, EventSummary, EventsRequest, LogsRequest},
    feed::{FeedRequest, HANDSHAKE, message},
    health::{Checks, Health, Readiness, RuntimeCheck, Status, StoreCheck},
    registry::{PackageModules, PackageRequest, PublishComponent, PublishedComponent},
    run::{ActionReport, RunReport},
    source::{DeploySource, RunSource, Source, UpdateSource},
    subscription::{AutoSubscription, AutoSubscriptionRequest, Subscription, SubscriptionRequest},
    user::User,
    webhook::{CreateWebhook, RotateSecret, UpdateWebhook, Webhook},
};
