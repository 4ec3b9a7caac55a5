//! URLs with an account's fields in them: `https://{shop_id}.myshopify.com/…`.
//!
//! The filled-in values come from users while the rest is the operator's, and the operator's client
//! secret goes to such URLs: a value must not be able to name another host.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A URL in which names in braces stand for fields.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct UrlTemplate(String);

impl UrlTemplate {
    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the host is the operator's choice alone.
    pub fn has_fixed_host(&self) -> bool {
        placeholders(self.parts().0).next().is_none()
    }

    /// The names in braces.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        placeholders(&self.0)
    }

    /// Whether it can become a URL.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        let rest = ["https://", "http://"]
            .iter()
            .find_map(|scheme| self.0.strip_prefix(scheme));
        let host = self.parts().0;
        match rest {
            None => Err("must be a whole URL that begins with https:// or http://"),
            Some(_) if host.is_empty() || host.starts_with(':') => Err("has no host"),
            Some(_) if host.contains('@') => Err("must not hold credentials"),
            Some(_) if self.0.contains(char::is_whitespace) => Err("must not hold spaces"),
            Some(_) if self.0.contains('#') => Err("must not have a fragment"),
            Some(_) if self.0.matches('{').count() != placeholders(&self.0).count() => {
                Err("has a `{` without a name and `}`")
            }
            Some(_) => Ok(()),
        }
    }

    /// Host with port, and the rest.
    fn parts(&self) -> (&str, &str) {
        let begin = self.0.find("://").map_or(0, |at| at + 3);
        let rest = &self.0[begin..];
        rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()))
    }

    /// The URL with fields filled in. In the host each must be one label or part of it; elsewhere it is escaped.
    ///
    /// # Errors
    /// Names the field that is missing or does not fit.
    pub fn expand(&self, fields: &Map<String, Value>) -> Result<String, String> {
        let (host, rest) = self.parts();
        let scheme = &self.0[..self.0.len() - host.len() - rest.len()];
        let host = fill(host, fields, |name, value| {
            let is_label = value.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            is_label.then(|| value.to_owned()).ok_or_else(|| {
                format!(
                    "`{name}` is part of a host name: letters, digits and `-` only, without dots"
                )
            })
        })?;
        let rest = fill(rest, fields, |_, value| Ok(escaped(value)))?;
        Ok(format!("{scheme}{host}{rest}"))
    }
}

/// Text with fields filled in as they are.
///
/// # Errors
/// Names the field that is missing.
pub fn expand_text(text: &str, fields: &Map<String, Value>) -> Result<String, String> {
    fill(text, fields, |_, value| Ok(value.to_owned()))
}

/// The names in braces.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let opened = text.split('{').skip(1);
    opened.filter_map(|part| part.split_once('}').map(|(name, _)| name))
}

fn fill(
    text: &str,
    fields: &Map<String, Value>,
    shape: impl Fn(&str, &str) -> Result<String, String>,
) -> Result<String, String> {
    let mut parts = text.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let value = match fields.get(name) {
            Some(Value::String(text)) if !text.is_empty() => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => return Err(format!("`{name}` is missing")),
        };
        filled.push_str(&shape(name, &value)?);
        filled.push_str(rest);
    }
    Ok(filled)
}

/// Everything but unreserved characters (RFC 3986) as `%XX`.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}
