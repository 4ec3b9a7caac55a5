//! A place in JSON and the value that it has to have: `user.tags[0]=new`.

use super::value::{self, Step, Wanted};

/// A value at a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PathValue {
    steps: Vec<Step>,
    wanted: Wanted,
}

impl PathValue {
    /// Reads `a.b[0].c=value`. A key with dots or the like is written `["a.b"]`, the whole event `$`, any item `[*]`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (mut rest, mut is_key_due) = match text.strip_prefix('$') {
            Some(behind) if behind.starts_with(['.', '[', '=']) => (behind, false),
            _ => (text, !text.starts_with('[')),
        };
        let mut steps = Vec::new();
        loop {
            if is_key_due {
                let end = rest.find(['.', '[', '=']).unwrap_or(rest.len());
                let key = &rest[..end];
                if key.is_empty() {
                    return Err(format!("`{text}` has an empty key; write it as `[\"\"]`"));
                }
                steps.push(Step::Key(key.to_owned()));
                rest = &rest[end..];
            } else if let Some(within) = rest.strip_prefix('[') {
                let (step, behind) = bracketed(within).ok_or_else(|| {
                    format!("`{text}` has a `[` that is not followed by a number, `*` or a key in quotes, and `]`")
                })?;
                steps.push(step);
                rest = behind;
            }
            if let Some(value) = rest.strip_prefix('=') {
                let wanted = Wanted::new(value);
                return Ok(Self { steps, wanted });
            }
            is_key_due = rest.starts_with('.');
            if is_key_due {
                rest = &rest[1..];
            } else if !rest.starts_with('[') {
                let example = "a path with a value, such as `user.tags[0]=new`";
                return Err(format!("`{text}` is not {example}"));
            }
        }
    }

    /// Whether the JSON text has the value at the place.
    pub(super) fn is_in(&self, text: &str) -> bool {
        value::is_at(text, &self.steps, &self.wanted)
    }
}

/// The step in a text behind `[`, and the text behind `]`.
fn bracketed(within: &str) -> Option<(Step, &str)> {
    if within.starts_with('"') {
        let mut strings = serde_json::Deserializer::from_str(within).into_iter::<String>();
        let key = strings.next()?.ok()?;
        let behind = within[strings.byte_offset()..].strip_prefix(']')?;
        return Some((Step::Key(key), behind));
    }
    let (inner, behind) = within.split_once(']')?;
    let step = match inner {
        "*" => Step::AnyItem,
        number => Step::Item(number.parse().ok()?),
    };
    Some((step, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(path: &str, text: &str) -> bool {
        PathValue::parse(path).unwrap().is_in(text)
    }

    #[test]
    fn a_path_leads_to_a_value() {
        let text = r#"{"a":{"b":[{"c":"x"},{"c":"y=z"}]},"a.b":true,"":null,"$":1,"s":"5","n":5,"f":1.50,"big":1e3}"#;
        for (path, is_there) in [
            ("a.b[0].c=x", true),
            ("$.a.b[0].c=x", true),
            ("a.b[1].c=y=z", true),
            ("a.b[*].c=x", true),
            ("a.b[*].c=q", false),
            ("a.b[2].c=x", false),
            ("a[\"b\"][0][\"c\"]=x", true),
            ("[\"a.b\"]=true", true),
            ("[\"a.b\"]=false", false),
            ("[\"\"]=null", true),
            ("$=1", false),
            ("$[\"$\"]=1", true),
            ("s=5", true),
            ("n=5", true),
            ("s=\"5\"", true),
            ("n=\"5\"", false),
            ("n=5.0", true),
            ("f=1.5", true),
            ("big=1000", true),
            ("a=", false),
            ("a.b=x", false),
            ("missing=null", false),
        ] {
            assert_eq!(is_in(path, text), is_there, "{path}");
        }
        assert!(is_in("$=17", "17") && is_in("$[0]=", r#"[""]"#));
        assert!(!is_in("a=1", "17"));
    }

    #[test]
    fn numbers_are_compared_exactly() {
        let text = r#"{"n":9007199254740993,"m":-1}"#;
        assert!(is_in("n=9007199254740993", text) && is_in("m=-1", text));
        assert!(!is_in("n=9007199254740992", text) && !is_in("m=1", text));
    }

    #[test]
    fn of_equal_keys_any_may_have_the_value() {
        assert!(is_in("a=1", r#"{"a":1,"a":2}"#) && is_in("a=2", r#"{"a":1,"a":2}"#));
    }

    #[test]
    fn a_text_that_is_no_path_with_a_value_is_refused() {
        for text in [
            "", "a", "a.b", "=1", "a..b=1", ".a=1", "a.=1", "a[x]=1", "a[=1", "a[0=1", "a[0]b=1",
            "a[\"b]=1", "$", "$.=1", "a[-1]=1",
        ] {
            assert!(PathValue::parse(text).is_err(), "{text}");
        }
    }
}
