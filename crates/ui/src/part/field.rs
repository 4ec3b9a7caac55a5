//! The fields of a form of props: one for each prop, with the control that its type needs.
//!
//! Shows what was typed as it was typed. Values of secrets are never part of a page, typed a moment ago or stored.

mod account;
mod choice;
mod frame;
mod note;
mod plain;
mod request;
mod timer;

use headwater_model::prop::{InputType, PropDefinition, PropKind};
use maud::{Markup, html};

pub(crate) use self::frame::{AccountChoice, Surroundings};
use self::frame::{Field, title};
use super::{
    icon::{Icon, icon},
    text,
};
use crate::form::{Entered, Wrong, WrongKind, has_computed_options, known_choices};

/// The id of the field of the prop at this place.
pub(crate) fn id_of(at: usize) -> String {
    format!("p{at}")
}

/// All fields, in the order of the props.
pub(crate) fn fields(
    props: &[PropDefinition],
    entered: &Entered,
    wrong: &[Wrong],
    around: &Surroundings,
) -> Markup {
    let field = |(at, prop): (usize, _)| {
        let wrong = wrong
            .iter()
            .find(|wrong| wrong.prop == PropDefinition::clone(prop).name);
        Field {
            id: id_of(at),
            prop,
            above: &props[..at],
            entered,
            wrong,
            around,
        }
    };
    html! { @for field in props.iter().enumerate().map(field) { (markup(&field)) } }
}

/// The errors of a form by their kinds, each with the way to its field.
pub(crate) fn summary(props: &[PropDefinition], wrong: &[Wrong]) -> Markup {
    let mut kinds: Vec<WrongKind> = Vec::new();
    for one in wrong {
        if !kinds.contains(&one.kind) {
            kinds.push(one.kind);
        }
    }
    let of_kind = |kind: WrongKind| wrong.iter().filter(move |one| one.kind == kind);
    html! {
        @if !wrong.is_empty() {
            section.summary-of-errors role="alert" tabindex="-1" #errors {
                @for kind in kinds {
                    h2 { (icon(Icon::Warning)) (heading(kind, of_kind(kind).count())) }
                    ul { @for one in of_kind(kind) { li { (told(props, one)) } } }
                }
            }
        }
    }
}

fn heading(kind: WrongKind, count: usize) -> String {
    match (kind, count) {
        (WrongKind::Missing, 1) => "One value is missing".to_owned(),
        (WrongKind::Missing, count) => format!("{count} values are missing"),
        (WrongKind::Unfit, 1) => "One value does not fit".to_owned(),
        (WrongKind::Unfit, count) => format!("{count} values do not fit"),
        (WrongKind::Options, _) => "Options could not be loaded".to_owned(),
        (WrongKind::Undone(told), _) => told.to_owned(),
    }
}

fn told(props: &[PropDefinition], wrong: &Wrong) -> Markup {
    let at = props.iter().position(|prop| prop.name == wrong.prop);
    html! {
        @match at {
            Some(at) => { a href={ "#" (id_of(at)) } { (text::line(title(&props[at]))) } ": " }
            None => { @if !wrong.prop.is_empty() { (text::line(&wrong.prop)) ": " } }
        }
        (text::sentence(&wrong.reason))
    }
}

fn markup(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    if prop.flag("hidden") || prop.flag("disabled") {
        return html! {};
    }
    match prop.kind() {
        PropKind::Db => html! {},
        PropKind::Inert | PropKind::Apphook => note::inert(field),
        PropKind::Http => note::http(field),
        PropKind::Timer => timer::timer(field),
        PropKind::App => account::account(field),
        PropKind::DataStore => field.single(plain::data_store(field)),
        PropKind::HttpRequest => request::request(field),
        PropKind::Input => input(field),
    }
}

fn input(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    if prop.is_secret() {
        return field.single(plain::secret(field));
    }
    if prop.input_type() == Some(InputType::Boolean) && !prop.is_list() {
        return choice::boolean(field);
    }
    let choices = known_choices(prop, field.entered);
    let has_options = !choices.is_empty() || has_computed_options(prop);
    match (prop.is_list(), has_options) {
        (true, true) => choice::several(field, &choices),
        (false, true) => field.single(choice::one(field, &choices)),
        (true, false) => field.single(plain::lines(field, &field.id)),
        (false, false) => field.single(plain::value(field)),
    }
}

#[cfg(test)]
mod tests;
