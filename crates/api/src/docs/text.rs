//! Text of the document as HTML: escaped, with the Markdown that doc comments use.

/// Text between tags or quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A line of text, with the parts in backticks as code.
pub(super) fn inline(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        match index % 2 {
            0 => html.push_str(&escape(part)),
            _ => html.push_str(&format!("<code>{}</code>", escape(part))),
        }
    }
    html
}

/// Paragraphs, divided by empty lines.
pub(super) fn prose(text: &str) -> String {
    let paragraphs = text.split("\n\n").filter(|text| !text.trim().is_empty());
    paragraphs
        .map(|text| format!("<p>{}</p>\n", inline(text)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(
            prose("a <b> & `c<d>`\n\n\"e\""),
            "<p>a &lt;b&gt; &amp; <code>c&lt;d&gt;</code></p>\n<p>&quot;e&quot;</p>\n"
        );
    }
}
