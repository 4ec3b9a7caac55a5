//! Masking of whatever executions of steps and expressions say, before any of it is kept.
//!
//! Not responsible for finding the values (`masking.rs`).

use std::sync::Arc;

use headwater_model::outcome::{ComponentError, Outcome};
use headwater_workflow::{
    path::Path,
    run::{Cause, Failure, FlowCall, Kept, StepEnd, StepOutcome},
};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use super::{
    effects::{Sends, StepEffects},
    masking::Masks,
};
use crate::log_line::LogLine;

/// An execution that has ended, as it spoke.
pub(super) struct Spoken {
    pub(super) path: Path,
    pub(super) is_step: bool,
    pub(super) effects: StepEffects,
    pub(super) outcome: Outcome,
    /// From 0 to 1: spreads the pauses before further tries.
    pub(super) chance: f64,
}

/// The end of an execution as it is kept: with marks in place of values.
pub(super) enum Ending {
    /// The answers of an evaluation.
    Answers(Result<Vec<Box<RawValue>>, Box<Failure>>),
    /// The end of a step's code.
    Step(Box<StepEnding>),
}

/// The end of a step's code, the things that it sends, and its log.
pub(super) struct StepEnding {
    pub(super) end: StepEnd,
    pub(super) sends: Sends,
    pub(super) logs: Vec<LogLine>,
}

impl Spoken {
    /// Its bytes, as far as they are counted: at least so many if it has more.
    pub(super) fn bytes(&self, enough: usize) -> usize {
        let returned = match &self.outcome {
            Outcome::Returned { value } => value.as_ref().map_or(0, |value| bytes(value, enough)),
            Outcome::Threw { error } => {
                let texts = [&error.name, &error.message, &error.stack].map(String::len);
                let code = error.code.as_ref().map_or(0, |code| bytes(code, enough));
                texts.iter().sum::<usize>() + code
            }
            Outcome::LimitExceeded { .. } | Outcome::Lost { .. } | Outcome::Cancelled { .. } => 0,
        };
        returned + self.effects.bytes()
    }

    /// Its end without the values.
    pub(super) fn hidden(self, masks: &Masks) -> Ending {
        if !self.is_step {
            return Ending::Answers(answers_of(self.outcome, masks));
        }
        let path = self.path.to_string();
        let (mut end, mut sends, mut logs) = self.effects.ended(&path, self.outcome, self.chance);
        masks.hide(&mut end, &mut logs);
        sends.hide(masks);
        Ending::Step(Box::new(StepEnding { end, sends, logs }))
    }
}

/// The bytes of a value; at least so many if it has more.
fn bytes(value: &Value, enough: usize) -> usize {
    let (mut bytes, mut rest) = (0, vec![value]);
    while let Some(value) = rest.pop() {
        bytes += match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 4,
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                rest.extend(items.iter().take(enough));
                2
            }
            Value::Object(fields) => {
                rest.extend(fields.values().take(enough));
                2 + fields.keys().map(String::len).sum::<usize>()
            }
        };
        if bytes >= enough {
            break;
        }
    }
    bytes
}

impl Masks {
    /// Masks everything that a failure says: its name and code are words of the code, too.
    fn failure(&self, failure: &mut Failure) {
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
    fn hide(&self, end: &mut StepEnd, logs: &mut [LogLine]) {
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
fn answers_of(outcome: Outcome, masks: &Masks) -> Result<Vec<Box<RawValue>>, Box<Failure>> {
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

    /// Another step may answer with the error, and reads the values in place of the platform's marks.
    #[test]
    fn no_part_of_an_execution_keeps_a_mark_of_somebody_else() {
        let mark = "***A:0123456789abcdef***";
        let error = ComponentError {
            name: mark.to_owned(),
            message: format!("unknown {mark}"),
            stack: mark.to_owned(),
            code: Some(json!(mark)),
            status: None,
        };
        let thrown = Outcome::Threw { error };
        let mut end = StepEnd {
            outcome: StepOutcome::Failed(Failure::of(&thrown).unwrap()),
            exports: vec![(mark.to_owned(), Kept::of(&json!({ mark: mark })))],
            exit: Some(mark.to_owned()),
            flow: Vec::new(),
            chance: 0.0,
        };
        for masks in [Masks::default(), masks(&[("A", "hunter2\"x")])] {
            masks.hide(&mut end, &mut []);
            let kept = format!("{end:?}");
            assert!(!kept.contains("0123456789abcdef"), "{kept}");
            let failure = answers_of(thrown.clone(), &masks).unwrap_err();
            assert_eq!(failure.error.message, "unknown (A)");
        }
    }

    #[test]
    fn bytes_are_counted_as_far_as_is_needed() {
        let value = json!({ "list": [1, "two", null, true], "more": { "text": "x".repeat(100) } });
        let all = bytes(&value, 1_000);
        assert!((100..200).contains(&all), "{all}");
        assert!(bytes(&value, 10) < all);
        assert!(bytes(&json!(vec![0; 1_000]), 100) >= 100);
        assert!(bytes(&json!(vec![json!({}); 1_000]), 1_000) >= 1_000);
    }
}
