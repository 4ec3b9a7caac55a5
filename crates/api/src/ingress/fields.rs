//! Named values that may repeat, as queries and forms have them: an object in which a repeated
//! name holds a list.

use std::{borrow::Cow, collections::HashMap};

use serde::{Serialize, Serializer, ser::SerializeMap};
use url::form_urlencoded;

/// Values by name, in order of the names' first appearance.
pub(super) struct Fields<'a, V>(Vec<(Cow<'a, str>, OneOrMany<V>)>);

enum OneOrMany<V> {
    One(V),
    Many(Vec<V>),
}

/// The fields of a query or of a body of type `application/x-www-form-urlencoded`.
pub(super) fn url_encoded(text: &str) -> Fields<'_, Cow<'_, str>> {
    form_urlencoded::parse(text.as_bytes()).collect()
}

impl<'a, V> FromIterator<(Cow<'a, str>, V)> for Fields<'a, V> {
    fn from_iter<I: IntoIterator<Item = (Cow<'a, str>, V)>>(pairs: I) -> Self {
        let mut fields: Vec<(Cow<'a, str>, OneOrMany<V>)> = Vec::new();
        let mut positions = HashMap::new();
        for (name, value) in pairs {
            match positions
                .get(&name)
                .and_then(|position: &usize| fields.get_mut(*position))
            {
                Some((_, known)) => known.push(value),
                None => {
                    positions.insert(name.clone(), fields.len());
                    fields.push((name, OneOrMany::One(value)));
                }
            }
        }
        Self(fields)
    }
}

impl<V> Fields<'_, V> {
    /// All values: each with its name, and its number among those of the name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, usize, &V)> {
        self.0.iter().flat_map(|(name, values)| {
            let values = match values {
                OneOrMany::One(value) => std::slice::from_ref(value),
                OneOrMany::Many(values) => values,
            };
            let numbered = values.iter().enumerate();
            numbered.map(move |(number, value)| (&**name, number, value))
        })
    }
}

impl<V> OneOrMany<V> {
    fn push(&mut self, value: V) {
        *self = match std::mem::replace(self, Self::Many(Vec::new())) {
            Self::One(first) => Self::Many(vec![first, value]),
            Self::Many(mut values) => {
                values.push(value);
                Self::Many(values)
            }
        };
    }
}

impl<V: Serialize> Serialize for Fields<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, values) in &self.0 {
            match values {
                OneOrMany::One(value) => map.serialize_entry(name, value)?,
                OneOrMany::Many(values) => map.serialize_entry(name, values)?,
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_name_holds_a_list() {
        for (text, expected) in [
            ("", "{}"),
            ("a=1&b=2", r#"{"a":"1","b":"2"}"#),
            ("b=1&a=2&b=3&b=", r#"{"b":["1","3",""],"a":"2"}"#),
            ("a=x+y%26z&b", r#"{"a":"x y&z","b":""}"#),
        ] {
            assert_eq!(serde_json::to_string(&url_encoded(text)).unwrap(), expected);
        }
    }
}
