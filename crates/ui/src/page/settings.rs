//! `/settings`: the person, their keys and sessions, workspaces, variables, usage and audit; users and the node for the
//! administrator.

pub(crate) mod audit;
pub(crate) mod audit_export;
pub(super) mod doctor;
pub(crate) mod keys;
pub(crate) mod members;
pub(crate) mod node;
mod nodes;
pub(crate) mod profile;
pub(crate) mod sessions;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod variables;

use headwater_platform::PlatformError;
use maud::{Markup, html};

use crate::{part::tabs::tabs, reply::Page, reply::Section, visit::Visitor};

const TABS: [(&str, &str); 7] = [
    ("profile", "Profile"),
    ("keys", "Keys"),
    ("sessions", "Sessions"),
    ("members", "Members"),
    ("variables", "Variables"),
    ("usage", "Usage"),
    ("audit", "Audit"),
];
/// For the administrator besides.
const TABS_OF_ADMIN: [(&str, &str); 2] = [("users", "Users"), ("node", "Node")];

/// A page of the settings.
fn page(visitor: &Visitor, tab: &str, body: Markup) -> Page {
    let mut all = TABS.to_vec();
    if visitor.caller().identity.user.is_admin {
        all.extend(TABS_OF_ADMIN);
    }
    let name = all.iter().find(|(path, _)| *path == tab);
    let title = name.map_or("Settings", |(_, name)| name);
    let body = html! {
        header.title { h1 { "Settings" } }
        (tabs("Settings", "/settings", &all, tab))
        (body)
    };
    Page::of(Section::Settings, format!("{title} · settings"), body)
}

/// Checks that the visitor is the administrator.
fn check_admin(visitor: &Visitor) -> Result<(), PlatformError> {
    match visitor.caller().identity.user.is_admin {
        true => Ok(()),
        false => Err(PlatformError::AdminOnly),
    }
}
