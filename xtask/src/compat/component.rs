//! Examining one component: saved as a user saves it, then loaded by a worker of its own.

use std::{collections::BTreeMap, time::Instant};

use anyhow::Result;
use serde_json::{Value, json};

use super::{packages::Module, record::Record};
use crate::node::Node;

/// Saves and loads the component of `module`.
pub(super) fn examine(node: &Node, module: &Module) -> Record {
    let url = module.url();
    let started = Instant::now();
    let saved = node.post("/v1/components", &json!({ "component_url": url }));
    let save_ms = elapsed_ms(started);
    let record = match saved {
        Ok(answer) => described(&answer["data"]),
        Err(error) => Record {
            failure: Some(one_line(&error)),
            ..Record::default()
        },
    };
    let mut record = Record {
        url,
        save_ms,
        ..record
    };
    if record.failure.is_none() {
        match loaded(node, &record.id) {
            Ok(load_ms) => record.load_ms = load_ms,
            Err(error) => record.failure = Some(format!("does not load: {}", one_line(&error))),
        }
    }
    record
}

fn described(component: &Value) -> Record {
    let text = |name: &str| component[name].as_str().unwrap_or_default().to_owned();
    let mut props = BTreeMap::new();
    for prop in props_of(component) {
        let kind = prop["type"].as_str().unwrap_or_default();
        *props.entry(kind.to_owned()).or_default() += 1;
    }
    let hooks = component["hooks"].as_array().into_iter().flatten();
    Record {
        id: text("id"),
        key: text("key"),
        version: text("version"),
        kind: text("type"),
        props,
        hooks: hooks
            .filter_map(|hook| hook.as_str().map(str::to_owned))
            .collect(),
        ..Record::default()
    }
}

/// How long the first call in a fresh worker takes. Options that are no method's need the component loaded and
/// nothing of the outside; `None` when every prop's are a method's, or there is none.
fn loaded(node: &Node, id: &str) -> Result<Option<u64>> {
    let component = node.get(&format!("/v1/components/{id}"))?;
    let fixed = props_of(&component["data"]).find(|prop| prop["has_options"] != true);
    let Some(name) = fixed.and_then(|prop| prop["name"].as_str()) else {
        return Ok(None);
    };
    let started = Instant::now();
    node.post(
        &format!("/v1/components/{id}/options"),
        &json!({ "prop": name }),
    )?;
    Ok(Some(elapsed_ms(started)))
}

fn props_of(component: &Value) -> impl Iterator<Item = &Value> {
    component["configurable_props"]
        .as_array()
        .into_iter()
        .flatten()
}

/// Milliseconds since then.
pub(super) fn elapsed_ms(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}

fn one_line(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
