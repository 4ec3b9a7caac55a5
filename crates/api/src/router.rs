//! The whole interface on one screen, grouped by caller. What happens before a request is routed
//! is `front`'s business.

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    middleware::{from_fn, from_fn_with_state},
    routing::{any, delete, get, post, put},
};
use headwater_platform::Platform;
use tower::Layer;

use crate::{
    auth,
    body::{self, Bodies, BodyLimits},
    connections::ConnectionCounts,
    error::ApiError,
    fields,
    front::{self, Front},
    ingress::{self, Door, Sites},
    metrics::{self, Metrics},
    routes::{
        accounts, apps, auto_subscriptions, components, connect, data_stores, deliveries,
        docs::{self, Described},
        events, feeds, health, keys, orgs, registry, sources, subscriptions, users, webhooks,
        workflows, workspaces,
    },
};

/// How the node takes requests in.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Answers endpoints on the node's own site as another site would be.
    pub sets_endpoints_apart: bool,
    /// The room that request bodies may take.
    pub bodies: BodyLimits,
    /// Where the server counts its connections.
    pub connections: ConnectionCounts,
}

/// Everything the node serves over HTTP. Serve it with the peer's address
/// (`into_make_service_with_connect_info::<SocketAddr>()`), which events of HTTP interfaces show.
pub fn router(platform: Arc<Platform>, settings: Settings) -> Router {
    let bodies = Bodies::new(settings.bodies);
    let metrics = Arc::new(Metrics::new(&settings.connections, &bodies));
    let door = Arc::new(Door {
        platform: Arc::clone(&platform),
        bodies: Arc::clone(&bodies),
        sites: Sites::of(platform.config(), settings.sets_endpoints_apart),
    });
    let front = Arc::new(Front::new(Arc::clone(&door), Arc::clone(&metrics)));
    let shown = get(metrics::show).with_state((Arc::clone(&platform), metrics));
    let described = Arc::new(Described::new(&platform.config().public_url));
    let endpoint = || any(ingress::at_path).with_state(Arc::clone(&door));
    let routes = Router::new()
        // Machines that watch the node.
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", shown)
        // Readers of the API's description.
        .route(
            "/openapi.json",
            get(docs::json).with_state(Arc::clone(&described)),
        )
        .route("/docs", get(docs::page).with_state(described))
        // Browsers in which an account is connected.
        .route("/connect/{app}", get(connect::open).post(connect::fill_in))
        .route("/connect/{app}/callback", get(connect::come_back))
        // Clients of the API.
        .nest("/v1", v1(&platform))
        // What follows is counted without it.
        .layer(from_fn(metrics::name_route))
        .layer(from_fn_with_state(bodies, body::let_read))
        // Whoever calls the endpoint of an HTTP interface.
        .route("/e/{token}", endpoint())
        .route("/e/{token}/", endpoint())
        .route("/e/{token}/{*rest}", endpoint())
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .with_state(platform);
    // Layers of a router run after routing; what changes the path must wrap the router itself.
    Router::new().fallback_service(from_fn_with_state(front, front::receive).layer(routes))
}

/// The API. Paths are written without the trailing slash that requests may carry.
fn v1(platform: &Arc<Platform>) -> Router<Arc<Platform>> {
    Router::new()
        .route("/components", post(components::save).get(components::list))
        .route("/components/{reference}", get(components::show))
        .route("/components/{reference}/options", post(components::options))
        .route("/components/{reference}/props", post(components::props))
        .route("/components/{reference}/run", post(components::run))
        .route("/components/registry", post(registry::publish))
        .route("/components/registry/{key}", get(registry::show))
        .route("/packages/modules", get(registry::package_modules))
        .route("/sources", post(sources::deploy))
        .route(
            "/sources/{id}",
            put(sources::put)
                .get(sources::show)
                .patch(sources::patch)
                .delete(sources::delete),
        )
        .route("/sources/{id}/run", post(sources::run))
        .route("/sources/{id}/event_summaries", get(events::summaries))
        .route("/sources/{id}/events", delete(events::delete))
        .route("/sources/{id}/logs", get(events::logs))
        .route("/sources/{id}/sse", get(feeds::source))
        .route("/workflows/{id}/event_summaries", get(workflows::events))
        .route("/workflows/{id}/sse", get(feeds::workflow))
        .route(
            "/workflows/{id}/$errors/event_summaries",
            get(workflows::errors),
        )
        .route("/accounts", post(accounts::create).get(accounts::list))
        .route("/apps", get(apps::list))
        .route("/accounts/connect", post(accounts::connect))
        .route("/accounts/connect/{id}", get(accounts::connect_status))
        .route(
            "/accounts/{id}",
            get(accounts::show).delete(accounts::delete),
        )
        .route("/accounts/{id}/check", post(accounts::check))
        .route("/accounts/{id}/connect", post(accounts::reconnect))
        .route("/data_stores", get(data_stores::list))
        .route("/data_stores/{name}", delete(data_stores::delete))
        .route("/data_stores/{name}/records", get(data_stores::records))
        .merge(ways_out())
        .merge(tenants())
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn(fields::select))
        .layer(from_fn_with_state(
            Arc::clone(platform),
            auth::require_caller,
        ))
}

/// Who listens to whom, and what is delivered.
fn ways_out() -> Router<Arc<Platform>> {
    Router::new()
        .route(
            "/subscriptions",
            post(subscriptions::create).delete(subscriptions::delete),
        )
        .route(
            "/auto_subscriptions",
            post(auto_subscriptions::create).delete(auto_subscriptions::delete),
        )
        .route("/webhooks", post(webhooks::create))
        .route(
            "/webhooks/{id}",
            get(webhooks::show)
                .patch(webhooks::patch)
                .delete(webhooks::delete),
        )
        .route(
            "/webhooks/{id}/rotate_secret",
            post(webhooks::rotate_secret),
        )
        .route("/webhooks/{id}/deliveries", get(deliveries::list))
        .route("/webhooks/{id}/replay", post(deliveries::replay))
        .route("/deliveries/{id}", get(deliveries::show))
        .route("/deliveries/{id}/retry", post(deliveries::retry))
}

/// Users and workspaces: who they are, what they have, their keys.
fn tenants() -> Router<Arc<Platform>> {
    Router::new()
        .route("/users", post(users::create).get(users::list))
        .route("/users/{id}", delete(users::delete))
        .route("/users/me", get(users::me))
        .route("/users/me/sources", get(users::sources))
        .route("/users/me/subscriptions", get(users::subscriptions))
        .route("/users/me/webhooks", get(users::webhooks))
        .route(
            "/workspaces/{id}/subscriptions",
            get(workspaces::subscriptions),
        )
        .route("/orgs/{id}/sources", get(orgs::sources))
        .route(
            "/workspaces",
            post(workspaces::create).get(workspaces::list),
        )
        .route("/workspaces/{id}", get(workspaces::show))
        .route(
            "/workspaces/{id}/members",
            post(workspaces::add_member).get(workspaces::members),
        )
        .route(
            "/workspaces/{id}/members/{user_id}",
            delete(workspaces::remove_member),
        )
        .route("/keys", post(keys::create).get(keys::list))
        .route("/keys/{id}", delete(keys::revoke))
        .route("/secret_key/rotate", post(keys::rotate_secret_key))
}

async fn no_route(request: Request) -> ApiError {
    ApiError::NoRoute {
        method: request.method().clone(),
    }
}

async fn no_method(request: Request) -> ApiError {
    ApiError::MethodNotAllowed {
        method: request.method().clone(),
    }
}
