//! Damaged files: each is read or refused, with a place that is in the file.

use proptest::prelude::*;

use super::{ORDERS, SYNCED};
use crate::{
    check::{additions, check},
    definition::Definition,
};

/// A part of a text is left out, moved or written over.
#[derive(Debug, Clone)]
enum Damage {
    LeaveOut(usize, usize),
    Double(usize, usize),
    Insert(usize, String),
}

fn damages() -> impl Strategy<Value = Damage> {
    let place = 0..4000_usize;
    let length = 0..60_usize;
    let text = "(\\{\\{|\\}\\}|[\\[\\]{}&*!|>'\"#%@`:,~é\t\n-]|  |- |null|1|steps\\.|if: |[a-z]{1,3}){1,4}";
    prop_oneof![
        (place.clone(), length.clone()).prop_map(|(at, length)| Damage::LeaveOut(at, length)),
        (place.clone(), length).prop_map(|(at, length)| Damage::Double(at, length)),
        (place, text).prop_map(|(at, text)| Damage::Insert(at, text)),
    ]
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for damage in damages {
        let len = chars.len();
        let range = |at: usize, length: usize| at.min(len)..(at + length).min(len);
        match damage {
            Damage::LeaveOut(at, length) => drop(chars.drain(range(*at, *length))),
            Damage::Double(at, length) => {
                let copy = chars[range(*at, *length)].to_vec();
                let at = (*at).min(len);
                chars.splice(at..at, copy);
            }
            Damage::Insert(at, text) => {
                let at = (*at).min(len);
                chars.splice(at..at, text.chars());
            }
        }
    }
    chars.into_iter().collect()
}

proptest! {
    #[test]
    fn a_damaged_file_is_read_or_refused(
        is_synced in any::<bool>(),
        damages in prop::collection::vec(damages(), 1..5),
    ) {
        let text = damaged(if is_synced { SYNCED } else { ORDERS }, &damages);
        let lines = text.lines().count() + 1;
        let findings = match Definition::read(&text, &["enrich/entry.js"]) {
            Ok(definition) => {
                let mut findings = check(&definition, &["enrich/entry.js"]);
                findings.extend(additions(&definition));
                prop_assert_eq!(definition.paths().len(), definition.nodes().count());
                for (path, node) in definition.paths() {
                    prop_assert_eq!(definition.node(&path), Some(node));
                }
                findings
            }
            Err(error) => {
                prop_assert!(!error.problems.is_empty());
                error.problems
            }
        };
        for finding in findings {
            prop_assert!((1..=lines).contains(&finding.place.line), "{}", finding);
            prop_assert!(finding.place.column >= 1);
        }
    }
}
