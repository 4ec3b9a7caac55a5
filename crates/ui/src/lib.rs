//! The web UI: pages of the node for people, rendered on the server (docs/guide/web-ui.md).
//!
//! Responsible for pages, their forms and their live parts, for the cookie that a browser signs in with, and for the
//! policies that browsers hold pages to. Decides nothing about components, sources or events: every page is one or a few
//! use cases of `headwater_platform`, and whatever a page does the API does too.
//!
//! Every page works without script; everything shown that users or the world made is text, never markup.

#![warn(clippy::wildcard_enum_match_arm)]

mod address;
mod assets;
mod compressed;
mod cookie;
mod fields;
mod form;
mod headers;
mod layout;
mod ndjson;
mod origin;
mod page;
mod part;
mod path;
mod problem;
mod problem_page;
mod progress;
mod query;
mod reply;
mod shell;
mod state;
mod topic;
mod visit;
mod workspace;

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::from_fn_with_state,
    routing::{get, post},
};
use headwater_platform::Platform;

use crate::{
    page::{
        accounts, data, deliveries, deploy, events, guide, home, live, masking, missing, runs,
        search, settings, signin, sources, webhooks, workflows,
    },
    state::Ui,
};

/// All pages, and what they are made of. Merged into the node's router, whose other paths begin with `/v1`, `/e`, `/w`,
/// `/f`, `/connect`, `/docs`, `/openapi.json`, `/healthz`, `/readyz` and `/metrics`.
pub fn router<S: Clone + Send + Sync + 'static>(platform: Arc<Platform>) -> Router<S> {
    let ui = Arc::new(Ui::new(platform));
    pages()
        .merge(deploying())
        // The node bounds bodies itself, and they are read behind the check of who sends them.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(&ui), shell::enter))
        .layer(from_fn_with_state(Arc::clone(&ui), origin::check))
        .merge(Router::new().route("/assets/{hash}/{name}", get(assets::serve)))
        .with_state(ui)
}

/// The page at every address where there is nothing, for browsers.
pub fn missing(platform: Arc<Platform>) -> Router {
    let ui = Arc::new(Ui::new(platform));
    Router::new()
        .fallback(missing::show)
        .layer(from_fn_with_state(Arc::clone(&ui), shell::enter))
        .layer(from_fn_with_state(Arc::clone(&ui), origin::check))
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
        .route("/guide", get(guide::index))
        .route("/guide/{name}", get(guide::show))
        // People who are signed in.
        .route("/signout", post(signin::sign_out))
        .route("/theme", post(signin::set_theme))
        .route("/masking", post(masking::submit))
        .route("/", get(home::show))
        .route("/live", get(live::show))
        .route("/search", get(search::show))
        .route("/search/names", get(search::names))
        .route(
            "/events",
            get(events::list::show).post(events::view_change::save),
        )
        .route("/events/export", get(events::export::show))
        .route(
            "/events/replay",
            get(events::matching::ask).post(events::matching::submit),
        )
        .route(
            "/events/selected",
            get(events::selected::show).post(events::selected::submit),
        )
        .route(
            "/events/views/delete",
            get(events::view_change::ask_to_delete).post(events::view_change::delete),
        )
        .merge(pages_of_sources())
        .merge(pages_of_events_of_sources())
        .merge(pages_of_webhooks())
        .merge(pages_of_workflows())
        .merge(pages_of_data())
        .merge(pages_of_settings())
}

fn pages_of_sources() -> Router<Arc<Ui>> {
    Router::new()
        .route("/sources", get(sources::list::show))
        .route(
            "/sources/selected",
            get(sources::selected::show).post(sources::selected::submit),
        )
        .route("/sources/{id}", get(sources::events::show))
        .route("/sources/{id}/events", get(sources::events::show))
        .route("/sources/{id}/logs", get(sources::logs::show))
        .route("/sources/{id}/runs", get(sources::runs::show))
        .route("/sources/{id}/errors", get(sources::errors::show))
        .route("/sources/{id}/config", get(sources::config::show))
        .route(
            "/sources/{id}/subscriptions",
            get(sources::subscriptions::show).post(sources::subscriptions::add),
        )
        .route(
            "/sources/{id}/subscriptions/remove",
            post(sources::subscriptions::remove),
        )
        .route("/sources/{id}/versions", get(sources::versions::list))
        .route(
            "/sources/{id}/versions/refresh",
            post(sources::refresh::submit),
        )
        .route(
            "/sources/{id}/versions/{deployment}",
            get(sources::versions::show),
        )
        .route(
            "/sources/{id}/versions/{deployment}/roll_back",
            get(sources::roll_back::show).post(sources::roll_back::submit),
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
        .route("/runs", get(runs::list::show))
        .route(
            "/runs/selected",
            get(runs::selected::show).post(runs::selected::submit),
        )
        .route(
            "/runs/replay",
            get(runs::matching::ask).post(runs::matching::submit),
        )
        .route("/runs/{id}", get(runs::show::show))
        .route(
            "/runs/{id}/cancel",
            get(runs::cancel::ask).post(runs::cancel::submit),
        )
        .route(
            "/runs/{id}/again",
            get(runs::again::show).post(runs::again::submit),
        )
}

fn pages_of_events_of_sources() -> Router<Arc<Ui>> {
    Router::new()
        .route("/sources/{id}/events/{event_id}", get(events::show::show))
        .route(
            "/sources/{id}/events/{event_id}/raw",
            get(events::show::raw),
        )
        .route(
            "/sources/{id}/events/{event_id}/compare",
            get(events::compare::show),
        )
        .route(
            "/sources/{id}/events/{event_id}/send",
            get(events::send::show).post(events::send::submit),
        )
        .route(
            "/sources/{id}/events/{event_id}/replay",
            get(events::replay::show).post(events::replay::submit),
        )
        .route(
            "/sources/{id}/events/{event_id}/fixture",
            get(events::fixture::show),
        )
        .route(
            "/sources/{id}/events/{event_id}/delete",
            get(events::delete::show).post(events::delete::submit),
        )
}

fn pages_of_webhooks() -> Router<Arc<Ui>> {
    Router::new()
        .route("/webhooks", get(webhooks::list::show))
        .route(
            "/webhooks/new",
            get(webhooks::create::show).post(webhooks::create::submit),
        )
        .route("/webhooks/{id}", get(webhooks::show::show))
        .route(
            "/webhooks/{id}/edit",
            get(webhooks::edit::show).post(webhooks::edit::submit),
        )
        .route(
            "/webhooks/{id}/subscriptions",
            post(webhooks::emitters::add),
        )
        .route(
            "/webhooks/{id}/subscriptions/remove",
            post(webhooks::emitters::remove),
        )
        .route("/webhooks/{id}/switch", post(webhooks::change::switch))
        .route(
            "/webhooks/{id}/test",
            get(webhooks::test::show).post(webhooks::test::submit),
        )
        .route(
            "/webhooks/{id}/secret",
            get(webhooks::secret::show).post(webhooks::secret::submit),
        )
        .route(
            "/webhooks/{id}/replay",
            get(webhooks::replay::show).post(webhooks::replay::submit),
        )
        .route(
            "/webhooks/{id}/delete",
            get(webhooks::change::ask_to_delete).post(webhooks::change::delete),
        )
        .route("/deliveries", get(deliveries::list::show))
        .route(
            "/deliveries/retry",
            get(deliveries::change::ask_to_retry).post(deliveries::change::retry),
        )
        .route(
            "/deliveries/discard",
            get(deliveries::change::ask_to_discard).post(deliveries::change::discard),
        )
        .route(
            "/deliveries/selected",
            get(deliveries::selected::show).post(deliveries::selected::submit),
        )
        .route("/deliveries/{id}/discard", post(deliveries::show::discard))
        .route("/deliveries/{id}", get(deliveries::show::show))
        .route("/deliveries/{id}/retry", post(deliveries::show::retry))
}

fn pages_of_workflows() -> Router<Arc<Ui>> {
    Router::new()
        .route("/workflows", get(workflows::list::show))
        .route("/workflows/{id}", get(workflows::runs::show))
        .route("/workflows/{id}/runs", get(workflows::runs::show))
        .route("/workflows/{id}/steps", get(workflows::steps::show))
        .route("/workflows/{id}/events", get(workflows::events::show))
        .route("/workflows/{id}/events/{event_id}", get(events::show::show))
        .route(
            "/workflows/{id}/events/{event_id}/raw",
            get(events::show::raw),
        )
        .route(
            "/workflows/{id}/events/{event_id}/compare",
            get(events::compare::show),
        )
        .route(
            "/workflows/{id}/events/{event_id}/send",
            get(events::send::show).post(events::send::submit),
        )
        .route(
            "/workflows/{id}/events/{event_id}/replay",
            get(events::replay::show).post(events::replay::submit),
        )
        .route(
            "/workflows/{id}/events/{event_id}/fixture",
            get(events::fixture::show),
        )
        .route("/workflows/{id}/errors", get(workflows::errors::show))
        .route("/workflows/{id}/settings", get(workflows::settings::show))
        .route(
            "/workflows/{id}/deployments/{deployment}",
            get(workflows::deployment::show),
        )
        .route(
            "/workflows/{id}/deployments/{deployment}/roll_back",
            get(workflows::roll_back::show).post(workflows::roll_back::submit),
        )
        .route(
            "/workflows/{id}/run",
            get(workflows::start::show).post(workflows::start::submit),
        )
        .route("/workflows/{id}/switch", post(workflows::change::switch))
        .route(
            "/workflows/{id}/delete",
            get(workflows::change::ask_to_delete).post(workflows::change::delete),
        )
        .route("/workflows/{id}/runs/{run}", get(workflows::run::show))
        .route(
            "/workflows/{id}/runs/{run}/value",
            get(workflows::run_value::show),
        )
        .route(
            "/workflows/{id}/runs/{run}/replay",
            get(workflows::replay::show).post(workflows::replay::submit),
        )
        .route(
            "/workflows/{id}/runs/{run}/cancel",
            get(workflows::run_actions::ask_to_cancel).post(workflows::run_actions::cancel),
        )
        .route(
            "/workflows/{id}/runs/{run}/answer",
            post(workflows::run_answer::answer),
        )
}

fn pages_of_data() -> Router<Arc<Ui>> {
    Router::new()
        .route("/data", get(data::list::show))
        .route("/data/{name}", get(data::show::show))
        .route("/data/{name}/export", get(data::export::show))
        .route(
            "/data/{name}/record",
            get(data::record::show).post(data::record::submit),
        )
        .route(
            "/data/{name}/record/delete",
            get(data::record::ask_to_delete).post(data::record::delete),
        )
        .route(
            "/data/{name}/delete",
            get(data::delete::show).post(data::delete::submit),
        )
}

fn pages_of_settings() -> Router<Arc<Ui>> {
    Router::new()
        .route("/settings", get(settings::profile::show))
        .route("/settings/profile", get(settings::profile::show))
        .route(
            "/settings/keys",
            get(settings::keys::show).post(settings::keys::create),
        )
        .route(
            "/settings/keys/{id}/revoke",
            get(settings::keys::ask_to_revoke).post(settings::keys::revoke),
        )
        .route("/settings/sessions", get(settings::sessions::show))
        .route("/settings/sessions/{id}/end", post(settings::sessions::end))
        .route(
            "/settings/members",
            get(settings::members::show).post(settings::members::add),
        )
        .route(
            "/settings/members/{id}/remove",
            get(settings::members::ask_to_remove).post(settings::members::remove),
        )
        .route(
            "/settings/variables",
            get(settings::variables::show).post(settings::variables::set),
        )
        .route(
            "/settings/variables/delete",
            get(settings::variables::ask_to_delete).post(settings::variables::delete),
        )
        .route("/settings/usage", get(settings::usage::show))
        .route("/settings/audit", get(settings::audit::show))
        .route("/settings/audit/export", get(settings::audit_export::show))
        .route(
            "/settings/users",
            get(settings::users::show).post(settings::users::create),
        )
        .route(
            "/settings/users/{id}/delete",
            get(settings::users::ask_to_delete).post(settings::users::delete),
        )
        .route("/settings/node", get(settings::node::show))
}

/// Pages for people who are signed in: deploying, changing deployed sources, and their accounts.
fn deploying() -> Router<Arc<Ui>> {
    Router::new()
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
            "/accounts/{id}/rename",
            get(accounts::rename::show).post(accounts::rename::submit),
        )
        .route(
            "/accounts/{id}/reconnect",
            get(accounts::reconnect::show).post(accounts::reconnect::submit),
        )
        .route(
            "/accounts/{id}/delete",
            get(accounts::delete::show).post(accounts::delete::submit),
        )
}
