//! The expressions that the scripted engine understands: JSON, and paths such as `steps.one.$return_value.n`.

use headwater_model::outcome::Outcome;
use serde_json::{Value, json};

use crate::engine::{Run, returned_with, thrown};

/// The outcome of evaluating the questions of a workflow.
pub(crate) fn answer(run: &Run) -> Outcome {
    let questions = run.event["ask"].as_array().unwrap();
    let answers: Result<Vec<Value>, String> = questions
        .iter()
        .map(|question| answer_to(question, &run.event))
        .collect();
    match answers {
        Ok(answers) => returned_with(json!(answers)),
        Err(error) => thrown(&error),
    }
}

fn answer_to(question: &Value, input: &Value) -> Result<Value, String> {
    if let Some(conditions) = question["first"].as_array() {
        for (index, condition) in conditions.iter().enumerate() {
            if condition.is_null() || holds(condition, input)? {
                return Ok(json!(index));
            }
        }
        return Ok(Value::Null);
    }
    match question.get("condition") {
        Some(condition) => holds(condition, input).map(Value::Bool),
        None => value(&question["value"], input),
    }
}

fn holds(condition: &Value, input: &Value) -> Result<bool, String> {
    let value = match condition.get("op").and_then(Value::as_str) {
        Some("equals") => {
            return Ok(value(&condition["a"], input)? == value(&condition["b"], input)?);
        }
        Some(other) => return Err(format!("the scripted engine knows no operator {other}")),
        None => expression(condition["expression"].as_str().unwrap_or_default(), input)?,
    };
    Ok(!matches!(value, Value::Null | Value::Bool(false)))
}

fn value(template: &Value, input: &Value) -> Result<Value, String> {
    match template["$template"].as_array().map(Vec::as_slice) {
        Some([part]) => expression(part["expression"].as_str().unwrap_or_default(), input),
        Some(_) => Err("the scripted engine joins no texts".to_owned()),
        None => Ok(template.clone()),
    }
}

fn expression(text: &str, input: &Value) -> Result<Value, String> {
    if let Ok(literal) = serde_json::from_str(text.trim()) {
        return Ok(literal);
    }
    let mut names = text.trim().split('.');
    if names.next() != Some("steps") {
        return Err(format!("{text} is not defined"));
    }
    let found = names.try_fold(&input["steps"], |value, name| value.get(name));
    Ok(found.cloned().unwrap_or_default())
}
