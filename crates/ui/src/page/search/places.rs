//! Pages of the settings, components and apps, by words of their names.

use headwater_model::{component::ComponentType, page::PageRequest};
use headwater_platform::ComponentFilter;
use url::form_urlencoded;

use super::found::Found;
use crate::{problem::Problem, state::Ui, visit::Visitor};

/// Components and apps of each kind that are found: their own pages search all of them.
const SHOWN: u32 = 5;

/// Pages that have no section of their own: their names, their paths, further words for them, and whether they are for
/// the administrator alone.
const PAGES: [(&str, &str, &str, bool); 11] = [
    ("Profile", "/settings/profile", "me user workspaces", false),
    ("API keys", "/settings/keys", "tokens", false),
    ("Sessions", "/settings/sessions", "browsers sign out", false),
    (
        "Members",
        "/settings/members",
        "workspace team people",
        false,
    ),
    (
        "Variables",
        "/settings/variables",
        "environment secrets",
        false,
    ),
    ("Usage", "/settings/usage", "quota credits runs", false),
    ("Audit", "/settings/audit", "history log acts", false),
    ("Users", "/settings/users", "people", true),
    (
        "Node",
        "/settings/node",
        "doctor health options version queue",
        true,
    ),
    ("Guide", "/guide", "help documentation manual", false),
    (
        "Dead letters",
        "/deliveries?state=dead",
        "deliveries",
        false,
    ),
];

/// All that have all of the words, which are in small letters.
pub(super) async fn with(
    ui: &Ui,
    visitor: &Visitor,
    words: &[String],
) -> Result<Vec<Found>, Problem> {
    let is_admin = visitor.caller().identity.user.is_admin;
    let mut found = pages(words, is_admin);
    found.extend(apps(ui, words));
    found.extend(components(ui, visitor, words).await?);
    Ok(found)
}

fn pages(words: &[String], is_admin: bool) -> Vec<Found> {
    let all = PAGES
        .iter()
        .filter(|(_, _, _, of_admin)| is_admin || !of_admin);
    let found = all.filter(|(name, _, further, _)| {
        let text = format!("{} {further} settings", name.to_lowercase());
        words.iter().all(|word| text.contains(word.as_str()))
    });
    let found = found.map(|(name, path, _, _)| Found::new("page", *name, *path));
    found.collect()
}

fn apps(ui: &Ui, words: &[String]) -> Vec<Found> {
    let apps = &ui.platform.config().apps;
    let found = apps
        .search(&words.join(" "), &PageRequest::first(SHOWN))
        .items;
    let found = found.into_iter().map(|app| {
        let address = format!("/accounts/new?app={}", encoded(&app.slug));
        Found::new("app to connect", &*app.name, address)
    });
    found.collect()
}

/// Those of the node, and those of npm packages that it knows.
async fn components(ui: &Ui, visitor: &Visitor, words: &[String]) -> Result<Vec<Found>, Problem> {
    let filter = ComponentFilter {
        words: words.to_vec(),
        component_type: Some(ComponentType::Source),
        ..ComponentFilter::default()
    };
    let page = PageRequest::first(SHOWN);
    let workspace = visitor.workspace.clone();
    let own = ui
        .platform
        .components(visitor.caller(), &filter, workspace, &page);
    let own = own.await?.items.into_iter().map(|component| {
        let about = component.description;
        // A draft and a published component may have the same key.
        let key = about.key.filter(|_| component.is_published);
        let reference = key.unwrap_or_else(|| component.id.to_string());
        let address = visitor.to(&format!("/deploy/{}", encoded(&reference)));
        Found::new("component to deploy", about.name, address)
    });
    let indexed = ui
        .platform
        .indexed_components(&filter, &PageRequest::first(SHOWN));
    let indexed = indexed.items.into_iter().map(|component| {
        let address = format!("/deploy?q={}", encoded(component.key));
        Found::new("component of npm", component.name, address)
    });
    Ok(own.chain(indexed).collect())
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_by_their_names_and_by_what_they_are_for() {
        let found = |words: &str, is_admin: bool| -> Vec<String> {
            let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
            let found = pages(&words, is_admin).into_iter();
            found.map(|one| one.address).collect()
        };
        assert_eq!(found("audit", false), ["/settings/audit"]);
        assert_eq!(found("quota", false), ["/settings/usage"]);
        assert_eq!(found("doctor", true), ["/settings/node"]);
        assert!(found("doctor", false).is_empty());
        assert_eq!(found("settings", true).len(), PAGES.len());
    }
}
