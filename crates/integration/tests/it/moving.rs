//! Moving in: everything that is on another service, copied by `headwater import`.

mod between_nodes;
mod pipedream;
mod registry;

use headwater_integration::{Node, Seen};
use serde_json::Value;

/// The key of the service that is copied from.
const KEY: &str = "key-of-the-other-side";

/// Imports from a service, with further arguments.
async fn import(node: &Node, from: &str, key: &str, more: &[&str]) -> Seen {
    let mut command = node.command(&["import", "--from", from, "--json"]);
    command.args(more).env("HEADWATER_IMPORT_KEY", key);
    command.output().await.unwrap().into()
}

/// The things of one kind in a report.
fn of_kind<'a>(report: &'a Value, kind: &str) -> Vec<&'a Value> {
    let things = report["things"].as_array().unwrap().iter();
    things.filter(|thing| thing["kind"] == kind).collect()
}

/// The thing of a kind with a name.
#[track_caller]
fn thing<'a>(report: &'a Value, kind: &str, name: &str) -> &'a Value {
    let mut things = of_kind(report, kind).into_iter();
    things
        .find(|thing| thing["name"] == name)
        .unwrap_or_else(|| panic!("no {kind} {name} in {report:#}"))
}

/// How many things of a kind are in each state: imported, kept and missing.
fn counts(report: &Value, kind: &str) -> [usize; 3] {
    let things = of_kind(report, kind);
    ["imported", "kept", "missing"].map(|state| {
        things
            .iter()
            .filter(|thing| thing["state"] == state)
            .count()
    })
}

/// The kinds of the work that is left for a thing, and its texts.
fn left(thing: &Value) -> Vec<(&str, &str)> {
    let left = thing["left"].as_array().unwrap().iter();
    left.map(|work| {
        (
            work["kind"].as_str().unwrap(),
            work["text"].as_str().unwrap(),
        )
    })
    .collect()
}

/// The sources of a node.
async fn sources(node: &Node) -> Vec<Value> {
    node.get("/users/me/sources?limit=100")
        .await
        .is(200)
        .items()
}
