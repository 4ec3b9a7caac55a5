//! `limit`, `after` and `before` (docs/api-design.md, "Pages"), and the cursors they take.

use std::{fmt, str::FromStr};

use axum::{extract::FromRequestParts, http::request::Parts};
use base64::{
    Engine as _,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use headwater_model::{
    limits::{PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX},
    page::{PageRequest, Position},
};
use headwater_platform::PlatformError;
use url::form_urlencoded;

use crate::error::ApiError;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The cursor of an item: opaque to clients, which may also give the bare id.
pub(crate) fn cursor(id: &impl fmt::Display) -> String {
    BASE64.encode(id.to_string())
}

/// A page of a listing whose items have ids of type `C`.
pub(crate) struct Paging<C>(pub(crate) PageRequest<C>);

impl<S: Send + Sync, C: FromStr + Send> FromRequestParts<S> for Paging<C> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(Self(page_request(parts.uri.query().unwrap_or_default())?))
    }
}

fn page_request<C: FromStr>(query: &str) -> Result<PageRequest<C>, PlatformError> {
    let mut page = PageRequest::first(PAGE_LIMIT_DEFAULT);
    let (mut after, mut before) = (None, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match name.as_ref() {
            "limit" => page.limit = limit(&value)?,
            "after" => after = Some(id("after", &value)?),
            "before" => before = Some(id("before", &value)?),
            _ => {}
        }
    }
    page.position = match (after, before) {
        (None, None) => Position::First,
        (Some(id), None) => Position::After(id),
        (None, Some(id)) => Position::Before(id),
        (Some(_), Some(_)) => {
            return Err(PlatformError::invalid(
                "before",
                "give `after` or `before`, not both",
            ));
        }
    };
    Ok(page)
}

fn limit(text: &str) -> Result<u32, PlatformError> {
    let wrong = || {
        PlatformError::invalid(
            "limit",
            format!("`limit` must be an integer from 1 to {PAGE_LIMIT_MAX}"),
        )
    };
    let limit = text.parse().map_err(|_| wrong())?;
    (1..=PAGE_LIMIT_MAX)
        .contains(&limit)
        .then_some(limit)
        .ok_or_else(wrong)
}

fn id<C: FromStr>(param: &str, text: &str) -> Result<C, PlatformError> {
    let decoded = || {
        let bytes = BASE64.decode(text).ok()?;
        std::str::from_utf8(&bytes).ok()?.parse().ok()
    };
    let id = text.parse().ok().or_else(decoded);
    id.ok_or_else(|| {
        PlatformError::invalid(param, format!("`{text}` is not a cursor of this listing"))
    })
}

#[cfg(test)]
mod tests {
    use headwater_model::{
        id::{EventId, SourceId},
        time::EpochMs,
    };

    use super::*;

    #[test]
    fn a_cursor_is_the_id_in_base64_or_bare() {
        let wanted = EventId {
            ms: EpochMs(17),
            sequence: 3,
        };
        assert_eq!(cursor(&wanted), "MTctMw");
        for text in ["MTctMw", "MTctMw==", "MTctMw%3D%3D", "17-3"] {
            let page = page_request::<EventId>(&format!("after={text}")).unwrap();
            assert_eq!(page.position, Position::After(wanted), "{text}");
        }
        let source = SourceId::new(EpochMs(1), 2);
        let page =
            page_request::<SourceId>(&format!("limit=3&before={}", cursor(&source))).unwrap();
        assert_eq!(
            page,
            PageRequest {
                limit: 3,
                position: Position::Before(source)
            }
        );
    }

    #[test]
    fn without_parameters_it_is_the_first_page() {
        assert_eq!(
            page_request::<EventId>("x=1").unwrap(),
            PageRequest::first(10)
        );
    }

    #[test]
    fn wrong_limits_and_cursors_are_named() {
        for (query, param) in [
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("limit=-1", "limit"),
            ("limit=ten", "limit"),
            ("limit=", "limit"),
            ("limit=1.5", "limit"),
            ("after=", "after"),
            ("after=nonsense", "after"),
            ("before=ZGNfeA", "before"),
            ("after=17-3&before=17-3", "before"),
        ] {
            match page_request::<EventId>(query) {
                Err(PlatformError::Invalid(invalid)) => assert_eq!(invalid.field, param, "{query}"),
                other => panic!("{query}: {other:?}"),
            }
        }
    }
}
