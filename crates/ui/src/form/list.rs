//! Lists as text: one item a line, or as JSON where a line could not hold an item; or each item in a field of its own.

use headwater_model::prop::{InputType, PropDefinition};
use serde_json::Value;

use super::{
    entered::{Entered, Part},
    item::{read_item, text_of},
};

/// The items of a list that are none of its options.
pub(crate) struct Items {
    /// The text of a field that has all of them.
    pub(crate) text: String,
    /// The texts of fields that have one each, if one line holds each item.
    pub(crate) texts: Option<Vec<String>>,
}

impl Items {
    /// Those of a form, from fields of either kind.
    pub(crate) fn of(prop: &PropDefinition, entered: &Entered) -> Self {
        let item_type = prop.input_type().unwrap_or(InputType::Any);
        let own = entered.parts(Part::Item, &prop.name).map(str::to_owned);
        let mut texts: Vec<String> = own.collect();
        let lines = entered.part(Part::Own, &prop.name).unwrap_or_default();
        let text = match texts.is_empty() {
            true => lines.to_owned(),
            false => String::new(),
        };
        texts.extend(split(item_type, lines));
        let has_lines = item_type != InputType::Object && texts.iter().all(|it| !it.contains('\n'));
        Self {
            text: if text.is_empty() {
                joined(item_type, &texts)
            } else {
                text
            },
            texts: has_lines.then_some(texts),
        }
    }
}

/// The texts of the items, or the lines if they cannot be read.
fn split(item_type: InputType, text: &str) -> Vec<String> {
    match read(item_type, text) {
        Ok(items) => items.iter().map(|item| text_of(item_type, item)).collect(),
        Err(_) => text.lines().map(str::to_owned).collect(),
    }
}

fn joined(item_type: InputType, texts: &[String]) -> String {
    let items = texts.iter().map(|text| read_item(item_type, text));
    match items.collect::<Result<Vec<_>, _>>() {
        Ok(items) => write(item_type, &items),
        Err(_) => texts.join("\n"),
    }
}

/// The items of a text.
pub(super) fn read(item_type: InputType, text: &str) -> Result<Vec<Value>, String> {
    if let Some(items) = as_json(text) {
        return Ok(items);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let items = lines.enumerate().map(|(at, line)| {
        read_item(item_type, line).map_err(|reason| format!("item {}: {reason}", at + 1))
    });
    items.collect()
}

/// The text of items.
pub(super) fn write(item_type: InputType, items: &[Value]) -> String {
    let lines: Vec<_> = items.iter().map(|item| text_of(item_type, item)).collect();
    let text = lines.join("\n");
    match read(item_type, &text) {
        Ok(read) if read == items => text,
        _ => serde_json::to_string_pretty(items).unwrap_or(text),
    }
}

fn as_json(text: &str) -> Option<Vec<Value>> {
    text.trim_start()
        .starts_with('[')
        .then(|| serde_json::from_str(text).ok())?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn items_are_lines_where_lines_can_hold_them() {
        for (item_type, items, text) in [
            (InputType::String, json!(["a", "b c"]), "a\nb c"),
            (InputType::Integer, json!([1, -2]), "1\n-2"),
            (InputType::Boolean, json!([true, false]), "true\nfalse"),
            (InputType::Any, json!([1, "a", {"b": 2}]), ""),
            (InputType::Object, json!([{"a": 1}, {"b": [2]}]), ""),
            (
                InputType::String,
                json!(["two\nlines"]),
                "[\n  \"two\\nlines\"\n]",
            ),
            (
                InputType::String,
                json!([" blank ", ""]),
                "[\n  \" blank \",\n  \"\"\n]",
            ),
            (
                InputType::String,
                json!(["[\"x\"]"]),
                "[\n  \"[\\\"x\\\"]\"\n]",
            ),
            (InputType::String, json!([]), ""),
        ] {
            let items = items.as_array().unwrap();
            let written = write(item_type, items);
            if !text.is_empty() {
                assert_eq!(written, text);
            }
            assert_eq!(read(item_type, &written).unwrap(), *items, "{written}");
        }
    }

    #[test]
    fn blank_lines_are_no_items_and_faults_name_theirs() {
        assert_eq!(
            read(InputType::String, "\n a \n\n b\n").unwrap(),
            [json!("a"), json!("b")]
        );
        let wrong = read(InputType::Integer, "1\ntwo").unwrap_err();
        assert_eq!(wrong, "item 2: `two` is not a whole number");
    }
}
