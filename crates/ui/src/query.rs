//! The state of pages, which is in their addresses: pages of lists, filters, and addresses with one part changed.

use std::str::FromStr;

use headwater_model::{
    error::Invalid,
    page::{PageRequest, Position},
};
use headwater_platform::PlatformError;
use url::form_urlencoded::{self, Serializer};

pub(crate) use headwater_model::moment::{EXPECTED as TIME, since, until};

use crate::{part::text, visit::Visit};

/// Rows of a page.
pub(crate) const ROWS: u32 = 50;

impl Visit {
    /// The page of a list that the address asks for. A cursor that cannot be read counts as none.
    pub(crate) fn page_request<C: FromStr>(&self) -> PageRequest<C> {
        let cursor = |name: &str| self.parameter(name).and_then(|text| text.parse().ok());
        let position = match (cursor("after"), cursor("before")) {
            (Some(after), _) => Position::After(after),
            (None, Some(before)) => Position::Before(before),
            (None, None) => Position::First,
        };
        PageRequest {
            limit: ROWS,
            position,
        }
    }

    /// The address of this page with parameters changed; `None` takes one away. A list begins anew.
    pub(crate) fn with(&self, changes: &[(&str, Option<&str>)]) -> String {
        let (path, query) = self
            .location
            .split_once('?')
            .unwrap_or((&self.location, ""));
        let mut serializer = Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let is_changed = changes.iter().any(|(changed, _)| *changed == name);
            if !is_changed && !matches!(name.as_ref(), "after" | "before") && !value.is_empty() {
                serializer.append_pair(&name, &value);
            }
        }
        for (name, value) in changes {
            if let Some(value) = value {
                serializer.append_pair(name, value);
            }
        }
        match serializer.finish() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }

    /// The address of a list, in the same workspace, with the things of one state.
    pub(crate) fn with_state(&self, path: &str, state: &str) -> String {
        match &self.workspace {
            Some(id) => format!("{path}?workspace={id}&state={state}"),
            None => format!("{path}?state={state}"),
        }
    }

    /// The address of another page, in the same workspace.
    pub(crate) fn to(&self, path: &str) -> String {
        match &self.workspace {
            Some(id) => format!("{path}?workspace={id}"),
            None => path.to_owned(),
        }
    }
}

/// The value of a parameter, unless it is empty.
///
/// # Errors
/// `Invalid` names a parameter that is not as expected.
pub(crate) fn read<T>(
    (name, text): (&str, &str),
    expected: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, PlatformError> {
    if text.is_empty() {
        return Ok(None);
    }
    let invalid = || {
        let shown = text::visible(text);
        let reason = format!("`{name}`: `{shown}` is not {expected}");
        PlatformError::Invalid(Invalid::new(name, reason))
    };
    parse(text).map(Some).ok_or_else(invalid)
}
