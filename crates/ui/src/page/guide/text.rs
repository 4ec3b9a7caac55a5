//! The guide's Markdown as parts of a page: headings that can be linked to, tables, code, and links between chapters.

use std::collections::HashMap;

use maud::{Markup, html};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::book;

/// A chapter without its title, which the page has.
pub(super) fn shown(text: &str) -> Markup {
    Writer::default().inside(&mut parser(text))
}

pub(super) fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES)
}

/// The words up to the end of a heading.
pub(super) fn words<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> String {
    let events = events.take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    events.filter_map(word).map(CowStr::into_string).collect()
}

/// The words of a part that has some, or the blank between others.
pub(super) fn word(event: Event<'_>) -> Option<CowStr<'_>> {
    match event {
        Event::Text(text) | Event::Code(text) => Some(text),
        Event::SoftBreak
        | Event::HardBreak
        | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => Some(" ".into()),
        Event::Start(_)
        | Event::End(_)
        | Event::InlineMath(_)
        | Event::DisplayMath(_)
        | Event::Html(_)
        | Event::InlineHtml(_)
        | Event::FootnoteReference(_)
        | Event::Rule
        | Event::TaskListMarker(_) => None,
    }
}

/// The ids of headings, as links from elsewhere name them: words in lower case with hyphens between. The second of the
/// same name ends with `-1`.
#[derive(Default)]
pub(super) struct Anchors {
    given: HashMap<String, usize>,
}

impl Anchors {
    pub(super) fn of(&mut self, heading: &str) -> String {
        let kept = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
        let id: String = heading
            .chars()
            .filter(|letter| kept(*letter))
            .flat_map(char::to_lowercase)
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let count = self.given.entry(id.clone()).or_default();
        *count += 1;
        match *count {
            1 => id,
            many => format!("{id}-{}", many - 1),
        }
    }
}

/// The parts of a chapter as they are written down.
#[derive(Default)]
struct Writer {
    anchors: Anchors,
    /// Whether the cells are those that name columns.
    is_head: bool,
}

impl Writer {
    /// All up to the end of the part that was entered.
    fn inside(&mut self, events: &mut Parser<'_>) -> Markup {
        let mut parts = Vec::new();
        while let Some(event) = events.next() {
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    parts.push(self.heading(level, &words(events)));
                }
                Event::Start(tag) => parts.push(self.part(&tag, events)),
                Event::End(_) => break,
                Event::Text(text) | Event::InlineHtml(text) => parts.push(html! { (&*text) }),
                Event::Code(text) => parts.push(html! { code { (&*text) } }),
                Event::SoftBreak => parts.push(html! { " " }),
                Event::HardBreak => parts.push(html! { br; }),
                Event::Rule => parts.push(html! { hr; }),
                // A comment for those who edit the page.
                Event::Html(_)
                | Event::InlineMath(_)
                | Event::DisplayMath(_)
                | Event::FootnoteReference(_)
                | Event::TaskListMarker(_) => {}
            }
        }
        html! { @for part in &parts { (part) } }
    }

    fn heading(&mut self, level: HeadingLevel, text: &str) -> Markup {
        let id = self.anchors.of(text);
        match level {
            // The page has its title already.
            HeadingLevel::H1 => html! {},
            HeadingLevel::H2 => html! { h2 id=(id) { (text) } },
            HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => {
                html! { h3 id=(id) { (text) } }
            }
        }
    }

    fn part(&mut self, tag: &Tag<'_>, events: &mut Parser<'_>) -> Markup {
        self.is_head |= matches!(tag, Tag::TableHead);
        let inner = self.inside(events);
        if matches!(tag, Tag::TableHead) {
            self.is_head = false;
        }
        match tag {
            Tag::Paragraph => html! { p { (inner) } },
            Tag::BlockQuote(_) => html! { blockquote { (inner) } },
            Tag::CodeBlock(_) => html! { pre tabindex="0" { code { (inner) } } },
            Tag::List(None) => html! { ul { (inner) } },
            Tag::List(Some(first)) => html! { ol start=(first) { (inner) } },
            Tag::Item => html! { li { (inner) } },
            Tag::Emphasis => html! { em { (inner) } },
            Tag::Strong => html! { strong { (inner) } },
            Tag::Table(_) => html! { div.scroll tabindex="0" { table { (inner) } } },
            Tag::TableHead => html! { thead { tr { (inner) } } },
            Tag::TableRow => html! { tr { (inner) } },
            Tag::TableCell if self.is_head => html! { th scope="col" { (inner) } },
            Tag::TableCell => html! { td { (inner) } },
            Tag::Link { dest_url, .. } => match address(dest_url) {
                Some(address) => html! { a href=(address) { (inner) } },
                None => inner,
            },
            Tag::Heading { .. }
            | Tag::HtmlBlock
            | Tag::Image { .. }
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => inner,
        }
    }
}

/// Where a link of a chapter leads on the node; files that are no chapters are not there.
fn address(link: &str) -> Option<String> {
    if link.starts_with('#') || link.starts_with("https://") {
        return Some(link.to_owned());
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let name = file.rsplit('/').next()?.strip_suffix(".md")?;
    let path = book::chapter(name)?.path();
    match anchor {
        "" => Some(path),
        anchor => Some(format!("{path}#{anchor}")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn chapters_are_set_as_they_are_meant() {
        for (text, expected) in [
            ("# Title\n\n<!-- note -->\n\ntext", "<p>text</p>"),
            ("## A `b` c", "<h2 id=\"a-b-c\">A b c</h2>"),
            ("## A\n## A", "<h2 id=\"a\">A</h2><h2 id=\"a-1\">A</h2>"),
            (
                "| a | b |\n|---|---|\n| 1 | *2* |",
                "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">a</th>\
                 <th scope=\"col\">b</th></tr></thead><tr><td>1</td><td><em>2</em></td></tr></table></div>",
            ),
            (
                "```console\n$ a <b>\n```",
                "<pre tabindex=\"0\"><code>$ a &lt;b&gt;\n</code></pre>",
            ),
            (
                "[w](webhooks.md#requests) [t](../threat-model.md) [e](../../examples/) [h](#here)",
                "<p><a href=\"/guide/webhooks#requests\">w</a> <a href=\"/guide/threat-model\">t</a> e \
                 <a href=\"#here\">h</a></p>",
            ),
        ] {
            assert_eq!(shown(text).into_string(), expected, "{text}");
        }
    }

    #[test]
    fn links_between_chapters_lead_somewhere() {
        let mut anchors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for chapter in book::all() {
            let mut ids = Anchors::default();
            let mut events = parser(chapter.text);
            let own = anchors.entry(chapter.path()).or_default();
            while let Some(event) = events.next() {
                if matches!(event, Event::Start(Tag::Heading { .. })) {
                    own.insert(ids.of(&words(&mut events)));
                }
            }
        }
        for chapter in book::all() {
            for event in parser(chapter.text) {
                let Event::Start(Tag::Link { dest_url, .. }) = event else {
                    continue;
                };
                let Some(address) = address(&dest_url) else {
                    continue;
                };
                let Some((path, anchor)) = address.split_once('#') else {
                    continue;
                };
                let path = if path.is_empty() {
                    chapter.path()
                } else {
                    path.to_owned()
                };
                let known = anchors.get(&path).is_some_and(|ids| ids.contains(anchor));
                assert!(
                    known || address.starts_with("https://"),
                    "{}: {dest_url}",
                    chapter.name
                );
            }
        }
    }
}
