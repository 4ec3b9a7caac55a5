//! Failures on the wire: one table from error to status, code and public text (docs/api-design.md,
//! "Status codes"). Details that must not leave the node are logged here, once.

use axum::{
    Json,
    body::Body,
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use headwater_model::limits::INGRESS_EVENT_BYTES;
use headwater_platform::PlatformError;

use crate::{
    request_id::RequestId,
    wire::{ErrorBody, ErrorCode},
};

/// The answers that a request can get instead of its result.
#[derive(Debug)]
pub(crate) enum ApiError {
    /// A use case failed.
    Platform(PlatformError),
    /// The body is not a JSON object, or not one that the operation takes.
    MalformedBody(String),
    /// The body announces itself as something else than JSON.
    UnsupportedMediaType(String),
    /// The body is over the bound.
    PayloadTooLarge { limit_bytes: usize },
    /// The event of the request is over its bound.
    EventTooLarge,
    /// The body did not arrive whole.
    BrokenBody(String),
    /// The bodies of other requests take all the room.
    TooManyBodies,
    /// The body took too long.
    BodyTooSlow,
    /// Nothing is served at the path.
    NoRoute {
        method: Method,
        /// The path that was probably meant.
        meant: Option<&'static str>,
    },
    /// The path is served, by other methods.
    MethodNotAllowed {
        method: Method,
        /// The path that was probably meant.
        meant: Option<&'static str>,
    },
    /// No active source or workflow has the endpoint.
    NoEndpoint,
    /// The endpoint wants a bearer token that the request does not have.
    NoBearer,
    /// The run did not answer the request that triggered it.
    Unanswered(Unanswered),
    /// A handler panicked.
    Panicked,
}

/// Why a run has not answered the request that triggered it.
#[derive(Debug)]
pub(crate) enum Unanswered {
    /// It threw before.
    Threw,
    /// It exceeded its time before.
    TimedOut,
    /// It answered with a status that cannot end a request.
    Interim(u16),
}

impl From<PlatformError> for ApiError {
    fn from(error: PlatformError) -> Self {
        Self::Platform(error)
    }
}

/// Status, stable code and public text of a failure.
#[derive(Debug)]
struct Problem {
    status: StatusCode,
    body: ErrorBody,
    /// The seconds after which another try may help.
    retry_after_s: Option<u64>,
}

fn problem(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Problem {
    let body = ErrorBody::new(code, message);
    let retry_after_s = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
    Problem {
        status,
        body,
        retry_after_s,
    }
}

impl Problem {
    fn with_param(mut self, param: String) -> Self {
        self.body.error.param = Some(param).filter(|param| !param.is_empty());
        self
    }

    fn with_retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    fn with_stack(mut self, stack: String) -> Self {
        self.body.error.stack = Some(stack).filter(|stack| !stack.is_empty());
        self
    }
}

const UNAVAILABLE: &str = "temporarily unavailable, try again; the node's log has the cause";
const INTERNAL: &str = "internal error; the node's log has the details";

impl From<PlatformError> for Problem {
    fn from(error: PlatformError) -> Self {
        let text = error.to_string();
        match error {
            PlatformError::NotFound { .. } | PlatformError::EventGone { .. } => {
                problem(StatusCode::NOT_FOUND, ErrorCode::NotFound, text)
            }
            PlatformError::Invalid(invalid) => {
                problem(StatusCode::BAD_REQUEST, ErrorCode::InvalidParameter, text)
                    .with_param(invalid.field)
            }
            PlatformError::InvalidProps(invalid) => problem(
                StatusCode::UNPROCESSABLE_ENTITY,
                ErrorCode::InvalidProps,
                text,
            )
            .with_param(invalid.field),
            PlatformError::Unpublishable(invalid) => problem(
                StatusCode::UNPROCESSABLE_ENTITY,
                ErrorCode::InvalidComponent,
                text,
            )
            .with_param(invalid.field),
            PlatformError::Component { error, .. } => problem(
                StatusCode::UNPROCESSABLE_ENTITY,
                ErrorCode::ComponentFailed,
                text,
            )
            .with_stack(error.stack),
            PlatformError::Conflict(_) => problem(StatusCode::CONFLICT, ErrorCode::Conflict, text),
            PlatformError::Unauthenticated => {
                problem(StatusCode::UNAUTHORIZED, ErrorCode::Unauthenticated, text)
            }
            PlatformError::Forbidden(_) | PlatformError::AdminOnly | PlatformError::KeyTaken(_) => {
                problem(StatusCode::FORBIDDEN, ErrorCode::Forbidden, text)
            }
            PlatformError::QuotaExceeded { retry_after_s, .. } => problem(
                StatusCode::TOO_MANY_REQUESTS,
                ErrorCode::QuotaExceeded,
                text,
            )
            .with_retry_after(retry_after_s),
            PlatformError::RateLimited { retry_after_s, .. }
            | PlatformError::SignInThrottled { retry_after_s }
            | PlatformError::TooManyWaiting { retry_after_s, .. } => {
                problem(StatusCode::TOO_MANY_REQUESTS, ErrorCode::RateLimited, text)
                    .with_retry_after(retry_after_s)
            }
            PlatformError::Unreachable(_) => problem(
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::Unavailable,
                text,
            ),
            PlatformError::Unavailable(reason) => {
                tracing::warn!(reason, "unavailable");
                problem(
                    StatusCode::SERVICE_UNAVAILABLE,
                    ErrorCode::Unavailable,
                    UNAVAILABLE,
                )
            }
            PlatformError::Internal(reason) => {
                tracing::error!(reason, "internal error");
                problem(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    ErrorCode::Internal,
                    INTERNAL,
                )
            }
        }
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Platform(error) => Self::from(error),
            ApiError::MalformedBody(reason) | ApiError::BrokenBody(reason) => {
                problem(StatusCode::BAD_REQUEST, ErrorCode::InvalidParameter, reason)
            }
            ApiError::UnsupportedMediaType(given) => problem(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ErrorCode::UnsupportedMediaType,
                format!("send the body as `Content-Type: application/json`, not `{given}`"),
            ),
            ApiError::PayloadTooLarge { limit_bytes } => problem(
                StatusCode::PAYLOAD_TOO_LARGE,
                ErrorCode::PayloadTooLarge,
                format!("the body may have at most {limit_bytes} bytes"),
            ),
            ApiError::EventTooLarge => problem(
                StatusCode::PAYLOAD_TOO_LARGE,
                ErrorCode::PayloadTooLarge,
                format!(
                    "the request is too large: as an event it may have at most {INGRESS_EVENT_BYTES} \
                     bytes of JSON, which holds the body twice, with escaped characters; send less at \
                     once"
                ),
            ),
            ApiError::TooManyBodies => problem(
                StatusCode::SERVICE_UNAVAILABLE,
                ErrorCode::Unavailable,
                "the request bodies of all users, or of this one, take all the memory that they may; \
                 try again, or send less at once",
            ),
            ApiError::BodyTooSlow => problem(
                StatusCode::REQUEST_TIMEOUT,
                ErrorCode::RequestTimeout,
                "the body did not arrive in time; send it again, and faster",
            ),
            ApiError::NoRoute { method, meant } => problem(
                StatusCode::NOT_FOUND,
                ErrorCode::NotFound,
                nowhere(&method, meant),
            ),
            ApiError::MethodNotAllowed { method, meant } => problem(
                StatusCode::METHOD_NOT_ALLOWED,
                ErrorCode::MethodNotAllowed,
                otherwise(&method, meant),
            ),
            ApiError::NoEndpoint => problem(
                StatusCode::NOT_FOUND,
                ErrorCode::NotFound,
                "no active source or workflow has this endpoint",
            ),
            ApiError::NoBearer => problem(
                StatusCode::UNAUTHORIZED,
                ErrorCode::Unauthenticated,
                "this endpoint wants its bearer token: send `Authorization: Bearer <TOKEN>`",
            ),
            ApiError::Unanswered(why) => Self::from(why),
            ApiError::Panicked => {
                // The place and the reason are reported by the panic hook, which does not know the
                // request.
                tracing::error!("a handler panicked");
                problem(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    ErrorCode::Internal,
                    INTERNAL,
                )
            }
        }
    }
}

impl From<Unanswered> for Problem {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::Threw => problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                ErrorCode::ComponentFailed,
                "the component threw before it responded",
            ),
            Unanswered::TimedOut => problem(
                StatusCode::GATEWAY_TIMEOUT,
                ErrorCode::ComponentTimedOut,
                "the component did not respond in time",
            ),
            Unanswered::Interim(status) => problem(
                StatusCode::BAD_GATEWAY,
                ErrorCode::ComponentFailed,
                format!("the component responded with status {status}, which cannot end a request"),
            ),
        }
    }
}

/// The answer of a node that cannot carry a request out at present, with the reason for clients: 503.
pub fn unavailable(reason: &str) -> Response {
    ApiError::Platform(PlatformError::Unreachable(reason.to_owned())).into_response()
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Problem {
            status,
            body,
            retry_after_s,
        } = Problem::from(self);
        let mut response = (status, Json(&body)).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status.is_server_error() {
            response.extensions_mut().insert(body);
        }
        response
    }
}

/// Writes the request's id into the body of a failure of the server, so that a report of it quotes the
/// id to search the log for.
pub(crate) fn name_request(mut response: Response, id: &RequestId) -> Response {
    let Some(mut body) = response.extensions_mut().remove::<ErrorBody>() else {
        return response;
    };
    body.error.request_id = Some(id.as_str().to_owned());
    if let Ok(text) = serde_json::to_vec(&body) {
        response.headers_mut().remove(header::CONTENT_LENGTH);
        *response.body_mut() = Body::from(text);
    }
    response
}

/// The text of a path that no operation has.
fn nowhere(method: &Method, meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("there is no {method} operation at this path; see {meant}"),
        None => format!("there is no {method} operation at this path"),
    }
}

/// The text of a path that operations of other methods have.
fn otherwise(method: &Method, meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("{method} is not possible here; see {meant}"),
        None => {
            format!("{method} is not possible here; the `Allow` header lists the methods that are")
        }
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::{error::Invalid, outcome::ComponentError};

    use super::*;

    fn of(error: PlatformError) -> (u16, serde_json::Value) {
        let Problem { status, body, .. } = Problem::from(error);
        (
            status.as_u16(),
            serde_json::to_value(body).unwrap()["error"].take(),
        )
    }

    #[test]
    fn every_failure_has_its_status_and_code() {
        let invalid = || Invalid::new("configured_props.url", "is required");
        let thrown = ComponentError {
            message: "boom".to_owned(),
            stack: "at run".to_owned(),
            ..ComponentError::default()
        };
        let component = PlatformError::Component {
            stage: "the `activate` hook threw".to_owned(),
            error: Box::new(thrown),
        };
        for (error, status, code) in [
            (PlatformError::not_found("source", "dc_x"), 404, "not_found"),
            (PlatformError::Invalid(invalid()), 400, "invalid_parameter"),
            (PlatformError::InvalidProps(invalid()), 422, "invalid_props"),
            (
                PlatformError::Unpublishable(invalid()),
                422,
                "invalid_component",
            ),
            (component, 422, "component_failed"),
            (PlatformError::Conflict(String::new()), 409, "conflict"),
            (PlatformError::Unauthenticated, 401, "unauthenticated"),
            (PlatformError::Forbidden(String::new()), 403, "forbidden"),
            (PlatformError::KeyTaken(String::new()), 403, "forbidden"),
            (PlatformError::AdminOnly, 403, "forbidden"),
            (quota_exceeded(), 429, "quota_exceeded"),
            (rate_limited(), 429, "rate_limited"),
            (
                PlatformError::TooManyWaiting {
                    reason: String::new(),
                    retry_after_s: 5,
                },
                429,
                "rate_limited",
            ),
            (
                PlatformError::Unavailable(String::new()),
                503,
                "unavailable",
            ),
            (PlatformError::Internal(String::new()), 500, "internal"),
        ] {
            let (got, body) = of(error);
            assert_eq!((got, body["code"].as_str()), (status, Some(code)));
            assert_eq!(
                body["param"].is_string(),
                code.starts_with("invalid"),
                "{body}"
            );
            assert_eq!(
                body["stack"].is_string(),
                code == "component_failed",
                "{body}"
            );
        }
    }

    fn quota_exceeded() -> PlatformError {
        PlatformError::QuotaExceeded {
            quota: 10,
            retry_after_s: 7_200,
        }
    }

    fn rate_limited() -> PlatformError {
        PlatformError::RateLimited {
            per_second: 5,
            retry_after_s: 1,
        }
    }

    #[test]
    fn what_may_help_later_says_when() {
        for (error, seconds) in [
            (quota_exceeded(), Some("7200")),
            (rate_limited(), Some("1")),
            (PlatformError::Unavailable(String::new()), Some("1")),
            (PlatformError::Internal(String::new()), None),
        ] {
            let response = ApiError::Platform(error).into_response();
            let header = response.headers().get(header::RETRY_AFTER);
            assert_eq!(header.map(|value| value.to_str().unwrap()), seconds);
        }
    }

    #[test]
    fn internals_are_not_shown() {
        for error in [
            PlatformError::Internal("/secret".to_owned()),
            PlatformError::Unavailable("/secret".to_owned()),
        ] {
            let (_, body) = of(error);
            assert!(!body.to_string().contains("secret"), "{body}");
        }
    }
}
