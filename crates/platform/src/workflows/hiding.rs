//! Masking of whatever executions of steps and expressions say, before any of it is kept.
//!
//! Not responsible for finding the values (`masking.rs`).

use std::sync::Arc;

use headwater_model::outcome::{ComponentError, Outcome};
use headwater_workflow::run::{Cause, Failure, FlowCall, Kept, StepEnd, StepOutcome};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::masking::Masks;
use crate::log_line::LogLine;

impl Masks {
    /// Masks everything that a failure says: its name and code are words of the code, too.
    pub(super) fn failure(&self, failure: &mut Failure) {
        let ComponentError {
            name,
            message,
            stack,
            code,
            status: _,
        } = &mut failure.error;
        for text in [name, message, stack] {
            *text = self.text(text).into_owned();
        }
        let masked = code.as_ref().and_then(|code| to_raw_value(code).ok());
        let masked = masked.and_then(|code| self.json(&code));
        if let Some(masked) = masked {
            *code = serde_json::from_str(masked.get()).ok();
        }
    }

    /// Masks the end of an execution and its log.
    pub(super) fn hide(&self, end: &mut StepEnd, logs: &mut [LogLine]) {
        if self.is_empty() {
            return;
        }
        for (name, value) in &mut end.exports {
            *name = self.text(name).into_owned();
            self.kept(value);
        }
        match &mut end.outcome {
            StepOutcome::Returned(Some(value)) => self.kept(value),
            StepOutcome::Failed(failure) => self.failure(failure),
            StepOutcome::Returned(None) | StepOutcome::Skipped => {}
        }
        for call in &mut end.flow {
            if let FlowCall::Rerun {
                context: Some(context),
                ..
            } = call
            {
                self.kept(context);
            }
        }
        if let Some(reason) = &mut end.exit {
            *reason = self.text(reason).into_owned();
        }
        for line in logs {
            line.message = self.text(&line.message).into_owned();
        }
    }

    fn kept(&self, value: &mut Kept) {
        if let Kept::Here(json) = value
            && let Some(masked) = self.json(json)
        {
            *value = Kept::Here(Arc::from(masked));
        }
    }
}

/// The answers of an evaluation.
pub(super) fn answers_of(
    outcome: Outcome,
    masks: &Masks,
) -> Result<Vec<Box<RawValue>>, Box<Failure>> {
    if let Some(mut failure) = Failure::of(&outcome) {
        masks.failure(&mut failure);
        return Err(Box::new(failure));
    }
    let Outcome::Returned {
        value: Some(Value::Array(answers)),
    } = outcome
    else {
        let text = "the worker did not answer the workflow's expressions";
        return Err(Box::new(Failure::stated(
            Cause::WorkerLost,
            "WorkerLostError",
            text,
        )));
    };
    let answers = answers.iter().map(|answer| {
        let answer = to_raw_value(answer).unwrap_or_else(|_| RawValue::NULL.to_owned());
        masks.json(&answer).unwrap_or(answer)
    });
    Ok(answers.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workflows::masking::tests::masks;

    /// The outcome of code that throws so with a secret in each part of its error.
    fn thrown() -> Outcome {
        let text = |part: &str| format!("{part} hunter2\"x");
        Outcome::Threw {
            error: ComponentError {
                name: text("name"),
                message: text("message"),
                stack: text("stack"),
                code: Some(text("code").into()),
                status: None,
            },
        }
    }

    #[track_caller]
    fn is_hidden(failure: &Failure) {
        let error = &failure.error;
        let code = error.code.as_ref().and_then(|code| code.as_str()).unwrap();
        for (part, text) in [
            ("name", &*error.name),
            ("message", &error.message),
            ("stack", &error.stack),
            ("code", code),
        ] {
            assert!(text.starts_with(&format!("{part} ***A:")), "{text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
    }

    #[test]
    fn every_part_of_an_error_is_masked_of_steps_and_of_expressions() {
        let masks = masks(&[("A", "hunter2\"x")]);
        let mut end = StepEnd {
            outcome: StepOutcome::Failed(Failure::of(&thrown()).unwrap()),
            exports: vec![("hunter2\"x".to_owned(), Kept::of(&json!("hunter2\"x")))],
            exit: None,
            flow: Vec::new(),
            chance: 0.0,
        };
        masks.hide(&mut end, &mut []);
        let StepOutcome::Failed(failure) = &end.outcome else {
            panic!("{end:?}")
        };
        is_hidden(failure);
        let exports = format!("{:?}", end.exports);
        assert!(!exports.contains("hunter2"), "{exports}");
        let failure = answers_of(thrown(), &masks).unwrap_err();
        is_hidden(&failure);
        let mut numbered = Failure::of(&thrown()).unwrap();
        numbered.error.code = Some(json!(7));
        masks.failure(&mut numbered);
        assert_eq!(numbered.error.code, Some(json!(7)));
    }
}
