//! Every operation of the API, once: each is served and is in the document, in this order. Path and
//! method are those of the handler's annotation. The layers before a handler are `router`'s business.

use std::sync::Arc;

use headwater_platform::Platform;
use utoipa::openapi::OpenApi;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    metrics::{self, Observed},
    routes::{
        accounts, apps, auto_subscriptions, components, data_stores, deliveries,
        docs::{self, Described},
        events, feeds, health, keys, orgs, registry, runs, sources, subscriptions, users, webhooks,
        workflows, workspaces,
    },
};

/// Prefix of the paths that clients of the API call.
pub(crate) const V1: &str = "/v1";

/// Routes of some operations together with their part of the document.
type Operations<S = Arc<Platform>> = OpenApiRouter<S>;

/// The document of all operations, without title, tags and security.
pub(crate) fn document() -> OpenApi {
    let rest = health().into_openapi();
    let rest = rest.merge_from(metrics().into_openapi());
    let rest = rest.merge_from(description().into_openapi());
    OpenApi::default()
        .nest(V1, clients().into_openapi())
        .merge_from(rest)
}

/// Operations for clients of the API, below [`V1`].
pub(crate) fn clients() -> Operations {
    Operations::default()
        .merge(components())
        .merge(sources())
        .merge(delivery())
        .merge(belongings())
        .merge(tenants())
}

/// Operations for machines that watch the node.
pub(crate) fn health() -> Operations {
    Operations::default()
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
}

/// Operations for machines that measure the node.
pub(crate) fn metrics() -> Operations<Observed> {
    Operations::default().routes(routes!(metrics::show))
}

/// Operations for readers of the API's description.
pub(crate) fn description() -> Operations<Arc<Described>> {
    Operations::default()
        .routes(routes!(docs::json))
        .routes(routes!(docs::page))
}

/// Saved code of sources and actions.
fn components() -> Operations {
    Operations::default()
        .routes(routes!(components::save, components::list))
        .routes(routes!(components::show))
        .routes(routes!(components::options))
        .routes(routes!(components::props))
        .routes(routes!(components::run))
        .routes(routes!(registry::publish))
        .routes(routes!(registry::show))
        .routes(routes!(registry::package_modules))
}

/// Deployed components, their runs, and the events of them and of workflows.
fn sources() -> Operations {
    Operations::default()
        .routes(routes!(sources::deploy))
        .routes(routes!(
            sources::show,
            sources::put,
            sources::patch,
            sources::delete
        ))
        .routes(routes!(sources::run))
        .routes(routes!(runs::list))
        .routes(routes!(runs::show))
        .routes(routes!(events::summaries))
        .routes(routes!(events::delete))
        .routes(routes!(events::logs))
        .routes(routes!(feeds::source))
        .routes(routes!(workflows::events))
        .routes(routes!(workflows::errors))
        .routes(routes!(feeds::workflow))
}

/// Subscriptions, webhooks and their deliveries.
fn delivery() -> Operations {
    Operations::default()
        .routes(routes!(subscriptions::create, subscriptions::delete))
        .routes(routes!(users::subscriptions))
        .routes(routes!(workspaces::subscriptions))
        .routes(routes!(
            auto_subscriptions::create,
            auto_subscriptions::delete
        ))
        .routes(routes!(webhooks::create))
        .routes(routes!(webhooks::show, webhooks::patch, webhooks::delete))
        .routes(routes!(users::webhooks))
        .routes(routes!(webhooks::rotate_secret))
        .routes(routes!(deliveries::list))
        .routes(routes!(deliveries::replay))
        .routes(routes!(deliveries::show))
        .routes(routes!(deliveries::retry))
}

/// Accounts of apps and data stores, which components use beside their code.
fn belongings() -> Operations {
    Operations::default()
        .routes(routes!(accounts::list, accounts::create))
        .routes(routes!(accounts::show, accounts::delete))
        .routes(routes!(accounts::check))
        .routes(routes!(accounts::connect))
        .routes(routes!(accounts::reconnect))
        .routes(routes!(accounts::connect_status))
        .routes(routes!(apps::list))
        .routes(routes!(data_stores::list))
        .routes(routes!(data_stores::records))
        .routes(routes!(data_stores::delete))
}

/// Users, workspaces and their keys.
fn tenants() -> Operations {
    Operations::default()
        .routes(routes!(users::me))
        .routes(routes!(users::sources))
        .routes(routes!(orgs::sources))
        .routes(routes!(users::create, users::list))
        .routes(routes!(users::delete))
        .routes(routes!(workspaces::create, workspaces::list))
        .routes(routes!(workspaces::show))
        .routes(routes!(workspaces::members, workspaces::add_member))
        .routes(routes!(workspaces::remove_member))
        .routes(routes!(keys::create, keys::list))
        .routes(routes!(keys::revoke))
        .routes(routes!(keys::rotate_secret_key))
}
