//! Fields of a JSON object whose names are not documented: a reader takes those that it understands, by any of several
//! names; the rest is told.

use serde_json::{Map, Value};

/// Fields that say nothing about how a workflow runs.
const BOOKKEEPING: [&str; 18] = [
    "createdat",
    "updatedat",
    "deployedat",
    "exportedat",
    "lastrunat",
    "projectid",
    "ownerid",
    "userid",
    "orgid",
    "workspaceid",
    "deploymentid",
    "folder",
    "folderid",
    "path",
    "url",
    "schema",
    "schemaversion",
    "exportversion",
];

pub(super) struct Fields<'t> {
    map: Map<String, Value>,
    /// The place of the object: `steps[0]`.
    place: String,
    /// The fields that nobody took.
    told: &'t mut Vec<String>,
}

impl<'t> Fields<'t> {
    pub(super) fn new(map: Map<String, Value>, place: &str, told: &'t mut Vec<String>) -> Self {
        Self {
            map,
            place: place.to_owned(),
            told,
        }
    }

    /// The fields of a value, if it is an object; it is told, otherwise.
    pub(super) fn of(value: Value, place: &str, told: &'t mut Vec<String>) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self::new(map, place, told)),
            Value::Array(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_) => {
                told.push(place.to_owned());
                None
            }
        }
    }

    /// The place of a field, for readers of what is in it.
    pub(super) fn place(&self, name: &str) -> String {
        match self.place.as_str() {
            "" => name.to_owned(),
            place => format!("{place}.{name}"),
        }
    }

    pub(super) fn told(&mut self) -> &mut Vec<String> {
        self.told
    }

    /// Tells that nothing is derived from a field that was taken.
    pub(super) fn tell(&mut self, name: &str) {
        let place = self.place(name);
        self.told.push(place);
    }

    /// The same, and why.
    pub(super) fn tell_why(&mut self, name: &str, why: impl std::fmt::Display) {
        let place = self.place(name);
        self.told.push(format!("{place}: {why}"));
    }

    /// The first field with one of these names whose value can be read, with its name.
    pub(super) fn take_with<T>(
        &mut self,
        names: &[&str],
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<(String, T)> {
        for name in names {
            let is_it = |key: &&String| folded(key) == folded(name);
            let Some(key) = self.map.keys().find(is_it).cloned() else {
                continue;
            };
            if let Some(value) = read(&self.map[&key]) {
                self.map.shift_remove(&key);
                return Some((key, value));
            }
        }
        None
    }

    /// A value that is not empty.
    pub(super) fn value(&mut self, names: &[&str]) -> Option<Value> {
        let read = |value: &Value| (!is_empty(value)).then(|| value.clone());
        self.take_with(names, read).map(|(_, value)| value)
    }

    pub(super) fn text(&mut self, names: &[&str]) -> Option<String> {
        self.named_text(names).map(|(_, text)| text)
    }

    /// The same with the name that the field has.
    pub(super) fn named_text(&mut self, names: &[&str]) -> Option<(String, String)> {
        let read = |value: &Value| value.as_str().map(str::to_owned);
        let found = self.take_with(names, read);
        found.filter(|(_, text)| !text.is_empty())
    }

    pub(super) fn flag(&mut self, names: &[&str]) -> Option<bool> {
        self.take_with(names, Value::as_bool).map(|(_, flag)| flag)
    }

    pub(super) fn list(&mut self, names: &[&str]) -> Option<Vec<Value>> {
        let read = |value: &Value| value.as_array().cloned();
        self.take_with(names, read).map(|(_, list)| list)
    }

    pub(super) fn object(&mut self, names: &[&str]) -> Option<Map<String, Value>> {
        let read = |value: &Value| value.as_object().cloned();
        self.take_with(names, read).map(|(_, object)| object)
    }

    /// Takes the fields of objects with these names as if they were its own.
    pub(super) fn open(&mut self, names: &[&str]) {
        while let Some(inner) = self.object(names) {
            for (key, value) in inner {
                self.map.entry(key).or_insert(value);
            }
        }
    }

    /// Tells the fields that are left.
    pub(super) fn finish(self) {
        for (key, value) in &self.map {
            if !is_empty(value) && !BOOKKEEPING.contains(&folded(key).as_str()) {
                let place = self.place(key);
                self.told.push(place);
            }
        }
    }
}

/// A name without case and separators: `componentKey` is `component_key`.
pub(super) fn folded(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_have_many_names_and_the_rest_is_told() {
        let mut told = Vec::new();
        let object = json!({
            "componentKey": "a", "name": 5, "config": {"cron": "x", "name": 6}, "created_at": 1,
            "edges": [1], "none": null, "note": "",
        });
        let mut fields = Fields::of(object, "steps[0]", &mut told).unwrap();
        fields.open(&["config"]);
        assert_eq!(fields.text(&["key", "component_key"]).unwrap(), "a");
        assert_eq!(fields.text(&["cron"]).unwrap(), "x");
        assert_eq!(fields.text(&["name"]), None);
        fields.finish();
        assert_eq!(told, ["steps[0].name", "steps[0].edges"]);
    }
}
