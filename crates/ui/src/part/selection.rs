//! Rows that are selected: their check boxes, and the bar with the acts on all of them. The boxes belong to the bar's form
//! wherever they stand, so that selecting needs no script.

use maud::{Markup, html};

use super::text;
use crate::visit::Visitor;

/// The form that the boxes belong to.
const FORM: &str = "selection";

/// The bar above a list; `acts` are values of `act` with their labels.
pub(crate) fn bar(visitor: &Visitor, path: &str, acts: &[(&str, &str)]) -> Markup {
    html! {
        form.selection id=(FORM) action=(path) {
            a href=(all_of_page(visitor)) data-selects-all { @if is_all(visitor) { "Select none" } @else { "Select all on this page" } }
            span.note data-selected {}
            div.actions { @for (act, label) in acts { button name="act" value=(act) data-key=[(*act == "run").then_some("r")] { (label) } } }
        }
    }
}

/// The head of the boxes' column.
pub(crate) fn head() -> Markup {
    html! { th.select scope="col" { span.unseen { "Select" } } }
}

/// The cell with the box of a row; without an id, the row cannot be selected.
pub(crate) fn cell(visitor: &Visitor, id: Option<&str>, name: &str) -> Markup {
    match id {
        Some(id) => checkable(is_all(visitor), id, name),
        None => html! { td.select {} },
    }
}

/// The cell with the box of a row that can be selected.
pub(crate) fn checkable(is_checked: bool, id: &str, name: &str) -> Markup {
    html! {
        td.select {
            label { input type="checkbox" name="id" value=(id) form=(FORM) checked[is_checked]; span.unseen { "Select " (text::value(name)) } }
        }
    }
}

/// Whether all rows of the page are selected from the beginning.
pub(crate) fn is_all(visitor: &Visitor) -> bool {
    visitor.parameter("selected").as_deref() == Some("all")
}

/// The address of the same rows with all of them selected, or none.
fn all_of_page(visitor: &Visitor) -> String {
    let place = ["after", "before"].map(|name| (name, visitor.parameter(name)));
    let place = place
        .iter()
        .filter(|(_, value)| value.is_some())
        .map(|(name, value)| (*name, value.as_deref()));
    let selected = match is_all(visitor) {
        true => None,
        false => Some("all"),
    };
    let changes: Vec<_> = place.chain([("selected", selected)]).collect();
    visitor.with(&changes)
}
