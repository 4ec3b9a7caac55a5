//! The comparison of a trial with one whose node was killed.

use std::ops::RangeInclusive;

use headwater_model::time::EpochMs;
use serde_json::Value;

use super::expectation::Difference;
use super::node::PUBLIC_URL;
use super::trial::Trial;

/// The digits of ids behind their prefix (`headwater_model::id`).
const ID_DIGITS: usize = 22;
/// The bits of an id that are random, below those of its time.
const ID_RANDOM_BITS: u32 = 80;

/// The things that the kill has changed. Ids and tokens that were drawn for a trial count as the same.
pub(super) fn differences(whole: &Trial, killed: &Trial) -> Vec<Difference> {
    let pairs = traces(whole).into_iter().zip(traces(killed));
    let changed = pairs.filter(|((_, before), (_, after))| before != after);
    changed
        .map(|((what, before), (_, after))| Difference::new(what, before, after))
        .collect()
}

fn traces(trial: &Trial) -> [(&'static str, Value); 7] {
    let found = &trial.found;
    [
        ("status", Value::from(found.status)),
        ("path", Value::from(found.path.clone())),
        ("calls", found.by_place(|call| Some(call.props.clone()))),
        ("results", found.results.clone()),
        ("error", found.error.clone().unwrap_or_default()),
        ("sends", found.by_place(sends)),
        ("http", Value::from(trial.unexpected.clone())),
    ]
    .map(|(what, value)| (what, undrawn(value, &trial.span)))
}

fn sends(call: &super::calls::Call) -> Option<Value> {
    (!call.sends.is_empty()).then(|| Value::from(call.sends.clone()))
}

/// The value without the ids and tokens that were drawn in the span.
fn undrawn(value: Value, span: &RangeInclusive<EpochMs>) -> Value {
    match value {
        Value::String(text) => Value::String(undrawn_text(&text, span)),
        Value::Array(items) => items.into_iter().map(|item| undrawn(item, span)).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (undrawn_text(&name, span), undrawn(value, span)))
                .collect()
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}

fn undrawn_text(text: &str, span: &RangeInclusive<EpochMs>) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let text = without_tokens(text);
    let mut rest = text.as_str();
    let mut plain = String::with_capacity(text.len());
    while let Some(start) = rest.find(is_part) {
        let (before, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|part| !is_part(part)).unwrap_or(word.len()));
        plain.push_str(before);
        match word.rsplit_once('_') {
            Some((prefix, digits)) if drawn_ms(digits).is_some_and(|ms| span.contains(&ms)) => {
                plain.push_str(prefix);
                plain.push_str("_…");
            }
            Some(_) | None => plain.push_str(word),
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// The moment at which an id with these digits was drawn.
fn drawn_ms(digits: &str) -> Option<EpochMs> {
    if digits.len() != ID_DIGITS {
        return None;
    }
    let mut value: u128 = 0;
    for digit in digits.bytes() {
        let digit = match digit {
            b'0'..=b'9' => digit - b'0',
            b'A'..=b'Z' => digit - b'A' + 10,
            b'a'..=b'z' => digit - b'a' + 36,
            _ => return None,
        };
        value = value.checked_mul(62)?.checked_add(digit.into())?;
    }
    u64::try_from(value >> ID_RANDOM_BITS).ok().map(EpochMs)
}

/// The text with its URLs of this node cut off where their tokens begin.
fn without_tokens(text: &str) -> String {
    let mut parts = text.split(PUBLIC_URL);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_token =
            |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
        // `/w/TOKEN/resume`
        let (kind, rest) = part.split_at_checked(3).unwrap_or((part, ""));
        plain.push_str(PUBLIC_URL);
        plain.push_str(kind);
        plain.push_str(rest.trim_start_matches(is_token));
    }
    plain
}

#[cfg(test)]
mod tests {
    use headwater_model::id::{InvocationId, TriggerId, TriggerKind, WorkflowId};
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_and_tokens_of_the_trial_count_as_the_same() {
        let (began, ended) = (EpochMs(1_900_000_000_000), EpochMs(1_900_000_005_000));
        let span = began..=ended;
        let run = InvocationId::new(began, u128::MAX).to_string();
        let trigger = TriggerId::new(TriggerKind::Http, ended, 7);
        let other = WorkflowId::new(EpochMs(ended.0 + 1), 7).to_string();
        let value = json!({
            run.clone(): [
                format!("{run}/ask, {}", trigger.as_str()),
                format!("my_{run}"),
                other,
                "inv_1",
                "Yes: https://node.example/w/a.b-c/resume, no: https://node.example/w/d/cancel",
            ],
            "n": 1,
        });
        let plain = json!({
            "inv_…": [
                "inv_…/ask, hi_…",
                "my_inv_…",
                other,
                "inv_1",
                "Yes: https://node.example/w//resume, no: https://node.example/w//cancel",
            ],
            "n": 1,
        });
        assert_eq!(undrawn(value, &span), plain);
        let url = json!("https://node.example");
        assert_eq!(undrawn(url.clone(), &span), url);
    }
}
