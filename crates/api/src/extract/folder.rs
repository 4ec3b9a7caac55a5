//! The folder of a workflow in a request: as JSON of its files, or as an archive.

use axum::{
    extract::{FromRequest, Request},
    http::HeaderMap,
};

use super::params::{Params, media_type, query_params, request_body, whole_body};
use crate::{
    archive::{self, Packing},
    error::ApiError,
    wire::DeployWorkflow,
};

/// The folder to deploy. The parameters beside an archive are in the query.
pub(crate) struct Folder(pub(crate) DeployWorkflow);

impl<S: Send + Sync> FromRequest<S> for Folder {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let Some(packing) = packing(request.headers()) else {
            let Params(given) = Params::from_request(request, state).await?;
            return Ok(Self(given));
        };
        let (parts, body) = request.into_parts();
        let scope = query_params(&parts)?;
        let bytes = whole_body(&parts, body).await?;
        let reading = request_body(&parts);
        let files = archive::files(&bytes, packing, |more| reading.unpack(more))?;
        Ok(Self(DeployWorkflow::of_archive(files, scope)))
    }
}

/// The packing of a body that is an archive.
fn packing(headers: &HeaderMap) -> Option<Packing> {
    match media_type(headers).as_str() {
        "application/x-tar" => Some(Packing::Plain),
        "application/gzip" => Some(Packing::Gzip),
        _ => None,
    }
}
