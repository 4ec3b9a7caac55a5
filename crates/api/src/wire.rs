//! The shapes of requests and responses, one file per resource. Field names are those of Pipedream's
//! API. Only shapes and how to fill them; no decisions.

mod account;
mod app;
mod call;
mod component;
mod data_store;
mod delivery;
mod envelope;
mod error;
mod event;
mod feed;
mod health;
pub(crate) mod id;
mod key;
pub(crate) mod lenient;
mod registry;
mod run;
mod run_record;
mod source;
mod subscription;
mod user;
mod webhook;
mod workspace;

pub(crate) use self::{
    account::{
        Account, Connect, ConnectAccount, ConnectLink, CreateAccount, DeletedAccount, WaitQuery,
    },
    app::{App, AppsQuery},
    call::{CallRequest, ComponentProps, OptionsRequest, PropOptions, PropsRequest},
    component::{Component, ComponentSummary, ListComponents, PropDefinition, SaveComponent},
    data_store::{DataStore, Record, TextCursor, place},
    delivery::{DeliveriesRequest, Delivery, DeliveryRequest, ReplayDeliveries, Replayed},
    envelope::{Data, Paged},
    error::{ErrorBody, ErrorCode},
    event::{DeleteEvents, EventSummary, EventsRequest, LogsRequest},
    feed::{FeedRequest, HANDSHAKE, write_message},
    health::{
        BuilderCheck, Checks, Health, Readiness, RuntimeCheck, SecretKeyCheck, Status, StoreCheck,
    },
    key::{CreateKey, Key, KeysRequest, NewKey, SecretKeyRotation},
    registry::{PackageModules, PackageRequest, PublishComponent, PublishedComponent},
    run::{ActionReport, RunReport},
    run_record::{Run, RunDetail, RunsRequest},
    source::{DeploySource, RunSource, Source, UpdateSource},
    subscription::{AutoSubscription, AutoSubscriptionRequest, Subscription, SubscriptionRequest},
    user::{CreateUser, Me, NewUser, User},
    webhook::{CreateWebhook, RotateSecret, UpdateWebhook, Webhook},
    workspace::{AddMember, CreateWorkspace, Workspace, WorkspaceScope},
};
