//! The web UI: pages of the node for people, rendered on the server (docs/guide/web-ui.md).
//!
//! Responsible for pages, their forms and their live parts, for the cookie that a browser signs in with, and for the
//! policies that browsers hold pages to. Decides nothing about components, sources or events: every page is one or a few
//! use cases of `headwater_platform`, and whatever a page does the API does too.
//!
//! Every page works without script; everything shown that users or the world made is text, never markup.

#![warn(clippy::wildcard_enum_match_arm)]

mod assets;
mod compressed;
mod cookie;
mod fields;
mod form;
mod headers;
mod layout;
mod origin;
mod page;
mod part;
mod problem;
mod query;
mod reply;
mod shell;
mod state;
mod visit;

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::from_fn_with_state,
    routing::{get, post},
};
use headwater_platform::Platform;

use crate::{
    page::{accounts, deploy, home, live, signin, sources},
    state::Ui,
};

/// All pages, and what they are made of. Merged into the node's router, whose other paths begin with `/v1`, `/e`, `/w`,
/// `/f`, `/connect`, `/docs`, `/openapi.json`, `/healthz`, `/readyz` and `/metrics`.
pub fn router<S: Clone + Send + Sync + 'static>(platform: Arc<Platform>) -> Router<S> {
    let ui = Arc::new(Ui::new(platform));
    pages()
        // The node bounds bodies itself, and they are read behind the check of who sends them.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(&ui), shell::enter))
        .layer(from_fn_with_state(Arc::clone(&ui), origin::check))
        .merge(Router::new().route("/assets/{hash}/{name}", get(assets::serve)))
        .with_state(ui)
}

fn pages() -> Router<Arc<Ui>> {
    Router::new()
        // Anybody.
        .route("/signin", get(signin::show).post(signin::submit))
        .route(
            "/signin/{token}",
            get(signin::show_link).post(signin::follow_link),
        )
        // Whoever is signed in.
        .route("/signout", post(signin::sign_out))
        .route("/theme", post(signin::set_theme))
        .route("/", get(home::show))
        .route("/live", get(live::show))
        .route("/sources", get(sources::list::show))
        .route("/sources/{id}", get(sources::events::show))
        .route("/sources/{id}/events", get(sources::events::show))
        .route("/sources/{id}/logs", get(sources::logs::show))
        .route("/sources/{id}/runs", get(sources::runs::show))
        .route("/sources/{id}/errors", get(sources::errors::show))
        .route("/sources/{id}/config", get(sources::config::show))
        .route(
            "/sources/{id}/subscriptions",
            get(sources::subscriptions::show),
        )
        .route(
            "/sources/{id}/run",
            get(sources::run::show).post(sources::run::submit),
        )
        .route("/sources/{id}/switch", post(sources::switch::submit))
        .route(
            "/sources/{id}/delete",
            get(sources::delete::show).post(sources::delete::submit),
        )
        .route(
            "/sources/{id}/edit",
            get(sources::edit::show).post(sources::edit::submit),
        )
        .route(
            "/sources/{id}/code",
            get(sources::code::show).post(sources::code::submit),
        )
        .route("/deploy", get(deploy::search::show))
        .route(
            "/deploy/code",
            get(deploy::code::show).post(deploy::code::submit),
        )
        .route(
            "/deploy/{*reference}",
            get(deploy::component::show).post(deploy::component::submit),
        )
        .route("/accounts", get(accounts::list::show))
        .route(
            "/accounts/new",
            get(accounts::new::show).post(accounts::new::submit),
        )
        .route("/accounts/connect", post(accounts::connect::begin))
        .route("/accounts/connects/{id}", get(accounts::connect::status))
        .route("/accounts/{id}", get(accounts::show::show))
        .route("/accounts/{id}/check", post(accounts::show::check))
        .route(
            "/accounts/{id}/reconnect",
            post(accounts::connect::begin_again),
        )
        .route(
            "/accounts/{id}/delete",
            get(accounts::delete::show).post(accounts::delete::submit),
        )
}
