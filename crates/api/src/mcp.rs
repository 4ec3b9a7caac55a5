//! `/mcp`: the tools of [`headwater_mcp`] over HTTP, for callers with a key. Tools call the API of this node as the
//! request's sender would.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::{
        HeaderName,
        header::{AUTHORIZATION, USER_AGENT},
        request::Parts,
    },
    middleware::from_fn_with_state,
};
use futures::{StreamExt as _, TryStreamExt as _, future::BoxFuture};
use headwater_mcp::{Answer, Node, Unreachable};
use headwater_platform::Platform;
use tower::ServiceExt as _;

use crate::{auth, ingress::FORWARDED_FOR};

/// The API of this node, called without a connection.
struct ThisNode {
    api: Router,
}

/// The route, whose callers are authenticated before anything of a request is read.
pub(crate) fn route(api: Router, platform: &Arc<Platform>) -> Router<Arc<Platform>> {
    let tools = headwater_mcp::http::<Body>(Arc::new(ThisNode { api }));
    Router::new()
        .route_service("/mcp", tools)
        .layer(from_fn_with_state(
            Arc::clone(platform),
            auth::require_caller,
        ))
}

impl Node for ThisNode {
    fn send(
        &self,
        request: http::Request<Bytes>,
        from: Option<&Parts>,
    ) -> BoxFuture<'static, Result<Answer, Unreachable>> {
        let mut request = request.map(Body::from);
        if let Some(from) = from {
            on_behalf_of(&mut request, from);
        }
        let api = self.api.clone();
        Box::pin(async move {
            let Ok(response) = api.oneshot(request).await;
            let status = response.status();
            let body = response.into_body().into_data_stream();
            let body = body.map_err(|error| Unreachable(error.to_string()));
            Ok(Answer {
                status,
                body: body.boxed(),
            })
        })
    }
}

/// Sends a request as the sender of another, from the same place.
fn on_behalf_of(request: &mut Request, from: &Parts) {
    for name in [
        AUTHORIZATION,
        USER_AGENT,
        HeaderName::from_static(FORWARDED_FOR),
    ] {
        for value in from.headers.get_all(&name) {
            request.headers_mut().append(&name, value.clone());
        }
    }
    *request.extensions_mut() = from.extensions.clone();
}
