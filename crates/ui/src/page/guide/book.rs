//! The chapters of the guide, in their order; `docs/SUMMARY.md` has the same for the site.

/// A chapter.
#[derive(Debug)]
pub(super) struct Chapter {
    /// Its file's name, without `.md`.
    pub(super) name: &'static str,
    /// Markdown.
    pub(super) text: &'static str,
}

impl Chapter {
    /// Its title, which is its first line.
    pub(super) fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.strip_prefix("# ").unwrap_or(first)
    }

    /// Its address.
    pub(super) fn path(&self) -> String {
        format!("/guide/{}", self.name)
    }
}

/// The chapter of that file.
pub(super) fn chapter(name: &str) -> Option<&'static Chapter> {
    all().find(|chapter| chapter.name == name)
}

pub(super) fn all() -> impl Iterator<Item = &'static Chapter> {
    CHAPTERS.iter().flat_map(|(_, chapters)| *chapters)
}

macro_rules! chapters {
    ($($file:literal)*) => {
        &[$(Chapter { name: name_of($file), text: include_str!(concat!("../../../../../docs/", $file, ".md")) }),*]
    };
}

/// All of them, by what they are about.
pub(super) const CHAPTERS: &[(&str, &[Chapter])] = &[
    (
        "Begin",
        chapters!("guide/concepts"
            "guide/web-ui" "guide/deploying" "guide/moving-from-pipedream" "guide/component-index" "guide/compatibility" "guide/assistants"),
    ),
    (
        "Components",
        chapters!("guide/writing-a-component" "guide/developing" "guide/accounts" "guide/apps-not-in-the-catalog"
            "guide/registry"),
    ),
    (
        "Events",
        chapters!("guide/following-events" "guide/webhooks" "guide/runs"),
    ),
    (
        "Workflows",
        chapters!("guide/workflows" "guide/workflow-errors" "guide/workflow-testing"),
    ),
    (
        "Operating",
        chapters!("guide/operating" "guide/tls-and-proxies" "guide/containers" "guide/postgresql" "guide/cluster"
            "guide/users-workspaces-and-keys" "guide/audit" "guide/running-many-sources" "guide/configuration"
            "guide/sandbox-and-limits" "guide/watching-a-node"
            "guide/troubleshooting"),
    ),
    (
        "Reference",
        chapters!("api-design" "performance" "threat-model" "architecture"),
    ),
];

/// The last part of a path.
const fn name_of(path: &'static str) -> &'static str {
    match path.as_bytes() {
        [b'g', b'u', b'i', b'd', b'e', b'/', ..] => path.split_at("guide/".len()).1,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fmt::Write as _, path::Path};

    use super::*;

    fn docs() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
    }

    #[test]
    fn the_summary_of_the_site_lists_the_same_chapters() {
        let mut summary = String::from("# Headwater\n");
        for (group, chapters) in CHAPTERS {
            let _ = write!(summary, "\n# {group}\n\n");
            for chapter in *chapters {
                let file = format!("guide/{}.md", chapter.name);
                let is_guide = docs().join(&file).is_file();
                let file = if is_guide {
                    file
                } else {
                    format!("{}.md", chapter.name)
                };
                let _ = writeln!(summary, "- [{}]({file})", chapter.title());
            }
        }
        let written = std::fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
        assert_eq!(written, summary);
    }

    #[test]
    fn every_page_of_the_guide_is_a_chapter() {
        let listed: BTreeSet<_> = all()
            .map(|chapter| format!("{}.md", chapter.name))
            .collect();
        for entry in std::fs::read_dir(docs().join("guide")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(
                listed.contains(&name),
                "{name} is not in the list of chapters"
            );
        }
    }
}
