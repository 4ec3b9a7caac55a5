//! Marks in text: `***NAME:…***` in place of a variable's value or of an account's secret.
//!
//! The platform alone writes them. Whoever has seen one could have a workflow that echoes its input tell the value, so that a
//! mark from elsewhere is taken apart before anything keeps it.

use crate::signing_key::MARK_CHARS;

/// The beginning and the end of a mark.
pub(super) const FENCE: &str = "***";

/// The text with `(NAME)` in place of each mark, whoever's it is; `None` if it has none.
pub(super) fn unmarked(text: &str) -> Option<String> {
    let mut plain = String::new();
    let (mut copied, mut from) = (0, 0);
    while let Some(at) = text[from..].find(FENCE) {
        let start = from + at;
        let inner = start + FENCE.len();
        let end = text[inner..].find(FENCE).map(|at| inner + at);
        let name = end.and_then(|end| Some((name_in_mark(&text[inner..end])?, end)));
        let Some((name, end)) = name else {
            from = start + 1;
            continue;
        };
        plain += &text[copied..start];
        // Without fences, which could be halves of other marks.
        plain += &format!("({name})");
        copied = end + FENCE.len();
        from = copied;
    }
    (copied > 0).then(|| plain + &text[copied..])
}

/// The name in a mark, given without its fences.
fn name_in_mark(inner: &str) -> Option<&str> {
    let (name, signed) = inner.rsplit_once(':')?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':');
    let is_signed = signed.len() == MARK_CHARS && signed.chars().all(|c| c.is_ascii_hexdigit());
    (is_signed && !name.is_empty() && name.chars().all(is_plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_apart_and_other_text_stays() {
        let signed = "0123456789abcdef";
        let account = format!("***api_key:apn_1aB:{signed}***");
        for (text, plain) in [
            (format!("a ***KEY:{signed}*** b"), Some("a (KEY) b")),
            (account, Some("(api_key:apn_1aB)")),
            (
                format!("***A:{signed}****B:{signed}***"),
                Some(&*format!("(A)*B:{signed}***")),
            ),
            (format!("****A:{signed}****"), Some("*(A)*")),
            (format!("***A:***B:{signed}***"), Some("***A:(B)")),
            (format!("é***A:{signed}***é"), Some("é(A)é")),
            (format!("***A:{signed}"), None),
            (format!("***:{signed}***"), None),
            (format!("***a b:{signed}***"), None),
            ("***A:0123***, ***bold*** and *".to_owned(), None),
        ] {
            let found = unmarked(&text);
            assert_eq!(found.as_deref(), plain, "{text}");
            assert!(
                found.is_none_or(|found| unmarked(&found).is_none()),
                "{text}"
            );
        }
    }
}
