//! Pagination as the OpenAPI document shows it: `params(Pages)` of an operation that reads
//! `Paging`.

use headwater_model::limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX};
use utoipa::{
    IntoParams,
    openapi::{
        Object, ObjectBuilder, Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::Type,
    },
};

/// `limit`, `after` and `before` (docs/api-design.md, "Pages").
pub(crate) struct Pages;

impl IntoParams for Pages {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let before = parameter(
            "before",
            cursor(),
            "Cursor (`start_cursor` of the page behind, or an id): the page just in front of \
             it. Not together with `after`.",
        );
        let after = parameter(
            "after",
            cursor(),
            "Cursor (`end_cursor` of the page before, or an id): the items behind it in listed \
             order.",
        );
        vec![limit(), after, before]
    }
}

/// `limit` and `after` of an operation that leads one way.
pub(crate) struct ForwardPages;

impl IntoParams for ForwardPages {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let after =
            "Cursor (`end_cursor` of the part before): the items behind it in listed order.";
        vec![limit(), parameter("after", cursor(), after)]
    }
}

fn limit() -> Parameter {
    let limit = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(PAGE_LIMIT_MAX))
        .default(Some(PAGE_LIMIT_DEFAULT.into()));
    parameter("limit", limit.build(), "Maximum number of items.")
}

fn cursor() -> Object {
    ObjectBuilder::new().schema_type(Type::String).build()
}

fn parameter(name: &str, schema: Object, description: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}
