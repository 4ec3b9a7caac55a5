//! The table of all routes of the web UI: whose they are, and the operations of the API that do the same.

use headwater_integration::Method;

/// The people who get an answer other than the way to the page that signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Everybody.
    Anybody,
    /// All who are signed in; lists show what is theirs.
    SignedIn,
    /// The owner of the thing in the address; it is not there for others.
    Owner,
    /// The members of the workspace in the address; others are told that they are none.
    Member,
    /// Administrators; others are told that they are none.
    Administrator,
}

/// The way to do the same without a browser.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Same {
    /// By these operations.
    Api(&'static [&'static str]),
    /// In no way, for a reason: it is about browsers themselves.
    BrowserOnly(&'static str),
}

/// One method of one path.
#[derive(Debug, Clone)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) whose: Whose,
    pub(crate) same: Same,
    /// The fields that the form cannot do without.
    pub(crate) form: &'static [(&'static str, &'static str)],
}

use Same::{Api, BrowserOnly};
use Whose::{Administrator, Anybody, Member, Owner, SignedIn};

fn get(path: &'static str, whose: Whose, same: Same) -> Route {
    Route {
        method: Method::GET,
        path,
        whose,
        same,
        form: &[],
    }
}

fn page(path: &'static str, whose: Whose, operations: &'static [&'static str]) -> Route {
    get(path, whose, Api(operations))
}

fn post(path: &'static str, whose: Whose, operations: &'static [&'static str]) -> Route {
    Route {
        method: Method::POST,
        ..page(path, whose, operations)
    }
}

impl Route {
    fn with(self, form: &'static [(&'static str, &'static str)]) -> Self {
        Self { form, ..self }
    }
}

/// Every route.
pub(crate) fn all() -> Vec<Route> {
    let mut routes = general();
    routes.extend(of_sources());
    routes.extend(of_events());
    routes.extend(of_versions());
    routes.extend(of_deploying());
    routes.extend(of_webhooks());
    routes.extend(of_workflows());
    routes.extend(of_workflow_deployments());
    routes.extend(of_workflow_runs());
    routes.extend(of_accounts());
    routes.extend(of_data());
    routes.extend(of_settings());
    routes
}

const KEYS: Same = BrowserOnly("programs have keys, and no session");
const GUIDE: Same = BrowserOnly("the guide is in the repository, too");

/// The operations that find what a search does.
const FINDING: &[&str] = &[
    "list_own_sources",
    "list_workflows",
    "list_own_webhooks",
    "list_accounts",
    "list_data_stores",
    "search_runs",
    "search_events",
];

fn general() -> Vec<Route> {
    vec![
        get(
            "/assets/{hash}/{name}",
            Anybody,
            BrowserOnly("styles and script"),
        ),
        get("/guide", Anybody, GUIDE),
        get("/guide/{name}", Anybody, GUIDE),
        get("/signin", Anybody, KEYS),
        Route {
            method: Method::POST,
            ..get("/signin", Anybody, KEYS)
        },
        get("/signin/{token}", Anybody, KEYS),
        Route {
            method: Method::POST,
            ..get("/signin/{token}", Anybody, KEYS)
        },
        // Whoever is signed out already is so.
        post("/signout", Anybody, &["end_session"]),
        Route {
            method: Method::POST,
            ..get("/theme", SignedIn, BrowserOnly("the look of pages"))
        },
        Route {
            method: Method::POST,
            ..get(
                "/masking",
                SignedIn,
                BrowserOnly("what a browser shows of a page"),
            )
        },
        page(
            "/",
            SignedIn,
            &[
                "list_own_sources",
                "count_deliveries",
                "search_events",
                "list_accounts",
            ],
        ),
        page("/live", Owner, &["follow_source", "follow_workflow"]),
        page("/search", SignedIn, FINDING),
        page("/search/names", SignedIn, FINDING),
        page("/events", SignedIn, &["search_events", "list_event_views"]),
        page("/events/export", SignedIn, &["search_events"]),
        page("/events/replay", SignedIn, &["search_events"]),
        post("/events/replay", SignedIn, &["replay_events"]),
        page("/events/selected", Owner, &["show_source_event"]),
        post("/events/selected", Owner, &["replay_events"]),
        post("/events", SignedIn, &["set_event_view"]).with(&[("name", "orders")]),
        page("/events/views/delete", SignedIn, &["list_event_views"]),
        post("/events/views/delete", Owner, &["delete_event_view"]).with(&[("name", "mine")]),
        page(
            "/runs",
            SignedIn,
            &["search_runs", "count_runs", "count_runs_by_hour"],
        ),
        page("/runs/{id}", Owner, &["show_run"]),
        page("/runs/{id}/cancel", Owner, &["show_run"]),
        post("/runs/{id}/cancel", Owner, &["cancel_run"]),
        page("/runs/{id}/again", Owner, &["show_run"]),
        post("/runs/{id}/again", Owner, &["replay_run"]).with(&[("event", "{}")]),
    ]
}

fn of_sources() -> Vec<Route> {
    vec![
        page(
            "/sources",
            SignedIn,
            &["list_own_sources", "list_workspace_sources"],
        ),
        page("/sources/selected", Owner, &["show_source"]),
        post(
            "/sources/selected",
            Owner,
            &["patch_source", "delete_source"],
        ),
        page(
            "/sources/{id}",
            Owner,
            &["show_source", "list_source_events"],
        ),
        page("/sources/{id}/logs", Owner, &["list_source_logs"]),
        page("/sources/{id}/runs", Owner, &["list_source_runs"]),
        page("/sources/{id}/errors", Owner, &["list_source_events"]),
        page("/sources/{id}/config", Owner, &["show_source"]),
        page(
            "/sources/{id}/subscriptions",
            Owner,
            &["list_own_subscriptions"],
        ),
        post("/sources/{id}/subscriptions", Owner, &["subscribe"]),
        post(
            "/sources/{id}/subscriptions/remove",
            Owner,
            &["unsubscribe"],
        ),
        page("/sources/{id}/run", Owner, &["show_source"]),
        post("/sources/{id}/run", Owner, &["run_source"]),
        post("/sources/{id}/switch", Owner, &["patch_source"]).with(&[("active", "false")]),
        page("/sources/{id}/delete", Owner, &["show_source"]),
        post("/sources/{id}/delete", Owner, &["delete_source"]),
        page(
            "/sources/{id}/edit",
            Owner,
            &["show_source", "show_component"],
        ),
        post(
            "/sources/{id}/edit",
            Owner,
            &["put_source", "list_prop_options", "list_component_props"],
        ),
        page("/sources/{id}/code", Owner, &["show_component"]),
        post(
            "/sources/{id}/code",
            Owner,
            &["save_component", "patch_source", "try_source"],
        )
        .with(&[("code", "export default {};"), ("action", "update")]),
    ]
}

fn of_events() -> Vec<Route> {
    vec![
        page("/runs/replay", SignedIn, &["search_runs"]),
        post("/runs/replay", SignedIn, &["replay_runs"]),
        page("/runs/selected", Owner, &["show_run"]),
        post("/runs/selected", Owner, &["replay_run"]),
        page("/sources/{id}/events", Owner, &["list_source_events"]),
        page(
            "/sources/{id}/events/{event_id}",
            Owner,
            &[
                "show_source_event",
                "list_source_event_deliveries",
                "list_source_event_runs",
            ],
        ),
        page(
            "/sources/{id}/events/{event_id}/raw",
            Owner,
            &["show_source_event"],
        ),
        page(
            "/sources/{id}/events/{event_id}/compare",
            Owner,
            &["show_source_event"],
        ),
        page(
            "/sources/{id}/events/{event_id}/send",
            Owner,
            &["show_source_event"],
        ),
        post(
            "/sources/{id}/events/{event_id}/send",
            Owner,
            &["send_event"],
        )
        .with(&[("url", "http://127.0.0.1:9/once")]),
        page(
            "/sources/{id}/events/{event_id}/replay",
            Owner,
            &["show_source_event"],
        ),
        post(
            "/sources/{id}/events/{event_id}/replay",
            Owner,
            &["replay_events"],
        ),
        page(
            "/sources/{id}/events/{event_id}/fixture",
            Owner,
            &["show_source_event"],
        ),
        page(
            "/sources/{id}/events/{event_id}/delete",
            Owner,
            &["show_source_event"],
        ),
        post(
            "/sources/{id}/events/{event_id}/delete",
            Owner,
            &["delete_source_events"],
        ),
    ]
}

fn of_versions() -> Vec<Route> {
    vec![
        post("/sources/{id}/versions/refresh", Owner, &["patch_source"]),
        page(
            "/sources/{id}/versions",
            Owner,
            &["list_source_deployments"],
        ),
        page(
            "/sources/{id}/versions/{deployment}",
            Owner,
            &["show_source_deployment"],
        ),
        page(
            "/sources/{id}/versions/{deployment}/roll_back",
            Owner,
            &["show_source_deployment"],
        ),
        post(
            "/sources/{id}/versions/{deployment}/roll_back",
            Owner,
            &["roll_back_source"],
        ),
    ]
}

fn of_deploying() -> Vec<Route> {
    vec![
        page("/deploy", SignedIn, &["list_components"]),
        page("/deploy/code", SignedIn, &["save_component"]),
        post("/deploy/code", SignedIn, &["save_component", "try_source"]),
        page("/deploy/{*reference}", Owner, &["show_component"]),
        post(
            "/deploy/{*reference}",
            Owner,
            &[
                "deploy_source",
                "try_source",
                "list_prop_options",
                "list_component_props",
            ],
        ),
    ]
}

fn of_webhooks() -> Vec<Route> {
    vec![
        page("/webhooks", SignedIn, &["list_own_webhooks"]),
        page("/webhooks/new", SignedIn, &["list_own_sources"]),
        post("/webhooks/new", SignedIn, &["create_webhook", "subscribe"]),
        page(
            "/webhooks/{id}",
            Owner,
            &["show_webhook", "list_deliveries", "list_own_subscriptions"],
        ),
        page("/webhooks/{id}/edit", Owner, &["show_webhook"]),
        post("/webhooks/{id}/edit", Owner, &["update_webhook"]),
        post("/webhooks/{id}/subscriptions", Owner, &["subscribe"]),
        post(
            "/webhooks/{id}/subscriptions/remove",
            Owner,
            &["unsubscribe"],
        ),
        post("/webhooks/{id}/switch", Owner, &["update_webhook"]).with(&[("active", "false")]),
        page("/webhooks/{id}/secret", Owner, &["show_webhook"]),
        post("/webhooks/{id}/secret", Owner, &["rotate_webhook_secret"]),
        page(
            "/webhooks/{id}/replay",
            Owner,
            &["show_webhook", "count_deliveries"],
        ),
        post("/webhooks/{id}/replay", Owner, &["replay_deliveries"]).with(&[
            ("since_ms", "0"),
            ("until_ms", "1"),
            ("delivered", "true"),
        ]),
        page("/webhooks/{id}/test", Owner, &["show_webhook"]),
        post("/webhooks/{id}/test", Owner, &["test_webhook"]),
        page("/webhooks/{id}/delete", Owner, &["show_webhook"]),
        post("/webhooks/{id}/delete", Owner, &["delete_webhook"]),
        page(
            "/deliveries",
            SignedIn,
            &["search_deliveries", "count_deliveries"],
        ),
        page("/deliveries/retry", SignedIn, &["count_deliveries"]),
        post("/deliveries/retry", SignedIn, &["retry_deliveries"]),
        page("/deliveries/discard", SignedIn, &["count_deliveries"]),
        post("/deliveries/discard", SignedIn, &["discard_deliveries"]),
        page("/deliveries/selected", Owner, &["show_delivery"]),
        post(
            "/deliveries/selected",
            Owner,
            &["retry_delivery", "discard_delivery"],
        ),
        page("/deliveries/{id}", Owner, &["show_delivery"]),
        post("/deliveries/{id}/retry", Owner, &["retry_delivery"]),
        post("/deliveries/{id}/discard", Owner, &["discard_delivery"]),
    ]
}

fn of_workflows() -> Vec<Route> {
    vec![
        page("/workflows", SignedIn, &["list_workflows"]),
        page(
            "/workflows/{id}",
            Owner,
            &["show_workflow", "list_workflow_runs"],
        ),
        page("/workflows/{id}/runs", Owner, &["list_workflow_runs"]),
        page(
            "/workflows/{id}/steps",
            Owner,
            &["show_workflow_deployment"],
        ),
        page("/workflows/{id}/events", Owner, &["list_workflow_events"]),
        page(
            "/workflows/{id}/events/{event_id}",
            Owner,
            &["show_workflow_event"],
        ),
        page(
            "/workflows/{id}/events/{event_id}/raw",
            Owner,
            &["show_workflow_event"],
        ),
        page(
            "/workflows/{id}/events/{event_id}/compare",
            Owner,
            &["show_workflow_event"],
        ),
        page(
            "/workflows/{id}/events/{event_id}/send",
            Owner,
            &["show_workflow_event"],
        ),
        post(
            "/workflows/{id}/events/{event_id}/send",
            Owner,
            &["send_event"],
        )
        .with(&[("url", "http://127.0.0.1:9/once")]),
        page(
            "/workflows/{id}/events/{event_id}/replay",
            Owner,
            &["show_workflow_event"],
        ),
        post(
            "/workflows/{id}/events/{event_id}/replay",
            Owner,
            &["replay_events"],
        ),
        page(
            "/workflows/{id}/events/{event_id}/fixture",
            Owner,
            &["show_workflow_event"],
        ),
        page("/workflows/{id}/errors", Owner, &["list_workflow_errors"]),
        page(
            "/workflows/{id}/settings",
            Owner,
            &["show_workflow", "list_workflow_deployments"],
        ),
        page("/workflows/{id}/run", Owner, &["show_workflow"]),
        post("/workflows/{id}/run", Owner, &["run_workflow"]),
        post("/workflows/{id}/switch", Owner, &["patch_workflow"]).with(&[("active", "false")]),
        page("/workflows/{id}/delete", Owner, &["show_workflow"]),
        post("/workflows/{id}/delete", Owner, &["delete_workflow"]),
    ]
}

fn of_workflow_deployments() -> Vec<Route> {
    vec![
        page(
            "/workflows/{id}/deployments/{deployment}",
            Owner,
            &["show_workflow_deployment", "show_workflow_deployment_files"],
        ),
        page(
            "/workflows/{id}/deployments/{deployment}/roll_back",
            Owner,
            &["show_workflow_deployment"],
        ),
        post(
            "/workflows/{id}/deployments/{deployment}/roll_back",
            Owner,
            &["roll_back_workflow"],
        ),
    ]
}

fn of_workflow_runs() -> Vec<Route> {
    vec![
        page("/workflows/{id}/runs/{run}", Owner, &["show_run"]),
        page("/workflows/{id}/runs/{run}/value", Owner, &["show_run"]),
        page("/workflows/{id}/runs/{run}/replay", Owner, &["show_run"]),
        post("/workflows/{id}/runs/{run}/replay", Owner, &["replay_run"]),
        page("/workflows/{id}/runs/{run}/cancel", Owner, &["show_run"]),
        post("/workflows/{id}/runs/{run}/cancel", Owner, &["cancel_run"]),
        post("/workflows/{id}/runs/{run}/answer", Owner, &["resume_run"])
            .with(&[("path", "a"), ("action", "resume")]),
    ]
}

fn of_accounts() -> Vec<Route> {
    vec![
        page("/accounts", SignedIn, &["list_accounts"]),
        page("/accounts/new", SignedIn, &["list_apps"]),
        post("/accounts/new", SignedIn, &["create_account"]),
        post("/accounts/connect", SignedIn, &["connect_account"]),
        page("/accounts/connects/{id}", Owner, &["connect"]),
        page("/accounts/{id}", Owner, &["account", "list_account_users"]),
        post("/accounts/{id}/check", Owner, &["check_account"]),
        page("/accounts/{id}/reconnect", Owner, &["account"]),
        post(
            "/accounts/{id}/reconnect",
            Owner,
            &["reconnect_account", "update_account"],
        ),
        page("/accounts/{id}/rename", Owner, &["account"]),
        post("/accounts/{id}/rename", Owner, &["update_account"]).with(&[("name", "Work")]),
        page("/accounts/{id}/delete", Owner, &["list_account_users"]),
        post("/accounts/{id}/delete", Owner, &["delete_account"]),
    ]
}

fn of_data() -> Vec<Route> {
    vec![
        page("/data", SignedIn, &["list_data_stores"]),
        page(
            "/data/{name}",
            Owner,
            &["list_data_store_records", "list_data_store_users"],
        ),
        page("/data/{name}/export", Owner, &["list_data_store_records"]),
        page("/data/{name}/record", Owner, &["show_data_store_record"]),
        // Whoever writes to a name has a data store of that name.
        post(
            "/data/{name}/record",
            SignedIn,
            &["write_data_store_record"],
        ),
        page(
            "/data/{name}/record/delete",
            Owner,
            &["show_data_store_record"],
        ),
        post(
            "/data/{name}/record/delete",
            Owner,
            &["delete_data_store_record"],
        )
        .with(&[("key", "k")]),
        page("/data/{name}/delete", Owner, &["list_data_store_users"]),
        post("/data/{name}/delete", Owner, &["delete_data_store"]).with(&[("name", "cache")]),
    ]
}

fn of_settings() -> Vec<Route> {
    vec![
        page("/settings", SignedIn, &["show_user"]),
        page("/settings/profile", SignedIn, &["show_user"]),
        page("/settings/keys", SignedIn, &["list_keys"]),
        post("/settings/keys", SignedIn, &["create_key"]),
        page("/settings/keys/{id}/revoke", Owner, &["list_keys"]),
        post("/settings/keys/{id}/revoke", Owner, &["revoke_key"]),
        page("/settings/sessions", SignedIn, &["list_sessions"]),
        post("/settings/sessions/{id}/end", Owner, &["end_session"]),
        page(
            "/settings/members",
            SignedIn,
            &["list_workspaces", "list_members"],
        ),
        post("/settings/members", SignedIn, &["add_member"]),
        page("/settings/members/{id}/remove", Member, &["list_members"]),
        post("/settings/members/{id}/remove", Member, &["remove_member"]),
        page("/settings/variables", SignedIn, &["list_variables"]),
        post("/settings/variables", SignedIn, &["set_variable"]),
        page("/settings/variables/delete", SignedIn, &["list_variables"]),
        post("/settings/variables/delete", Owner, &["delete_variable"]).with(&[("name", "TOKEN")]),
        page("/settings/usage", SignedIn, &["show_usage"]),
        page("/settings/audit", SignedIn, &["list_audit"]),
        page("/settings/audit/export", SignedIn, &["list_audit"]),
        page("/settings/users", Administrator, &["list_users"]),
        post("/settings/users", Administrator, &["create_user"])
            .with(&[("username", "eve"), ("email", "eve@example.com")]),
        page(
            "/settings/users/{id}/delete",
            Administrator,
            &["list_users"],
        ),
        post(
            "/settings/users/{id}/delete",
            Administrator,
            &["delete_user"],
        ),
        page(
            "/settings/node",
            Administrator,
            &["readyz", "metrics", "list_settings", "list_nodes"],
        ),
    ]
}
