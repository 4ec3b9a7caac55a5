//! Masking of variables and of accounts' secrets: whatever a run keeps, shows or emits has a mark in place of such a
//! value. A mark cannot be guessed, so that the platform can put the value back where code of the same owner reads what
//! an earlier step returned.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use headwater_workflow::run::{FlowCall, Kept, StepEnd, StepOutcome};
use serde_json::value::RawValue;

use super::tokens::WaitKey;
use crate::log_line::LogLine;

/// Shorter values are no secrets, and would be found everywhere.
const VALUE_CHARS_MIN: usize = 6;
/// The beginning and the end of a mark.
pub(super) const FENCE: &str = "***";

/// Values that are masked, with their marks.
#[derive(Debug, Default)]
pub(crate) struct Masks(Vec<Mask>);

/// A value with its mark.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    value: String,
    /// The value as it is within JSON text.
    escaped: String,
    /// The same in plain text and in JSON.
    mark: String,
}

impl Mask {
    /// The mask of a value; `None` if that is too short for a secret. `name` is the same in plain text and in JSON.
    pub(super) fn new(value: &str, name: &str) -> Option<Self> {
        (value.chars().count() >= VALUE_CHARS_MIN).then(|| Self {
            value: value.to_owned(),
            escaped: escaped(value),
            mark: format!("{FENCE}{name}{FENCE}"),
        })
    }
}

impl Masks {
    /// The masks of these variables.
    pub(crate) fn of(key: &WaitKey, tenant: &str, variables: &BTreeMap<String, String>) -> Self {
        let masks = variables.iter().filter_map(|(name, value)| {
            let signed = key.mark(&format!("{tenant} {name}"));
            Mask::new(value, &format!("{name}:{signed}"))
        });
        Self(Vec::new()).with(masks)
    }

    /// These and others, longest value first: one may be part of another.
    pub(crate) fn with(&self, others: impl IntoIterator<Item = Mask>) -> Self {
        let mut masks = self.0.clone();
        masks.extend(others);
        masks.sort_by_key(|mask| std::cmp::Reverse(mask.value.len()));
        Self(masks)
    }

    /// Plain text without the values.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut masked = Cow::Borrowed(text);
        for mask in &self.0 {
            if masked.contains(&mask.value) {
                masked = Cow::Owned(masked.replace(&mask.value, &mask.mark));
            }
        }
        masked
    }

    /// JSON without the values; `None` if it has none of them.
    pub(crate) fn json(&self, json: &RawValue) -> Option<Box<RawValue>> {
        let mut masked = Cow::Borrowed(json.get());
        for mask in &self.0 {
            if masked.contains(&mask.escaped) {
                masked = Cow::Owned(masked.replace(&mask.escaped, &mask.mark));
            }
        }
        match masked {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => RawValue::from_string(text).ok(),
        }
    }

    /// JSON text with the values back in place of their marks.
    pub(crate) fn opened(&self, json: String) -> String {
        let mut opened = json;
        for mask in &self.0 {
            if opened.contains(&mask.mark) {
                opened = opened.replace(&mask.mark, &mask.escaped);
            }
        }
        opened
    }

    /// Masks the end of an execution and its log.
    pub(super) fn hide(&self, end: &mut StepEnd, logs: &mut [LogLine]) {
        if self.0.is_empty() {
            return;
        }
        for (_, value) in &mut end.exports {
            self.kept(value);
        }
        match &mut end.outcome {
            StepOutcome::Returned(Some(value)) => self.kept(value),
            StepOutcome::Failed(failure) => {
                for text in [&mut failure.error.message, &mut failure.error.stack] {
                    *text = self.text(text).into_owned();
                }
            }
            StepOutcome::Returned(None) | StepOutcome::Skipped => {}
        }
        for call in &mut end.flow {
            if let FlowCall::Rerun {
                context: Some(context),
                ..
            } = call
            {
                self.kept(context);
            }
        }
        if let Some(reason) = &mut end.exit {
            *reason = self.text(reason).into_owned();
        }
        for line in logs {
            line.message = self.text(&line.message).into_owned();
        }
    }

    fn kept(&self, value: &mut Kept) {
        if let Kept::Here(json) = value
            && let Some(masked) = self.json(json)
        {
            *value = Kept::Here(Arc::from(masked));
        }
    }
}

/// Text as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;
    use crate::signing_key::SigningKey;

    fn masks(variables: &[(&str, &str)]) -> Masks {
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Masks::of(&WaitKey(SigningKey([7; 64])), "u_1", &variables.collect())
    }

    #[test]
    fn values_are_marked_and_put_back() {
        let masks = masks(&[
            ("A", "hunter2\"x"),
            ("B", "hunter2\"x and more"),
            ("SHORT", "true"),
        ]);
        let value = json!({ "a": "Bearer hunter2\"x", "b": "hunter2\"x and more", "c": true });
        let masked = masks.json(&to_raw_value(&value).unwrap()).unwrap();
        assert!(!masked.get().contains("hunter2"), "{masked}");
        assert!(
            masked.get().contains("***A:") && masked.get().contains("***B:"),
            "{masked}"
        );
        let opened: serde_json::Value =
            serde_json::from_str(&masks.opened(masked.get().to_owned())).unwrap();
        assert_eq!(opened, value);
        assert_eq!(masks.text("log hunter2\"x").matches("hunter2").count(), 0);
    }

    #[test]
    fn text_without_values_stays_and_marks_of_others_open_nothing() {
        let masks = masks(&[("A", "hunter2")]);
        assert!(
            masks
                .json(&to_raw_value(&json!("plain")).unwrap())
                .is_none()
        );
        let foreign = Masks::of(
            &WaitKey(SigningKey([8; 64])),
            "u_1",
            &BTreeMap::from([("A".to_owned(), "hunter2".to_owned())]),
        );
        let mark = foreign.text("hunter2").into_owned();
        assert_eq!(masks.opened(format!("\"{mark}\"")), format!("\"{mark}\""));
        assert_eq!(masks.opened("\"***A:***\"".to_owned()), "\"***A:***\"");
    }
}
