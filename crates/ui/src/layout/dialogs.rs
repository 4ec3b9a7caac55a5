//! The dialogs of every page, which script opens: the names of its keys, and the palette.

use maud::{Markup, html};

use crate::visit::Visit;

/// The rows of a page, as the script knows them.
const ROWS: &str =
    "main :is(table.list tbody tr a, .cards > li a, article.card a, details[id^='step-'])";

/// Keys with their effects, and the element without which a page has no use for them.
const KEYS: [(&[&str], &str, Option<&str>); 11] = [
    (&["/"], "search", None),
    (&["Ctrl", "K"], "find a page, an act or a thing", None),
    (&["j", "k"], "next and previous row", Some(ROWS)),
    (&["Enter", "o"], "open the row", Some(ROWS)),
    (
        &["e"],
        "open or close all of the step",
        Some("details[id^='step-']"),
    ),
    (
        &["x"],
        "select the row",
        Some("table.list input[form='selection']"),
    ),
    (
        &["[", "]"],
        "newer and older event",
        Some("[data-key='['], [data-key=']']"),
    ),
    (&["n"], "new", Some("[data-key='n']")),
    (&["r"], "run", Some("[data-key='r']")),
    (
        &["p"],
        "pause what comes live, and go on",
        Some("[data-key='p']"),
    ),
    (
        &["Esc"],
        "close, leave a field, or go to the page above",
        None,
    ),
];

/// The keys of the page that is shown, with those that lead to places, and the switch that turns them off.
pub(super) fn help(places: impl Iterator<Item = (&'static str, &'static str)>) -> Markup {
    html! {
        dialog #keys data-help aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            div.columns {
                dl.keys {
                    @for (keys, effect, when) in KEYS {
                        div data-when=[when] { dt { @for key in keys { kbd { (key) } " " } } dd { (effect) } }
                    }
                }
                dl.keys {
                    @for (name, keys) in places {
                        div { dt { @for key in keys.split(' ') { kbd { (key) } " " } } dd { "go to " (name) } }
                    }
                }
            }
            label.choice { input type="checkbox" data-keys-on; "Single letters are keys in this browser" }
            form.actions method="dialog" { button { "Close" } }
        }
    }
}

/// The field that finds pages and things, with its list.
pub(super) fn palette(visit: &Visit) -> Markup {
    html! {
        dialog.palette data-palette=(visit.to("/search/names")) data-search=(visit.to("/events")) aria-label="Find pages, acts and things" {
            input type="text" role="combobox" aria-label="Find" aria-autocomplete="list" aria-expanded="false" aria-controls="palette-list"
                placeholder="A page, a source, a workflow, an id" autocomplete="off" spellcheck="false";
            ul #palette-list role="listbox" aria-label="Found" {}
            p.note data-none hidden { "Nothing here has a name like this." }
        }
    }
}
