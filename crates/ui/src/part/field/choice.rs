//! Values that are chosen: among options that a component lists or computes, or between yes and no.

use maud::{Markup, html};

use super::{
    frame::{Field, shown},
    plain::lines,
};
use crate::{
    form::{Choice, Loaded, Part, basis, field as name_of, has_computed_options, is_chosen},
    part::text::{cut, visible},
};

/// Options of a list that are all in sight.
const FEW: usize = 8;
/// Characters of an option's label.
const LABEL_CHARS: usize = 160;

/// Yes, no, or neither.
pub(super) fn boolean(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    let name = name_of(Part::Value, &prop.name);
    let chosen = field.entered.part(Part::Value, &prop.name);
    let absent = match prop.default_value() {
        Some(default) => Some(format!(
            "As the component has it ({})",
            yes_or_no(&shown(default))
        )),
        None => (!prop.is_required()).then(|| "Not set".to_owned()),
    };
    field.group(html! {
        @if let Some(absent) = absent { (radio(&name, "", &absent, chosen.is_none())) }
        @for text in ["true", "false"] { (radio(&name, text, yes_or_no(text), chosen == Some(text))) }
    })
}

fn yes_or_no(text: &str) -> &str {
    match text {
        "true" => "yes",
        "false" => "no",
        other => other,
    }
}

fn radio(name: &str, value: &str, label: &str, is_chosen: bool) -> Markup {
    html! { label.choice { input type="radio" name=(name) value=(value) checked[is_chosen]; (label) } }
}

/// One of the options, or a value of one's own.
pub(super) fn one(field: &Field<'_>, choices: &[Choice]) -> Markup {
    let prop = &field.prop.name;
    let own = field.entered.part(Part::Own, prop).unwrap_or_default();
    let chosen = field.entered.part(Part::Value, prop);
    let known = |text: &str| {
        choices
            .iter()
            .any(|choice| is_chosen(field.prop, choice, text))
    };
    // A value that is none of the options stays, with its label.
    let other = chosen.filter(|text| !known(text)).map(Choice::of_text);
    // Before anything is loaded there is nothing to choose from.
    if choices.is_empty() && other.as_ref().is_none_or(|other| other.label == other.text) {
        let typed = chosen.or(Some(own).filter(|own| !own.is_empty()));
        return html! {
            div.choosing data-chooses {
                input #(field.id) name=(name_of(Part::Value, prop)) value=(typed.unwrap_or_default()) autocomplete="off"
                    aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()];
            }
            (loading(field))
        };
    }
    let own_id = format!("{}-own", field.id);
    html! {
        div.choosing data-chooses {
            select #(field.id) name=(name_of(Part::Value, prop)) aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()] {
                option value="" { "—" }
                @if let Some(other) = &other { option value=(other.text) selected { (label(other)) } }
                @for choice in choices {
                    option value=(choice.text) selected[chosen.is_some_and(|text| is_chosen(field.prop, choice, text))] { (label(choice)) }
                }
            }
            label.own for=(own_id) {
                "Or another value "
                input #(own_id) name=(name_of(Part::Own, prop)) value=(own) autocomplete="off";
            }
        }
        (loading(field))
    }
}

/// Any of the options, and values of one's own.
pub(super) fn several(field: &Field<'_>, choices: &[Choice]) -> Markup {
    let prop = &field.prop.name;
    let name = name_of(Part::Value, prop);
    let chosen: Vec<&str> = field.entered.parts(Part::Value, prop).collect();
    let is_known = |text: &&&str| {
        choices
            .iter()
            .any(|choice| is_chosen(field.prop, choice, text))
    };
    let others = chosen
        .iter()
        .filter(|text| !is_known(text))
        .map(|text| Choice::of_text(text));
    let others: Vec<_> = others.collect();
    let own_id = format!("{}-own", field.id);
    let is_long = others.len() + choices.len() > FEW || has_computed_options(field.prop);
    field.group(html! {
        div.choices-of-many data-chooses=[is_long.then_some("many")] {
            @for choice in &others { (check(&name, choice, true)) }
            @for choice in choices {
                (check(&name, choice, chosen.iter().any(|text| is_chosen(field.prop, choice, text))))
            }
        }
        label.own for=(own_id) { "Other values" }
        (lines(field, &own_id))
        (loading(field))
    })
}

fn check(name: &str, choice: &Choice, is_chosen: bool) -> Markup {
    html! { label.choice { input type="checkbox" name=(name) value=(choice.text) checked[is_chosen]; bdi { (label(choice)) } } }
}

fn label(choice: &Choice) -> String {
    let (shown, is_cut) = cut(&choice.label, LABEL_CHARS);
    format!("{}{}", visible(shown), if is_cut { "…" } else { "" })
}

/// The ways to options that the component computes.
fn loading(field: &Field<'_>) -> Markup {
    let (prop, entered) = (&field.prop.name, field.entered);
    if !has_computed_options(field.prop) {
        return html! {};
    }
    let loaded = Loaded::of(entered, prop);
    // Where nothing was brought up to date, the options are those of the values before.
    let shown_for = entered.part(Part::Basis, prop).map(str::to_owned);
    let shown_for = shown_for.unwrap_or_else(|| basis(field.above, entered));
    let query = entered.part(Part::Query, prop).unwrap_or_default();
    let is_searched = field.prop.flag("use_query") || field.prop.flag("useQuery");
    let has_failed = entered.part(Part::Failed, prop).is_some();
    let load = match (&loaded, is_searched) {
        _ if has_failed => "Try again",
        (None, false) => "Load options",
        (Some(_), false) => "Load again",
        (_, true) => "Search",
    };
    html! {
        div.loading data-failed[has_failed] {
            input type="hidden" name=(name_of(Part::Basis, prop)) value=(shown_for);
            @if let Some(text) = entered.part(Part::Loaded, prop) { input type="hidden" name=(name_of(Part::Loaded, prop)) value=(text); }
            @if is_searched {
                input type="search" #{ (field.id) "-query" } name=(name_of(Part::Query, prop)) value=(query) data-query=(prop)
                    aria-label="Search among the options" placeholder="Search among the options" autocomplete="off";
            }
            button name="action" value={ "load:" (prop) } { (load) }
            @if let Some(loaded) = &loaded {
                @if loaded.has_more { button name="action" value={ "more:" (prop) } { "Load more" } }
                span.note role="status" {
                    @match loaded.choices.len() {
                        0 => "There are no options.",
                        1 => "One option",
                        count => { (count) " options" }
                    }
                }
            }
        }
    }
}
