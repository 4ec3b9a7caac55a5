//! The parts that every operation of the document has without saying so: the failures that belong to no
//! operation in particular, the parameters that every operation takes, the request's id.

use serde_json::{Map, Value, json};

use super::{failure, schema};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Adds it to the document.
pub(crate) fn complete(document: &mut Value) {
    let components = &mut document["components"];
    components["responses"] = Value::Object(failure::components());
    components["headers"] = json!({
        "RequestId": {
            "description": "The request's id in the node's log; the request's own if it is valid.",
            "required": true,
            "schema": { "type": "string" },
        },
    });
    components["parameters"] = parameters();
    for response in objects(&mut components["responses"]) {
        name_request(response);
    }
    schema::complete(components);
    for path in objects(&mut document["paths"]) {
        for method in METHODS {
            if let Some(operation) = path.get_mut(method).and_then(Value::as_object_mut) {
                complete_operation(operation);
            }
        }
    }
}

fn complete_operation(operation: &mut Map<String, Value>) {
    let is_open = operation.contains_key("security");
    if !is_open && answers_json(operation) {
        let names = ["Include", "Exclude"];
        let references =
            names.map(|name| json!({ "$ref": format!("#/components/parameters/{name}") }));
        let parameters = operation.entry("parameters").or_insert_with(|| json!([]));
        if let Value::Array(parameters) = parameters {
            parameters.extend(references);
        }
    }
    let mut failures = Vec::new();
    if takes_query(operation) {
        failures.push("400");
    }
    if operation.contains_key("requestBody") {
        failures.extend(["400", "408", "413", "415"]);
    }
    if !is_open {
        failures.extend(["401", "429", "500", "503"]);
    }
    let Some(Value::Object(responses)) = operation.get_mut("responses") else {
        return;
    };
    for status in failures {
        responses
            .entry(status)
            .or_insert_with(|| failure::shared(status));
    }
    for response in responses.values_mut().filter_map(Value::as_object_mut) {
        name_request(response);
    }
    responses.sort_keys();
    // A body that need not be there is left out, not null.
    if let Some(schema) = operation
        .get_mut("requestBody")
        .and_then(|body| body.pointer_mut("/content/application~1json/schema"))
    {
        schema::forbid_null(schema);
    }
    let parameters = operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        // A query has no null: an optional parameter is left out.
        if let Some(schema) = parameter.get_mut("schema") {
            schema::forbid_null(schema);
        }
    }
}

/// Whether a success has something to choose fields from.
fn answers_json(operation: &Map<String, Value>) -> bool {
    !operation["responses"]["200"]["content"]["application/json"].is_null()
}

/// Whether a parameter can be wrong. Ids in paths cannot: a malformed one is an unknown one.
fn takes_query(operation: &Map<String, Value>) -> bool {
    let parameters = operation.get("parameters").and_then(Value::as_array);
    parameters.is_some_and(|parameters| {
        let is_query = |parameter: &Value| parameter["in"] == "query";
        parameters.iter().any(is_query)
    })
}

/// Every response has the request's id, those of components included by reference.
fn name_request(response: &mut Map<String, Value>) {
    if response.contains_key("$ref") {
        return;
    }
    let headers = response.entry("headers").or_insert_with(|| json!({}));
    headers["X-Request-Id"] = json!({ "$ref": "#/components/headers/RequestId" });
}

fn parameters() -> Value {
    let fields = |name: &str, description: &str| {
        json!({
            "name": name,
            "in": "query",
            "description": description,
            "required": false,
            "schema": { "type": "string" },
        })
    };
    json!({
        "Include": fields(
            "include",
            "Comma-separated fields to show of each object under `data`, dots for nested ones. \
             All by default.",
        ),
        "Exclude": fields(
            "exclude",
            "Comma-separated fields to leave out of each object under `data`, dots for nested \
             ones. None by default.",
        ),
    })
}

pub(super) fn objects(value: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    let fields = value.as_object_mut().into_iter();
    fields.flat_map(|fields| fields.values_mut().filter_map(Value::as_object_mut))
}
