//! Masking of variables and of accounts' secrets: whatever a run keeps, shows or emits has a mark in place of such a
//! value. A mark cannot be guessed, so that the platform can put the value back where code of the same owner reads what
//! an earlier step returned.

use std::{borrow::Cow, collections::BTreeMap, ops::Range, sync::Arc};

use aho_corasick::{AhoCorasick, Input, Match, MatchKind};
use serde_json::value::RawValue;

use super::tokens::WaitKey;
use crate::{aside::Aside, error::PlatformError};

/// Bytes of a text, or of all values, that are looked through on the thread of whoever asks. More are left to a thread that
/// nobody else waits for.
const AT_ONCE: usize = 256 * 1024;
/// Shorter values are no secrets, and would be found everywhere.
const VALUE_CHARS_MIN: usize = 6;
/// The beginning and the end of a mark.
pub(super) const FENCE: &str = "***";

/// Values that are masked, with their marks. Each text is read once: a mark is no place to look for other values.
#[derive(Debug, Default)]
pub(crate) struct Masks {
    masks: Vec<Mask>,
    /// Nothing without masks.
    finders: Option<Finders>,
}

/// Finders of the values, of their form within JSON text, and of the marks. Of values of which one begins with another, the
/// longer one is found.
#[derive(Debug)]
struct Finders {
    values: AhoCorasick,
    escaped: AhoCorasick,
    marks: AhoCorasick,
}

impl Finders {
    fn new(masks: &[Mask]) -> Option<Self> {
        let finder = |part: fn(&Mask) -> &String| {
            let mut builder = AhoCorasick::builder();
            builder.match_kind(MatchKind::LeftmostLongest);
            builder.build(masks.iter().map(part)).ok()
        };
        Some(Self {
            values: finder(|mask| &mask.value)?,
            escaped: finder(|mask| &mask.escaped)?,
            marks: finder(|mask| &mask.mark)?,
        })
    }
}

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
        Self::default().with(masks)
    }

    /// These and others.
    pub(crate) fn with(&self, others: impl IntoIterator<Item = Mask>) -> Self {
        let mut masks = self.masks.clone();
        masks.extend(others);
        let finders = match masks.is_empty() {
            true => None,
            false => Some(Finders::new(&masks).expect("so few values can be looked for")),
        };
        Self { masks, finders }
    }

    /// The masks of these variables; other tasks go on while those of many are put together.
    pub(super) async fn built(
        aside: &Aside,
        key: &Arc<WaitKey>,
        tenant: &str,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, PlatformError> {
        if variables.values().map(String::len).sum::<usize>() <= AT_ONCE {
            return Ok(Self::of(key, tenant, variables));
        }
        let (key, tenant, variables) = (Arc::clone(key), tenant.to_owned(), variables.clone());
        let built = aside.run(move || Self::of(&key, &tenant, &variables));
        built.await
    }

    /// An event without the values; other tasks go on while a large one is looked through.
    pub(super) async fn event(
        self: Arc<Self>,
        aside: &Aside,
        event: Arc<RawValue>,
    ) -> Result<Arc<RawValue>, PlatformError> {
        let is_small = self.masks.is_empty() || event.get().len() <= AT_ONCE;
        let masked = move || self.json(&event).map_or(event, Arc::from);
        match is_small {
            true => Ok(masked()),
            false => aside.run(masked).await,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }

    /// Plain text without the values.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match &self.finders {
            Some(finders) if finders.values.is_match(text) => {
                let found = finders.values.find_iter(text);
                let found = found.map(|found| (found.range(), &*self.mask(&found).mark));
                Cow::Owned(replaced(text, found))
            }
            _ => Cow::Borrowed(text),
        }
    }

    /// JSON without the values; `None` if it has none of them. Values are looked for in its texts and names: a number stays
    /// one.
    pub(crate) fn json(&self, json: &RawValue) -> Option<Box<RawValue>> {
        let finder = &self.finders.as_ref()?.escaped;
        let text = json.get();
        if !finder.is_match(text) {
            return None;
        }
        let mut found = Vec::new();
        for string in strings(text) {
            let mut from = string.start;
            while let Some(one) = finder.find(Input::new(text).range(from..string.end)) {
                match escape_around(&text[from..string.end], one.start() - from) {
                    // The second half of an escape is no character.
                    Some(end) => from += end,
                    None => {
                        from = one.end();
                        found.push((one.range(), &*self.mask(&one).mark));
                    }
                }
            }
        }
        if found.is_empty() {
            return None;
        }
        let masked = RawValue::from_string(replaced(text, found.into_iter()));
        Some(masked.expect("marks within strings leave JSON what it is"))
    }

    /// JSON text with the values back in place of their marks.
    pub(crate) fn opened(&self, json: String) -> String {
        match &self.finders {
            Some(finders) if finders.marks.is_match(&json) => {
                let found = finders.marks.find_iter(&json);
                let found = found.map(|found| (found.range(), &*self.mask(&found).escaped));
                replaced(&json, found)
            }
            _ => json,
        }
    }

    fn mask(&self, found: &Match) -> &Mask {
        &self.masks[found.pattern().as_usize()]
    }
}

/// The text with other words at these places, which come in their order.
fn replaced<'a>(text: &str, found: impl Iterator<Item = (Range<usize>, &'a str)>) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut end = 0;
    for (range, word) in found {
        replaced.push_str(&text[end..range.start]);
        replaced.push_str(word);
        end = range.end;
    }
    replaced.push_str(&text[end..]);
    replaced
}

/// The ranges between the quotes of all strings of a JSON text.
fn strings(json: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|byte| *byte == b'"')? + 1;
        let mut end = start;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        at = (end + 1).min(bytes.len());
        Some(start..end.min(bytes.len()))
    })
}

/// The end of the escape that a place of a JSON string is within, if it is within one. The string is given from the
/// beginning of a character on.
fn escape_around(string: &str, place: usize) -> Option<usize> {
    let bytes = string.as_bytes();
    let mut at = 0;
    while at < place {
        let next = match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => at + 6,
            (b'\\', _) => at + 2,
            _ => at + 1,
        };
        if next > place {
            return Some(next.min(bytes.len()));
        }
        at = next;
    }
    None
}

/// Text as it stands between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{json, value::to_raw_value};

    use super::*;
    use crate::signing_key::SigningKey;

    pub(in crate::workflows) fn masks(variables: &[(&str, &str)]) -> Masks {
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

    #[track_caller]
    fn comes_back(masks: &Masks, value: &serde_json::Value) -> String {
        let masked = masks.json(&to_raw_value(value).unwrap()).unwrap();
        let masked = masked.get().to_owned();
        let opened: serde_json::Value =
            serde_json::from_str(&masks.opened(masked.clone())).unwrap();
        assert_eq!(opened, *value, "{masked}");
        masked
    }

    #[test]
    fn a_value_in_another_ones_name_leaves_its_mark_alone() {
        let masks = masks(&[
            ("PRODUCTION_DB_PASSWORD", "hunter2-hunter2"),
            ("ENV_NAME", "PRODUCTION"),
        ]);
        let value = json!({ "p": "hunter2-hunter2", "e": "PRODUCTION" });
        assert!(!comes_back(&masks, &value).contains("hunter2"));
    }

    #[test]
    fn numbers_and_escapes_stay_what_they_are_and_switch_nothing_off() {
        let masks = masks(&[
            ("CHAT", "123456789"),
            ("TOKEN", "hunter2-hunter2"),
            ("LINE", "nnormal"),
            ("HEX", "u001fx"),
        ]);
        let value = json!({
            "chat": 123_456_789, "as text": "123456789", "bearer": "Bearer hunter2-hunter2",
            "line": "\nnormal nnormal", "hex": "\u{1f}x", "hunter2-hunter2": ["\\"],
        });
        let masked = comes_back(&masks, &value);
        assert!(!masked.contains("hunter2"), "{masked}");
        let masked: serde_json::Value = serde_json::from_str(&masked).unwrap();
        assert_eq!(masked["chat"], 123_456_789);
        assert_eq!(masked["hex"], "\u{1f}x");
        let line = masked["line"].as_str().unwrap();
        assert!(line.starts_with("\nnormal ***LINE:"), "{line}");
    }

    /// Other requests are served meanwhile: the first look at the work does not wait for its end.
    #[tokio::test]
    async fn a_large_event_and_many_values_are_masked_beside_the_tasks() {
        let aside = Aside::default();
        let few = Arc::new(masks(&[("TOKEN", "hunter2-hunter2")]));
        let of = |bytes: usize| -> Arc<RawValue> {
            let event = json!({ "token": "hunter2-hunter2", "rest": "x".repeat(bytes) });
            Arc::from(to_raw_value(&event).unwrap())
        };
        let small = std::pin::pin!(Arc::clone(&few).event(&aside, of(10)));
        assert!(futures::poll!(small).is_ready());
        let large = of(AT_ONCE);
        let mut masking = std::pin::pin!(Arc::clone(&few).event(&aside, Arc::clone(&large)));
        assert!(futures::poll!(&mut masking).is_pending());
        let masked = masking.await.unwrap();
        assert_eq!(masked.get(), few.json(&large).unwrap().get());

        let key = Arc::new(WaitKey(SigningKey([7; 64])));
        let many = |count: usize| -> BTreeMap<String, String> {
            let values = (0..count).map(|number| (format!("V{number}"), format!("{number:01024}")));
            values.collect()
        };
        let some = many(1);
        let building = std::pin::pin!(Masks::built(&aside, &key, "u_1", &some));
        assert!(futures::poll!(building).is_ready());
        let all = many(1_000);
        let mut building = std::pin::pin!(Masks::built(&aside, &key, "u_1", &all));
        assert!(futures::poll!(&mut building).is_pending());
        let built = building.await.unwrap();
        assert!(!built.text(&format!("a {:01024}", 999)).contains("0999"));
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
