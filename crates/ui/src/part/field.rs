//! The fields of a form of props: one for each prop, with the control that its type needs.
//!
//! Shows what was typed as it was typed. Values of secrets are never part of a page, typed a moment ago or stored.

mod account;
mod choice;
mod note;
mod plain;
mod request;
mod timer;

use headwater_model::{
    prop::{InputType, PropDefinition, PropKind},
    time::EpochMs,
};
use headwater_platform::HealthStatus;
use maud::{Markup, html};
use serde_json::Value;

use super::{
    icon::{Icon, icon},
    markdown::markdown,
    text,
};
use crate::form::{Entered, Wrong, has_computed_options, known_choices};

/// An account that an app prop may have.
#[derive(Debug, Clone)]
pub(crate) struct AccountChoice {
    pub(crate) id: String,
    pub(crate) app: String,
    pub(crate) name: String,
    pub(crate) status: HealthStatus,
}

/// The things that fields offer or tell, besides what the props themselves say.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) accounts: Vec<AccountChoice>,
    /// Names of data stores that there are.
    pub(crate) stores: Vec<String>,
    /// Addresses of endpoints by prop, of a source that is there already.
    pub(crate) endpoints: Vec<(String, String)>,
    /// Props whose secret is stored already.
    pub(crate) kept: Vec<String>,
    pub(crate) now_ms: EpochMs,
}

/// One field.
pub(crate) struct Field<'a> {
    /// The id of its first control.
    pub(crate) id: String,
    pub(crate) prop: &'a PropDefinition,
    pub(crate) entered: &'a Entered,
    pub(crate) wrong: Option<&'a str>,
    pub(crate) around: &'a Surroundings,
}

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
            entered,
            wrong: wrong.map(|wrong| wrong.reason.as_str()),
            around,
        }
    };
    html! { @for field in props.iter().enumerate().map(field) { (field.markup()) } }
}

/// The errors of a form, each with the way to its field.
pub(crate) fn summary(props: &[PropDefinition], wrong: &[Wrong]) -> Markup {
    let place = |wrong: &Wrong| props.iter().position(|prop| prop.name == wrong.prop);
    html! {
        @if !wrong.is_empty() {
            section.summary-of-errors role="alert" tabindex="-1" #errors {
                h2 { (icon(Icon::Warning)) @if wrong.len() == 1 { "One value does not fit" } @else { (wrong.len()) " values do not fit" } }
                ul {
                    @for one in wrong {
                        li {
                            @match place(one) {
                                Some(at) => { a href={ "#" (id_of(at)) } { (text::line(title(&props[at]))) } ": " (text::value(&one.reason)) }
                                None => { @if !one.prop.is_empty() { (text::line(&one.prop)) ": " } (text::value(&one.reason)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The words that people know a prop by.
fn title(prop: &PropDefinition) -> &str {
    attribute(prop, "label").unwrap_or(&prop.name)
}

/// A text of the definition, if there is one.
fn attribute<'a>(prop: &'a PropDefinition, name: &str) -> Option<&'a str> {
    let text = prop.attributes.get(name)?.as_str()?.trim();
    Some(text).filter(|text| !text.is_empty())
}

impl Field<'_> {
    fn markup(&self) -> Markup {
        let prop = self.prop;
        if prop.flag("hidden") || prop.flag("disabled") {
            return html! {};
        }
        match prop.kind() {
            PropKind::Db => html! {},
            PropKind::Inert | PropKind::Apphook => note::inert(self),
            PropKind::Http => note::http(self),
            PropKind::Timer => timer::timer(self),
            PropKind::App => account::account(self),
            PropKind::DataStore => self.single(plain::data_store(self)),
            PropKind::HttpRequest => request::request(self),
            PropKind::Input => self.input(),
        }
    }

    fn input(&self) -> Markup {
        let prop = self.prop;
        if prop.input_type() == Some(InputType::Boolean) && !prop.is_list() {
            return choice::boolean(self);
        }
        if prop.is_secret() {
            return self.single(plain::secret(self));
        }
        let choices = known_choices(prop, self.entered);
        let has_options = !choices.is_empty() || has_computed_options(prop);
        match (prop.is_list(), has_options) {
            (true, true) => choice::several(self, &choices),
            (false, true) => self.single(choice::one(self, &choices)),
            (true, false) => self.single(plain::lines(self)),
            (false, false) => self.single(plain::value(self)),
        }
    }

    /// A field with one control, which the label is for.
    fn single(&self, control: Markup) -> Markup {
        html! {
            div.field data-field=(self.prop.name) data-reloads[self.prop.flag("reloadProps")] {
                label for=(self.id) { (self.label()) }
                (self.hint())
                (control)
                (self.below())
            }
        }
    }

    /// A field with several controls.
    fn group(&self, controls: Markup) -> Markup {
        html! {
            fieldset.field #(self.id) tabindex="-1" data-field=(self.prop.name) data-reloads[self.prop.flag("reloadProps")]
                aria-describedby=[self.described_by()] {
                legend { (self.label()) }
                (self.hint())
                (controls)
                (self.below())
            }
        }
    }

    fn label(&self) -> Markup {
        let title = title(self.prop);
        html! {
            (text::line(title))
            @if title != self.prop.name { " " code.note { (text::line(&self.prop.name)) } }
            @if !self.prop.is_required() && self.prop.kind() != PropKind::Timer { " " span.note { "optional" } }
        }
    }

    fn hint(&self) -> Markup {
        let default = self.prop.default_value().filter(|_| !self.prop.is_secret());
        let range = self.range();
        html! {
            div.hint #(self.hint_id()) {
                @if let Some(description) = attribute(self.prop, "description") { (markdown(description)) }
                @if let Some(range) = range { p { (range) } }
                @if let Some(default) = default && self.prop.kind() == PropKind::Input {
                    p { "Without a value: " code { (text::line(&shown(default))) } }
                }
            }
        }
    }

    /// The range of numbers, in words.
    fn range(&self) -> Option<String> {
        let bound = |name: &str| self.prop.attributes.get(name).and_then(Value::as_f64);
        (self.prop.input_type() == Some(InputType::Integer)).then_some(())?;
        match (bound("min"), bound("max")) {
            (Some(min), Some(max)) => Some(format!("A whole number from {min} to {max}.")),
            (Some(min), None) => Some(format!("A whole number, {min} or more.")),
            (None, Some(max)) => Some(format!("A whole number, {max} or less.")),
            (None, None) => None,
        }
    }

    /// What is wrong, and the way to further props.
    fn below(&self) -> Markup {
        html! {
            @if let Some(wrong) = self.wrong {
                p.wrong #(self.wrong_id()) { (icon(Icon::Warning)) (text::value(wrong)) }
            }
            @if self.prop.flag("reloadProps") {
                button.reload name="action" value="reload" { "Apply and show more fields" }
            }
        }
    }

    fn hint_id(&self) -> String {
        format!("{}-hint", self.id)
    }

    fn wrong_id(&self) -> String {
        format!("{}-wrong", self.id)
    }

    /// The texts that belong to the controls.
    fn described_by(&self) -> Option<String> {
        Some(match self.wrong {
            Some(_) => format!("{} {}", self.wrong_id(), self.hint_id()),
            None => self.hint_id(),
        })
    }

    fn is_wrong(&self) -> Option<&'static str> {
        self.wrong.map(|_| "true")
    }
}

/// A value for people: text as it is, anything else as JSON.
fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
