//! The places at which two JSON values differ.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde_json::Value;

use super::{
    text::{cut, visible},
    tree::step,
};

/// Differences that are shown.
const SHOWN: usize = 200;
/// Characters of a value that are shown.
const VALUE_CHARS: usize = 300;

/// A place at which the values differ; one of them may have nothing there.
#[derive(Debug, PartialEq)]
struct Difference<'a> {
    path: String,
    left: Option<&'a Value>,
    right: Option<&'a Value>,
}

/// A table of the differences; the heads name the values. `name` is the expression for the whole.
pub(crate) fn differences(name: &str, heads: [Markup; 2], left: &Value, right: &Value) -> Markup {
    let mut found = Vec::new();
    compare(name.to_owned(), (left, right), &mut found);
    let [left_head, right_head] = heads;
    html! {
        @if found.is_empty() { p.note role="status" { "They have the same value." } }
        @else {
            p.note role="status" {
                @if found.len() > SHOWN { "The first " (SHOWN) " places at which they differ:" }
                @else if found.len() == 1 { "They differ at one place:" }
                @else { "They differ at " (found.len()) " places:" }
            }
            table.list {
                thead { tr { th scope="col" { "At" } th scope="col" { (left_head) } th scope="col" { (right_head) } } }
                tbody { @for one in found.iter().take(SHOWN) { tr {
                    th scope="row" { code { bdi { (visible(&one.path)) } } }
                    td data-label="First" { (shown(one.left)) }
                    td data-label="Second" { (shown(one.right)) }
                } } }
            }
        }
    }
}

fn shown(value: Option<&Value>) -> Markup {
    let Some(value) = value else {
        return html! { span.note { "nothing" } };
    };
    let text = value.to_string();
    let (beginning, is_cut) = cut(&text, VALUE_CHARS);
    html! { code { bdi { (visible(beginning)) } @if is_cut { "…" } } }
}

/// Collects differences, one more than are shown at most.
fn compare<'a>(
    path: String,
    (left, right): (&'a Value, &'a Value),
    found: &mut Vec<Difference<'a>>,
) {
    if found.len() > SHOWN {
        return;
    }
    match (left, right) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
            for name in names {
                let path = format!("{path}{}", step(name, false));
                compare_parts(path, (ours.get(name), theirs.get(name)), found);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            for at in 0..ours.len().max(theirs.len()) {
                let path = format!("{path}{}", step(&at.to_string(), true));
                compare_parts(path, (ours.get(at), theirs.get(at)), found);
                if found.len() > SHOWN {
                    return;
                }
            }
        }
        _ if left == right => {}
        _ => found.push(Difference {
            path,
            left: Some(left),
            right: Some(right),
        }),
    }
}

fn compare_parts<'a>(
    path: String,
    parts: (Option<&'a Value>, Option<&'a Value>),
    found: &mut Vec<Difference<'a>>,
) {
    match parts {
        (Some(left), Some(right)) => compare(path, (left, right), found),
        (left, right) => found.push(Difference { path, left, right }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(left: &Value, right: &Value) -> Vec<String> {
        let mut found = Vec::new();
        compare("event".to_owned(), (left, right), &mut found);
        found.into_iter().map(|one| one.path).collect()
    }

    #[test]
    fn values_differ_at_the_smallest_parts() {
        let left = json!({"a": [1, {"b": 2}], "same": {"x": null}, "gone": [1]});
        let right = json!({"a": [1, {"b": "2"}, 3], "same": {"x": null}, "new key": {}});
        assert_eq!(
            paths(&left, &right),
            [
                "event.a[1].b",
                "event.a[2]",
                "event.gone",
                "event[\"new key\"]"
            ]
        );
        assert_eq!(paths(&left, &left), [""; 0]);
        assert_eq!(paths(&json!({}), &json!([])), ["event"]);
    }

    #[test]
    fn many_differences_and_long_values_are_cut() {
        let many = json!(vec![0; 100_000]);
        assert_eq!(paths(&many, &json!([])).len(), SHOWN + 1);
        let heads = || [html! { "a" }, html! { "b" }];
        let long = json!({"<b>": "y".repeat(10_000)});
        let html = differences("event", heads(), &long, &json!({})).into_string();
        assert!(html.len() < 2_000 && html.contains("&lt;b&gt;"), "{html}");
    }
}
