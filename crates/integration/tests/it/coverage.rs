//! Nothing is forgotten: router, document and tests name the same operations. That none answers
//! without a key is `routes/unauthorized.rs`'s business.

use std::{collections::BTreeSet, fs, path::PathBuf};

use headwater_integration::{Method, Node, Operation};

/// Where routes are put together.
const ROUTERS: [&str; 2] = [
    include_str!("../../../api/src/router.rs"),
    include_str!("../../../api/src/operations.rs"),
];
/// The paths that are served but are not operations of the API: endpoints, pages for browsers, and the URLs of waits
/// and files.
const NOT_OPERATIONS: [&str; 4] = ["/e/", "/connect/", "/w/", "/f/"];

/// The paths that are routed besides the listed operations, which are in the document.
fn routed_by_hand() -> BTreeSet<&'static str> {
    let after = ROUTERS
        .iter()
        .flat_map(|code| code.split(".route(").skip(1));
    let paths = after.map(|rest| {
        let (_, rest) = rest.split_once('"').expect("a route has a path");
        let (path, _) = rest.split_once('"').expect("a path ends");
        path
    });
    paths.collect()
}

#[tokio::test]
async fn router_and_document_have_the_same_operations() {
    let operations = Operation::all();
    let documented: BTreeSet<_> = operations.iter().map(|each| each.path.clone()).collect();
    let mut by_hand = routed_by_hand();
    by_hand.retain(|path| !NOT_OPERATIONS.iter().any(|other| path.starts_with(other)));
    assert!(
        by_hand.is_empty(),
        "{by_hand:?}: list the handler in operations.rs: CONTRIBUTING.md, Adding an operation"
    );

    let node = Node::start().await;
    for path in documented {
        let expected: BTreeSet<_> = operations
            .iter()
            .filter(|operation| operation.path == path)
            .map(|operation| operation.method.as_str())
            .collect();
        let any = operations.iter().find(|operation| operation.path == path);
        let answer = node
            .send(node.request(Method::TRACE, &any.unwrap().request_path()))
            .await
            .is(405);
        // axum answers HEAD wherever it answers GET.
        let allowed: BTreeSet<_> = answer
            .header("allow")
            .split(',')
            .filter(|method| *method != "HEAD")
            .collect();
        assert_eq!(allowed, expected, "{path}");
    }
}

#[test]
fn every_operation_has_a_test_where_its_path_says() {
    let missing: Vec<_> = Operation::all()
        .iter()
        .filter_map(|operation| untested(operation).map(|why| format!("{operation}: {why}")))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Why an operation counts as untested. Tested is what has a file that mirrors it (ids left out),
/// with a test in it, the operation's method and a literal that is its path.
fn untested(operation: &Operation) -> Option<String> {
    let file = test_file(operation);
    let shown = file.display();
    let Ok(text) = fs::read_to_string(tests().join(&file)) else {
        return Some(format!("there is no tests/it/{shown}"));
    };
    let method = operation.method.as_str();
    let calls_method = text.contains(&format!(".{}(", method.to_lowercase()))
        || text.contains(&format!("Method::{method}"))
        || calls_by_name(&text, operation);
    let calls_path = calls_by_name(&text, operation)
        || literals(&text).any(|literal| is_path(&literal, operation));
    match (text.contains("#[tokio::test"), calls_method, calls_path) {
        (false, ..) => Some(format!("tests/it/{shown} has no test")),
        (_, false, _) => Some(format!("tests/it/{shown} never sends {method}")),
        (.., false) => Some(format!("tests/it/{shown} has no such path")),
        (true, true, true) => None,
    }
}

fn tests() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it")
}

fn test_file(operation: &Operation) -> PathBuf {
    let path = operation.path.trim_start_matches("/v1");
    let segments = path.split('/').filter(|segment| !segment.starts_with('{'));
    let folder: PathBuf = segments
        .map(|segment| segment.trim_start_matches('$').replace('.', "_"))
        .collect();
    let verb = operation.method.as_str().to_lowercase();
    PathBuf::from("routes").join(folder).join(verb + ".rs")
}

/// Calls that the node has a name for.
fn calls_by_name(text: &str, operation: &Operation) -> bool {
    let name = match (operation.method.as_str(), operation.path.as_str()) {
        ("POST", "/v1/sources") => "node.try_deploy(",
        ("POST", "/v1/sources/{id}/run") => "node.run(",
        _ => return false,
    };
    text.contains(name)
}

/// The texts between two quotes: the file's literals, and code that does not look like a path. The
/// path of a `Source` is one of them.
fn literals(text: &str) -> impl Iterator<Item = String> {
    let quoted = text
        .split('"')
        .map(|literal| match literal.strip_prefix("{}/") {
            Some(rest) => format!("/sources/{{}}/{rest}"),
            None => literal.to_owned(),
        });
    let of_source = text
        .contains("source.path()")
        .then(|| "/sources/{}".to_owned());
    quoted.chain(of_source)
}

fn is_path(literal: &str, operation: &Operation) -> bool {
    let path = literal.split('?').next().unwrap_or_default();
    let wanted = operation.request_path();
    let (given, wanted): (Vec<_>, Vec<_>) =
        (path.split('/').collect(), wanted.split('/').collect());
    given.len() == wanted.len()
        && given.iter().zip(&wanted).all(|(given, wanted)| {
            given == wanted || (wanted.starts_with('{') && !given.is_empty())
        })
}
