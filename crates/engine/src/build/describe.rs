//! Describing: evaluating a built component in a throw-away worker, and checking that its export is a component.

use std::path::Path;

use async_trait::async_trait;
use headwater_model::{
    component::{ComponentType, Description},
    outcome::ComponentError,
};
use serde_json::Value;

use super::failure::{BuildResult, rejection};
use crate::api::{BuildStage, EngineError};

/// Evaluates built components. Separate from the builder because it needs a worker.
#[async_trait]
pub trait Describe: Send + Sync {
    /// Prepares for a component that is about to be built.
    fn prepare(&self) {}

    /// Evaluates [`crate::artifact::ENTRY`] in `folder` with no network and no writable folder, within
    /// bounds of time, memory and output: in the form in which nodes run it, or else as it is.
    ///
    /// # Errors
    /// [`EngineError`] when the host failed; `Ok(Err(_))` when the component threw or exceeded a bound.
    async fn describe(
        &self,
        folder: &Path,
    ) -> Result<Result<Evaluated, ComponentError>, EngineError>;
}

/// A component that was evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    /// The description as the runtime gives it.
    pub description: Value,
    /// Whether nodes must run the module as it is: the function that they would make of it fails, and the module does
    /// not.
    pub only_as_module: bool,
}

/// The name and the version of steps that have none: nobody publishes them.
const OF_STEPS: [(&str, &str); 2] = [("name", "step"), ("version", "0.0.1")];

/// The description, if it is that of a source or an action that can be saved.
pub(super) fn checked(mut description: Value, is_step: bool) -> BuildResult<Description> {
    for (required, of_steps) in OF_STEPS {
        let given = description
            .get(required)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.trim().is_empty());
        if is_step && !given {
            description[required] = of_steps.into();
        } else if !given {
            return Err(invalid(format!(
                "the component has no `{required}`; add a {required} string to the exported object"
            )));
        }
    }
    if description.get("type").is_none_or(Value::is_null) {
        let usual = if is_step { "action" } else { "source" };
        description["type"] = usual.into();
    }
    let description: Description = serde_json::from_value(description)
        .map_err(|error| invalid(format!("the component cannot be described: {error}")))?;
    match description.component_type {
        ComponentType::App => Err(invalid(
            "this is an app, which has no run method; save a source or an action that uses it",
        )),
        ComponentType::Source | ComponentType::Action if !description.has_run => {
            Err(invalid("the component has no `run` method"))
        }
        ComponentType::Source | ComponentType::Action => Ok(description),
    }
}

/// The code of the error by which a worker says that there is nothing to run.
const NO_RUN: &str = "NO_RUN";

/// The error of a component that could not be described; a worker takes steps for sources, because they name no type.
pub(super) fn undescribed(mut error: ComponentError, is_step: bool) -> ComponentError {
    let has_no_run = error.code.as_ref().is_some_and(|code| code == NO_RUN);
    if has_no_run {
        error.code = None;
    }
    if has_no_run && is_step {
        error.message =
            "the step has no `run` method; export an object with one: `export default { async run({ steps, $ }) { … } }`"
                .to_owned();
    }
    error
}

fn invalid(message: impl Into<String>) -> super::failure::BuildFailure {
    rejection(BuildStage::Evaluate, "InvalidComponentError", message)
}

#[cfg(test)]
mod tests {
    use headwater_model::{component::ComponentType, outcome::ComponentError};
    use serde_json::json;

    use super::{super::failure::BuildFailure, checked, undescribed};

    #[test]
    fn only_named_versioned_components_with_run_can_be_saved() {
        for (description, complaint) in [
            (json!({"version": "1", "has_run": true}), Some("no `name`")),
            (
                json!({"name": " ", "version": "1", "has_run": true}),
                Some("no `name`"),
            ),
            (json!({"name": "a", "has_run": true}), Some("no `version`")),
            (json!({"name": "a", "version": "1"}), Some("no `run`")),
            (
                json!({"name": "a", "version": "1", "type": "app"}),
                Some("is an app"),
            ),
            (
                json!({"name": "a", "version": "1", "type": "thing", "has_run": true}),
                Some("cannot be described"),
            ),
            (json!({"name": "a", "version": "1", "has_run": true}), None),
            (
                json!({"name": "a", "version": "1", "type": "action", "has_run": true}),
                None,
            ),
        ] {
            let message = match checked(description.clone(), false) {
                Ok(_) => None,
                Err(BuildFailure::Rejected(rejection)) => Some(rejection.error.message),
                Err(BuildFailure::Host(error)) => panic!("{error}"),
            };
            match (message, complaint) {
                (None, None) => {}
                (Some(message), Some(complaint)) => {
                    assert!(message.contains(complaint), "{message}")
                }
                (message, _) => panic!("{description}: {message:?}"),
            }
        }
    }

    #[test]
    fn what_cannot_be_run_is_called_what_it_is() {
        let of_worker = ComponentError {
            message: "the source has no run method".to_owned(),
            code: Some(json!("NO_RUN")),
            ..ComponentError::default()
        };
        let of_step = undescribed(of_worker.clone(), true);
        assert!(
            of_step
                .message
                .starts_with("the step has no `run` method; ")
        );
        let of_source = undescribed(of_worker.clone(), false);
        assert_eq!(of_source.message, of_worker.message);
        let thrown = ComponentError {
            code: Some(json!("ENOENT")),
            ..of_worker
        };
        assert_eq!(undescribed(thrown.clone(), true), thrown);
    }

    #[test]
    fn a_step_of_a_workflow_needs_no_name_and_is_an_action() {
        let description = checked(json!({ "has_run": true }), true).unwrap();
        assert_eq!(description.name, "step");
        assert_eq!(description.component_type, ComponentType::Action);
        assert!(checked(json!({ "name": "a", "version": "1" }), true).is_err());
    }
}
