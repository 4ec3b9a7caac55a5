//! The packages that a component is locked to, as the API shows them: as tables show them, and those
//! that moved from one component to another.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::source::text;

/// The packages that the component imports itself, a row each, and how many more these need.
pub(crate) fn rows(component: &Value) -> (Vec<Vec<String>>, usize) {
    let all: Vec<_> = packages(component).collect();
    let own = all.iter().filter(|package| package["range"].is_string());
    let rows: Vec<_> = own
        .map(|package| ["name", "range", "version"].map(|field| text(package, field).to_owned()))
        .map(Vec::from)
        .collect();
    let further = all.len() - rows.len();
    (rows, further)
}

/// The packages that moved, a line each.
pub(crate) fn moves(before: &Value, after: &Value) -> Vec<String> {
    let (before, after) = (versions(before), versions(after));
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| {
            let shown = |versions: &BTreeMap<&str, Vec<&str>>| {
                versions
                    .get(name)
                    .map_or_else(|| "none".to_owned(), |versions| versions.join(", "))
            };
            format!("{name}: {} -> {}", shown(&before), shown(&after))
        })
        .collect()
}

/// Several versions of one package may be in use.
fn versions(component: &Value) -> BTreeMap<&str, Vec<&str>> {
    let mut versions: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for package in packages(component) {
        let version = text(package, "version");
        let known = versions.entry(text(package, "name")).or_default();
        if !known.contains(&version) {
            known.push(version);
        }
    }
    for known in versions.values_mut() {
        known.sort_unstable();
    }
    versions
}

fn packages(component: &Value) -> impl Iterator<Item = &Value> {
    component["packages"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_moved_came_and_went_is_told() {
        let package = |name: &str, version: &str| json!({"name": name, "version": version});
        let before = json!({"packages": [
            package("axios", "1.0.0"), package("ms", "2.0.0"), package("old", "1.0.0"),
        ]});
        let after = json!({"packages": [
            package("axios", "1.2.0"), package("axios", "0.9.0"), package("ms", "2.0.0"), package("new", "3.0.0"),
        ]});
        assert_eq!(
            moves(&before, &after),
            [
                "axios: 1.0.0 -> 0.9.0, 1.2.0",
                "new: none -> 3.0.0",
                "old: 1.0.0 -> none"
            ]
        );
        assert_eq!(moves(&after, &after), Vec::<String>::new());
    }
}
