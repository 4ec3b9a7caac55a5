//! Descriptions of components and props, which are Markdown that strangers wrote.
//!
//! Responsible for paragraphs, lists, quotes, code, emphasis and links to the web. Everything else is text: HTML as it
//! was written, images their description, headings and tables their words. Nothing of it reaches a page as markup.

use std::iter::Peekable;

use maud::{Markup, html};
use pulldown_cmark::{Event, Parser, Tag};

use super::text::visible;

/// Bytes that are read; a longer text is cut.
const BYTES_MAX: usize = 16 * 1_024;
/// Levels of lists, quotes and emphasis; what is deeper is not set apart.
const LEVELS_MAX: usize = 12;

/// The text as a part of a page.
pub(crate) fn markdown(text: &str) -> Markup {
    let (shown, is_cut) = cut(text);
    let mut events = Parser::new(shown).peekable();
    html! {
        div.markdown {
            (inside(&mut events, 0))
            @if is_cut { p.note { "The rest of the text is not shown: it is very long." } }
        }
    }
}

/// The words of a text, without any markup, for a line.
pub(crate) fn words(text: &str) -> String {
    let (shown, _) = cut(text);
    let mut words = String::new();
    for event in Parser::new(shown) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                words.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak | Event::End(_) | Event::Rule => words.push(' '),
            Event::Start(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => {}
        }
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The beginning that is read.
fn cut(text: &str) -> (&str, bool) {
    let mut end = text.len().min(BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (&text[..end], end < text.len())
}

type Events<'a> = Peekable<Parser<'a>>;

/// All up to the end of the part that was entered.
fn inside(events: &mut Events<'_>, level: usize) -> Markup {
    let mut parts = Vec::new();
    // Parts that are too deep to be set apart, and have not ended.
    let mut flat = 0_usize;
    while let Some(event) = events.next() {
        match event {
            Event::Start(tag) if level < LEVELS_MAX => parts.push(part(&tag, events, level + 1)),
            Event::Start(_) => flat += 1,
            Event::End(_) if flat > 0 => {
                flat -= 1;
                parts.push(html! { " " });
            }
            Event::End(_) => break,
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => parts.push(html! { (visible(&text)) }),
            Event::Code(text) => parts.push(html! { code { (visible(&text)) } }),
            Event::SoftBreak => parts.push(html! { " " }),
            Event::HardBreak => parts.push(html! { br; }),
            Event::Rule => parts.push(html! { hr; }),
            Event::TaskListMarker(_) => {}
        }
    }
    html! { @for part in &parts { (part) } }
}

fn part(tag: &Tag<'_>, events: &mut Events<'_>, level: usize) -> Markup {
    let inner = inside(events, level);
    match tag {
        Tag::Paragraph => html! { p { (inner) } },
        // The page has its own headings.
        Tag::Heading { .. } => html! { p { strong { (inner) } } },
        Tag::HtmlBlock => html! { p { (inner) } },
        Tag::BlockQuote(_) => html! { blockquote { (inner) } },
        Tag::CodeBlock(_) => html! { pre { code { (inner) } } },
        Tag::List(None) => html! { ul { (inner) } },
        Tag::List(Some(first)) => html! { ol start=(first) { (inner) } },
        Tag::Item => html! { li { (inner) } },
        Tag::Emphasis => html! { em { (inner) } },
        Tag::Strong => html! { strong { (inner) } },
        Tag::Link { dest_url, .. } => match is_for_people(dest_url) {
            true => html! { a href=(dest_url) rel="noopener noreferrer nofollow" { (inner) } },
            false => inner,
        },
        // An image would be loaded from elsewhere; its description stays.
        Tag::Image { .. }
        | Tag::FootnoteDefinition(_)
        | Tag::DefinitionList
        | Tag::DefinitionListTitle
        | Tag::DefinitionListDefinition
        | Tag::Table(_)
        | Tag::TableHead
        | Tag::TableRow
        | Tag::TableCell
        | Tag::Strikethrough
        | Tag::Superscript
        | Tag::Subscript
        | Tag::MetadataBlock(_) => inner,
    }
}

/// Whether a link leads to the web or to a mailbox. Browsers skip blanks and control characters in schemes, so that none
/// may be anywhere.
fn is_for_people(url: &str) -> bool {
    let is_plain = !url
        .chars()
        .any(|char| char.is_control() || char.is_whitespace());
    let scheme = url
        .split_once(':')
        .map(|(scheme, _)| scheme.to_ascii_lowercase());
    is_plain && matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let html = markdown(text).into_string();
        let inner = html.strip_prefix("<div class=\"markdown\">").unwrap();
        inner.strip_suffix("</div>").unwrap().to_owned()
    }

    #[test]
    fn descriptions_are_set_as_they_are_meant() {
        for (text, expected) in [
            ("plain", "<p>plain</p>"),
            ("two\nlines", "<p>two lines</p>"),
            ("one\n\ntwo", "<p>one</p><p>two</p>"),
            (
                "*em* and **strong** and `code`",
                "<p><em>em</em> and <strong>strong</strong> and <code>code</code></p>",
            ),
            ("- a\n- b", "<ul><li>a</li><li>b</li></ul>"),
            ("3. a", "<ol start=\"3\"><li>a</li></ol>"),
            ("> said", "<blockquote><p>said</p></blockquote>"),
            ("```js\nlet a;\n```", "<pre><code>let a;\n</code></pre>"),
            ("# Title", "<p><strong>Title</strong></p>"),
            (
                "[docs](https://a.example/x?y=1)",
                "<p><a href=\"https://a.example/x?y=1\" rel=\"noopener noreferrer nofollow\">docs</a></p>",
            ),
            (
                "<https://a.example>",
                "<p><a href=\"https://a.example\" rel=\"noopener noreferrer nofollow\">https://a.example</a></p>",
            ),
            ("![a map](https://a.example/m.png)", "<p>a map</p>"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn no_text_becomes_markup() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div onclick=\"x()\">block</div>\n",
            "<!-- comment -->",
            "<![CDATA[x]]>",
            "</main></body>",
            "<style>*{display:none}</style>",
            "`</code><script>`",
            "```\n</pre><script>\n```",
            "&lt;script&gt;alert(1)&lt;/script&gt;",
            "[<b>x</b>](https://a.example/\"onmouseover=\"x)",
            "![\"><script>](x)",
            "[a]: https://a.example/\"><script> \"t\"\n[a]",
            "<a href=\"javascript:alert(1)\">x</a>",
            "<svg/onload=alert(1)>",
        ] {
            let html = shown(text);
            // All that begins a tag was written here, with nothing in it but what belongs to links.
            for tag in html.split('<').skip(1) {
                let (tag, _) = tag.split_once('>').unwrap();
                let name = tag.trim_start_matches('/');
                let is_plain = [
                    "p",
                    "code",
                    "pre",
                    "a",
                    "strong",
                    "em",
                    "br",
                    "li",
                    "ul",
                    "blockquote",
                ]
                .contains(&name);
                let is_link = name.starts_with("a href=\"")
                    && name.ends_with("\" rel=\"noopener noreferrer nofollow\"")
                    && name.matches('"').count() == 4;
                assert!(is_plain || is_link, "{text:?}: {html}");
            }
        }
    }

    #[test]
    fn links_lead_to_the_web_only() {
        for url in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "&#106;avascript:alert(1)",
            "java&#10;script:alert(1)",
            "java&Tab;script:alert(1)",
            "&#1;javascript:alert(1)",
            "data:text/html,<script>alert(1)</script>",
            "vbscript:x",
            "file:///etc/passwd",
            "/sources/delete",
            "//other.example",
            "relative",
            "#part",
            "",
        ] {
            let html = shown(&format!("[text]({url})"));
            assert!(!html.contains("<a"), "{url}: {html}");
        }
        assert!(shown("[m](mailto:a@b.example)").contains("<a href=\"mailto:a@b.example\""));
    }

    #[test]
    fn deep_and_long_texts_are_bounded() {
        for text in [
            ">".repeat(20_000),
            "- ".repeat(20_000),
            "*a **b ".repeat(5_000),
            "[".repeat(20_000),
            "<".repeat(20_000),
            "`".repeat(20_000),
            "![".repeat(20_000),
        ] {
            let html = shown(&text);
            assert!(html.len() < 300_000, "{}", html.len());
            assert!(html.contains("not shown"), "{}", &text[..10]);
        }
        // Cut between characters.
        assert!(shown(&"é".repeat(BYTES_MAX)).contains("not shown"));
    }

    #[test]
    fn nothing_is_hidden_in_a_description() {
        assert_eq!(shown("a\u{202e}b"), "<p>a\\u{202e}b</p>");
    }

    #[test]
    fn words_have_no_markup() {
        let text = "# Emits **new** [rows](https://a.example)\n\n- of a table\n- <b>once</b>";
        assert_eq!(words(text), "Emits new rows of a table <b>once</b>");
    }
}
