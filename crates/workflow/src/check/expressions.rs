//! Expressions that are not JavaScript, and text that was perhaps meant as one.

use std::collections::HashSet;

use headwater_javascript::expression;

use crate::{
    definition::{Definition, Expression, Literal},
    finding::{Finding, FoundAt, Severity},
};

const STEPS: &str = "steps.";

pub(super) fn check(definition: &Definition) -> Vec<Finding> {
    let expressions = definition.record.expressions.iter();
    let mut findings: Vec<_> = expressions.filter_map(of_expression).collect();
    let names = definition.nodes().map(|node| node.namespace.as_str());
    let unread = definition.record.unread.iter().map(String::as_str);
    let names: HashSet<_> = names.chain(unread).chain(["trigger"]).collect();
    let literals = definition.record.literals.iter();
    findings.extend(literals.filter_map(|literal| of_literal(literal, &names)));
    findings
}

fn of_expression(found: &Expression) -> Option<Finding> {
    let at = FoundAt::new(found.position, found.scope.path().cloned());
    let place = &found.place;
    if expression::is_empty(&found.text) {
        let message = format!("`{place}`: an expression is empty, and its value is undefined");
        return Some(Finding::new(Severity::Warning, at, message));
    }
    let error = expression::check(&found.text).err()?;
    let message = format!(
        "`{place}`: `{{{{{}}}}}` is not an expression: {error}",
        found.text
    );
    Some(Finding::new(Severity::Error, at, message))
}

fn of_literal(found: &Literal, names: &HashSet<&str>) -> Option<Finding> {
    let at = FoundAt::new(found.position, found.scope.path().cloned());
    let place = &found.place;
    if found.text.contains("{{") {
        let message = format!("`{place}`: `{{{{` is not closed, and everything from it on is text");
        return Some(Finding::new(Severity::Warning, at, message));
    }
    let name = named_step(&found.text, names)?;
    let message = format!(
        "`{place}`: `steps.{name}` is text here, and not the step's result; put it into `{{{{ }}}}` if you mean that"
    );
    Some(Finding::new(Severity::Warning, at, message))
}

/// The first step of the workflow that a text names.
fn named_step<'t>(text: &'t str, names: &HashSet<&str>) -> Option<&'t str> {
    let mut places = text.match_indices(STEPS);
    places.find_map(|(at, _)| {
        let is_apart = !text[..at].ends_with(|c: char| is_of_name(c) || c == '.');
        let rest = &text[at + STEPS.len()..];
        let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
        (is_apart && names.contains(&rest[..end])).then_some(&rest[..end])
    })
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}
