//! The frame of every page: sidebar, search, the line that something was done, and the page itself.

mod dialogs;

use maud::{DOCTYPE, Markup, html};

use crate::{
    assets::{SCRIPT, STYLE},
    part::{
        icon::{Icon, icon},
        text,
    },
    reply::{Page, Section},
    visit::{Theme, Visit},
};

const SECTIONS: [(Section, &str, &str, Icon, &str); 10] = [
    (Section::Home, "Home", "/", Icon::Home, "g h"),
    (Section::Sources, "Sources", "/sources", Icon::Source, "g s"),
    (Section::Events, "Events", "/events", Icon::Event, "g e"),
    (
        Section::Webhooks,
        "Webhooks",
        "/webhooks",
        Icon::Webhook,
        "g w",
    ),
    (
        Section::Deliveries,
        "Deliveries",
        "/deliveries",
        Icon::Delivery,
        "g l",
    ),
    (
        Section::Workflows,
        "Workflows",
        "/workflows",
        Icon::Workflow,
        "g f",
    ),
    (Section::Runs, "Runs", "/runs", Icon::Play, "g r"),
    (
        Section::Accounts,
        "Accounts",
        "/accounts",
        Icon::Account,
        "g a",
    ),
    (Section::Data, "Data", "/data", Icon::Data, "g d"),
    (
        Section::Settings,
        "Settings",
        "/settings",
        Icon::Settings,
        "g ,",
    ),
];

/// The page in its frame.
pub(crate) fn framed(page: &Page, visit: &Visit) -> Markup {
    let theme = match visit.theme {
        Theme::System => None,
        Theme::Light | Theme::Dark => Some(visit.theme.name()),
    };
    let masked = page.masked_title.filter(|_| visit.is_masked);
    let title = masked.unwrap_or(&page.title);
    html! {
        (DOCTYPE)
        html lang="en" data-theme=[theme] data-masked=[visit.is_masked.then_some("true")] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (text::visible(title)) " · Headwater" }
                link rel="stylesheet" href=(STYLE.path()) nonce=(visit.nonce);
                link rel="icon" href="data:,";
            }
            body data-live=[page.live.address()] {
                a.skip href="#content" { "Skip to content" }
                @if visit.signed_in.is_some() {
                    (sidebar(page.section, visit))
                    div.page {
                        (top(visit))
                        (content(page, visit))
                    }
                    (dialogs::help(SECTIONS.iter().map(|(_, name, _, _, keys)| (*name, *keys))))
                    (dialogs::palette(visit))
                } @else {
                    div.page.alone { (content(page, visit)) }
                }
                p #status.unseen role="status" aria-live="polite" {}
                script type="module" src=(SCRIPT.path()) nonce=(visit.nonce) {}
            }
        }
    }
}

fn content(page: &Page, visit: &Visit) -> Markup {
    html! {
        main #content tabindex="-1" {
            @if let Some(line) = &visit.flash {
                p.flash role="status" { (icon(Icon::Ok)) (text::sentence(line)) }
            }
            (page.body)
            @if !page.commands.is_empty() {
                details.commands {
                    summary { "The same in a terminal" }
                    @for command in &page.commands { p { (command) } }
                }
            }
        }
    }
}

fn sidebar(current: Option<Section>, visit: &Visit) -> Markup {
    html! {
        nav.sidebar aria-label="Main" {
            a.brand href=(visit.to("/")) { (icon(Icon::Source)) "Headwater" }
            details.menu open {
                summary { (icon(Icon::Menu)) "Menu" }
                ul {
                    @for (section, name, path, of_section, keys) in SECTIONS {
                        li {
                            a href=(visit.to(path)) data-keys=(keys)
                                aria-current=[(current == Some(section)).then_some("page")] {
                                (icon(of_section)) (name)
                            }
                        }
                    }
                }
            }
        }
    }
}

fn top(visit: &Visit) -> Markup {
    html! {
        header.top {
            form.search role="search" action="/search" {
                @if let Some(id) = &visit.workspace { input type="hidden" name="workspace" value=(id); }
                label { span.unseen { "Search" } (icon(Icon::Search)) input type="search" name="q" placeholder="Search or jump to an id" autocomplete="off" data-key="/"; }
            }
            button.quiet.hint-of-key type="button" data-opens-palette hidden { span.unseen { "Find pages, acts and things: " } kbd { "Ctrl" } " " kbd { "K" } }
            a.button.primary href=(visit.to("/deploy")) { (icon(Icon::Plus)) "Deploy" }
            (person(visit))
        }
        @if let Some(name) = visit.workspace_name() {
            p.banner.scope {
                span { (icon(Icon::Account)) "Lists show what lives in " b { (text::line(name)) } "." }
                " " a href=(visit.with(&[("workspace", Some(""))])) { "Show everything of mine" }
            }
        }
        @if visit.is_masked {
            form.banner.masking method="post" action="/masking" {
                input type="hidden" name="next" value=(visit.location);
                span { (icon(Icon::Hidden)) "Payloads, headers and logs are hidden in this browser." }
                button name="hides" value="false" { "Show them" }
            }
        }
        (unencrypted(visit))
    }
}

/// The warning of a connection that others can read.
pub(crate) fn unencrypted(visit: &Visit) -> Markup {
    html! {
        @if !visit.cookies.are_safe() && !visit.is_local {
            p.banner { (icon(Icon::Warning)) "This connection is not encrypted: whoever is on the way can read the page and take over the session. Serve the node by TLS, and name its address with --public-url." }
        }
    }
}

fn person(visit: &Visit) -> Markup {
    let Some(signed_in) = &visit.signed_in else {
        return html! {};
    };
    let identity = &signed_in.caller.identity;
    let workspaces = &identity.workspaces;
    html! {
        details.person {
            summary { (icon(Icon::Account)) (text::line(&identity.user.username)) }
            div.popover {
                @if !workspaces.is_empty() {
                    p.label { "Lists show what lives in" }
                    ul.choices {
                        li { a href=(visit.with(&[("workspace", Some(""))])) aria-current=[visit.workspace.is_none().then_some("true")] { "everything of mine" } }
                        @for workspace in workspaces {
                            li {
                                a href=(visit.with(&[("workspace", Some(workspace.id.as_str()))]))
                                    aria-current=[(visit.workspace.as_ref() == Some(&workspace.id)).then_some("true")] {
                                    (text::line(&workspace.name))
                                }
                            }
                        }
                    }
                }
                form method="post" action="/theme" {
                    p.label { "Look" }
                    input type="hidden" name="next" value=(visit.location);
                    div.choices {
                        @for (theme, name) in Theme::ALL {
                            button.quiet name="theme" value=(name) aria-pressed=(visit.theme == theme) { (name) }
                        }
                    }
                }
                div data-times hidden {
                    p.label { "Times" }
                    div.choices {
                        @for (value, name) in [("ago", "how long ago"), ("utc", "UTC"), ("local", "local time")] {
                            button.quiet type="button" value=(value) { (name) }
                        }
                    }
                }
                @if !visit.is_masked {
                    form method="post" action="/masking" {
                        input type="hidden" name="next" value=(visit.location);
                        button.quiet name="hides" value="true" title="For pictures and shared screens" { "Hide payloads" }
                    }
                }
                p { a href="/guide" { "Guide" } }
                button.quiet type="button" data-opens-help hidden { "Keys" }
                form method="post" action="/signout" { button.quiet { "Sign out" } }
            }
        }
    }
}
