//! The state of a conversion: the files that steps and triggers leave, and the names that are taken.

use std::collections::BTreeSet;

use headwater_workflow::definition::Namespace;

use super::super::incoming::Files;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) files: Files,
    /// The places of fields that nothing was derived from.
    pub(super) told: Vec<String>,
    namespaces: BTreeSet<String>,
}

impl State {
    /// A namespace like the given name that nobody has.
    pub(super) fn namespace(&mut self, given: &str, place: &str) -> String {
        let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let replaced = |c: char| if is_allowed(c) { c } else { '_' };
        let wanted: String = given.chars().take(90).map(replaced).collect();
        let wanted = match wanted.parse::<Namespace>() {
            Ok(_) => wanted,
            Err(_) => format!("step_{wanted}"),
        };
        let mut namespace = wanted.clone();
        let mut number = 1;
        while !self.namespaces.insert(namespace.clone()) {
            number += 1;
            namespace = format!("{wanted}_{number}");
        }
        if namespace != given {
            self.told.push(format!(
                "{place}: the name `{given}` became `{namespace}`; expressions that read `steps` may name it"
            ));
        }
        namespace
    }
}
