//! The pages that no section looks at: each route of the table is looked at here unless it is listed as one of a section.

use headwater_integration::{Chromium, Method, Tab};

use super::{Page, WIDTHS, every_look, look, look_at};
use crate::ui::{
    routes::table::{self, Whose},
    things::Things,
};

/// Routes that the sections look at.
const OF_SECTIONS: &[&str] = &[
    "/",
    "/accounts",
    "/accounts/connects/{id}",
    "/accounts/new",
    "/accounts/{id}",
    "/accounts/{id}/delete",
    "/accounts/{id}/rename",
    "/data",
    "/data/{name}",
    "/data/{name}/delete",
    "/data/{name}/record",
    "/data/{name}/record/delete",
    "/deliveries",
    "/deliveries/discard",
    "/deliveries/retry",
    "/deliveries/selected",
    "/deliveries/{id}",
    "/deploy",
    "/deploy/code",
    "/deploy/{*reference}",
    "/events",
    "/events/selected",
    "/guide",
    "/guide/{name}",
    "/runs",
    "/runs/selected",
    "/runs/{id}",
    "/runs/{id}/again",
    "/search",
    "/settings",
    "/settings/audit",
    "/settings/keys",
    "/settings/keys/{id}/revoke",
    "/settings/members",
    "/settings/members/{id}/remove",
    "/settings/node",
    "/settings/sessions",
    "/settings/usage",
    "/settings/users",
    "/settings/users/{id}/delete",
    "/settings/variables",
    "/settings/variables/delete",
    "/sources",
    "/sources/selected",
    "/sources/{id}",
    "/sources/{id}/code",
    "/sources/{id}/config",
    "/sources/{id}/delete",
    "/sources/{id}/edit",
    "/sources/{id}/errors",
    "/sources/{id}/events/{event_id}",
    "/sources/{id}/events/{event_id}/compare",
    "/sources/{id}/events/{event_id}/delete",
    "/sources/{id}/events/{event_id}/fixture",
    "/sources/{id}/events/{event_id}/send",
    "/sources/{id}/logs",
    "/sources/{id}/run",
    "/sources/{id}/subscriptions",
    "/sources/{id}/versions",
    "/sources/{id}/versions/{deployment}",
    "/sources/{id}/versions/{deployment}/roll_back",
    "/webhooks",
    "/webhooks/new",
    "/webhooks/{id}",
    "/webhooks/{id}/delete",
    "/webhooks/{id}/edit",
    "/webhooks/{id}/replay",
    "/webhooks/{id}/secret",
    "/webhooks/{id}/test",
    "/workflows",
    "/workflows/{id}",
    "/workflows/{id}/delete",
    "/workflows/{id}/errors",
    "/workflows/{id}/events",
    "/workflows/{id}/run",
    "/workflows/{id}/runs/{run}",
    "/workflows/{id}/runs/{run}/cancel",
    "/workflows/{id}/runs/{run}/replay",
    "/workflows/{id}/runs/{run}/value",
    "/workflows/{id}/settings",
    "/workflows/{id}/steps",
];

/// Ends of routes that answer with something else than a page of their own: files, streams, parts of pages, and second
/// addresses of a page.
const NO_PAGES: &[&str] = &[
    "/{id}/runs",
    "/sources/{id}/events",
    "/settings/profile",
    "/assets/{hash}/{name}",
    "/export",
    "/live",
    "/raw",
    "/search/names",
];

/// The routes of pages that only this test looks at.
fn routes() -> Vec<table::Route> {
    let all = table::all().into_iter();
    let pages = all.filter(|route| {
        route.method == Method::GET && !NO_PAGES.iter().any(|end| route.path.ends_with(end))
    });
    pages
        .filter(|route| !OF_SECTIONS.contains(&route.path))
        .collect()
}

/// The name of the picture of a route: its words.
fn name(path: &'static str) -> &'static str {
    let words = path.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").leak()
}

#[test]
fn sections_look_at_routes_that_there_are() {
    let all = table::all();
    for path in OF_SECTIONS {
        assert!(all.iter().any(|route| route.path == *path), "{path}");
    }
}

#[tokio::test]
async fn the_other_pages_are_for_everybody_in_every_look() {
    let things = Things::new().await;
    let routes = routes();
    let of_people = routes.iter().filter(|route| route.whose != Whose::Anybody);
    let pages: Vec<Page> = of_people
        .map(|route| (name(route.path), things.address(route.path)))
        .collect();
    look_at(&things.node, &pages).await;
}

/// Pages are looked at by somebody who is not signed in.
#[tokio::test]
async fn pages_of_anybody_are_for_everybody_in_every_look() {
    let things = Things::new().await;
    let browser = Chromium::start().await;
    let tab = browser.at(&things.node);
    let routes = routes();
    let of_anybody = routes.iter().filter(|route| route.whose == Whose::Anybody);
    let mut faults = Vec::new();
    for route in of_anybody {
        let path = things.address(route.path);
        faults.extend(seen(&tab, name(route.path), &path).await);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

async fn seen(tab: &Tab<'_>, name: &str, path: &str) -> Vec<String> {
    tab.look(look(WIDTHS[0], false)).await;
    tab.open(path).await;
    every_look(tab, name).await
}
