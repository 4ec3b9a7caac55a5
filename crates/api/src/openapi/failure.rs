//! The failures of operations as the OpenAPI document shows them: one response per status, with the
//! codes that come with it. A handler names those of its own (`responses(…, failure::NotFound)`);
//! those that many operations share are added by `shared`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::{
    IntoResponses,
    openapi::{Ref, RefOr, Response},
};

macro_rules! failures {
    ($($name:ident, $status:literal, $description:literal;)*) => {
        $(
            #[doc = $description]
            pub(crate) struct $name;

            impl IntoResponses for $name {
                fn responses() -> BTreeMap<String, RefOr<Response>> {
                    let response = Ref::from_response_name(stringify!($name));
                    BTreeMap::from([($status.to_owned(), RefOr::Ref(response))])
                }
            }
        )*

        const HANDLERS_OWN: &[(&str, &str)] = &[$((stringify!($name), $description)),*];
    };
}

failures! {
    Forbidden, "403",
        "`forbidden`: the caller is not a member of the workspace, not the administrator, or not the \
         publisher of the key.";
    NotFound, "404",
        "`not_found`: the id is unknown, or belongs to another tenant.";
    Conflict, "409",
        "`conflict`: the step does not apply now, such as running an inactive source or replaying a run that has not ended.";
    Unprocessable, "422",
        "`component_failed`: the component does not resolve or evaluate, or a hook threw; `message` \
         and `stack` are those of the error. `invalid_props`: configured values do not fit the \
         component's props; `param` names the first. `invalid_component`: it cannot be published as it \
         is, or runs under another key or version than it was published; `param` names the property.";
}

/// Status, name and description of failures that belong to no operation in particular.
const SHARED: &[(&str, &str, &str)] = &[
    (
        "400",
        "BadRequest",
        "`invalid_parameter`: a parameter is missing or malformed, and `param` names it; or the body \
         is not a JSON object.",
    ),
    (
        "401",
        "Unauthenticated",
        "`unauthenticated`: the key is missing or unknown.",
    ),
    (
        "408",
        "RequestTimeout",
        "`request_timeout`: the body did not arrive in time.",
    ),
    (
        "413",
        "PayloadTooLarge",
        "`payload_too_large`: the body is over 20 MiB.",
    ),
    (
        "415",
        "UnsupportedMediaType",
        "`unsupported_media_type`: the body is neither JSON nor another type that the operation takes.",
    ),
    (
        "429",
        "TooManyRequests",
        "`rate_limited`: the owner has the maximum number of waiting builds, or, if the node limits \
         it, the key exceeds its requests per second. `quota_exceeded`, for runs, if the node limits \
         them: the user's invocations of the day are used up.",
    ),
    (
        "500",
        "Internal",
        "`internal`: a fault of the node. Search its log for `request_id`.",
    ),
    (
        "503",
        "Unavailable",
        "`unavailable`: something that the node needs cannot be reached now, or \
         the bodies of other requests, of all users or of this one, take all the memory they may; try again.",
    ),
];

/// Every failure by name, for the document's components.
pub(crate) fn components() -> Map<String, Value> {
    let shared = SHARED.iter().map(|(status, name, description)| {
        let response = response(description, headers(status));
        ((*name).to_owned(), response)
    });
    let own = HANDLERS_OWN.iter().map(|(name, description)| {
        let response = response(description, json!({}));
        ((*name).to_owned(), response)
    });
    shared.chain(own).collect()
}

/// A failure that belongs to no operation in particular, as an operation refers to it.
pub(crate) fn shared(wanted: &str) -> Value {
    let found = SHARED.iter().find(|(status, ..)| *status == wanted);
    let (_, name, _) = found.expect("only statuses of the table are asked for");
    json!({ "$ref": format!("#/components/responses/{name}") })
}

fn response(description: &str, headers: Value) -> Value {
    let schema = json!({ "$ref": "#/components/schemas/ErrorBody" });
    json!({
        "description": description,
        "headers": headers,
        "content": { "application/json": { "schema": schema } },
    })
}

fn headers(status: &str) -> Value {
    let (name, description, kind) = match status {
        "401" => ("WWW-Authenticate", "Always `Bearer`.", "string"),
        "429" | "503" => (
            "Retry-After",
            "Seconds to wait before the next try.",
            "integer",
        ),
        _ => return json!({}),
    };
    json!({ name: { "description": description, "required": true, "schema": { "type": kind } } })
}
