//! The values of a test's variables in place of their marks, which differ from node to node: tests compare values.

use std::collections::BTreeMap;

use serde_json::Value;

const FENCE: &str = "***";

/// The variables of a test, whose values its node masks as `***NAME:…***`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks<'a>(pub(super) &'a BTreeMap<String, String>);

impl Marks<'_> {
    /// A value with the values of variables in all of its texts.
    pub(super) fn opened(self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.opened(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                fields
                    .map(|(name, value)| (self.text(name), self.opened(value)))
                    .collect()
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }

    fn text(self, text: String) -> String {
        let variables = self.0.iter();
        variables.fold(text, |text, (name, value)| {
            let start = format!("{FENCE}{name}:");
            let mut parts = text.split(start.as_str());
            let mut opened = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                match part.split_once(FENCE) {
                    Some((signed, rest)) if is_signature(signed) => {
                        opened.push_str(value);
                        opened.push_str(rest);
                    }
                    Some(_) | None => {
                        opened.push_str(&start);
                        opened.push_str(part);
                    }
                }
            }
            opened
        })
    }
}

fn is_signature(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|character| character.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_of_the_tests_variables_become_their_values_and_other_text_stays() {
        let variables = [("TOKEN", "t0ken99"), ("TOKEN_2", "other-7")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = BTreeMap::from(variables);
        let value = json!({
            "a": ["Bearer ***TOKEN:1a5e17dd284758ef***, ***TOKEN_2:00***", 7],
            "***TOKEN:0f***": "***TOKEN:*** ***TOKEN:xyz*** ***OTHER:00***",
        });
        assert_eq!(
            Marks(&variables).opened(value),
            json!({
                "a": ["Bearer t0ken99, other-7", 7],
                "t0ken99": "***TOKEN:*** ***TOKEN:xyz*** ***OTHER:00***",
            })
        );
    }
}
