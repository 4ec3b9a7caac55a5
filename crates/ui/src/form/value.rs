//! Values of props from the fields of a form, and the fields of values.

use headwater_model::prop::{self, ConfiguredProps, InputType, PropDefinition, PropKind};
use serde_json::{Map, Value, json};

use super::{
    choice::{has_computed_options, known_choices},
    entered::{Entered, Part},
    item::{not_json, read_item, text_of},
    list, schedule,
};

/// The kind of something wrong in a form, which tells those of one kind together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrongKind {
    /// The value is missing.
    Missing,
    /// The value does not fit.
    Unfit,
    /// The options of the prop did not come.
    Options,
    /// The act that was asked for was not done; in these words.
    Undone(&'static str),
}

impl WrongKind {
    /// The word by which the script tells them apart.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unfit => "unfit",
            Self::Options => "options",
            Self::Undone(_) => "undone",
        }
    }
}

/// A value that cannot stand, or an error that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The prop; empty for the form as a whole.
    pub(crate) prop: String,
    pub(crate) reason: String,
    pub(crate) kind: WrongKind,
}

/// The values of a form, as far as they can be read.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) values: ConfiguredProps,
    pub(crate) wrong: Vec<Wrong>,
}

/// Whether the form asks for the prop.
fn is_asked(prop: &PropDefinition) -> bool {
    !prop.flag("hidden") && !prop.flag("disabled")
}

/// Reads all values that were given. Each is checked as the node will check it.
pub(crate) fn read_all(props: &[PropDefinition], entered: &Entered) -> Given {
    let mut given = Given::default();
    for prop in props {
        match read(prop, entered).and_then(|value| checked(prop, value)) {
            Ok(Some(value)) => {
                given.values.insert(prop.name.clone(), value);
            }
            Ok(None) => {}
            Err(reason) => given.wrong.push(Wrong {
                prop: prop.name.clone(),
                reason,
                kind: WrongKind::Unfit,
            }),
        }
    }
    given
}

/// The props that need a value and have none. A kept one has the value that the source has.
pub(crate) fn missing(
    props: &[PropDefinition],
    values: &ConfiguredProps,
    is_kept: impl Fn(&str) -> bool,
    app_name: impl Fn(&str) -> String,
) -> Vec<Wrong> {
    let lacks = |prop: &&PropDefinition| {
        prop.is_required() && !values.contains_key(&prop.name) && !is_kept(&prop.name)
    };
    let reason = |prop: &PropDefinition| match prop.app() {
        Some(app) => format!("choose an account of {}, or connect one", app_name(app)),
        None if is_choice(prop) => "choose a value".to_owned(),
        None => "enter a value".to_owned(),
    };
    let wrong = |prop| Wrong {
        prop: PropDefinition::clone(prop).name,
        reason: reason(prop),
        kind: WrongKind::Missing,
    };
    props.iter().filter(lacks).map(wrong).collect()
}

/// Whether a value of the prop is chosen rather than written.
fn is_choice(prop: &PropDefinition) -> bool {
    let is_boolean = prop.input_type() == Some(InputType::Boolean) && !prop.is_list();
    let has_options =
        has_computed_options(prop) || !known_choices(prop, &Entered::default()).is_empty();
    prop.kind() == PropKind::Input && !prop.is_secret() && (is_boolean || has_options)
}

fn checked(prop: &PropDefinition, value: Option<Value>) -> Result<Option<Value>, String> {
    let Some(value) = value else { return Ok(None) };
    let values = Map::from_iter([(prop.name.clone(), value.clone())]);
    match prop::configure_some(std::slice::from_ref(prop), &values) {
        Ok(_) => Ok(Some(value)),
        Err(invalid) => {
            let part = invalid.field.strip_prefix(&prop.name).unwrap_or_default();
            Err(match part.strip_prefix('.') {
                Some(part) => format!("{part}: {}", invalid.reason),
                None => invalid.reason,
            })
        }
    }
}

/// The value of a prop; none where nothing was given.
fn read(prop: &PropDefinition, entered: &Entered) -> Result<Option<Value>, String> {
    if !is_asked(prop) {
        return Ok(None);
    }
    let text = entered.part(Part::Value, &prop.name);
    match prop.kind() {
        PropKind::Timer if prop.attributes.contains_key("static") => Ok(None),
        PropKind::Timer => schedule::read(&prop.name, entered),
        PropKind::App => Ok(text.map(|id| json!({ "authProvisionId": id }))),
        PropKind::DataStore => Ok(text.map(|name| Value::from(name.trim()))),
        PropKind::HttpRequest => read_request(&prop.name, entered),
        PropKind::Input if prop.is_list() => read_list(prop, entered),
        PropKind::Input => {
            let text = entered.part(Part::Own, &prop.name).or(text);
            text.map(|text| read_item(item_type(prop), text))
                .transpose()
        }
        PropKind::Http | PropKind::Db | PropKind::Apphook | PropKind::Inert => Ok(None),
    }
}

fn item_type(prop: &PropDefinition) -> InputType {
    prop.input_type().unwrap_or(InputType::Any)
}

fn read_list(prop: &PropDefinition, entered: &Entered) -> Result<Option<Value>, String> {
    let item_type = item_type(prop);
    let chosen = entered.parts(Part::Value, &prop.name);
    let mut items = chosen
        .map(|text| read_item(item_type, text))
        .collect::<Result<Vec<_>, _>>()?;
    for (at, text) in entered.parts(Part::Item, &prop.name).enumerate() {
        let item = read_item(item_type, text);
        items.push(item.map_err(|reason| format!("item {}: {reason}", at + 1))?);
    }
    if let Some(text) = entered.part(Part::Own, &prop.name) {
        items.extend(list::read(item_type, text)?);
    }
    Ok((!items.is_empty()).then_some(Value::Array(items)))
}

/// A request: its URL, its method, and the rest of it as JSON.
fn read_request(prop: &str, entered: &Entered) -> Result<Option<Value>, String> {
    let mut request = match entered
        .part(Part::Value, prop)
        .filter(|text| !text.trim().is_empty())
    {
        Some(text) => match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err("the rest of the request must be a JSON object".to_owned()),
            Err(error) => return Err(not_json(&error)),
        },
        None => Map::new(),
    };
    for (name, part) in [("url", Part::Url), ("method", Part::Method)] {
        if let Some(text) = entered.part(part, prop) {
            request.insert(name.to_owned(), Value::from(text.trim()));
        }
    }
    Ok((!request.is_empty()).then_some(Value::Object(request)))
}

/// Fills in the fields of a prop with its value. Values of secrets never come here.
pub(crate) fn fill(prop: &PropDefinition, value: &Value, entered: &mut Entered) {
    let name = prop.name.as_str();
    match prop.kind() {
        PropKind::Timer => schedule::fill(name, value, entered),
        PropKind::App => {
            if let Some(id) = value.get("authProvisionId").and_then(Value::as_str) {
                entered.set(Part::Value, name, id);
            }
        }
        PropKind::DataStore => {
            if let Some(store) = prop.final_value(value).as_str() {
                entered.set(Part::Value, name, store);
            }
        }
        PropKind::HttpRequest => fill_request(name, value, entered),
        PropKind::Input if prop.is_list() => fill_list(prop, value, entered),
        PropKind::Input => {
            let text = text_of(item_type(prop), &as_pick(prop, value));
            entered.set(Part::Value, name, text);
        }
        PropKind::Http | PropKind::Db | PropKind::Apphook | PropKind::Inert => {}
    }
}

/// A value with its label that was given the short way, as a pick.
fn as_pick(prop: &PropDefinition, value: &Value) -> Value {
    let is_pair = prop.flag("withLabel") && value.get("value").is_some();
    if is_pair {
        json!({ "__lv": value })
    } else {
        value.clone()
    }
}

fn fill_list(prop: &PropDefinition, value: &Value, entered: &mut Entered) {
    let items = value.as_array().cloned().unwrap_or_default();
    let items = items.iter().map(|item| as_pick(prop, item));
    let (picks, others): (Vec<_>, Vec<_>) = items.partition(|item| item.get("__lv").is_some());
    entered.forget(Part::Value, &prop.name);
    for pick in picks {
        entered.add(Part::Value, &prop.name, pick.to_string());
    }
    entered.set(Part::Own, &prop.name, list::write(item_type(prop), &others));
}

fn fill_request(name: &str, value: &Value, entered: &mut Entered) {
    let mut rest = value.as_object().cloned().unwrap_or_default();
    for (field, part) in [("url", Part::Url), ("method", Part::Method)] {
        if let Some(Value::String(text)) = rest.get(field) {
            entered.set(part, name, text.as_str());
            rest.shift_remove(field);
        }
    }
    if !rest.is_empty() {
        let text = serde_json::to_string_pretty(&rest).unwrap_or_default();
        entered.set(Part::Value, name, text);
    }
}

#[cfg(test)]
mod tests;
