//! Definitions read from texts.

mod blocks;
mod examples;
mod mistakes;
mod mutations;
mod settings;
mod steps;
mod triggers;

use super::{Definition, Node, Step};
use crate::{check::check, path::Path};

/// The example of the reference: everything that is added to Pipedream's format.
const ORDERS: &str = include_str!("tests/orders.yaml");
/// A file as a synced repository has it.
const SYNCED: &str = include_str!("tests/synced.yaml");

fn read(text: &str) -> Definition {
    match Definition::read(text, &[]) {
        Ok(definition) => definition,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// A workflow with these keys beside its name.
fn with(keys: &str) -> Definition {
    read(&format!("name: Test\n{keys}"))
}

/// The mistakes in a workflow with these keys; its first line is line 2.
fn problems(keys: &str) -> Vec<String> {
    let text = format!("name: Test\n{keys}");
    let error = Definition::read(&text, &[]).expect_err("it has a mistake");
    error.to_string().lines().map(str::to_owned).collect()
}

/// The findings about a workflow with these keys, but for files that are not there.
fn warnings(keys: &str) -> Vec<String> {
    let definition = with(keys);
    let findings = check(&definition, &[]).into_iter();
    let findings = findings.map(|finding| finding.to_string());
    findings.filter(|text| text.contains("warning")).collect()
}

fn node<'d>(definition: &'d Definition, path: &str) -> &'d Node {
    let path: Path = path.parse().unwrap();
    definition.node(&path).expect("the node is there")
}

fn step<'d>(definition: &'d Definition, path: &str) -> &'d Step {
    match &node(definition, path).kind {
        super::NodeKind::Step(step) => step,
        other => panic!("{path} is a {}", other.as_str()),
    }
}
