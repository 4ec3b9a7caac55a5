//! Reading definitions.
//!
//! A reader goes on after a mistake, so that all of a file's mistakes are told at once.

mod blocks;
mod fields;
mod nodes;
mod policies;
mod reader;
mod settings;
mod step;
mod triggers;
mod values;

use std::fmt;

use self::{fields::Fields, reader::Reader};
use super::tree::Definition;
use crate::{
    finding::{Finding, FoundAt, Severity},
    path::{ON_ERROR, Path},
    yaml::{InvalidYaml, Position, Yaml, load},
};

const SCHEMA: &str = "workflow/2022.04";

/// The text is not a definition. Display gives a line for each mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidDefinition {
    /// The mistakes, in the order of the file; one at least.
    pub problems: Vec<Finding>,
}

impl fmt::Display for InvalidDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.problems.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { "\n" })?;
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidDefinition {}

impl From<InvalidYaml> for InvalidDefinition {
    fn from(error: InvalidYaml) -> Self {
        let place = FoundAt::new(error.position, None);
        let problem = Finding::new(Severity::Error, place, error.message);
        Self {
            problems: vec![problem],
        }
    }
}

/// A definition as far as it could be read: values that cannot stand have others in their places. Not for running.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// The definition, which is whole if there are no mistakes.
    pub definition: Definition,
    /// The mistakes, in the order of the file.
    pub problems: Vec<Finding>,
}

impl Definition {
    /// Reads the text of a `workflow.yaml`. `files` are the paths of the folder's files, which decide about the code file
    /// of a step that names none.
    ///
    /// # Errors
    /// It is not YAML, or values in it cannot stand.
    pub fn read(text: &str, files: &[&str]) -> Result<Self, InvalidDefinition> {
        let Draft {
            definition,
            problems,
        } = Draft::read(text, files)?;
        match problems.is_empty() {
            true => Ok(definition),
            false => Err(InvalidDefinition { problems }),
        }
    }
}

impl Draft {
    /// Reads the same text as far as it goes, so that a check tells everything at once.
    ///
    /// # Errors
    /// It is not YAML.
    pub fn read(text: &str, files: &[&str]) -> Result<Self, InvalidDefinition> {
        let yaml = load(text)?;
        let mut reader = Reader::new(files);
        let definition = workflow(&yaml, &mut reader);
        let (mut problems, record) = reader.finish();
        problems.sort_by_key(|problem| (problem.place.line, problem.place.column));
        Ok(Self {
            definition: Definition {
                record,
                ..definition
            },
            problems,
        })
    }
}

fn workflow(yaml: &Yaml, reader: &mut Reader<'_>) -> Definition {
    let mut fields = Fields::of(yaml, reader);
    if let Some(schema) = fields.take("schema")
        && schema.value.text() != Some(SCHEMA)
    {
        let message = format!("the schema is not `{SCHEMA}`; the file is read as if it were");
        reader.warning(schema.value.position, message);
    }
    let name = name(&mut fields, reader);
    let inactive = fields.take("inactive");
    let is_active = !inactive
        .and_then(|entry| reader.flag(entry))
        .unwrap_or(false);
    let settings = fields.take("settings");
    let settings = settings.map(|entry| settings::read(&entry.value, reader));
    let triggers = fields.take("triggers");
    let triggers = triggers.map(|entry| triggers::read(entry, reader));
    let steps = fields.take("steps");
    let steps = steps.map(|entry| nodes::read(entry, &Path::root(), reader));
    let on_error = fields.take(ON_ERROR);
    let on_error = on_error.map(|entry| {
        reader.added(entry.position, "`on_error`");
        nodes::read(entry, &Path::root().join(ON_ERROR), reader)
    });
    fields.finish(reader);
    Definition {
        name,
        is_active,
        settings: settings.unwrap_or_default(),
        triggers: triggers.unwrap_or_default(),
        steps: steps.unwrap_or_default(),
        on_error: on_error.unwrap_or_default(),
        record: Default::default(),
    }
}

fn name(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> String {
    let Some(entry) = fields.take("name") else {
        let message = "the workflow has no name; begin the file with `name: …`";
        reader.problem(Position::START, message);
        return String::new();
    };
    let name = reader.text(entry).unwrap_or_default();
    if name.trim().is_empty() {
        reader.problem(
            entry.value.position,
            "`name` is empty; give the workflow a name",
        );
    }
    name
}
