//! Plain text as the core schema of YAML 1.2 reads it: `yes`, `on` and dates are text.

use serde_json::Number;

use super::node::Content;

/// The value of text that is written without quotes.
pub(super) fn plain(text: &str) -> Content {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "true" | "True" | "TRUE" => Content::Bool(true),
        "false" | "False" | "FALSE" => Content::Bool(false),
        _ => match number(text) {
            Some(number) => Content::Number(number),
            None => Content::Text(text.to_owned()),
        },
    }
}

/// The value of text with a tag of the core schema; `None` if it is not one of that type.
pub(super) fn tagged(tag: &str, text: &str) -> Option<Content> {
    let content = plain(text);
    match (tag, &content) {
        ("str", _) => Some(Content::Text(text.to_owned())),
        ("null", Content::Null) | ("bool", Content::Bool(_)) => Some(content),
        ("float", Content::Number(number)) => {
            let number = Number::from_f64(number.as_f64()?)?;
            Some(Content::Number(number))
        }
        ("int", Content::Number(number)) if !number.is_f64() => Some(content),
        _ => None,
    }
}

/// A number. `.inf` and `.nan`, which JSON has not, are none.
fn number(text: &str) -> Option<Number> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_digits = digits.chars().all(|digit| digit.is_digit(radix));
            let value = u64::from_str_radix(digits, radix).ok();
            return value.filter(|_| is_digits).map(Number::from);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if is_digits(unsigned) {
        let exact = text.parse::<i64>().ok().map(Number::from);
        let exact = exact.or_else(|| text.parse::<u64>().ok().map(Number::from));
        return exact.or_else(|| Number::from_f64(text.parse().ok()?));
    }
    match is_float(unsigned) {
        true => Number::from_f64(text.parse().ok()?),
        false => None,
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `1.5`, `.5`, `1.`, `1e5`.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let is_exponent = |text: &str| is_digits(text.strip_prefix(['+', '-']).unwrap_or(text));
    let is_mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => is_digits(fraction),
        Some((whole, fraction)) => is_digits(whole) && (fraction.is_empty() || is_digits(fraction)),
        None => is_digits(mantissa),
    };
    is_mantissa && exponent.is_none_or(is_exponent)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn json(content: &Content) -> serde_json::Value {
        match content {
            Content::Null => json!(null),
            Content::Bool(value) => json!(value),
            Content::Number(value) => json!(value),
            Content::Text(value) => json!(value),
            Content::List(_) | Content::Map(_) => unreachable!("plain text is a scalar"),
        }
    }

    #[test]
    fn plain_text_is_read_by_the_core_schema() {
        for (text, value) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("null", json!(null)),
            ("True", json!(true)),
            ("tRUE", json!("tRUE")),
            ("yes", json!("yes")),
            ("on", json!("on")),
            ("0", json!(0)),
            ("-12", json!(-12)),
            ("+12", json!(12)),
            ("007", json!(7)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("0x-1", json!("0x-1")),
            ("0x+1", json!("0x+1")),
            ("1.5", json!(1.5)),
            (".5", json!(0.5)),
            ("1.", json!(1.0)),
            ("-1e3", json!(-1000.0)),
            ("1e", json!("1e")),
            ("1_000", json!("1_000")),
            ("1.2.3", json!("1.2.3")),
            (".", json!(".")),
            (".inf", json!(".inf")),
            (".nan", json!(".nan")),
            ("infinity", json!("infinity")),
            ("1e999", json!("1e999")),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
            ("2024-01-01", json!("2024-01-01")),
            ("{{a}}", json!("{{a}}")),
        ] {
            assert_eq!(super::tests::json(&plain(text)), value, "{text}");
        }
    }

    #[test]
    fn a_tag_says_the_type() {
        assert_eq!(tagged("str", "5"), Some(Content::Text("5".to_owned())));
        assert_eq!(tagged("int", "5"), Some(Content::Number(5.into())));
        assert_eq!(
            tagged("float", "5").map(|content| json(&content)),
            Some(json!(5.0))
        );
        assert_eq!(tagged("int", "5.5"), None);
        assert_eq!(tagged("bool", "no"), None);
        assert_eq!(tagged("binary", "aGk="), None);
    }
}
