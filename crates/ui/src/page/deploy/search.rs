//! `/deploy`: finds the component to deploy, among those of the registry, the caller's own, and the files of packages.

use std::{collections::HashSet, sync::Arc};

use axum::extract::State;
use headwater_model::{
    component::{ComponentType, Description},
    id::ComponentId,
    page::{Page as Listed, PageRequest, Position},
    prop::PropKind,
};
use headwater_platform::{ComponentFilter, ListedComponent, PackageModules, PlatformError};
use maud::{Markup, html};

use super::{
    card::{address, short},
    indexed::Indexed,
    npm::build_form,
    templates::TEMPLATES,
    wizard::workspace_of,
};
use crate::{
    part::{
        code::{copyable, quoted},
        empty::empty,
        icon::{Icon, icon},
        pager::{Ends, pager},
        schedule::in_words,
        state::{Tone, state},
        text::{self, counted},
    },
    problem::capital,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Modules of a package that are shown.
const MODULES: usize = 500;
/// Packages of apps that many people use, with the apps' names.
const PACKAGES: [(&str, &str); 9] = [
    ("slack", "Slack"),
    ("postgresql", "PostgreSQL"),
    ("gitlab", "GitLab"),
    ("google_drive", "Google Drive"),
    ("notion", "Notion"),
    ("shopify", "Shopify"),
    ("linear_app", "Linear"),
    ("monday", "monday.com"),
    ("mysql", "MySQL"),
];
/// The parameter of an address that asks for drafts as well.
const DRAFTS: &str = "drafts";
/// The kinds of components that are searched, by their names in addresses.
const KINDS: [(&str, ComponentType, &str); 2] = [
    ("source", ComponentType::Source, "Sources"),
    ("action", ComponentType::Action, "Actions"),
];

/// The words, the app and the kind that are searched.
struct Search<'a> {
    query: &'a str,
    app: Option<&'a str>,
    kind: ComponentType,
}

/// Lists components.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let query = visitor.parameter("q").unwrap_or_default();
    let app = visitor.parameter("app");
    let named = visitor.parameter("kind");
    let kind = KINDS
        .iter()
        .find(|(name, _, _)| named.as_deref() == Some(name));
    let search = Search {
        query: &query,
        app: app.as_deref(),
        kind: kind.map_or(ComponentType::Source, |(_, kind, _)| *kind),
    };
    let package = package_of(&query);
    let found = match &package {
        Some(specifier) => match ui
            .platform
            .package_modules(visitor.caller(), specifier)
            .await
        {
            Ok(found) => modules(&visitor, &found),
            Err(error @ (PlatformError::Invalid(_) | PlatformError::Unreachable(_))) => {
                html! { p.wrong role="alert" { (icon(Icon::Warning)) (text::sentence(&capital(&error.to_string()))) } }
            }
            Err(error) => return Err(error.into()),
        },
        None => components(&ui, &visitor, &search).await?,
    };
    let is_paged = ["after", "before", DRAFTS].map(|name| visitor.parameter(name));
    let is_first_view = query.trim().is_empty()
        && app.is_none()
        && kind.is_none()
        && is_paged.iter().all(Option::is_none);
    let body = html! {
        header.title {
            h1 { "Deploy a source" }
            div.actions { a.button href=(visitor.to("/deploy/code")) { "Write one" } }
        }
        (search_form(&visitor, &search))
        (found)
        @if is_first_view { (beginnings(&visitor)) }
    };
    let command = match package {
        Some(specifier) => format!("headwater components list {}", quoted(&specifier)),
        None => format!("headwater components search {}", quoted(&query)),
    };
    Ok(Page::of(Section::Sources, "Deploy a source", body).command(command))
}

/// The package that a search names.
fn package_of(query: &str) -> Option<String> {
    let query = query.trim();
    if query.starts_with("npm:") {
        return Some(query.to_owned());
    }
    let is_scoped = query.starts_with('@') && query.contains('/') && !query.contains(' ');
    is_scoped.then(|| format!("npm:{query}"))
}

fn search_form(visitor: &Visitor, search: &Search<'_>) -> Markup {
    let &Search { query, app, kind } = search;
    html! {
        form.filters role="search" action="/deploy" {
            @if let Some(workspace) = &visitor.workspace { input type="hidden" name="workspace" value=(workspace); }
            label { span.unseen { "Words, or a package" } input.wide type="search" name="q" value=(query) placeholder="Words, or npm:@pipedream/gitlab" autocomplete="off"; }
            label { span.unseen { "App" } input name="app" value=(app.unwrap_or_default()) placeholder="App, such as github" autocomplete="off"; }
            label {
                span.unseen { "Kind" }
                select name="kind" { @for (name, of, words) in KINDS { option value=(name) selected[of == kind] { (words) } } }
            }
            button { "Search" }
        }
        @if kind == ComponentType::Action {
            p.note { "Actions are not deployed: steps of workflows use them by their keys, and the command of each runs it once." }
        }
    }
}

async fn components(
    ui: &Ui,
    visitor: &Visitor,
    search: &Search<'_>,
) -> Result<Markup, PlatformError> {
    let &Search { query, app, kind } = search;
    let mut filter = ComponentFilter {
        words: query.split_whitespace().map(str::to_owned).collect(),
        app: app
            .map(str::trim)
            .filter(|app| !app.is_empty())
            .map(str::to_owned),
        component_type: Some(kind),
        of_sources: false,
    };
    let is_search = !filter.words.is_empty() || filter.app.is_some();
    // Words find everything.
    filter.of_sources = !is_search && visitor.parameter(DRAFTS).is_none();
    let page = visitor.page_request::<ComponentId>();
    let workspace = workspace_of(visitor);
    let (platform, caller) = (&ui.platform, visitor.caller());
    let found = platform
        .components(caller, &filter, workspace.clone(), &page)
        .await?;
    let keys = found
        .items
        .iter()
        .filter_map(|it| it.description.key.as_deref());
    let keys: HashSet<_> = keys.collect();
    // They follow the node's own, of which later pages have more.
    let indexed = (is_search && page.position == Position::First)
        .then(|| Indexed::search(ui, &filter, &keys))
        .filter(|indexed| !indexed.is_empty());
    filter.of_sources = false;
    let all = platform
        .components(caller, &filter, workspace, &PageRequest::first(1))
        .await?;
    let ends = Ends::of(&found, |component| component.id.as_str());
    Ok(html! {
        @if !found.items.is_empty() { (cards(ui, visitor, &found)) (pager(visitor, &ends)) }
        @else if kind == ComponentType::Action && !is_search { p { "No action of yours is saved, and the registry of this node has none. Words find those of npm packages." } }
        @else if !is_search { p { "No source of yours has a component yet, and the registry of this node has none. Begin with one of these." } }
        @else if indexed.is_none() { (nothing()) }
        (drafts(visitor, all.total_count.saturating_sub(found.total_count)))
        @if let Some(indexed) = &indexed { (indexed.markup(visitor)) }
        @if indexed.is_none() && let Some(name) = npm_name(query, app) {
            @let specifier = format!("npm:@pipedream/{name}");
            p { "Published components are in packages, too: " a href=(visitor.with(&[("q", Some(&specifier)), ("app", None)])) { "look into " (text::line(&specifier)) } "." }
        }
    })
}

/// The way to components that no source runs, which trials and unfinished work leave behind, and back.
fn drafts(visitor: &Visitor, left_out: u64) -> Markup {
    let to = |drafts| visitor.with(&[(DRAFTS, drafts)]);
    html! {
        @if visitor.parameter(DRAFTS).is_some() {
            p.note { "With drafts that no source runs. " a href=(to(None)) { "Leave them out" } }
        } @else if left_out > 0 {
            p.note { "Without " (counted(left_out, "draft", "drafts")) " of yours that no source runs. " a href=(to(Some("true"))) { "Show drafts" } }
        }
    }
}

/// The package in which components for an app would be.
fn npm_name(query: &str, app: Option<&str>) -> Option<String> {
    let word = app.or_else(|| query.split_whitespace().next())?;
    let plain = word
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || "-_".contains(char));
    (plain && !word.is_empty()).then(|| word.to_lowercase())
}

fn cards(ui: &Ui, visitor: &Visitor, found: &Listed<ListedComponent>) -> Markup {
    html! { ul.cards.wide { @for component in &found.items { (card(ui, visitor, component)) } } }
}

fn card(ui: &Ui, visitor: &Visitor, component: &ListedComponent) -> Markup {
    let about = &component.description;
    let reference = about
        .key
        .clone()
        .unwrap_or_else(|| component.id.to_string());
    // A draft and a published component may have the same key: the id means the one on the card.
    let address = address(if component.is_published {
        &reference
    } else {
        component.id.as_str()
    });
    let is_deployed = about.component_type == ComponentType::Source;
    html! {
        li.card {
            h2 {
                @if is_deployed { a href=(visitor.to(&address)) { (text::line(&about.name)) } }
                @else { (text::line(&about.name)) }
            }
            p.note {
                code { (text::line(&reference)) }
                @if let Some(version) = &about.version { " " (text::line(version)) }
                " "
                @if component.is_published { (state(Tone::Good, "published")) } @else { "· yours" }
            }
            @if let Some(text) = &about.description { p { (short(text)) } }
            p.note { (needs(ui, about)) }
            @if is_deployed {
                a.button href=(visitor.to(&address)) { "Set it up" span.unseen { ": " (text::line(&about.name)) } }
            } @else {
                (copyable(&format!("headwater run-action {}", quoted(&reference))))
            }
        }
    }
}

/// The triggers of a component, and its needs.
fn needs(ui: &Ui, about: &Description) -> String {
    let of_kind = |kind| about.props.iter().filter(move |prop| prop.kind() == kind);
    let timers = of_kind(PropKind::Timer).filter_map(|prop| prop.schedule(None).ok());
    let timers = timers.map(|schedule| format!("runs {}", in_words(&schedule)));
    let requests = of_kind(PropKind::Http)
        .take(1)
        .map(|_| "takes requests".to_owned());
    let apps = of_kind(PropKind::App).filter(|prop| prop.is_required());
    let apps =
        apps.filter_map(|prop| Some(format!("needs an account of {}", ui.app_name(prop.app()?))));
    let inputs = about.props.iter().filter(|prop| {
        matches!(
            prop.kind(),
            PropKind::Input | PropKind::DataStore | PropKind::HttpRequest
        )
    });
    let inputs = match inputs.count() as u64 {
        0 => None,
        count => Some(counted(count, "value to enter", "values to enter")),
    };
    let all: Vec<_> = timers.chain(requests).chain(apps).chain(inputs).collect();
    text::visible(&all.join(" · "))
}

fn modules(visitor: &Visitor, found: &PackageModules) -> Markup {
    let is_source = |path: &&String| path.contains("sources/");
    let sources: Vec<_> = found.modules.iter().filter(is_source).collect();
    let others = found.modules.len() - sources.len();
    let package = found.package.to_string();
    html! {
        h2 { (text::line(&package)) }
        @if sources.is_empty() {
            (empty("This package has no sources.", html! {
                p { "A source is a file below " code { "sources/" } ". The package has " (counted(others as u64, "other component", "other components")) ", which are actions for workflows." }
            }))
        } @else {
            table.list {
                thead { tr { th scope="col" { "Source" } th scope="col" { "File" } th scope="col" { "" } } }
                tbody {
                    @for path in sources.iter().take(MODULES) {
                        @let address = visitor.to(&address(&format!("{package}/{path}")));
                        tr {
                            th scope="row" { a href=(address) { (text::line(&title_of(path))) } }
                            td data-label="File" { code { (text::line(path)) } }
                            td.narrow { (build_form(&address, html! { button { "Set it up" } })) }
                        }
                    }
                }
            }
            @if sources.len() > MODULES { p.note { "The first " (MODULES) " of " (sources.len()) " sources." } }
            @if others > 0 { p.note { "And " (counted(others as u64, "action", "actions")) " for workflows." } }
        }
    }
}

/// The words of a file's name.
fn title_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    capital(&stem.replace(['-', '_'], " "))
}

/// The ways to a first source: the examples, and packages of well-known apps.
fn beginnings(visitor: &Visitor) -> Markup {
    html! {
        section aria-labelledby="examples" {
            h2 #examples { "Examples to change and deploy" }
            ul.cards {
                @for template in &TEMPLATES {
                    li.card {
                        h3 { a href=(template_address(visitor, template.slug)) { (template.name) } }
                        p.note { (template.about) }
                    }
                }
            }
        }
        section aria-labelledby="packages" {
            h2 #packages { "Published components" }
            p { "The sources of an app are in a package of npm, most of them in " code { "@pipedream/APP" } ". Enter its name above, or open one of these:" }
            ul.chips aria-label="Packages" {
                @for (app, name) in PACKAGES {
                    @let specifier = format!("npm:@pipedream/{app}");
                    li { a href=(visitor.with(&[("q", Some(&specifier))])) { (name) } }
                }
            }
            p.note { "Words search the components of this node, and those of npm packages that its index has. In a terminal: " (copyable("headwater deploy npm:@pipedream/APP/sources/…")) }
        }
    }
}

fn template_address(visitor: &Visitor, slug: &str) -> String {
    let address = visitor.to("/deploy/code");
    let mark = if address.contains('?') { '&' } else { '?' };
    format!("{address}{mark}template={slug}")
}

fn nothing() -> Markup {
    empty(
        "No component of this node or of the index of npm packages has all of these words.",
        html! { p { a href="/deploy" { "Show all" } ", or " a href="/deploy/code" { "write one" } "." } },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_may_name_a_package() {
        for (query, expected) in [
            ("npm:rss-parser", Some("npm:rss-parser")),
            (" @pipedream/gitlab ", Some("npm:@pipedream/gitlab")),
            ("@pipedream", None),
            ("rss feed", None),
            ("@a/b c", None),
        ] {
            assert_eq!(package_of(query).as_deref(), expected, "{query}");
        }
    }

    #[test]
    fn files_of_packages_have_names() {
        assert_eq!(
            title_of("sources/new-item_in/new-item_in.mjs"),
            "New item in"
        );
    }
}
