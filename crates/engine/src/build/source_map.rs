//! A bundle's source map, made fit for an archive: sources are named as their authors know them,
//! texts are left out, and lines are moved to where Deno's own rewriting put them. The bundler writes
//! it inline; the archive has it in a separate file, because a module's text is parsed at each start of a worker,
//! and the map is only needed when something throws.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::failure::BuildResult;
use crate::api::EngineError;

const PREFIX: &str = "//# sourceMappingURL=data:application/json;base64,";
const LINK: &str = "//# sourceMappingURL=";
/// The text that `deno bundle` puts in place of the bundler's own, three lines longer, `require`; it does not
/// move the map, whose lines are then three too far.
const REPLACED_REQUIRE: &str = "__deno_internal_createRequire(import.meta.url)";
const REPLACED_LINES: usize = 3;

/// A bundle taken apart.
#[derive(Debug)]
pub(super) struct Bundle {
    /// The code, without the map.
    pub(super) code: String,
    map: Value,
}

impl Bundle {
    pub(super) fn parse(text: &str) -> BuildResult<Self> {
        let invalid = |reason: String| EngineError::Unavailable {
            context: "reading a bundle".into(),
            reason,
        };
        let at = text
            .rfind(PREFIX)
            .ok_or_else(|| invalid("it has no source map".into()))?;
        let map = STANDARD
            .decode(text[at + PREFIX.len()..].trim())
            .map_err(|error| invalid(error.to_string()))?;
        let map = serde_json::from_slice(&map).map_err(|error| invalid(error.to_string()))?;
        Ok(Self {
            code: text[..at].to_owned(),
            map,
        })
    }

    /// The folder of the bundled modules, relative to the bundle.
    pub(super) fn sources(&self) -> impl Iterator<Item = &str> {
        self.map["sources"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    /// Puts a line before the code.
    pub(super) fn begin_with(&mut self, line: &str) {
        self.code.insert_str(0, line);
        if let Some(mappings) = self.map["mappings"].as_str() {
            self.map["mappings"] = format!(";{mappings}").into();
        }
    }

    /// The code for the archive, and the map that lies beside it as `map_file`, every source named by
    /// `name`.
    pub(super) fn finish(self, map_file: &str, name: impl Fn(&str) -> String) -> (String, String) {
        let (code, map) = self.named(name);
        (format!("{code}{LINK}{map_file}\n"), map)
    }

    /// One text again, every source named by `name`.
    pub(super) fn inline(self, name: impl Fn(&str) -> String) -> String {
        let (code, map) = self.named(name);
        format!("{code}{PREFIX}{}\n", STANDARD.encode(map))
    }

    fn named(mut self, name: impl Fn(&str) -> String) -> (String, String) {
        let names: Vec<Value> = self
            .sources()
            .map(|source| Value::from(name(source)))
            .collect();
        self.map["sources"] = Value::Array(names);
        if let Some(map) = self.map.as_object_mut() {
            // The texts would double the archive, and are not used there.
            map.remove("sourcesContent");
        }
        if let Some(mappings) = self.map["mappings"].as_str() {
            let moved = self.moved(mappings).to_owned();
            self.map["mappings"] = Value::from(moved);
        }
        (self.code, self.map.to_string())
    }

    /// The mappings, with the lines dropped that the bundle no longer has.
    fn moved<'a>(&self, mappings: &'a str) -> &'a str {
        let first_mapped = mappings.len() - mappings.trim_start_matches(';').len();
        // Modules begin with a comment that names them; the lines before it are not mapped.
        let first_module = self.code.lines().position(|line| line.starts_with("// "));
        let misplaced = first_module.is_some_and(|line| first_mapped >= line + 1 + REPLACED_LINES);
        if self.code.contains(REPLACED_REQUIRE) && misplaced {
            &mappings[REPLACED_LINES..]
        } else {
            mappings
        }
    }
}
