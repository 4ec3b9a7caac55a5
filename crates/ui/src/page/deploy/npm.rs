//! Components that are files of packages: they are built before their form can be shown, which saves them.

use std::sync::Arc;

use headwater_platform::ComponentInput;
use maud::{Markup, html};

use super::wizard::workspace_of;
use crate::{
    part::{
        code::quoted,
        icon::{Icon, icon},
        text,
    },
    reply::{FormReply, Page, Section, see_other},
    state::Ui,
    visit::Visitor,
};

/// Asks whether to build a component: a link must not do it.
pub(super) fn ask(visitor: &Visitor, specifier: &str) -> Page {
    let body = html! {
        p.crumbs { a href="/deploy" { "Deploy" } }
        h1 { "Deploy a component of a package" }
        p { code { (text::value(specifier)) } }
        p { "The node resolves the packages of the component, keeps them at these versions, and asks the component for its props. That may take a moment." }
        (build_form(&visitor.location, html! { button.primary { (icon(Icon::Next)) "Build it and show its fields" } }))
    };
    Page::of(Section::Sources, "Deploy a component of a package", body)
        .command(format!("headwater deploy {}", quoted(specifier)))
}

/// A form that builds the component of an address.
pub(super) fn build_form(address: &str, button: Markup) -> Markup {
    html! { form method="post" action=(address) data-busy="Building…" { (button) } }
}

/// Builds and saves the component, and goes on to its form with the values of the address.
pub(super) async fn build(ui: &Arc<Ui>, visitor: &Visitor, specifier: &str) -> FormReply {
    let input = ComponentInput {
        component_url: Some(specifier.to_owned()),
        ..ComponentInput::default()
    };
    let workspace = workspace_of(visitor);
    let component = ui
        .platform
        .save_component(visitor.caller(), &input, workspace)
        .await?
        .component;
    let query = visitor
        .location
        .split_once('?')
        .map(|(_, query)| format!("?{query}"));
    let target = format!("/deploy/{}{}", component.id, query.unwrap_or_default());
    Ok(see_other(&target))
}
