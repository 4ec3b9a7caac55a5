//! JSON text that may be absent, in JSON: a list of none or one, so that `undefined` and `null` stay apart.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

pub(crate) fn serialize<S: Serializer>(
    value: &Option<Box<RawValue>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    value.as_slice().serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<RawValue>>, D::Error> {
    let mut values = Vec::<Box<RawValue>>::deserialize(deserializer)?;
    match values.len() {
        0 | 1 => Ok(values.pop()),
        more => Err(de::Error::invalid_length(more, &"none or one")),
    }
}
