//! Single values: texts, numbers, times, templates and conditions.

use std::{ops::RangeInclusive, time::Duration};

use headwater_javascript::embedded::{Part, parts};

use super::reader::Reader;
use crate::{
    definition::record::{Expression, Literal, Scope},
    moment,
    template::{Condition, Template},
    yaml::{Content, Entry, Yaml},
};

/// The longest time in a file.
pub(super) const LONGEST: Duration = Duration::from_hours(366 * 24);

impl Reader<'_> {
    /// A text. Numbers and truth values count as what is written.
    pub(super) fn text(&mut self, entry: &Entry) -> Option<String> {
        match &entry.value.content {
            Content::Text(text) => Some(text.clone()),
            Content::Number(number) => Some(number.to_string()),
            Content::Bool(value) => Some(value.to_string()),
            _ => self.unexpected(entry, "a text"),
        }
    }

    pub(super) fn flag(&mut self, entry: &Entry) -> Option<bool> {
        match &entry.value.content {
            Content::Bool(value) => Some(*value),
            Content::Text(text) if text == "true" => Some(true),
            Content::Text(text) if text == "false" => Some(false),
            _ => self.unexpected(entry, "true or false"),
        }
    }

    /// A whole number; `of` is its unit, or nothing.
    pub(super) fn whole(
        &mut self,
        entry: &Entry,
        of: &str,
        range: &RangeInclusive<u32>,
    ) -> Option<u32> {
        let number = match &entry.value.content {
            Content::Number(number) => number.as_u64(),
            Content::Text(text) => text.parse().ok(),
            _ => None,
        };
        let number = number.and_then(|number| u32::try_from(number).ok());
        match number.filter(|number| range.contains(number)) {
            Some(number) => Some(number),
            None => {
                let (from, to) = (range.start(), range.end());
                let expected = format!("a whole number{of} from {from} to {to}");
                self.unexpected(entry, &expected)
            }
        }
    }

    /// One of several words.
    pub(super) fn choice<T: Copy>(&mut self, entry: &Entry, choices: &[(&str, T)]) -> Option<T> {
        let text = entry.value.text();
        let found = choices.iter().find(|(name, _)| Some(*name) == text);
        if let Some((_, value)) = found {
            return Some(*value);
        }
        let names: Vec<_> = choices
            .iter()
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        self.unexpected(entry, &names.join(" or "))
    }

    /// A time span of a year at most.
    pub(super) fn span(&mut self, entry: &Entry, shortest: Duration) -> Option<Duration> {
        let span = moment::span(&entry.value.to_json());
        let expected =
            "a time of a year at most, such as `500ms`, `30s`, `5m`, `2h`, `7d` or milliseconds";
        match span.filter(|span| (shortest..=LONGEST).contains(span)) {
            Some(span) => Some(span),
            None => self.unexpected(entry, expected),
        }
    }

    pub(super) fn list<'y>(&mut self, entry: &'y Entry) -> &'y [Yaml] {
        match &entry.value.content {
            Content::List(items) => items,
            _ => self.unexpected(entry, "a list").unwrap_or_default(),
        }
    }

    /// A value with expressions.
    pub(super) fn template(&mut self, yaml: &Yaml, place: &str) -> Template {
        let scope = self.scope();
        self.note(yaml, place, &scope);
        Template::compile(&yaml.to_json())
    }

    pub(super) fn condition(&mut self, entry: &Entry, place: &str) -> Option<Condition> {
        let scope = self.scope();
        self.condition_in(entry, place, (&scope, None))
    }

    /// A condition that sees other results, or whose rules look at one value.
    pub(super) fn condition_in(
        &mut self,
        entry: &Entry,
        place: &str,
        (scope, subject): (&Scope, Option<&Template>),
    ) -> Option<Condition> {
        self.note(&entry.value, place, scope);
        match Condition::compile_about(&entry.value.to_json(), subject) {
            Ok(condition) => Some(condition),
            Err(error) => {
                self.problem(entry.value.position, format!("`{place}`: {error}"));
                None
            }
        }
    }

    /// Notes the expressions in a value, and texts that look like some.
    fn note(&mut self, yaml: &Yaml, place: &str, scope: &Scope) {
        match &yaml.content {
            Content::Text(text) => self.note_text(yaml, text, (place, scope)),
            Content::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.note(item, &format!("{place}[{index}]"), scope);
                }
            }
            Content::Map(entries) => {
                for entry in entries {
                    self.note(&entry.value, &format!("{place}.{}", entry.key), scope);
                }
            }
            Content::Null | Content::Bool(_) | Content::Number(_) => {}
        }
    }

    fn note_text(&mut self, yaml: &Yaml, text: &str, (place, scope): (&str, &Scope)) {
        let (position, place, scope) = (yaml.position, place.to_owned(), scope.clone());
        for part in parts(text) {
            let (place, scope) = (place.clone(), scope.clone());
            match part {
                Part::Expression(text) => self.record().expressions.push(Expression {
                    text: text.to_owned(),
                    position,
                    place,
                    scope,
                }),
                Part::Text(text) => self.record().literals.push(Literal {
                    text: text.to_owned(),
                    position,
                    place,
                    scope,
                }),
            }
        }
    }

    /// A value that is something else than what belongs here.
    pub(super) fn unexpected<T>(&mut self, entry: &Entry, expected: &str) -> Option<T> {
        let found = match &entry.value.content {
            Content::Text(text) if text.chars().count() <= 60 => format!("`{text}`"),
            Content::Number(number) => number.to_string(),
            Content::Bool(value) => value.to_string(),
            _ => entry.value.kind().to_owned(),
        };
        let message = format!("`{}` is {found}; expected {expected}", entry.key);
        self.problem(entry.value.position, message);
        None
    }
}
