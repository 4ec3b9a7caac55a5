//! The index of components in npm packages, which comes with the node: `cargo xtask index` writes it. It says what there
//! was on a day; deploying asks the registry of packages. Actions that the node brings along are in it, too.

use std::{collections::HashSet, sync::LazyLock};

use headwater_engine::{
    build::{StatedComponent, stated_component},
    built_in_actions,
};
use headwater_model::{
    component::ComponentType,
    page::{Page, PageRequest, Position},
};
use headwater_store::ComponentFilter;

/// A line for each package, and under it one for each of its components, with tabs between the fields.
const FILE: &str = include_str!("../components.tsv");

static INDEX: LazyLock<Vec<IndexedComponent>> = LazyLock::new(|| {
    let mut components = built_in();
    let known: HashSet<_> = components.iter().map(|component| component.key).collect();
    // As for steps of workflows, the node's own comes first.
    let packaged = read(FILE).into_iter();
    components.extend(packaged.filter(|component| !known.contains(component.key)));
    components.sort_by_key(|component| component.key);
    components
});

static BUILT_IN: LazyLock<Vec<(&'static str, StatedComponent)>> = LazyLock::new(|| {
    let actions = built_in_actions();
    let stated = actions.filter_map(|(key, code)| Some((key, stated_component(code)?)));
    stated.collect()
});

/// The beginning of the address of an action that the node brings along; its key follows.
pub(crate) const BUILT_IN_SCHEME: &str = "built-in";

/// A component of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexedComponent {
    /// Its globally unique key.
    pub key: &'static str,
    /// Its type.
    pub component_type: ComponentType,
    /// Its own version.
    pub version: &'static str,
    /// For people.
    pub name: &'static str,
    /// For people; empty if it has none.
    pub description: &'static str,
    /// The npm package that has it; empty if the node brings it along, as is the rest then.
    pub package: &'static str,
    /// The version of the package that was looked at.
    pub package_version: &'static str,
    /// The day of that, such as `2026-01-31`.
    pub indexed_on: &'static str,
    /// Its file in the package.
    pub path: &'static str,
}

impl IndexedComponent {
    /// The address that it is saved by, at its newest version.
    pub fn specifier(&self) -> String {
        match self.package {
            "" => format!("{BUILT_IN_SCHEME}:{}", self.key),
            package => format!("npm:{package}/{}", self.path),
        }
    }

    fn is_meant(&self, filter: &ComponentFilter, words: &[String]) -> bool {
        let is_of_app = |app: &String| {
            let rest = self.key.strip_prefix(&**app);
            rest.is_some_and(|rest| rest.starts_with('-'))
        };
        let texts = [self.key, self.name, self.description, self.package];
        let texts = texts.map(str::to_lowercase);
        filter.app.as_ref().is_none_or(is_of_app)
            && filter
                .component_type
                .is_none_or(|wanted| wanted == self.component_type)
            && words
                .iter()
                .all(|word| texts.iter().any(|text| text.contains(word)))
    }
}

/// A page of the components that the filter means, in the order of their keys.
pub(crate) fn search(
    filter: &ComponentFilter,
    page: &PageRequest<String>,
) -> Page<IndexedComponent> {
    let words: Vec<String> = filter
        .words
        .iter()
        .map(|word| word.to_lowercase())
        .collect();
    let found = INDEX.iter().copied();
    let found: Vec<_> = found
        .filter(|component| component.is_meant(filter, &words))
        .collect();
    let limit = page.limit as usize;
    let (from, to) = match &page.position {
        Position::First => (0, limit),
        Position::After(key) => {
            let from = found.partition_point(|component| component.key <= &**key);
            (from, from + limit)
        }
        Position::Before(key) => {
            let to = found.partition_point(|component| component.key < &**key);
            (to.saturating_sub(limit), to)
        }
    };
    let items = found.get(from..to.min(found.len())).unwrap_or_default();
    Page {
        total_count: found.len() as u64,
        items: items.to_vec(),
    }
}

/// The actions that the node brings along.
fn built_in() -> Vec<IndexedComponent> {
    let stated = BUILT_IN.iter().map(|&(key, ref stated)| IndexedComponent {
        key,
        component_type: ComponentType::Action,
        version: &stated.version,
        name: &stated.name,
        description: stated.description.as_deref().unwrap_or_default(),
        package: "",
        package_version: "",
        indexed_on: "",
        path: "",
    });
    stated.collect()
}

/// The components of a file. A line that is none is not shown; a test finds it.
fn read(file: &'static str) -> Vec<IndexedComponent> {
    let mut components = Vec::new();
    let mut of = None;
    for line in file.lines() {
        let fields: Vec<&'static str> = line.split('\t').collect();
        match (&*fields, of) {
            (&[package, version, day], _) => of = Some((package, version, day)),
            (
                &[key, kind, version, path, name, description],
                Some((package, package_version, indexed_on)),
            ) => components.push(IndexedComponent {
                key,
                component_type: match kind {
                    "source" => ComponentType::Source,
                    _ => ComponentType::Action,
                },
                version,
                name,
                description,
                package,
                package_version,
                indexed_on,
                path,
            }),
            _ => {}
        }
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(filter: &ComponentFilter, page: &PageRequest<String>) -> Vec<&'static str> {
        let found = search(filter, page).items;
        found.iter().map(|component| component.key).collect()
    }

    fn filter(words: &[&str]) -> ComponentFilter {
        ComponentFilter {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            ..ComponentFilter::default()
        }
    }

    #[test]
    fn every_line_is_a_package_or_a_component_and_no_key_is_there_twice() {
        let lines = FILE.lines().count();
        let packages = FILE.lines().filter(|line| line.matches('\t').count() == 2);
        assert_eq!(read(FILE).len() + packages.count(), lines);
        for pair in INDEX.windows(2) {
            assert!(pair[0].key < pair[1].key, "{pair:?}");
        }
        for component in INDEX.iter().filter(|it| !it.package.is_empty()) {
            assert!(
                ["sources/", "actions/"]
                    .iter()
                    .any(|at| component.path.starts_with(at))
            );
            let parsed: Result<headwater_model::package::PackageReference, _> =
                component.specifier().parse();
            assert!(parsed.is_ok(), "{component:?}");
        }
    }

    #[test]
    fn every_action_of_the_node_is_in_it() {
        for (key, _) in built_in_actions() {
            let found = INDEX.iter().find(|component| component.key == key);
            let specifier = found.map(IndexedComponent::specifier);
            assert_eq!(specifier, Some(format!("built-in:{key}")));
        }
    }

    #[test]
    fn all_words_occur_in_any_case_and_type_and_app_narrow() {
        let first = PageRequest::first(100);
        let found = keys(&filter(&["GitLab", "issue", "new"]), &first);
        assert!(found.contains(&"gitlab-new-issue"), "{found:?}");
        let of_type = ComponentFilter {
            component_type: Some(ComponentType::Action),
            ..filter(&["gitlab", "issue"])
        };
        let found = keys(&of_type, &first);
        assert!(found.contains(&"gitlab-create-issue"), "{found:?}");
        assert!(!found.contains(&"gitlab-new-issue"), "{found:?}");
        let of_app = ComponentFilter {
            app: Some("google".to_owned()),
            ..filter(&[])
        };
        assert_eq!(keys(&of_app, &first), [] as [&str; 0], "a slug is whole");
        assert_eq!(keys(&filter(&["zzz-nothing"]), &first), [] as [&str; 0]);
    }

    #[test]
    fn pages_follow_each_other_in_both_directions() {
        let all = keys(&filter(&["slack"]), &PageRequest::first(100));
        let page = |position| PageRequest { limit: 2, position };
        let after = page(Position::After(all[1].to_owned()));
        assert_eq!(keys(&filter(&["slack"]), &after), all[2..4]);
        let before = page(Position::Before(all[2].to_owned()));
        assert_eq!(keys(&filter(&["slack"]), &before), all[..2]);
    }
}
