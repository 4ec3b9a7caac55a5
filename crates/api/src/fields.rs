//! `include` and `exclude` (docs/api-design.md, "include and exclude"): which fields of each object under `data` a
//! response shows. One layer over the whole API; handlers know nothing of it.

use std::sync::{Arc, OnceLock};

use axum::{
    body::{Body, to_bytes},
    extract::Request,
    http::{HeaderValue, header},
    middleware::Next,
    response::Response,
};
use serde_json::{Map, Value};
use url::form_urlencoded;

/// The parameters that select.
pub(crate) const SELECTING: [&str; 2] = ["include", "exclude"];

/// The fields to show. Names are dotted paths; unknown ones match nothing.
#[derive(Debug, Default, PartialEq)]
struct Selection {
    /// Only these; all when empty.
    include: Vec<String>,
    /// Not these.
    exclude: Vec<String>,
}

/// The place in which the reader of a request's body leaves the selection that it finds.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodySelection(Arc<OnceLock<Selection>>);

impl BodySelection {
    /// Looks for `include` and `exclude` among the body's fields.
    pub(crate) fn note(&self, fields: &Map<String, Value>) {
        let names = |name| names(fields.get(name).and_then(Value::as_str).unwrap_or_default());
        let selection = Selection {
            include: names("include"),
            exclude: names("exclude"),
        };
        if selection != Selection::default() {
            // The body is read once; were it read twice, the first reading would stand.
            let _ = self.0.set(selection);
        }
    }
}

fn names(list: &str) -> Vec<String> {
    let names = list.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Shows only the fields that the request selects, in its query or else in its body.
pub(crate) async fn select(mut request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let from_query = Selection::of_query(query);
    let from_body = BodySelection::default();
    request.extensions_mut().insert(from_body.clone());
    let response = next.run(request).await;
    let selection = from_body.0.get().unwrap_or(&from_query);
    if *selection == Selection::default() || !is_json(&response) {
        return response;
    }
    selection.apply(response).await
}

fn is_json(response: &Response) -> bool {
    let json = HeaderValue::from_static("application/json");
    response.status().is_success() && response.headers().get(header::CONTENT_TYPE) == Some(&json)
}

impl Selection {
    fn of_query(query: &str) -> Self {
        let mut selection = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "include" => selection.include.extend(names(&value)),
                "exclude" => selection.exclude.extend(names(&value)),
                _ => {}
            }
        }
        selection
    }

    async fn apply(&self, response: Response) -> Response {
        let (mut parts, body) = response.into_parts();
        // A body of our own, already in memory; reading it cannot fail.
        let text = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let Ok(mut envelope) = serde_json::from_slice::<Value>(&text) else {
            return Response::from_parts(parts, Body::from(text));
        };
        if let Some(data) = envelope.get_mut("data") {
            self.prune(data);
        }
        parts.headers.remove(header::CONTENT_LENGTH);
        Response::from_parts(parts, Body::from(envelope.to_string()))
    }

    fn prune(&self, data: &mut Value) {
        let include: Vec<_> = self.include.iter().map(String::as_str).collect();
        let exclude: Vec<_> = self.exclude.iter().map(String::as_str).collect();
        if !include.is_empty() {
            keep(data, &include);
        }
        remove(data, &exclude);
    }
}

/// The decision of the paths about the field `name` of an object.
enum Match<'a> {
    /// Nothing.
    None,
    /// One of them is the field.
    Whole,
    /// Some lead into the field: the rest of each.
    Within(Vec<&'a str>),
}

fn matching<'a>(paths: &[&'a str], name: &str) -> Match<'a> {
    if paths.contains(&name) {
        return Match::Whole;
    }
    let rest = |path: &&'a str| path.strip_prefix(name)?.strip_prefix('.');
    let within: Vec<_> = paths.iter().filter_map(rest).collect();
    match within.is_empty() {
        true => Match::None,
        false => Match::Within(within),
    }
}

/// Removes every field that no path leads to. Lists are looked into item by item.
fn keep(value: &mut Value, paths: &[&str]) {
    for object in objects(value) {
        object.retain(|name, field| match matching(paths, name) {
            Match::None => false,
            Match::Whole => true,
            Match::Within(rest) => {
                keep(field, &rest);
                field.is_object() || field.is_array()
            }
        });
    }
}

/// Removes every field that a path leads to.
fn remove(value: &mut Value, paths: &[&str]) {
    for object in objects(value) {
        object.retain(|name, field| match matching(paths, name) {
            Match::None => true,
            Match::Whole => false,
            Match::Within(rest) => {
                remove(field, &rest);
                true
            }
        });
    }
}

/// The object, or those of the list.
fn objects(value: &mut Value) -> Vec<&mut Map<String, Value>> {
    match value {
        Value::Object(object) => vec![object],
        Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selected(query: &str, mut data: Value) -> Value {
        Selection::of_query(query).prune(&mut data);
        data
    }

    #[test]
    fn fields_are_selected_by_dotted_paths() {
        let data = || json!({"id": 1, "name": "n", "meta": {"a": 1, "b": {"c": 2, "d": 3}}});
        for (query, expected) in [
            ("", data()),
            ("include=", data()),
            ("include=id,name", json!({"id": 1, "name": "n"})),
            ("include=id&include=name", json!({"id": 1, "name": "n"})),
            (
                "include=id, meta.b.c",
                json!({"id": 1, "meta": {"b": {"c": 2}}}),
            ),
            (
                "include=meta,meta.a",
                json!({"meta": {"a": 1, "b": {"c": 2, "d": 3}}}),
            ),
            ("exclude=meta", json!({"id": 1, "name": "n"})),
            (
                "exclude=meta.b.c,meta.a",
                json!({"id": 1, "name": "n", "meta": {"b": {"d": 3}}}),
            ),
            ("include=id,name&exclude=name", json!({"id": 1})),
            ("include=id,nothing,id.x,na", json!({"id": 1})),
            ("exclude=nothing,id.x,na", data()),
        ] {
            assert_eq!(selected(query, data()), expected, "{query}");
        }
    }

    #[test]
    fn every_item_of_a_list_is_selected_from() {
        let data = json!([{"id": 1, "orgs": [{"id": 2, "x": 3}]}, {"id": 4, "orgs": []}]);
        let expected = json!([{"orgs": [{"id": 2}]}, {"orgs": []}]);
        assert_eq!(selected("include=orgs.id", data), expected);
    }

    #[test]
    fn a_name_with_a_dot_of_its_own_is_found_whole() {
        assert_eq!(
            selected("include=a.b", json!({"a.b": 1, "c": 2})),
            json!({"a.b": 1})
        );
    }

    #[tokio::test]
    async fn only_what_is_under_data_changes() {
        let body = r#"{"page_info":{"count":1},"data":[{"id":1,"x":2}]}"#;
        let selection = Selection::of_query("include=id");
        let response = selection.apply(Response::new(Body::from(body))).await;
        let text = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        assert_eq!(text, r#"{"page_info":{"count":1},"data":[{"id":1}]}"#);
    }
}
