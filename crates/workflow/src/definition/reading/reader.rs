//! The state of a reader: where it is, and what it noted.

use std::collections::HashMap;

use crate::{
    definition::record::{Record, Scope},
    finding::{Finding, FoundAt, Severity},
    path::Path,
    yaml::Position,
};

/// A reader of one file.
pub(super) struct Reader<'f> {
    /// The paths of the folder's files.
    pub(super) files: &'f [&'f str],
    /// The step or block that is being read.
    path: Option<Path>,
    namespaces: HashMap<String, Position>,
    problems: Vec<Finding>,
    record: Record,
}

impl<'f> Reader<'f> {
    pub(super) fn new(files: &'f [&'f str]) -> Self {
        Self {
            files,
            path: None,
            namespaces: HashMap::new(),
            problems: Vec::new(),
            record: Record::default(),
        }
    }

    /// The mistakes, and what it noted besides.
    pub(super) fn finish(self) -> (Vec<Finding>, Record) {
        (self.problems, self.record)
    }

    /// Reads a step or block.
    pub(super) fn within<T>(
        &mut self,
        (path, position): (&Path, Position),
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.record.nodes.insert(path.clone(), position);
        let around = self.path.replace(path.clone());
        let value = read(self);
        self.path = around;
        value
    }

    /// Notes the place of code that the step has in the file.
    pub(super) fn code_at(&mut self, position: Position) {
        if let Some(path) = &self.path {
            self.record.codes.insert(path.clone(), position);
        }
    }

    /// Takes a namespace; the place of the one that has it already, otherwise.
    pub(super) fn claim(&mut self, namespace: &str, position: Position) -> Result<(), Position> {
        match self.namespaces.get(namespace) {
            Some(first) => Err(*first),
            None => {
                self.namespaces.insert(namespace.to_owned(), position);
                Ok(())
            }
        }
    }

    /// The results that expressions here see.
    pub(super) fn scope(&self) -> Scope {
        match &self.path {
            Some(path) => Scope::Before(path.clone()),
            None => Scope::Trigger,
        }
    }

    pub(super) fn record(&mut self) -> &mut Record {
        &mut self.record
    }

    /// A mistake, with which the file cannot be deployed.
    pub(super) fn problem(&mut self, position: Position, message: impl Into<String>) {
        let problem = self.finding(Severity::Error, position, message.into());
        self.problems.push(problem);
    }

    pub(super) fn warning(&mut self, position: Position, message: impl Into<String>) {
        let finding = self.finding(Severity::Warning, position, message.into());
        self.record.findings.push(finding);
    }

    /// Something that Pipedream would not know.
    pub(super) fn added(&mut self, position: Position, what: &str) {
        let message = format!("Pipedream would not know {what}");
        let finding = self.finding(Severity::Note, position, message);
        self.record.additions.push(finding);
    }

    fn finding(&self, severity: Severity, position: Position, message: String) -> Finding {
        let place = FoundAt::new(position, self.path.clone());
        Finding::new(severity, place, message)
    }
}
