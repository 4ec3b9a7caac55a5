//! A value at a place of JSON text, found while the text is read once.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// A step into JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// To the value of a key.
    Key(String),
    /// To the item of that number.
    Item(usize),
    /// To any of the items.
    AnyItem,
}

/// A value to be found: a text, and the scalar that it spells.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// None: only the scalar counts, because it was written with quotes.
    text: Option<String>,
    scalar: Option<Value>,
}

impl Wanted {
    pub(super) fn new(value: &str) -> Self {
        let scalar: Option<Value> = serde_json::from_str(value).ok();
        let scalar = scalar.filter(|scalar| !scalar.is_object() && !scalar.is_array());
        let is_quoted = scalar.as_ref().is_some_and(Value::is_string);
        Self {
            text: (!is_quoted).then(|| value.to_owned()),
            scalar,
        }
    }

    fn is_text(&self, text: &str) -> bool {
        let is_scalar = |scalar: &Value| scalar.as_str() == Some(text);
        self.text.as_deref() == Some(text) || self.scalar.as_ref().is_some_and(is_scalar)
    }

    fn is_number(&self, number: &Number) -> bool {
        let Some(Value::Number(wanted)) = &self.scalar else {
            return false;
        };
        let are_whole = !(wanted.is_f64() || number.is_f64());
        match are_whole {
            true => wanted == number,
            false => wanted.as_f64() == number.as_f64(),
        }
    }

    fn is(&self, scalar: &Value) -> bool {
        self.scalar.as_ref() == Some(scalar)
    }
}

/// Whether the text has the value at the place.
pub(super) fn is_at(text: &str, steps: &[Step], wanted: &Wanted) -> bool {
    let mut json = serde_json::Deserializer::from_str(text);
    let place = Place { steps, wanted };
    place.deserialize(&mut json).unwrap_or(false)
}

/// The rest of the way to a value. Reads JSON, and says whether the value is there.
#[derive(Clone, Copy)]
struct Place<'a> {
    steps: &'a [Step],
    wanted: &'a Wanted,
}

impl Place<'_> {
    /// A scalar, which is the value only at the end of the way.
    fn holds<E>(self, is_wanted: impl FnOnce(&Wanted) -> bool) -> Result<bool, E> {
        Ok(self.steps.is_empty() && is_wanted(self.wanted))
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        self.holds(|wanted| wanted.is(&Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        self.holds(|wanted| wanted.is(&Value::Bool(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<bool, E> {
        self.holds(|wanted| wanted.is_number(&value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<bool, E> {
        self.holds(|wanted| wanted.is_number(&value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<bool, E> {
        let number = Number::from_f64(value);
        self.holds(|wanted| number.is_some_and(|number| wanted.is_number(&number)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<bool, E> {
        self.holds(|wanted| wanted.is_text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        let (step, steps) = match self.steps.split_first() {
            Some((step, steps)) => (Some(step), steps),
            None => (None, self.steps),
        };
        let (mut is_there, mut number) = (false, 0);
        loop {
            let is_on_the_way = match step {
                Some(Step::Item(wanted)) => *wanted == number,
                Some(Step::AnyItem) => !is_there,
                Some(Step::Key(_)) | None => false,
            };
            let read = match is_on_the_way {
                true => items.next_element_seed(Self { steps, ..self })?,
                false => items.next_element::<IgnoredAny>()?.map(|_| false),
            };
            let Some(found) = read else {
                return Ok(is_there);
            };
            is_there |= found;
            number += 1;
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let (wanted, steps) = match self.steps.split_first() {
            Some((Step::Key(key), steps)) => (Some(key), steps),
            Some(_) | None => (None, self.steps),
        };
        let mut is_there = false;
        while let Some(is_on_the_way) = map.next_key_seed(KeyIs(wanted.map(String::as_str)))? {
            match is_on_the_way && !is_there {
                true => is_there = map.next_value_seed(Self { steps, ..self })?,
                false => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(is_there)
    }
}

/// Reads a key, and says whether it is this one.
struct KeyIs<'a>(Option<&'a str>);

impl<'de> DeserializeSeed<'de> for KeyIs<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyIs<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<bool, E> {
        Ok(self.0 == Some(key))
    }
}
