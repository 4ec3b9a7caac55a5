//! Steps that are published actions, unchanged, by the keys and versions that workflows name them with.

mod apify;
mod approvals;
mod data_stores;
mod databases;
mod files;
mod functions;
mod slack;
mod trackers;

use serde_json::Value;

use super::{Folder, HTTP, step};

/// A workflow with an HTTP trigger and steps as the file has them.
fn folder(steps: &str) -> Folder {
    with_trigger(HTTP, steps)
}

/// A workflow with triggers and steps as the file has them.
fn with_trigger(triggers: &str, steps: &str) -> Folder {
    let definition =
        format!("schema: workflow/2022.04\nname: Orders\ntriggers:\n{triggers}steps:\n{steps}");
    Folder::new("", &[]).with("workflow.yaml", &definition)
}

/// The value that a step returned.
#[track_caller]
fn returned<'a>(run: &'a Value, path: &str) -> &'a Value {
    &step(run, path)["return_value"]
}

/// The line that a step exported for people.
#[track_caller]
fn summary<'a>(run: &'a Value, path: &str) -> &'a Value {
    &step(run, path)["exports"]["$summary"]
}
