//! The values that computed options of a prop depend on, as a mark that a form carries beside the options.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use headwater_model::prop::{PropDefinition, PropKind};

use super::{entered::Entered, value::read_all};

/// The mark of the values of the props above one with computed options: its code may depend on any of them. Secrets do not
/// count, because they do not come back with the form, and neither do timers.
pub(crate) fn basis(above: &[PropDefinition], entered: &Entered) -> String {
    let given = read_all(above, entered).values;
    let counts =
        |prop: &&PropDefinition| !prop.is_secret() && !matches!(prop.kind(), PropKind::Timer);
    let mut hasher = DefaultHasher::new();
    for prop in above.iter().filter(counts) {
        if let Some(value) = given.get(&prop.name) {
            // A label that a value has gained or lost makes no other value of it.
            (&prop.name, prop.final_value(value).to_string()).hash(&mut hasher);
        }
    }
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::form::Part;

    fn props() -> Vec<PropDefinition> {
        let all = json!([
            {"name": "schema", "type": "string"},
            {"name": "key", "type": "string", "secret": true},
            {"name": "timer", "type": "$.interface.timer"},
            {"name": "list", "type": "string[]"},
        ]);
        serde_json::from_value(all).unwrap()
    }

    fn of(parts: &[(Part, &str, &str)]) -> String {
        let mut entered = Entered::default();
        for (part, prop, text) in parts {
            entered.add(*part, prop, *text);
        }
        basis(&props(), &entered)
    }

    #[test]
    fn the_mark_changes_with_the_values_that_options_may_depend_on() {
        let schema = (Part::Value, "schema", "public");
        let plain = of(&[schema]);
        for other in [
            of(&[]),
            of(&[(Part::Value, "schema", "private")]),
            of(&[schema, (Part::Own, "list", "a")]),
        ] {
            assert_ne!(other, plain);
        }
        let pick: Value = json!({"__lv": {"label": "The public one", "value": "public"}});
        for same in [
            of(&[(Part::Value, "schema", &pick.to_string())]),
            of(&[schema, (Part::Value, "key", "s3cret")]),
            of(&[
                schema,
                (Part::Kind, "timer", "interval"),
                (Part::Every, "timer", "5"),
            ]),
        ] {
            assert_eq!(same, plain);
        }
    }
}
