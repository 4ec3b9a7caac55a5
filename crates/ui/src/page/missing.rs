//! The page at an address where there is none.

use axum::http::StatusCode;

use crate::{problem::Problem, visit::AnyVisitor};

/// Says that there is no page, and leads back.
pub(crate) async fn show(AnyVisitor(_): AnyVisitor) -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "There is no page here",
        "The address is misspelled, or its page was never meant to be opened by itself. Search finds things by name or id.",
    )
}
