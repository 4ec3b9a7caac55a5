//! The operations of the API, as the committed OpenAPI document has them.

use serde_json::Value;

use crate::Method;

const DOCUMENT: &str = include_str!("../../../docs/openapi.json");
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// One method of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The method.
    pub method: Method,
    /// The path with its parameters in braces, such as `/v1/sources/{id}`.
    pub path: String,
    /// Its `operationId`.
    pub id: String,
    /// Whether it answers without a key.
    pub is_open: bool,
    /// Whether its answer goes on until somebody ends it.
    pub is_stream: bool,
}

impl Operation {
    /// Every operation.
    pub fn all() -> Vec<Self> {
        let document: Value = serde_json::from_str(DOCUMENT).expect("the document is JSON");
        let paths = document["paths"].as_object().expect("it has paths");
        let of_path = |(path, item): (&String, &Value)| {
            let present = METHODS.iter().filter(|method| item[**method].is_object());
            let operations = present.map(|method| Self {
                method: method.to_uppercase().parse().expect("it is a method"),
                path: path.clone(),
                id: item[*method]["operationId"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned(),
                is_open: item[*method]["security"] == serde_json::json!([{}]),
                is_stream: item[*method]["responses"]["200"]["content"]["text/event-stream"]
                    .is_object(),
            });
            operations.collect::<Vec<_>>()
        };
        paths.iter().flat_map(of_path).collect()
    }

    /// The path as `Client::request` takes it.
    pub fn request_path(&self) -> String {
        match self.path.strip_prefix("/v1") {
            Some(path) => path.to_owned(),
            None => format!("/{}", self.path),
        }
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}
