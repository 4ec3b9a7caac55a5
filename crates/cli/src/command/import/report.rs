//! The report of an import: for each thing whether it is here, and the work that is left, each piece with the next step.

use serde::Serialize;

use super::origin::Origin;
use crate::client::Client;
use crate::table;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    from: String,
    into: String,
    things: Vec<Thing>,
    /// Remarks about the service as a whole.
    notes: Vec<String>,
}

/// One thing of the service.
#[derive(Debug, Serialize)]
pub(super) struct Thing {
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Its id there.
    pub(super) from_id: String,
    /// Its id here.
    pub(super) id: Option<String>,
    pub(super) state: State,
    /// The work that is left.
    pub(super) left: Vec<Work>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Component,
    Webhook,
    Source,
    Subscription,
    Workflow,
    Variable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It came over now.
    Imported,
    /// It was here already, and stays as it is.
    Kept,
    /// It is not here, not even a part of it.
    Missing,
}

/// A piece of work that is left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Work {
    pub(super) kind: WorkKind,
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkKind {
    /// An account to connect or to choose.
    Account,
    /// A value that the service does not give.
    Value,
    /// Something that does not work here as it is.
    Rewrite,
    /// Something that is still to come over in another way.
    Elsewhere,
    /// Something to tell others, once all is here.
    Tell,
}

impl WorkKind {
    const ALL: [(Self, &str); 5] = [
        (Self::Account, "Accounts to connect"),
        (Self::Value, "Values to enter"),
        (Self::Rewrite, "To rewrite"),
        (Self::Elsewhere, "To bring over in another way"),
        (Self::Tell, "To tell others"),
    ];

    pub(super) fn work(self, text: impl Into<String>) -> Work {
        Work {
            kind: self,
            text: text.into(),
        }
    }
}

impl Kind {
    const ALL: [(Self, &str); 6] = [
        (Self::Component, "component"),
        (Self::Webhook, "webhook"),
        (Self::Source, "source"),
        (Self::Subscription, "subscription"),
        (Self::Workflow, "workflow"),
        (Self::Variable, "variable"),
    ];

    fn shown(self) -> &'static str {
        let found = Self::ALL.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, shown)| shown)
    }
}

impl Report {
    pub(super) fn new(origin: &Origin, target: &Client) -> Self {
        Self {
            from: origin.shown().to_owned(),
            into: target.base().to_string(),
            things: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, thing: Thing) {
        self.things.push(thing);
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    pub(super) fn is_whole(&self) -> bool {
        self.things
            .iter()
            .all(|thing| thing.state != State::Missing)
    }

    /// The report for people.
    pub(super) fn plain(&self) -> String {
        let mut sections = vec![format!("from {} into {}", self.from, self.into)];
        sections.push(self.counts());
        for (kind, title) in WorkKind::ALL {
            let lines = self.lines(kind);
            if !lines.is_empty() {
                sections.push(format!("{title}:\n{}", lines.join("\n")));
            }
        }
        sections.extend(self.notes.iter().map(|note| format!("Note: {note}")));
        if !self.is_whole() {
            sections.push(
                "Run the same command again after that: it goes on with the things that are missing."
                    .to_owned(),
            );
        }
        sections.join("\n\n")
    }

    fn counts(&self) -> String {
        let rows = Kind::ALL.iter().filter_map(|(kind, shown)| {
            let count = |state: State| {
                let of = self.things.iter().filter(|thing| thing.kind == *kind);
                of.filter(|thing| thing.state == state).count()
            };
            let counts = [State::Imported, State::Kept, State::Missing].map(count);
            (counts != [0; 3]).then(|| {
                let counts = counts.iter().map(usize::to_string);
                std::iter::once(format!("{shown}s")).chain(counts).collect()
            })
        });
        let headers = ["", "imported", "here already", "missing"];
        match rows.collect::<Vec<Vec<_>>>() {
            rows if rows.is_empty() => "There was nothing to copy.".to_owned(),
            rows => table::part(&headers, rows),
        }
    }

    fn lines(&self, kind: WorkKind) -> Vec<String> {
        let works = self.things.iter().flat_map(|thing| {
            let left = thing.left.iter().filter(move |work| work.kind == kind);
            left.map(move |work| (thing, work))
        });
        works
            .map(|(thing, work)| {
                let state = match thing.state {
                    State::Missing => " is missing",
                    State::Imported | State::Kept => "",
                };
                let kind = thing.kind.shown();
                format!("- {kind} {}{state}: {}", thing.title(), work.text)
            })
            .collect()
    }
}

impl Thing {
    fn title(&self) -> String {
        match (self.name.as_str(), self.from_id.as_str()) {
            ("", id) => id.to_owned(),
            (name, id) if name == id => name.to_owned(),
            (name, id) => format!("{name} ({id})"),
        }
    }
}
