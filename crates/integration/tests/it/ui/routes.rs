//! No page is forgotten: one table has all routes of the web UI, and every one of them has its policy, wants a session,
//! belongs to its owner, and has operations of the API that do the same.

pub(crate) mod table;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use headwater_integration::{Answer, Method, Node, Operation};

use self::table::{Route, Same, Whose, all};
use super::{things::Things, visitor::Visitor};

/// The paths that the code of the web UI routes, wherever it does.
fn routed() -> BTreeSet<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ui/src");
    let mut paths = BTreeSet::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => paths.extend(routed_in(&path)),
            }
        }
    }
    paths
}

fn routed_in(file: &Path) -> Vec<String> {
    let code = fs::read_to_string(file).unwrap();
    let routes = code.split(".route(").skip(1);
    let paths = routes.map(|rest| {
        let path = rest.trim_start().strip_prefix('"');
        let path = path.unwrap_or_else(|| panic!("{}: a path is a literal", file.display()));
        path.split('"').next().unwrap_or_default().to_owned()
    });
    paths.collect()
}

#[tokio::test]
async fn the_table_has_all_routes_with_their_methods() {
    let routes = all();
    let listed: BTreeSet<_> = routes.iter().map(|route| route.path.to_owned()).collect();
    let routed = routed();
    let forgotten: Vec<_> = routed.difference(&listed).collect();
    assert!(
        forgotten.is_empty(),
        "{forgotten:?}: list the page in tests/it/ui/routes/table.rs"
    );
    let gone: Vec<_> = listed.difference(&routed).collect();
    assert!(gone.is_empty(), "{gone:?} are not served any more");

    let node = Node::start().await;
    for path in listed {
        let request = node.request(Method::TRACE, &format!("/{path}"));
        let request = request.header("sec-fetch-site", "same-origin");
        let answer = node.send(request).await.is(405);
        let allowed = answer.header("allow").split(',');
        let allowed: BTreeSet<_> = allowed.filter(|method| *method != "HEAD").collect();
        let of_path = routes.iter().filter(|route| route.path == path);
        let expected: BTreeSet<_> = of_path.map(|route| route.method.as_str()).collect();
        assert_eq!(allowed, expected, "{path}");
    }
}

#[test]
fn every_page_has_operations_that_do_the_same() {
    let operations = Operation::all();
    for route in all() {
        let place = format!("{} {}", route.method, route.path);
        match route.same {
            Same::BrowserOnly(reason) => assert!(!reason.is_empty(), "{place}"),
            Same::Api(names) => {
                assert!(!names.is_empty(), "{place}");
                for name in names {
                    let found = operations.iter().find(|operation| operation.id == *name);
                    let found = found.unwrap_or_else(|| panic!("{place}: {name} is no operation"));
                    let reads = route.method == Method::GET;
                    assert!(
                        !reads || found.method == Method::GET || *name == "save_component",
                        "{place}: a page that is opened changes nothing, but {name} does"
                    );
                }
            }
        }
    }
}

/// Sends the request of a route: with a session's cookie, or without.
async fn sent(things: &Things, route: &Route, cookie: Option<&str>) -> Answer {
    let client = things.node.with_key(None);
    let path = format!("/{}", things.address(route.path));
    let mut request = client.request(route.method.clone(), &path);
    request = request.header("sec-fetch-site", "same-origin");
    if let Some(cookie) = cookie {
        request = request.header("cookie", cookie);
    }
    if route.method == Method::POST {
        request = super::visitor::with_fields(request, route.form);
    }
    client.send(request).await
}

/// The routes whose answer ends.
fn ending() -> impl Iterator<Item = Route> {
    all()
        .into_iter()
        .filter(|route| route.path != "/live" && !route.path.starts_with("/assets/"))
}

/// The policy and the headers that every page of the node has.
#[track_caller]
pub(super) fn is_guarded(answer: &Answer, place: &str) {
    let policy = answer.header("content-security-policy");
    for part in [
        "default-src 'none'",
        "script-src 'nonce-",
        "style-src 'nonce-",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types headwater",
    ] {
        assert!(policy.contains(part), "{place}: {part} is not in {policy}");
    }
    assert!(!policy.contains("unsafe"), "{place}: {policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
        (
            "permissions-policy",
            "camera=(), microphone=(), geolocation=(), payment=()",
        ),
    ] {
        assert_eq!(answer.header(name), value, "{place}: {name}");
    }
}

#[tokio::test]
async fn every_page_opens_for_its_owner_under_its_policy() {
    let things = Things::new().await;
    let visitor = Visitor::of(&things.node).await;
    for route in ending().filter(|route| route.method == Method::GET) {
        let answer = sent(&things, &route, Some(&visitor.cookie)).await;
        // Whoever is signed in already is led on.
        let status = match route.path {
            "/signin" => 303,
            _ => 200,
        };
        let answer = answer.is(status);
        is_guarded(&answer, route.path);
        let is_file = ["/raw", "/export"]
            .iter()
            .any(|end| route.path.ends_with(end));
        let is_page = !is_file && route.path != "/search/names";
        if status == 200 && is_page {
            assert!(
                answer.header("content-type").starts_with("text/html"),
                "{}",
                route.path
            );
            assert_eq!(answer.text.matches("<h1").count(), 1, "{}", route.path);
            assert!(answer.text.contains("<title>"), "{}", route.path);
        }
    }
}

#[tokio::test]
async fn without_a_session_every_page_leads_to_the_one_that_signs_in() {
    let things = Things::new().await;
    for route in all() {
        if route.whose == Whose::Anybody {
            continue;
        }
        let place = format!("{} {}", route.method, route.path);
        for cookie in [None, Some("headwater=none"), Some("__Host-headwater=none")] {
            let answer = sent(&things, &route, cookie).await;
            is_guarded(&answer, &place);
            if route.method == Method::POST {
                // The browser can send the form again, once its person is signed in.
                assert!(
                    answer.is(401).text.contains("You were signed out"),
                    "{place}"
                );
                continue;
            }
            let answer = answer.is(303);
            let location = answer.header("location");
            assert!(
                location == "/signin" || location.starts_with("/signin?next=%2F"),
                "{place}: {location}"
            );
            assert_eq!(answer.text, "", "{place}");
        }
        // A key opens the API, and no page.
        let path = format!("/{}", things.address(route.path));
        let request = things.node.request(route.method.clone(), &path);
        let request = request.header("sec-fetch-site", "same-origin");
        let expected = if route.method == Method::POST {
            401
        } else {
            303
        };
        things.node.send(request).await.is(expected);
    }
}

#[tokio::test]
async fn things_of_another_tenant_are_on_no_page() {
    let things = Things::new().await;
    let other = things.node.user("bob").await;
    let key = serde_json::json!({"name": "browser"});
    let key = other.post("/keys", key).await.is(200).data();
    let visitor = Visitor::with(&things.node, key["key"].as_str().unwrap()).await;
    let mut faults = Vec::new();
    for route in all() {
        let status = match route.whose {
            Whose::Owner => 404,
            Whose::Administrator | Whose::Member => 403,
            // Such a page is everybody's, with their own things on it.
            Whose::SignedIn if route.method == Method::GET => {
                let answer = sent(&things, &route, Some(&visitor.cookie)).await;
                let told = things.names().filter(|name| answer.text.contains(*name));
                faults.extend(told.map(|name| format!("GET {} tells {name}", route.path)));
                continue;
            }
            Whose::Anybody | Whose::SignedIn => continue,
        };
        let place = format!("{} {}", route.method, route.path);
        let answer = sent(&things, &route, Some(&visitor.cookie)).await;
        if answer.status != status {
            faults.push(format!("{place}: {} instead of {status}", answer.status));
        }
        is_guarded(&answer, &place);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    // The owner finds all of them as they were.
    let owner = Visitor::of(&things.node).await;
    for route in ending().filter(|route| route.method == Method::GET) {
        if route.whose == Whose::Owner {
            sent(&things, &route, Some(&owner.cookie)).await.is(200);
        }
    }
}
