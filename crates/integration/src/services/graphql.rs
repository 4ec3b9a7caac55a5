//! The common part of the services that speak GraphQL: a query and its variables in one POST.

use serde_json::{Value, json};

use crate::receiver::{Received, Reply};

/// A request.
pub(super) struct Query {
    text: String,
    /// The variables, `null` if there are none.
    pub(super) variables: Value,
}

impl Query {
    pub(super) fn of(request: &Received) -> Self {
        let mut body = request.json();
        let text = body["query"].as_str().unwrap_or_default().to_owned();
        let variables = body["variables"].take();
        Self { text, variables }
    }

    /// Whether it asks for this field of the root.
    pub(super) fn asks_for(&self, field: &str) -> bool {
        // Fragments may come before what is asked.
        let starts = ["query ", "mutation "].map(|word| self.text.find(word));
        let start = starts.into_iter().flatten().min().unwrap_or(0);
        let from_root = self.text[start..]
            .split_once('{')
            .map_or("", |(_, root)| root);
        let field_of_root = from_root.split(['(', '{']).next().unwrap_or_default();
        field_of_root.trim() == field
    }

    /// A variable as text.
    pub(super) fn text(&self, variable: &str) -> String {
        match &self.variables[variable] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// 200 with data.
pub(super) fn data(data: &Value) -> Reply {
    Reply::json(&json!({"data": data}))
}

/// 200 with an error.
pub(super) fn error(message: &str) -> Reply {
    Reply::json(&json!({"errors": [{"message": message}]}))
}

/// One page of nodes, as most connections have it; the cursor is the place of the last node.
pub(super) fn connection(nodes: &[Value], after: &Value, first: usize) -> Value {
    let start = after.as_str().map_or(0, |after| after.parse().unwrap());
    let page: Vec<_> = nodes.iter().skip(start).take(first).collect();
    let end = start + page.len();
    let has_next = end < nodes.len();
    json!({
        "nodes": page,
        "pageInfo": {
            "hasNextPage": has_next,
            "hasPreviousPage": start > 0,
            "startCursor": start.to_string(),
            "endCursor": has_next.then(|| end.to_string()),
        },
    })
}
