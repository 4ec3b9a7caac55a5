//! Components of npm packages that a search finds in the node's index, below those of the node itself.

use std::collections::HashSet;

use headwater_model::{component::ComponentType, page::PageRequest};
use headwater_platform::{ComponentFilter, IndexedComponent};
use maud::{Markup, html};

use super::{
    card::{address, short},
    npm::build_form,
};
use crate::{
    part::{
        code::{copyable, quoted},
        text::{self, counted},
    },
    query::ROWS,
    state::Ui,
    visit::Visitor,
};

/// The components that the index finds, without those whose keys the node has already shown.
pub(super) struct Indexed {
    found: Vec<IndexedComponent>,
    total: u64,
}

impl Indexed {
    pub(super) fn search(ui: &Ui, filter: &ComponentFilter, shown: &HashSet<&str>) -> Self {
        let page = ui
            .platform
            .indexed_components(filter, &PageRequest::first(ROWS));
        let is_other = |component: &IndexedComponent| !shown.contains(component.key);
        Self {
            total: page.total_count,
            found: page.items.into_iter().filter(is_other).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The list, with one button each that builds the component and leads to its form.
    pub(super) fn markup(&self, visitor: &Visitor) -> Markup {
        html! {
            section aria-labelledby="packaged" {
                h2 #packaged { "In npm packages" }
                ul.cards.wide { @for component in &self.found { (card(visitor, component)) } }
                @if self.total > u64::from(ROWS) {
                    p.note { "The first " (ROWS) " of " (counted(self.total, "component", "components")) ": more words find fewer." }
                }
            }
        }
    }
}

fn card(visitor: &Visitor, component: &IndexedComponent) -> Markup {
    let address = visitor.to(&address(&component.specifier()));
    let about = first_part(component.description);
    html! {
        li.card {
            h3 { (text::line(component.name)) }
            p.note { code { (text::line(component.key)) } " " (text::line(component.version)) " · " code { (text::line(component.package)) } }
            @if !about.is_empty() { p { (short(about)) } }
            @if component.component_type == ComponentType::Source { (build_form(&address, html! { button { "Set it up" span.unseen { ": " (text::line(component.name)) } } })) }
            @else if component.package.is_empty() { p.note { "The node brings it along: steps of workflows name it by its key." } }
            @else { (copyable(&format!("headwater run-action {}", quoted(&component.specifier())))) }
        }
    }
}

/// The description up to its links, which are of no use in a list.
fn first_part(description: &str) -> &str {
    let before = description.split_once('[').map(|(before, _)| before);
    before.unwrap_or(description).trim()
}
