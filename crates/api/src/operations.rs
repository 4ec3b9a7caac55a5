//! Every operation of the API, once: each is served and is in the document, in this order. Path and
//! method are those of the handler's annotation. The layers before a handler are `router`'s business.

use std::sync::Arc;

use axum::Router;
use headwater_platform::Platform;
use utoipa::openapi::OpenApi;
use utoipa_axum::{
    router::{OpenApiRouter, UtoipaMethodRouter},
    routes,
};

use crate::{
    metrics::{self, Observed},
    routes::{
        accounts, apps, audit, auto_subscriptions, causes, components, data_stores, deliveries,
        delivery_search,
        docs::{self, Described},
        event_replay, event_search, event_send, event_views, events, feeds, health, keys, nodes,
        orgs, registry, run_replay, run_search, runs, sessions, settings, source_deployments,
        sources, subscriptions, usage, users, variables, webhooks, workflow_deployments,
        workflow_runs, workflows, workspaces,
    },
};

/// Prefix of the paths that clients of the API call.
pub(crate) const V1: &str = "/v1";

/// Routes of some operations together with their part of the document.
type Operations<S = Arc<Platform>> = OpenApiRouter<S>;

/// The operations of one path, together with their part of the document.
type PathItem = fn() -> UtoipaMethodRouter<Arc<Platform>>;

/// The document of all operations, without title, tags and security.
pub(crate) fn document() -> OpenApi {
    let rest = health().into_openapi();
    let rest = rest.merge_from(metrics().into_openapi());
    let rest = rest.merge_from(description().into_openapi());
    let clients = CLIENTS
        .iter()
        .fold(Operations::default(), |all, item| all.routes(item()));
    OpenApi::default()
        .nest(V1, clients.into_openapi())
        .merge_from(rest)
}

/// The routes of the operations for clients. Each path's part of the document is dropped before the next is built, so
/// that a start does not take the room of all of it.
pub(crate) fn clients() -> Router<Arc<Platform>> {
    let routes = |item: &PathItem| Router::from(Operations::default().routes(item()));
    CLIENTS
        .iter()
        .map(routes)
        .fold(Router::new(), Router::merge)
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

/// Operations for clients of the API, below [`V1`].
const CLIENTS: &[PathItem] = &[
    // Saved code of sources and actions.
    || routes!(components::save, components::list),
    || routes!(components::show, components::delete),
    || routes!(components::options),
    || routes!(components::props),
    || routes!(components::run),
    || routes!(components::try_source),
    || routes!(registry::publish),
    || routes!(registry::show),
    || routes!(registry::publish_folder),
    || routes!(registry::package_modules),
    || routes!(registry::package_components),
    // Deployed components and their runs.
    || routes!(sources::deploy),
    || routes!(sources::show, sources::put, sources::patch, sources::delete),
    || routes!(sources::run),
    || routes!(run_search::list),
    || routes!(run_search::counts),
    || routes!(run_search::hours),
    || routes!(run_replay::replay),
    || routes!(source_deployments::list),
    || routes!(source_deployments::show),
    || routes!(source_deployments::roll_back),
    || routes!(runs::list),
    || routes!(runs::show),
    // Workflows and their runs.
    || routes!(workflows::list, workflows::deploy),
    || routes!(workflows::show, workflows::patch, workflows::delete),
    || routes!(workflows::check),
    || routes!(workflows::run),
    || routes!(workflow_deployments::list),
    || routes!(workflow_deployments::show),
    || routes!(workflow_deployments::files),
    || routes!(workflow_deployments::roll_back),
    || routes!(workflow_runs::list),
    || routes!(workflow_runs::replay),
    || routes!(workflow_runs::cancel),
    || routes!(workflow_runs::resume),
    || routes!(variables::list),
    || routes!(variables::set, variables::delete),
    // Events of sources and of workflows.
    || routes!(event_search::search),
    || routes!(event_replay::replay),
    || routes!(event_send::send),
    || routes!(event_views::list),
    || routes!(event_views::set, event_views::delete),
    || routes!(events::summaries),
    || routes!(events::delete),
    || routes!(events::logs),
    || routes!(events::open_log),
    || routes!(feeds::source),
    || routes!(workflows::events),
    || routes!(workflows::errors),
    || routes!(feeds::workflow),
    || routes!(causes::source_event),
    || routes!(causes::source_event_deliveries),
    || routes!(causes::source_event_runs),
    || routes!(causes::workflow_event),
    || routes!(causes::workflow_event_deliveries),
    || routes!(causes::workflow_event_runs),
    // Subscriptions to events.
    || routes!(subscriptions::create, subscriptions::delete),
    || routes!(users::subscriptions),
    || routes!(workspaces::subscriptions),
    || routes!(auto_subscriptions::create, auto_subscriptions::delete),
    // Webhooks and the deliveries to them.
    || routes!(webhooks::create),
    || routes!(webhooks::show, webhooks::patch, webhooks::delete),
    || routes!(users::webhooks),
    || routes!(webhooks::rotate_secret),
    || routes!(webhooks::test),
    || routes!(deliveries::list),
    || routes!(deliveries::replay),
    || routes!(deliveries::show),
    || routes!(deliveries::retry),
    || routes!(deliveries::discard),
    || routes!(delivery_search::list),
    || routes!(delivery_search::counts),
    || routes!(delivery_search::retry),
    || routes!(delivery_search::discard),
    // Accounts of apps.
    || routes!(accounts::list, accounts::create),
    || routes!(accounts::show, accounts::patch, accounts::delete),
    || routes!(accounts::users),
    || routes!(accounts::check),
    || routes!(accounts::connect),
    || routes!(accounts::reconnect),
    || routes!(accounts::connect_status),
    || routes!(apps::list),
    // Data stores and their records.
    || routes!(data_stores::list),
    || routes!(data_stores::users),
    || routes!(data_stores::records),
    || {
        routes!(
            data_stores::record,
            data_stores::write_record,
            data_stores::delete_record
        )
    },
    || routes!(data_stores::delete),
    // Users and workspaces.
    || routes!(users::me),
    || routes!(usage::show),
    || routes!(users::sources),
    || routes!(orgs::sources),
    || routes!(users::create, users::list),
    || routes!(users::delete),
    || routes!(workspaces::create, workspaces::list),
    || routes!(workspaces::show),
    || routes!(workspaces::members, workspaces::add_member),
    || routes!(workspaces::remove_member),
    // The keys of users, and their browsers that are signed in.
    || routes!(keys::create, keys::list),
    || routes!(keys::revoke),
    || routes!(sessions::list),
    || routes!(sessions::end),
    || routes!(sessions::offer),
    || routes!(keys::rotate_secret_key),
    || routes!(audit::list),
    || routes!(settings::list),
    || routes!(nodes::list),
    || routes!(nodes::patch),
];
