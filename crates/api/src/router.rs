//! The whole interface on one screen, grouped by caller, with the layers before the handlers. The API's
//! operations are listed in `operations`; the steps before a request is routed, and the way to endpoints of HTTP
//! interfaces, are in `edge`.

use std::sync::Arc;

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    routing::{any, get},
};
use headwater_platform::Platform;
use tower::Layer;

use crate::{
    auth,
    body::{self, Bodies, BodyLimits},
    connections::ConnectionCounts,
    edge::{self, Edge},
    fields,
    ingress::{IngressState, Sites},
    mcp,
    metrics::{self, Metrics, Observed},
    missing, openapi,
    operations::{self, V1},
    routes::{connect, docs::Described, files, waits},
};

/// The node's settings for taking requests in.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Answers endpoints on the node's own site as another site would be.
    pub sets_endpoints_apart: bool,
    /// The room that request bodies may take.
    pub bodies: BodyLimits,
    /// The counter of the server's connections.
    pub connections: ConnectionCounts,
}

/// The web UI.
#[derive(Debug, Clone)]
pub struct Pages {
    /// All pages, at their paths.
    pub all: Router<Arc<Platform>>,
    /// The page at a path where there is nothing, which browsers are shown.
    pub missing: Router,
}

/// Everything the node serves over HTTP. Serve it with the peer's address
/// (`into_make_service_with_connect_info::<SocketAddr>()`), which events of HTTP interfaces show.
///
/// The pages of the web UI are served beside.
pub fn router(platform: Arc<Platform>, settings: Settings, pages: Pages) -> Router {
    let bodies = Bodies::new(settings.bodies);
    let metrics = Arc::new(Metrics::new(&settings.connections, &bodies));
    let ingress = Arc::new(IngressState {
        platform: Arc::clone(&platform),
        bodies: Arc::clone(&bodies),
        sites: Sites::of(platform.config(), settings.sets_endpoints_apart),
    });
    let edge = Arc::new(Edge::new(ingress, Arc::clone(&metrics)));
    let observed = Observed {
        platform: Arc::clone(&platform),
        metrics,
    };
    let described = Described::new(&platform.config().public_url, openapi::document);
    let no_route = pages.missing.clone();
    let api: Router = Router::new()
        .nest(V1, v1(&platform))
        .layer(from_fn_with_state(Arc::clone(&bodies), body::let_read))
        .with_state(Arc::clone(&platform));
    let routes = Router::from(operations::health())
        .merge(operations::metrics().with_state(observed))
        .merge(operations::description().with_state(Arc::new(described)))
        // Browsers in which an account is connected.
        .route(
            "/connect/{app}",
            get(connect::open).post(connect::submit_form),
        )
        .route("/connect/{app}/callback", get(connect::handle_callback))
        // People and programs that were given the URL of a wait.
        .route("/w/{token}/{action}", any(waits::answer))
        // Those that were given the URL of a file.
        .route("/f/{token}", get(files::download))
        // People in their browsers, and their assistants.
        .merge(
            pages
                .all
                .merge(mcp::route(api.clone(), &platform))
                .layer(from_fn_with_state(Arc::clone(&bodies), body::meter)),
        )
        .layer(from_fn_with_state(bodies, body::let_read))
        // Clients of the API.
        .merge(api.with_state(()))
        .layer(from_fn(metrics::name_route))
        .fallback(move |request| missing::tell(no_route.clone(), request))
        .method_not_allowed_fallback(move |request| {
            missing::tell_method(pages.missing.clone(), request)
        })
        .with_state(platform);
    // Layers of a router run after routing; a layer that changes the path must wrap the router itself.
    Router::new().fallback_service(from_fn_with_state(edge, edge::receive).layer(routes))
}

/// The API for its clients. Paths are written without the trailing slash that requests may carry.
fn v1(platform: &Arc<Platform>) -> Router<Arc<Platform>> {
    operations::clients()
        .fallback(missing::no_route)
        .method_not_allowed_fallback(missing::no_method)
        .layer(from_fn(fields::select))
        .layer(from_fn_with_state(Arc::clone(platform), auth::carry_out))
        .layer(from_fn_with_state(
            Arc::clone(platform),
            auth::require_caller,
        ))
}
