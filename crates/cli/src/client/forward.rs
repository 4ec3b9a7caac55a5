//! The node's API for tools of an assistant: their requests, sent with the person's key.

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _, future::BoxFuture};
use headwater_mcp::{Answer, Node, Unreachable};
use http::{Request, request::Parts};

use super::{Client, ClientError};

/// A client that sends requests as they are.
struct Forward(Client);

impl Client {
    /// The node, for tools.
    pub(crate) fn into_node(self) -> impl Node {
        Forward(self)
    }
}

impl Node for Forward {
    fn send(
        &self,
        request: Request<Bytes>,
        _from: Option<&Parts>,
    ) -> BoxFuture<'static, Result<Answer, Unreachable>> {
        let (parts, body) = request.into_parts();
        let url = self.0.at(&parts.uri);
        let mut request = self.0.http.request(parts.method, url);
        if let Some(key) = &self.0.key {
            request = request.bearer_auth(key);
        }
        let base = self.0.base.clone();
        let sent = request.headers(parts.headers).body(body).send();
        Box::pin(async move {
            let away = move |error: reqwest::Error| away(ClientError::unreachable(&base, error));
            let response = sent.await.map_err(&away)?;
            Ok(Answer {
                status: response.status(),
                body: response.bytes_stream().map_err(away).boxed(),
            })
        })
    }
}

/// The whole story in a line: an assistant sees no chain of causes.
fn away(error: ClientError) -> Unreachable {
    let advice = error.advice().unwrap_or_default();
    Unreachable(format!("{error}; {advice}"))
}
