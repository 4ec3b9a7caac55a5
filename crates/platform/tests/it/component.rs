//! Components as the scripted engine understands them: their code is their description.

use serde_json::{Value, json};

/// A component in the making; [`Component::code`] is what is saved.
#[derive(Debug, Clone)]
pub(crate) struct Component(Value);

impl Component {
    /// A source without props and hooks.
    pub(crate) fn named(name: &str) -> Self {
        Self(json!({ "name": name, "has_run": true, "props": [], "hooks": {} }))
    }

    /// With `deploy`, `activate` and `deactivate`.
    pub(crate) fn hooks(mut self) -> Self {
        self.0["hooks"] = json!({ "deploy": true, "activate": true, "deactivate": true });
        self
    }

    pub(crate) fn prop(mut self, definition: Value) -> Self {
        if let Some(props) = self.0["props"].as_array_mut() {
            props.push(definition);
        }
        self
    }

    /// With an HTTP interface `http` that is answered by the platform.
    pub(crate) fn http(self) -> Self {
        self.prop(json!({ "name": "http", "type": "$.interface.http" }))
    }

    /// With an HTTP interface `http` that the component answers.
    pub(crate) fn custom_response(self) -> Self {
        self.prop(json!({ "name": "http", "type": "$.interface.http", "customResponse": true }))
    }

    /// With a timer `timer`.
    pub(crate) fn every(self, seconds: u64) -> Self {
        let default = json!({ "intervalSeconds": seconds });
        self.prop(json!({ "name": "timer", "type": "$.interface.timer", "default": default }))
    }

    pub(crate) fn dedupe(self, strategy: &str) -> Self {
        self.set("dedupe", strategy)
    }

    /// With `additionalProps`.
    pub(crate) fn additional_props(mut self) -> Self {
        self.0["has_additional_props"] = json!(true);
        self
    }

    pub(crate) fn action(self) -> Self {
        self.set("type", "action")
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.set("key", key)
    }

    pub(crate) fn version(self, version: &str) -> Self {
        self.set("version", version)
    }

    pub(crate) fn code(&self) -> String {
        self.0.to_string()
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.0[name] = json!(value);
        self
    }
}
