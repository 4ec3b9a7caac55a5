//! The description of a component, known without running it: the result of `describe`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{dedupe::Strategy, prop::PropDefinition};

/// Source or action. Apps are described so that saving one is refused clearly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComponentType {
    /// Emits events; the type of a component without `type`.
    #[default]
    Source,
    /// A step of a workflow.
    Action,
    /// Prop definitions and methods of an API; cannot run.
    App,
}

/// The lifecycle hooks of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// Runs once, before the first `activate`.
    #[serde(default)]
    pub deploy: bool,
    /// Runs when the source becomes active, and after each update.
    #[serde(default)]
    pub activate: bool,
    /// Runs before deactivation, update and deletion.
    #[serde(default)]
    pub deactivate: bool,
}

impl Hooks {
    /// The names of those that there are.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let hooks = [
            ("deploy", self.deploy),
            ("activate", self.activate),
            ("deactivate", self.deactivate),
        ];
        hooks
            .into_iter()
            .filter_map(|(name, is_there)| is_there.then_some(name))
    }
}

/// A component's description: its properties as the sandbox evaluated them, functions replaced by facts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Names deployed instances.
    pub name: String,
    /// Unique within a namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Free-form; semantic in a registry.
    #[serde(default)]
    pub version: Option<String>,
    /// Source or action.
    #[serde(default, rename = "type")]
    pub component_type: ComponentType,
    /// Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The strategy that deduplicates emitted events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedupe: Option<Strategy>,
    /// In declaration order, `propDefinition`s inlined.
    #[serde(default)]
    pub props: Vec<PropDefinition>,
    /// The hooks that exist.
    #[serde(default)]
    pub hooks: Hooks,
    /// Whether `additionalProps` exists, so that more props than these may be configured.
    #[serde(default)]
    pub has_additional_props: bool,
    /// Whether `run` exists.
    #[serde(default)]
    pub has_run: bool,
    /// An event as the component emits it (`sampleEmit`), if it has one that is not too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_emit: Option<Value>,
}

/// The slug of a component's name: lower-case words joined by `-`.
pub fn slug(name: &str) -> String {
    let words = name
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase);
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() {
        "source".to_owned()
    } else {
        slug
    }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn a_slug_is_lower_case_words_and_never_empty() {
        for (name, expected) in [
            ("New Row", "new-row"),
            ("  HTTP / Webhook (instant)  ", "http-webhook-instant"),
            ("Überraschung", "überraschung"),
            ("!!!", "source"),
        ] {
            assert_eq!(slug(name), expected);
        }
    }
}
