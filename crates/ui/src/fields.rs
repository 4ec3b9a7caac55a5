//! The fields of a form.

use axum::{
    Form,
    extract::{FromRequest, Request},
    http::StatusCode,
};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The fields that a form was sent with.
pub(crate) struct Fields<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Fields<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let form = Form::<T>::from_request(request, state).await;
        form.map(|Form(fields)| Self(fields)).map_err(|rejection| {
            let text = format!(
                "The form did not arrive as it should: {rejection}. Go back and send it again."
            );
            Problem::new(StatusCode::BAD_REQUEST, "Nothing was changed", text)
        })
    }
}
