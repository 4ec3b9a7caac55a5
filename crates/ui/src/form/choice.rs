//! Options of props: those that a component lists, those that it computed, and the value that a choice stands for.

use headwater_model::prop::{InputType, PropDefinition};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    entered::{Entered, Part},
    item::{picked, text_of},
};

/// Options of one prop that a form holds.
const OPTIONS_MAX: usize = 2_000;

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choice {
    pub(crate) label: String,
    /// The text that the form sends for it.
    pub(crate) text: String,
}

/// The options that were computed, as far as they were loaded. Travels with the form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) choices: Vec<Choice>,
    /// The last page that was loaded.
    pub(crate) page: u32,
    /// Its context, if the component pages by contexts.
    pub(crate) context: Option<Value>,
    /// The search that they were loaded for.
    pub(crate) query: Option<String>,
    /// Whether the last page had options, so that there may be another: not of a method that knows no pages.
    pub(crate) has_more: bool,
}

impl Loaded {
    /// The options that a form was sent with. A browser may have changed them: they are shown, and nothing else.
    pub(crate) fn of(entered: &Entered, prop: &str) -> Option<Self> {
        let text = entered.part(Part::Loaded, prop)?;
        let mut loaded: Self = serde_json::from_str(text).ok()?;
        loaded.choices.truncate(OPTIONS_MAX);
        Some(loaded)
    }

    /// The same with a further page. Options that are there already are not added.
    pub(crate) fn with(
        mut self,
        choices: Vec<Choice>,
        context: Option<Value>,
        is_whole: bool,
    ) -> Self {
        let is_new = |choice: &Choice| !self.choices.iter().any(|known| known.text == choice.text);
        let fresh: Vec<_> = choices.into_iter().filter(is_new).collect();
        self.has_more =
            !is_whole && !fresh.is_empty() && self.choices.len() + fresh.len() < OPTIONS_MAX;
        self.choices.extend(fresh);
        self.choices.truncate(OPTIONS_MAX);
        self.context = context;
        self
    }

    pub(crate) fn keep(&self, entered: &mut Entered, prop: &str) {
        let text = serde_json::to_string(self).unwrap_or_default();
        entered.set(Part::Loaded, prop, text);
    }
}

impl Choice {
    /// An option as the prop takes it: with its label where the component wants that, or where the value alone would say
    /// nothing to people who see it later.
    pub(crate) fn new(
        prop: &PropDefinition,
        label: &str,
        value: &Value,
        is_computed: bool,
    ) -> Self {
        let item_type = prop.input_type().unwrap_or(InputType::Any);
        let value = fitting(item_type, value);
        let plain = text_of(item_type, &value);
        let has_label = prop.flag("withLabel") || (is_computed && plain != label);
        let text = match has_label {
            true => json!({ "__lv": { "label": label, "value": value } }).to_string(),
            false => plain,
        };
        Self {
            label: label.to_owned(),
            text,
        }
    }
}

/// The value in the prop's type: APIs give numbers as text and text as numbers.
fn fitting(item_type: InputType, value: &Value) -> Value {
    match (item_type, value) {
        (InputType::String, Value::Number(_) | Value::Bool(_)) => Value::from(value.to_string()),
        (InputType::Integer, Value::String(text)) => text
            .trim()
            .parse::<i64>()
            .map_or_else(|_| value.clone(), Value::from),
        _ => value.clone(),
    }
}

/// Whether the component computes the prop's options.
pub(crate) fn has_computed_options(prop: &PropDefinition) -> bool {
    prop.flag("has_options") && listed(prop).next().is_none()
}

/// The options that can be chosen now.
pub(crate) fn known_choices(prop: &PropDefinition, entered: &Entered) -> Vec<Choice> {
    let listed: Vec<_> = listed(prop).take(OPTIONS_MAX).collect();
    match listed.is_empty() {
        true => Loaded::of(entered, &prop.name)
            .map(|loaded| loaded.choices)
            .unwrap_or_default(),
        false => listed,
    }
}

fn listed(prop: &PropDefinition) -> impl Iterator<Item = Choice> {
    let options = prop.attributes.get("options").and_then(Value::as_array);
    let options = options
        .into_iter()
        .flatten()
        .filter(|option| !option.is_null());
    options.map(|option| {
        let value = option.get("value").unwrap_or(option);
        let label = option.get("label").and_then(Value::as_str);
        let plain = text_of(InputType::Any, value);
        let label = label.or(value.as_str()).unwrap_or(&plain);
        Choice::new(prop, label, value, false)
    })
}

/// Whether a text of the form is the choice: the same text, or another that stands for the same value.
pub(crate) fn is_chosen(prop: &PropDefinition, choice: &Choice, text: &str) -> bool {
    let value = |text: &str| value_in(prop, text);
    choice.text == text || value(&choice.text) == value(text)
}

/// The text of the value alone, without a label.
fn value_in(prop: &PropDefinition, text: &str) -> String {
    match picked(text) {
        Some(pick) => {
            let item_type = prop.input_type().unwrap_or(InputType::Any);
            text_of(item_type, pick.get("value").unwrap_or(&pick))
        }
        None => text.to_owned(),
    }
}

impl Choice {
    /// A text of the form that is none of the options, with the label that it may have.
    pub(crate) fn of_text(text: &str) -> Self {
        let pick = picked(text);
        let label = pick
            .as_ref()
            .and_then(|pick| pick.get("label"))
            .and_then(Value::as_str);
        Self {
            label: label.unwrap_or(text).to_owned(),
            text: text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prop(definition: Value) -> PropDefinition {
        serde_json::from_value(definition).unwrap()
    }

    #[test]
    fn options_are_sent_as_their_type_reads_them() {
        for (type_name, value, text) in [
            ("string", json!("a"), "a"),
            ("string", json!(7), "7"),
            ("integer", json!("7"), "7"),
            ("integer", json!(7), "7"),
            ("any", json!("7"), "\"7\""),
            ("any", json!({"a": 1}), "{\n  \"a\": 1\n}"),
            ("string[]", json!("a"), "a"),
        ] {
            let prop = prop(json!({"name": "p", "type": type_name, "options": [value]}));
            let choices = known_choices(&prop, &Entered::default());
            assert_eq!(choices[0].text, text, "{type_name} {value}");
        }
    }

    #[test]
    fn labels_stay_with_values_where_they_are_needed() {
        let labelled = json!({"label": "Bee", "value": 2});
        let plain = prop(json!({"name": "p", "type": "integer", "options": [labelled]}));
        let choice = &known_choices(&plain, &Entered::default())[0];
        assert_eq!((&*choice.label, &*choice.text), ("Bee", "2"));
        let with_label =
            prop(json!({"name": "p", "type": "integer", "withLabel": true, "options": [labelled]}));
        let pick = r#"{"__lv":{"label":"Bee","value":2}}"#;
        assert_eq!(
            known_choices(&with_label, &Entered::default())[0].text,
            pick
        );
        assert_eq!(Choice::new(&plain, "Bee", &json!(2), true).text, pick);
        assert_eq!(Choice::new(&plain, "2", &json!(2), true).text, "2");
        // A value that was given without its label is the same choice.
        assert!(is_chosen(
            &plain,
            &Choice::new(&plain, "Bee", &json!(2), true),
            "2"
        ));
        assert!(!is_chosen(&plain, choice, "3"));
        assert_eq!(Choice::of_text(pick).label, "Bee");
        assert_eq!(Choice::of_text("{\"__lv\":").label, "{\"__lv\":");
    }

    #[test]
    fn loaded_options_travel_with_the_form() {
        let prop = prop(json!({"name": "p", "type": "string", "has_options": true}));
        assert!(has_computed_options(&prop));
        let mut entered = Entered::default();
        let one = |label: &str, value: Value| Choice::new(&prop, label, &value, true);
        let loaded = Loaded::default().with(vec![one("A", json!("a"))], Some(json!("next")), false);
        loaded.keep(&mut entered, "p");
        let again = Loaded::of(&entered, "p").unwrap();
        assert_eq!(again, loaded);
        assert!(again.has_more);
        let more = again.with(
            vec![one("A", json!("a")), one("B", json!("b"))],
            None,
            false,
        );
        assert_eq!(more.choices.len(), 2);
        // A page with nothing new is the last.
        let same = more.clone().with(vec![one("B", json!("b"))], None, false);
        assert!(!same.has_more);
        let whole = Loaded::default().with(vec![one("B", json!("b"))], None, true);
        assert!(!whole.has_more);
        entered.set(Part::Loaded, "p", "not JSON");
        assert_eq!(Loaded::of(&entered, "p"), None);
    }
}
