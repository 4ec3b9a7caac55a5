//! The parameters of an operation: fields of the query and, unless it is a GET, of a JSON body. For a
//! field that both have, the value of the body counts, because the body is its regular place.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, FromRequestParts, Request},
    http::{HeaderMap, Method, header::CONTENT_TYPE, request::Parts},
};
use headwater_model::limits::API_BODY_BYTES;
use headwater_platform::{Caller, PlatformError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::{
    body::RequestBody,
    error::ApiError,
    fields::{BodySelection, SELECTING},
};

/// Parameters of an operation. Unknown ones are ignored, unless the type says otherwise; a wrong one is named in the answer.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Params<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let mut fields = query_fields(parts.uri.query().unwrap_or_default());
        if parts.method != Method::GET && parts.method != Method::HEAD {
            let bytes = whole_body(&parts, body).await?;
            let given = body_fields(&parts.headers, &bytes)?;
            if let Some(selection) = parts.extensions.get::<BodySelection>() {
                selection.note(&given);
            }
            fields.extend(given);
        }
        // Those of the selection are of no operation.
        for name in SELECTING {
            fields.remove(name);
        }
        Ok(Self(typed(fields)?))
    }
}

/// The body of a request of the API, in its caller's share of the room.
pub(super) async fn whole_body(parts: &Parts, body: Body) -> Result<Bytes, ApiError> {
    let caller = parts.extensions.get::<Arc<Caller>>();
    let holder = caller.map(|caller| caller.user_id().clone());
    request_body(parts).read(holder, body, API_BODY_BYTES).await
}

/// The request's way to the room of its body.
pub(super) fn request_body(parts: &Parts) -> &RequestBody {
    let reading = parts.extensions.get::<RequestBody>();
    reading.expect("every route but endpoints lets its handlers read")
}

/// Parameters of the query alone, besides those that [`Params`] reads.
pub(crate) struct Query<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(query_params(parts)?))
    }
}

/// Parameters from the query alone.
pub(super) fn query_params<T: DeserializeOwned>(parts: &Parts) -> Result<T, ApiError> {
    typed(query_fields(parts.uri.query().unwrap_or_default()))
}

fn query_fields(query: &str) -> Map<String, Value> {
    let pairs = form_urlencoded::parse(query.as_bytes());
    pairs
        .map(|(name, value)| (name.into_owned(), Value::String(value.into_owned())))
        .collect()
}

fn body_fields(headers: &HeaderMap, bytes: &[u8]) -> Result<Map<String, Value>, ApiError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    check_media_type(headers)?;
    object(bytes)
}

/// A body without a type is taken for JSON; whatever charset is named, JSON is UTF-8.
fn check_media_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Ok(());
    };
    let given = value.to_str().unwrap_or_default();
    let essence = media_type(headers);
    match essence == "application/json" || essence.ends_with("+json") {
        true => Ok(()),
        false => Err(ApiError::UnsupportedMediaType(given.to_owned())),
    }
}

/// The type of the body in lower case, without parameters; empty if none is given.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let given = headers.get(CONTENT_TYPE);
    let given = given
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default();
    essence.trim().to_ascii_lowercase()
}

fn object(text: &[u8]) -> Result<Map<String, Value>, ApiError> {
    let malformed = |error| ApiError::MalformedBody(format!("the body is not valid JSON: {error}"));
    let value: Value = serde_json::from_slice(text).map_err(malformed)?;
    match value {
        Value::Object(fields) => Ok(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(ApiError::MalformedBody(
                "the body must be a JSON object".to_owned(),
            ))
        }
    }
}

fn typed<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, ApiError> {
    let typed = serde_path_to_error::deserialize(Value::Object(fields));
    typed.map_err(|error| {
        let param = error.path().to_string();
        // A fault of no field in particular has the path of the whole.
        match param.as_str() {
            "." => ApiError::MalformedBody(error.into_inner().to_string()),
            _ => PlatformError::invalid(&param, error.into_inner()).into(),
        }
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use headwater_model::{id::WorkspaceId, prop::ConfiguredProps};
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::{
        body::{Bodies, BodyLimits},
        wire::lenient,
    };

    #[derive(Debug, PartialEq, Deserialize)]
    struct Wanted {
        name: Option<String>,
        #[serde(default, deserialize_with = "lenient::boolean")]
        active: Option<bool>,
        #[serde(default, deserialize_with = "lenient::object")]
        configured_props: Option<ConfiguredProps>,
        workspace_id: Option<WorkspaceId>,
    }

    async fn read(query: &str, body: &'static str) -> Result<Wanted, ApiError> {
        let request = Request::post(format!("/?{query}"))
            .extension(RequestBody::new(&Bodies::new(BodyLimits::default())))
            .body(Body::from(body))
            .unwrap();
        Params::<Wanted>::from_request(request, &())
            .await
            .map(|params| params.0)
    }

    #[tokio::test]
    async fn fields_come_from_query_and_body_alike() {
        let props = json!({"a": 1});
        let wanted = Wanted {
            name: Some("n".to_owned()),
            active: Some(false),
            configured_props: props.as_object().cloned(),
            workspace_id: None,
        };
        for (query, body) in [
            ("name=n&active=false&configured_props=%7B%22a%22%3A1%7D", ""),
            (
                "",
                r#"{"name": "n", "active": false, "configured_props": {"a": 1}}"#,
            ),
            (
                "name=other&active=true&more=1",
                r#"{"name": "n", "active": false, "configured_props": {"a": 1}}"#,
            ),
        ] {
            assert_eq!(read(query, body).await.unwrap(), wanted, "{query} {body}");
        }
    }

    #[tokio::test]
    async fn a_wrong_field_is_named() {
        for (body, param) in [
            (r#"{"name": 7}"#, "name"),
            (r#"{"active": "maybe"}"#, "active"),
            (r#"{"configured_props": []}"#, "configured_props"),
            (r#"{"workspace_id": "u_x"}"#, "workspace_id"),
        ] {
            match read("", body).await {
                Err(ApiError::Platform(PlatformError::Invalid(invalid))) => {
                    assert_eq!(invalid.field, param)
                }
                other => panic!("{body}: {other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_type_may_refuse_what_it_does_not_know() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Strict {
            #[expect(dead_code, reason = "only its name matters")]
            name: Option<String>,
        }
        for (body, is_known) in [
            (r#"{"name": "n", "include": "id", "exclude": "name"}"#, true),
            (r#"{"nmae": "n"}"#, false),
        ] {
            let request = Request::post("/?exclude=id")
                .extension(RequestBody::new(&Bodies::new(BodyLimits::default())))
                .body(Body::from(body))
                .unwrap();
            let read = Params::<Strict>::from_request(request, &()).await;
            assert_eq!(read.is_ok(), is_known, "{body}");
        }
    }

    #[tokio::test]
    async fn what_is_missing_has_no_path_to_be_named_by() {
        #[derive(Debug, Deserialize)]
        struct Strict {
            #[expect(dead_code, reason = "only whether it is there matters")]
            name: String,
        }
        let request = Request::post("/")
            .extension(RequestBody::new(&Bodies::new(BodyLimits::default())))
            .body(Body::empty())
            .unwrap();
        match Params::<Strict>::from_request(request, &()).await {
            Err(ApiError::MalformedBody(reason)) => assert!(reason.contains("`name`"), "{reason}"),
            Ok(_) => panic!("taken without its field"),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn malformed_json_is_told_with_its_position() {
        match read("", "{\"a\": \n }").await {
            Err(ApiError::MalformedBody(reason)) => assert!(reason.contains("line 2"), "{reason}"),
            other => panic!("{other:?}"),
        }
        assert!(matches!(
            read("", "[]").await,
            Err(ApiError::MalformedBody(_))
        ));
    }

    #[test]
    fn any_json_type_will_do() {
        for (given, fits) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/merge-patch+json", true),
            ("text/plain", false),
            ("application/x-www-form-urlencoded", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(given))]);
            assert_eq!(check_media_type(&headers).is_ok(), fits, "{given}");
        }
        assert!(check_media_type(&HeaderMap::new()).is_ok());
    }
}
