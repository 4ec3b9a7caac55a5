//! Every app that comes with the node: whole, well-formed, with the page that it was read from, and with a probe or the
//! reason for having none.

use std::{collections::BTreeSet, sync::Arc};

use headwater_model::app::{
    ACCESS_TOKEN, AppDefinition, AppField, AuthType, CLIENT_ID, ProbeMethod, UrlTemplate,
    expand_text,
};
use http::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::Url;

use super::{BUILT_IN, catalog};

/// Apps of Pipedream's public registry, one a line.
const REGISTRY: &str = include_str!("registry_slugs.txt");
/// An app that published components name and that has no folder in the registry.
const OTHER: [&str; 1] = ["pipedream_utils"];

/// A section of an app, and the comment above it.
struct Section {
    file: &'static str,
    slug: &'static str,
    comment: Vec<&'static str>,
    text: String,
}

fn sections() -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (file, text) in BUILT_IN {
        let mut comment = Vec::new();
        for line in text.lines() {
            let name = line.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            match (line.strip_prefix("# "), name) {
                (Some(said), _) => comment.push(said),
                (None, Some(slug)) if !slug.contains('.') => sections.push(Section {
                    file,
                    slug,
                    comment: std::mem::take(&mut comment),
                    text: String::new(),
                }),
                (None, _) => comment.clear(),
            }
            if let Some(section) = sections.last_mut() {
                section.text.push_str(line);
                section.text.push('\n');
            }
        }
    }
    sections
}

fn definitions() -> Vec<Arc<AppDefinition>> {
    let none = tempfile::tempdir().unwrap();
    let catalog = catalog(&none.path().join("none"), None, |_| None).unwrap();
    let defined = |section: Section| Arc::clone(catalog.get(section.slug).unwrap());
    sections().into_iter().map(defined).collect()
}

fn urls(app: &AppDefinition) -> Vec<&UrlTemplate> {
    let mut urls: Vec<_> = app.probe.iter().map(|probe| &probe.url).collect();
    if let Some(oauth2) = &app.oauth2 {
        urls.extend([&oauth2.authorize_url, &oauth2.token_url]);
        urls.extend(&oauth2.refresh_url);
        urls.extend(&oauth2.revocation_url);
    }
    urls
}

#[test]
fn built_in_apps_are_of_the_registry_and_defined_once_in_order() {
    let known: BTreeSet<_> = REGISTRY.lines().chain(OTHER).collect();
    let sections = sections();
    for section in &sections {
        let Section { file, slug, .. } = section;
        assert!(known.contains(slug), "{file}: no app is named `{slug}`");
    }
    for pair in sections.windows(2) {
        let (before, after) = (&pair[0], &pair[1]);
        let in_order = before.file != after.file || before.slug < after.slug;
        assert!(in_order, "{}: `{}`", after.file, after.slug);
    }
    let slugs: BTreeSet<_> = sections.iter().map(|section| section.slug).collect();
    assert_eq!(slugs.len(), sections.len(), "an app is defined twice");
}

#[test]
fn no_built_in_app_is_lost() {
    let definitions = definitions();
    let count = |auth: AuthType| definitions.iter().filter(|app| app.auth == auth).count();
    for (auth, least) in [
        (AuthType::Oauth2, 253),
        (AuthType::Fields, 13),
        (AuthType::None, 21),
    ] {
        assert!(count(auth) >= least, "{auth:?}: {}", count(auth));
    }
}

#[test]
fn built_in_apps_are_complete() {
    for app in definitions() {
        let slug = &app.slug;
        // Clients are the operator's; requests to an app go over TLS.
        assert!(app.client().is_none(), "{slug}");
        assert!(
            !app.name.is_empty() && app.name == app.name.trim(),
            "{slug}"
        );
        for url in urls(&app) {
            assert!(url.as_str().starts_with("https://"), "{slug}");
            assert!(url.as_str().is_ascii(), "{slug}");
        }
        for field in &app.fields {
            assert_ne!(
                field.label, field.name,
                "{slug}: `{}` has no label",
                field.name
            );
        }
        let Some(oauth2) = &app.oauth2 else { continue };
        let mut scopes = BTreeSet::new();
        for scope in &oauth2.scopes {
            assert!(!scope.contains(char::is_whitespace), "{slug}: `{scope}`");
            assert!(
                !scope.is_empty() && scopes.insert(scope),
                "{slug}: `{scope}`"
            );
        }
        assert!([" ", ","].contains(&&*oauth2.scope_separator), "{slug}");
    }
}

#[test]
fn every_oauth_app_states_its_scopes() {
    for (section, app) in sections().into_iter().zip(definitions()) {
        let slug = section.slug;
        for line in section.text.lines() {
            assert_eq!(line, line.trim_end(), "{slug}");
        }
        if app.auth == AuthType::Oauth2 {
            assert!(section.text.contains("\nscopes = ["), "{slug}: no scopes");
        }
    }
}

#[test]
fn every_app_states_the_page_it_was_read_from_and_the_reason_for_having_no_probe() {
    for (section, app) in sections().into_iter().zip(definitions()) {
        let Section { file, slug, .. } = section;
        let states = |beginning: &str| section.comment.iter().any(|it| it.starts_with(beginning));
        assert!(states("https://"), "{file}: no page above `{slug}`");
        let lacks_one = app.auth != AuthType::None && app.probe.is_none();
        assert_eq!(
            states("No probe: "),
            lacks_one,
            "{file}: `{slug}` has a probe, or the reason above it"
        );
    }
}

#[test]
fn every_probe_can_be_sent() {
    for app in definitions() {
        let (slug, Some(probe)) = (&app.slug, &app.probe) else {
            continue;
        };
        let fields = account_of(&app);
        let url = probe.url.expand(&fields).unwrap();
        assert!(url.parse::<Url>().is_ok(), "{slug}: {url}");
        for (name, value) in &probe.headers {
            let value = expand_text(value, &fields).unwrap();
            assert!(name.parse::<HeaderName>().is_ok(), "{slug}: {name}");
            assert!(HeaderValue::from_str(&value).is_ok(), "{slug}: {value}");
        }
        let may_have_body = probe.method == ProbeMethod::Post;
        assert!(
            may_have_body || probe.body.is_none(),
            "{slug}: a body of GET"
        );
        // The credentials go along: a token as a bearer's by itself, everything else where the probe names it.
        let sent = probe.headers.values().map(String::as_str);
        let sent: String = [probe.url.as_str()].into_iter().chain(sent).collect();
        let is_sent = |field: &AppField| sent.contains(&format!("{{{}}}", field.name));
        let has_credentials = app.auth == AuthType::Oauth2 || app.fields.iter().any(is_sent);
        assert!(has_credentials, "{slug}: no credentials");
    }
}

/// The fields of an account of the app, each with a value that every place of a probe takes.
fn account_of(app: &AppDefinition) -> Map<String, Value> {
    let oauth2 = app.oauth2.iter();
    let of_grant = oauth2.flat_map(|it| it.token_fields.keys().chain(it.callback_fields.keys()));
    let of_user = app.fields.iter().map(|field| &field.name);
    let names = of_grant.chain(of_user).map(String::as_str);
    let names = names.chain([ACCESS_TOKEN, CLIENT_ID]);
    names
        .map(|name| (name.to_owned(), Value::from("v1")))
        .collect()
}
