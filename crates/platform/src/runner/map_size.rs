//! The size of a source's key-value map, as its commits leave it.
//!
//! Responsible for holding the bound that the runtime already holds at `db.set`: code of packages runs
//! in the same process, so its messages are not proof. Known once a worker was given the map; a runner
//! that finds one which has it already leaves the bound to the runtime.

use std::{collections::HashMap, sync::Arc};

use headwater_model::{error::Invalid, limits::KEY_VALUE_BYTES};
use parking_lot::Mutex;
use serde_json::{Map, Value};

/// The field that a refusal names.
pub(super) const FIELD: &str = "db.set";
/// Characters of a key that a refusal shows.
const KEY_SHOWN: usize = 100;

#[derive(Default)]
struct Sizes {
    by_key: HashMap<String, usize>,
    bytes: usize,
}

/// The size of one source's map; clones share it.
#[derive(Clone, Default)]
pub(crate) struct MapSize(Arc<Mutex<Option<Sizes>>>);

impl MapSize {
    /// Begins with the store's state, which a worker is about to be given.
    pub(super) fn begin(&self, map: &Map<String, Value>) {
        let by_key: HashMap<_, _> = map
            .iter()
            .map(|(key, value)| (key.clone(), key.len() + value.to_string().len()))
            .collect();
        let bytes = by_key.values().sum();
        *self.0.lock() = Some(Sizes { by_key, bytes });
    }

    /// Counts a write, unless the map would grow beyond its bound. A map beyond it may shrink.
    pub(super) fn admit(&self, key: &str, value: Option<&str>) -> Result<(), Invalid> {
        let mut known = self.0.lock();
        let Some(sizes) = known.as_mut() else {
            return Ok(());
        };
        let before = sizes.by_key.get(key).copied().unwrap_or(0);
        let after = value.map_or(0, |value| key.len() + value.len());
        let bytes = sizes.bytes - before + after;
        if after > before && bytes > KEY_VALUE_BYTES {
            let shown: String = key.chars().take(KEY_SHOWN).collect();
            let reason = format!(
                "db.set: with `{shown}`, the keys and values of the source would take {bytes} bytes; \
                 the limit is {KEY_VALUE_BYTES}: delete some, or keep them in a data store"
            );
            return Err(Invalid::new(FIELD, reason));
        }
        sizes.bytes = bytes;
        match value {
            Some(_) => sizes.by_key.insert(key.to_owned(), after),
            None => sizes.by_key.remove(key),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(map: &Value) -> MapSize {
        let size = MapSize::default();
        size.begin(map.as_object().unwrap());
        size
    }

    fn text(bytes: usize) -> String {
        json!("x".repeat(bytes - 2)).to_string()
    }

    #[test]
    fn a_map_holds_what_it_may_and_no_byte_more() {
        let size = of(&json!({}));
        let half = text(KEY_VALUE_BYTES / 2 - 1);
        size.admit("a", Some(&half)).unwrap();
        size.admit("b", Some(&half)).unwrap();
        let refused = size.admit("c", Some("1")).unwrap_err();
        assert!(refused.reason.contains("with `c`"), "{refused}");
        assert!(
            refused.reason.contains("the limit is 16777216"),
            "{refused}"
        );
        size.admit("b", Some(&half)).unwrap();
        size.admit("a", None).unwrap();
        size.admit("c", Some("1")).unwrap();
    }

    #[test]
    fn a_map_beyond_the_bound_can_be_shrunk() {
        let large = "x".repeat(KEY_VALUE_BYTES);
        let size = of(&json!({ "a": large, "b": large }));
        size.admit("a", Some("\"less\"")).unwrap();
        size.admit("c", Some("1")).unwrap_err();
        size.admit("b", None).unwrap();
        size.admit("c", Some("1")).unwrap();
    }

    #[test]
    fn nothing_is_refused_of_a_map_that_is_not_known() {
        let more = text(KEY_VALUE_BYTES + 1);
        MapSize::default().admit("a", Some(&more)).unwrap();
    }
}
