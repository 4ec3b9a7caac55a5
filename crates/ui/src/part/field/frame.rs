//! The frame of every field: its label, its hint, its error, and the way to further props.

use std::collections::BTreeMap;

use headwater_model::{
    prop::{InputType, PropDefinition, PropKind},
    time::EpochMs,
};
use headwater_platform::HealthStatus;
use maud::{Markup, html};
use serde_json::Value;

use crate::{
    form::{Entered, Part, Wrong},
    part::{
        icon::{Icon, icon},
        markdown::markdown,
        text,
    },
};

/// An account that an app prop may have.
#[derive(Debug, Clone)]
pub(crate) struct AccountChoice {
    pub(crate) id: String,
    pub(crate) app: String,
    pub(crate) name: String,
    pub(crate) status: HealthStatus,
    /// Whether the node can ask the app about it.
    pub(crate) can_be_checked: bool,
    /// The last run that succeeded with it, where the node has not checked it.
    pub(crate) used_at_ms: Option<EpochMs>,
}

/// The things that fields offer or tell, besides what the props themselves say.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// The address of the form.
    pub(crate) form: String,
    /// The names of apps for people, by their slugs.
    pub(crate) apps: BTreeMap<String, String>,
    pub(crate) accounts: Vec<AccountChoice>,
    /// Names of data stores that there are.
    pub(crate) stores: Vec<String>,
    /// Addresses of endpoints by prop, of a source that is there already.
    pub(crate) endpoints: Vec<(String, String)>,
    /// Props whose secret is stored already.
    pub(crate) kept: Vec<String>,
    pub(crate) now_ms: EpochMs,
}

impl Surroundings {
    /// The fields with the account of each prop that needs one and has no choice.
    pub(crate) fn with_only_accounts(
        &self,
        props: &[PropDefinition],
        entered: &Entered,
    ) -> Entered {
        let mut filled = entered.clone();
        for prop in props.iter().filter(|prop| prop.is_required()) {
            let Some(app) = prop.app() else { continue };
            let mut of_app = self.accounts.iter().filter(|account| account.app == app);
            let is_open = entered.part(Part::Value, &prop.name).is_none();
            if let (true, Some(only), None) = (is_open, of_app.next(), of_app.next()) {
                filled.set(Part::Value, &prop.name, &*only.id);
            }
        }
        filled
    }

    /// The name of an app for people.
    pub(super) fn app_name<'a>(&'a self, slug: &'a str) -> &'a str {
        self.apps.get(slug).map_or(slug, String::as_str)
    }
}

/// One field.
pub(crate) struct Field<'a> {
    /// The id of its first control.
    pub(crate) id: String,
    pub(crate) prop: &'a PropDefinition,
    /// The props above it.
    pub(crate) above: &'a [PropDefinition],
    pub(crate) entered: &'a Entered,
    pub(crate) wrong: Option<&'a Wrong>,
    pub(crate) around: &'a Surroundings,
}

impl Field<'_> {
    /// A field with one control, which the label is for.
    pub(super) fn single(&self, control: Markup) -> Markup {
        html! {
            div.field data-field=(self.prop.name) data-reloads[self.prop.flag("reloadProps")] data-needed[self.is_needed()] {
                label for=(self.id) { (self.label()) }
                (self.hint())
                (control)
                (self.below())
            }
        }
    }

    /// A field with several controls.
    pub(super) fn group(&self, controls: Markup) -> Markup {
        html! {
            fieldset.field #(self.id) tabindex="-1" data-field=(self.prop.name) data-schedule[self.prop.kind() == PropKind::Timer] data-reloads[self.prop.flag("reloadProps")] data-needed[self.is_needed()]
                aria-describedby=[self.described_by()] {
                legend { (self.label()) }
                (self.hint())
                (controls)
                (self.below())
            }
        }
    }

    /// Whether code that computes options of fields below may count on it.
    fn is_needed(&self) -> bool {
        let prop = self.prop;
        let is_entered = matches!(prop.kind(), PropKind::App | PropKind::Input);
        let is_kept = self.around.kept.contains(&prop.name);
        is_entered && prop.is_required() && prop.default_value().is_none() && !is_kept
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

    /// The error of the value, and the way to further props.
    fn below(&self) -> Markup {
        html! {
            @if let Some(wrong) = self.wrong {
                p.wrong #(self.wrong_id()) data-fault=(wrong.kind.name()) { (icon(Icon::Warning)) (text::sentence(&wrong.reason)) }
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
    pub(super) fn described_by(&self) -> Option<String> {
        Some(match self.wrong {
            Some(_) => format!("{} {}", self.wrong_id(), self.hint_id()),
            None => self.hint_id(),
        })
    }

    pub(super) fn is_wrong(&self) -> Option<&'static str> {
        self.wrong.map(|_| "true")
    }
}

/// The words that people know a prop by.
pub(super) fn title(prop: &PropDefinition) -> &str {
    attribute(prop, "label").unwrap_or(&prop.name)
}

/// A text of the definition, if there is one.
pub(super) fn attribute<'a>(prop: &'a PropDefinition, name: &str) -> Option<&'a str> {
    let text = prop.attributes.get(name)?.as_str()?.trim();
    Some(text).filter(|text| !text.is_empty())
}

/// A value for people: text as it is, anything else as JSON.
pub(super) fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}
