//! The way to a node's API.

use bytes::Bytes;
use futures::{future::BoxFuture, stream::BoxStream};
use http::{Request, StatusCode, request::Parts};

/// A node's API, as tools reach it.
pub trait Node: Send + Sync + 'static {
    /// Sends a request whose path begins with `/v1`. `from` is the HTTP request by which the tool was called, whose
    /// sender it is sent for; without one, it is sent for the person who runs the server.
    fn send(
        &self,
        request: Request<Bytes>,
        from: Option<&Parts>,
    ) -> BoxFuture<'static, Result<Answer, Unreachable>>;
}

/// The answer to a request, whose body may be a stream without end.
pub struct Answer {
    /// The status of the answer.
    pub status: StatusCode,
    /// The bytes of its body, as they come.
    pub body: BoxStream<'static, Result<Bytes, Unreachable>>,
}

/// A node that gave no answer, or half of one. The text says why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unreachable(pub String);
