//! Links of documents lead somewhere: to a file of the repository, and to a heading in it where they name one.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::Path,
};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{
    tracked::TrackedFile,
    violation::{Rule, Violation},
};

pub(super) fn check(root: &Path, files: &[TrackedFile]) -> Vec<Violation> {
    let documents: Vec<_> = files
        .iter()
        .filter(|file| file.path.ends_with(".md"))
        .collect();
    let headings: BTreeMap<&str, BTreeSet<String>> = documents
        .iter()
        .map(|file| (file.path.as_str(), headings(&file.text)))
        .collect();
    let mut found = Vec::new();
    for file in documents {
        for (line, link) in links(&file.text) {
            let wrong = wrong(root, &file.path, &link, &headings);
            found.extend(wrong.map(|text| Violation {
                rule: Rule::Link,
                path: file.path.clone(),
                line,
                text,
            }));
        }
    }
    found
}

/// The fault of a link, if it has one. Those to other sites are not looked at.
fn wrong(
    root: &Path,
    from: &str,
    link: &str,
    headings: &BTreeMap<&str, BTreeSet<String>>,
) -> Option<String> {
    if link.contains(':') || link.is_empty() {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let path = match file {
        "" => from.to_owned(),
        file => resolved(from, file),
    };
    if !root.join(&path).exists() {
        return Some(format!(
            "the link `{link}` leads to no file of the repository; name one"
        ));
    }
    let known = headings.get(path.as_str())?;
    let is_heading = anchor.is_empty() || known.contains(anchor);
    (!is_heading).then(|| {
        format!(
            "the link `{link}` names no heading of {path}; take the heading's words with hyphens"
        )
    })
}

/// The path that a link means, seen from its file.
fn resolved(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The links and images, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter();
    let of = |(event, range): (Event<'_>, std::ops::Range<usize>)| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            let line = text[..range.start].matches('\n').count() + 1;
            Some((line, dest_url.into_string()))
        }
        _ => None,
    };
    events.filter_map(of).collect()
}

/// The ids that hosts of repositories give to headings.
fn headings(text: &str) -> BTreeSet<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut ids = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let id = id(&heading.take().unwrap_or_default());
                let count = counts.entry(id.clone()).or_default();
                ids.insert(match *count {
                    0 => id,
                    many => format!("{id}-{many}"),
                });
                *count += 1;
            }
            _ => {}
        }
    }
    ids
}

fn id(heading: &str) -> String {
    let is_kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    let letters = heading.chars().filter(is_kept).flat_map(char::to_lowercase);
    letters
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::{scratch::Scratch, tracked};

    #[test]
    fn links_to_nothing_are_found_with_their_line() {
        let folder = Scratch::new();
        let text = "\
[file](guide/other.md) [heading](guide/other.md#a-b-c) [own](#top) [second](guide/other.md#again-1)
[folder](guide/) [site](https://a.example/x#y) ![picture](p.png)

[none](guide/none.md) [no heading](guide/other.md#x) [not here](#nowhere)

# Top
`[code](nowhere.md)`
";
        folder.write("docs/a.md", text);
        folder.write("docs/p.png", "");
        let other =
            "# Other\n\n## A `b`, c\n\n## Again\n## Again\n[up](../a.md) [out](../../none.md)";
        folder.write("docs/guide/other.md", other);
        let files = tracked::read(folder.path()).unwrap();
        let found: Vec<_> = check(folder.path(), &files)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found.len(), 4, "{found:?}");
        let in_a = found
            .iter()
            .filter(|line| line.starts_with("docs/a.md:4: "));
        assert_eq!(in_a.count(), 3, "{found:?}");
        assert!(found[3].starts_with("docs/guide/other.md:7: "), "{found:?}");
    }
}
