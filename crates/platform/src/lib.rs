//! What the platform does: saves components, deploys sources, turns triggers into invocations,
//! commits what runs leave behind, and hands events on.
//!
//! Responsible for the use cases and the background work. Deliberately ignorant of HTTP, of any
//! database, of JavaScript, of configuration files and of the wall clock.

mod access;
mod accounts;
mod actions;
mod background;
mod calls;
mod components;
mod computed_props;
mod connects;
mod data_stores;
mod deliveries;
mod delivery;
mod environment;
mod error;
mod events;
mod feeds;
mod ingress;
mod keys;
mod metrics;
mod origin;
mod platform;
mod prop_warnings;
mod props;
mod proxies;
mod quotas;
mod rate_limits;
mod registry;
mod runner;
mod secrets;
mod sources;
mod spans;
mod subscriptions;
#[cfg(test)]
mod testing;
mod users;
mod webhooks;
mod workspaces;

pub use access::{Caller, key_hash};
pub use accounts::{AccountView, DeletedAccount, NewAccount, Revocation};
pub use actions::ActionReport;
pub use calls::CallTarget;
pub use components::{ComponentInput, ComponentRef};
pub use computed_props::{OptionsQuery, PropOption, PropOptions};
pub use connects::{
    Callback, ConnectError, ConnectLink, ConnectStatus, ConnectView, Connected, FieldsForm,
    LinkOpened, NewConnect,
};
pub use deliveries::ReplayRequest;
pub use delivery::DeliveryConfig;
pub use environment::{Clock, Environment, Random};
pub use error::PlatformError;
pub use events::{EventsQuery, default_channels};
pub use feeds::{Follow, Followed};
pub use ingress::{Ingress, IngressRequest};
pub use keys::{NewKey, create_admin_key};
pub use origin::{on_behalf_of, origin, request_id};
pub use platform::{Parts, Platform, PlatformConfig, Readiness};
pub use prop_warnings::prop_warnings;
pub use proxies::TrustedProxies;
pub use registry::PublishedComponent;
pub use runner::{LogLine, RunReport};
pub use secrets::{KeyFile, KeyRing, Rotation, holds_secrets};
pub use sources::{DeploySource, SourceView, UpdateSource};
pub use spans::{Attribute, NewSpan, RecordedSpan, Span, SpanKind, Tracer};
pub use users::{FirstUserOptions, NewUser, Plan, PlanView, UserView};
pub use webhooks::{NewWebhook, UpdateWebhook, WebhookWithSecret};
pub use workspaces::{NewWorkspace, WorkspaceView};

// What use cases give and take of store and engine, for crates that may not know those.
pub use headwater_engine::{LockedPackage, LogLevel, PackageModules, Response, locked_packages};
pub use headwater_store::{
    Account, ApiKey, Attempt, ComponentFilter, DataStore, Delivery, EventRange, Health,
    HealthStatus, ListedComponent, Record, SavedComponent, Usage, User, Webhook, WebhookBacklog,
};
