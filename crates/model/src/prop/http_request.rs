//! The value of an `http_request` prop: whether it is a request.
//!
//! Taken are the shape in which such values are exchanged elsewhere (fields as lists of `{name,
//! value}`, `body` and `auth` with a `type`) and the short one that people write (objects, `data`). Not
//! responsible for sending the request.

use serde_json::{Map, Value};

use super::json_kind::kind_of;
use crate::error::Invalid;

/// Checks a request. Without a `url` it is none, unless a default has one.
///
/// # Errors
/// The wrong field of it.
pub(super) fn check(value: &Value, default: Option<&Value>) -> Result<(), Invalid> {
    let request = object("", value)?;
    let default_url = default.and_then(|default| default.get("url"));
    let url = request.get("url").filter(|url| !url.is_null());
    match url.or(default_url) {
        Some(url) => check_url(url)?,
        None => return Err(Invalid::new("url", "is required")),
    }
    for (name, value) in request.iter().filter(|(_, value)| !value.is_null()) {
        match name.as_str() {
            "method" => check_method(value)?,
            "headers" | "params" => check_fields(name, value)?,
            "auth" => check_auth(value).map_err(|invalid| invalid.within("auth"))?,
            "body" => check_body(value).map_err(|invalid| invalid.within("body"))?,
            _ => {}
        }
    }
    Ok(())
}

fn check_url(url: &Value) -> Result<(), Invalid> {
    let text = text("url", url)?;
    let scheme = text.split_once("://").map(|(scheme, _)| scheme);
    match scheme.map(str::to_ascii_lowercase).as_deref() {
        Some("http" | "https") => Ok(()),
        _ => Err(Invalid::new(
            "url",
            format!("`{text}` must begin with http:// or https://"),
        )),
    }
}

fn check_method(method: &Value) -> Result<(), Invalid> {
    let text = text("method", method)?;
    let is_method = !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphabetic());
    match is_method {
        true => Ok(()),
        false => Err(Invalid::new(
            "method",
            format!("`{text}` is not an HTTP method; use for example `GET` or `POST`"),
        )),
    }
}

fn check_fields(name: &str, value: &Value) -> Result<(), Invalid> {
    match value {
        Value::Object(fields) => fields.iter().try_for_each(|(field, value)| {
            check_field_value(value).map_err(|invalid| invalid.within(field).within(name))
        }),
        Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
            check_field(item).map_err(|invalid| invalid.within(&format!("{name}[{index}]")))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(Invalid::new(
            name,
            format!(
                "expected a list of {{name, value}} or an object, got {}",
                kind_of(value)
            ),
        )),
    }
}

fn check_field(item: &Value) -> Result<(), Invalid> {
    let field = object("", item)?;
    text("name", field.get("name").unwrap_or(&Value::Null))?;
    check_field_value(field.get("value").unwrap_or(&Value::Null))
        .map_err(|invalid| invalid.within("value"))
}

fn check_field_value(value: &Value) -> Result<(), Invalid> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        Value::Array(_) | Value::Object(_) => Err(Invalid::new(
            "",
            format!("expected text, got {}", kind_of(value)),
        )),
    }
}

fn check_auth(value: &Value) -> Result<(), Invalid> {
    let auth = object("", value)?;
    let kind = auth.get("type").filter(|kind| !kind.is_null());
    let kind = kind.map(|kind| text("type", kind)).transpose()?;
    let needed: &[&str] = match kind {
        None | Some("none") => &[],
        Some("basic") => &["username"],
        Some("bearer") => &["token"],
        Some(other) => {
            return Err(Invalid::new(
                "type",
                format!("`{other}` is unknown; use `none`, `basic` or `bearer`"),
            ));
        }
    };
    for name in needed {
        text(name, auth.get(*name).unwrap_or(&Value::Null))?;
    }
    Ok(())
}

fn check_body(value: &Value) -> Result<(), Invalid> {
    let Value::Object(body) = value else {
        return Ok(());
    };
    match body.get("type").and_then(Value::as_str) {
        Some("fields") => match body.get("fields") {
            Some(fields) if !fields.is_null() => check_fields("fields", fields),
            _ => Ok(()),
        },
        Some("raw") => match body.get("raw") {
            Some(raw) if !raw.is_null() => text("raw", raw).map(drop),
            _ => Ok(()),
        },
        // An object that says no more is the JSON to be sent.
        _ => Ok(()),
    }
}

fn object<'a>(field: &str, value: &'a Value) -> Result<&'a Map<String, Value>, Invalid> {
    value
        .as_object()
        .ok_or_else(|| Invalid::new(field, format!("expected an object, got {}", kind_of(value))))
}

fn text<'a>(field: &str, value: &'a Value) -> Result<&'a str, Invalid> {
    let reason = || match value.is_null() {
        true => "is required".to_owned(),
        false => format!("expected a string, got {}", kind_of(value)),
    };
    value.as_str().ok_or_else(|| Invalid::new(field, reason()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_taken_in_both_shapes() {
        for request in [
            json!({"url": "https://a.example"}),
            json!({
                "method": "post", "url": "HTTP://a.example/?q=1",
                "headers": [{"name": "x-a", "value": "1"}, {"name": "off", "value": null, "disabled": true}],
                "params": {"page": 2, "all": true},
                "auth": {"type": "basic", "username": "me", "password": "p"},
                "body": {"type": "fields", "contentType": "application/json", "fields": [{"name": "a", "value": "b"}]},
                "tab": "body",
            }),
            json!({"url": "https://a.example", "method": null, "body": {"any": ["thing"]}, "data": [1]}),
        ] {
            check(&request, None).unwrap();
        }
        let default = json!({"method": "GET", "url": "https://a.example"});
        check(&json!({}), Some(&default)).unwrap();
    }

    #[test]
    fn what_is_wrong_is_named() {
        let url = "https://a.example";
        for (request, field) in [
            (json!("https://a.example"), ""),
            (json!({}), "url"),
            (json!({"url": "a.example"}), "url"),
            (json!({"url": 7}), "url"),
            (json!({"url": url, "method": "GET it"}), "method"),
            (json!({"url": url, "headers": "x: 1"}), "headers"),
            (json!({"url": url, "headers": {"x": {}}}), "headers.x"),
            (
                json!({"url": url, "params": [{"name": "a", "value": "1"}, {"value": "2"}]}),
                "params[1].name",
            ),
            (
                json!({"url": url, "params": [{"name": "a", "value": []}]}),
                "params[0].value",
            ),
            (json!({"url": url, "auth": {"type": "digest"}}), "auth.type"),
            (
                json!({"url": url, "auth": {"type": "bearer"}}),
                "auth.token",
            ),
            (
                json!({"url": url, "body": {"type": "fields", "fields": [1]}}),
                "body.fields[0]",
            ),
            (
                json!({"url": url, "body": {"type": "raw", "raw": 1}}),
                "body.raw",
            ),
        ] {
            let invalid = check(&request, None).expect_err(&request.to_string());
            assert_eq!(invalid.field, field, "{request}");
        }
    }
}
