//! Acts on things by their names, as somebody would say them: `pause orders`.

use super::found::{Found, Way};

/// An act: its word, the word on its button, and its address below that of a thing. One with a field is sent at once;
/// another has a page.
struct Act {
    word: &'static str,
    label: &'static str,
    below: &'static str,
    field: Option<(&'static str, &'static str)>,
    /// The kinds of things that have it.
    of: &'static [&'static str],
}

const ACTS: [Act; 6] = [
    Act {
        word: "pause",
        label: "Pause",
        below: "/switch",
        field: Some(("active", "false")),
        of: &["source", "workflow", "webhook"],
    },
    Act {
        word: "resume",
        label: "Resume",
        below: "/switch",
        field: Some(("active", "true")),
        of: &["source", "workflow", "webhook"],
    },
    Act {
        word: "run",
        label: "Run",
        below: "/run",
        field: None,
        of: &["source", "workflow"],
    },
    Act {
        word: "edit",
        label: "Edit",
        below: "/edit",
        field: None,
        of: &["source", "webhook"],
    },
    Act {
        word: "delete",
        label: "Delete",
        below: "/delete",
        field: None,
        of: &["source", "workflow", "webhook", "account"],
    },
    Act {
        word: "reconnect",
        label: "Reconnect",
        below: "/reconnect",
        field: None,
        of: &["account"],
    },
];

/// An act that words begin with, and the words about the thing.
pub(super) struct Said<'a> {
    act: &'static Act,
    pub(super) about: &'a [String],
}

/// The act that words in small letters ask for, if they name a thing besides.
pub(super) fn said(words: &[String]) -> Option<Said<'_>> {
    let (first, about) = words.split_first()?;
    let act = ACTS.iter().find(|act| act.word == first)?;
    (!about.is_empty()).then_some(Said { act, about })
}

impl Said<'_> {
    /// The act on each of the things that have it.
    pub(super) fn on(&self, things: Vec<Found>) -> Vec<Found> {
        let act = self.act;
        let things = things
            .into_iter()
            .filter(|thing| act.of.contains(&thing.kind));
        let acts = things.map(|thing| Found {
            kind: thing.kind,
            name: format!("{} {}", act.label, thing.name),
            address: format!("{}{}", thing.address, act.below),
            way: match act.field {
                Some(field) => Way::Sends(field),
                None => Way::Opens,
            },
        });
        acts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_act_is_offered_on_the_things_that_have_it() {
        let words: Vec<_> = ["pause", "orders"].map(str::to_owned).into();
        let said = said(&words).unwrap();
        assert_eq!(said.about, ["orders"]);
        let things = vec![
            Found::new("source", "Orders", "/sources/dc_1"),
            Found::new("account", "Orders", "/accounts/apn_1"),
        ];
        let acts = said.on(things);
        assert_eq!(acts.len(), 1);
        assert_eq!(acts[0].name, "Pause Orders");
        assert_eq!(acts[0].address, "/sources/dc_1/switch");
        assert_eq!(acts[0].way, Way::Sends(("active", "false")));
        for words in [&["pause"][..], &["orders", "pause"], &[]] {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            assert!(super::said(&words).is_none());
        }
    }
}
