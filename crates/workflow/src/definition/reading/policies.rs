//! Retry policies, of steps and of the workflow.

use std::time::Duration;

use super::{fields::Fields, reader::Reader};
use crate::{
    definition::retry::{FailureKind, Retry},
    yaml::{Content, Entry, Yaml},
};

const ATTEMPTS: std::ops::RangeInclusive<u32> = 1..=100;
const FACTORS: std::ops::RangeInclusive<f64> = 1.0..=100.0;

/// `{attempts, initial, factor, max, jitter, on}`, each of which may be left out.
pub(super) fn retry(yaml: &Yaml, reader: &mut Reader<'_>) -> Retry {
    let mut fields = Fields::of(yaml, reader);
    let mut retry = Retry::default();
    if let Some(entry) = fields.take("attempts") {
        retry.attempts = reader.whole(entry, "", &ATTEMPTS).unwrap_or(retry.attempts);
    }
    if let Some(entry) = fields.take("initial") {
        retry.initial = reader.span(entry, Duration::ZERO).unwrap_or_default();
        // A first pause beyond the default of `max` is meant.
        retry.max = retry.max.max(retry.initial);
    }
    if let Some(entry) = fields.take("factor") {
        retry.factor = factor(entry, reader).unwrap_or(retry.factor);
    }
    if let Some(entry) = fields.take("max") {
        retry.max = reader.span(entry, Duration::ZERO).unwrap_or_default();
    }
    if let Some(entry) = fields.take("jitter") {
        retry.jitter = reader.flag(entry).unwrap_or_default();
    }
    if let Some(entry) = fields.take("on") {
        retry.on = kinds(entry, reader);
    }
    fields.finish(reader);
    retry
}

fn factor(entry: &Entry, reader: &mut Reader<'_>) -> Option<f64> {
    let factor = match &entry.value.content {
        Content::Number(number) => number.as_f64(),
        _ => None,
    };
    match factor.filter(|factor| FACTORS.contains(factor)) {
        Some(factor) => Some(factor),
        None => reader.unexpected(entry, "a number from 1 to 100"),
    }
}

fn kinds(entry: &Entry, reader: &mut Reader<'_>) -> Vec<FailureKind> {
    let items = match &entry.value.content {
        Content::Text(_) => std::slice::from_ref(&entry.value),
        _ => reader.list(entry),
    };
    let mut kinds = Vec::new();
    for item in items {
        let known = FailureKind::ALL.into_iter();
        match known
            .clone()
            .find(|kind| Some(kind.as_str()) == item.text())
        {
            Some(kind) => kinds.push(kind),
            None => {
                let names: Vec<_> = known.map(|kind| format!("`{}`", kind.as_str())).collect();
                let message = format!(
                    "`on` names failures to try again after: {}. Errors of the configuration are never tried again",
                    names.join(", ")
                );
                reader.problem(item.position, message);
            }
        }
    }
    kinds
}
