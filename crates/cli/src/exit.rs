//! The end of the process: the exit codes, and the printing of an error, in words or, with `--json`, in the API's shape.
//! Meeting an error is the command's business; the API's own errors carry their hint with them.

use std::io::ErrorKind;

use serde_json::{Map, Value, json};

use crate::client::ClientError;
use crate::display;
use crate::output;
use crate::usage_error::UsageError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    Failure = 1,
    Usage = 2,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Tells the person about an error and settles the exit code.
pub(crate) fn report(result: anyhow::Result<Exit>) -> Exit {
    let error = match result {
        Ok(exit) => return exit,
        Err(error) => error,
    };
    // `headwater events SOURCE | head` is not a failure.
    if is_broken_pipe(&error) {
        return Exit::Success;
    }
    print_error(&error);
    match find::<UsageError>(&error) {
        Some(_) => Exit::Usage,
        None => Exit::Failure,
    }
}

/// Prints an error, and the person's next step.
pub(crate) fn print_error(error: &anyhow::Error) {
    if display::current().is_json {
        output::json_note(&as_json(error));
        return;
    }
    output::tell(&format!("error: {error:#}"));
    if let Some(client_error) = find::<ClientError>(error) {
        // A stack without frames only says again what the message says.
        if let Some(stack) = client_error.stack().filter(|stack| stack.contains('\n')) {
            output::note(stack);
        }
        if let Some(advice) = client_error.advice() {
            output::tell(&format!("hint: {advice}"));
        }
    }
}

/// An error as programs read it: as the API gives its own, with the next step.
fn as_json(error: &anyhow::Error) -> Value {
    let refused = find::<ClientError>(error);
    let code = match (refused, find::<UsageError>(error)) {
        (Some(refused), _) => refused.code(),
        (None, Some(_)) => "usage",
        (None, None) => "failed",
    };
    let said = |field: fn(&ClientError) -> Option<&str>| refused.and_then(field);
    let further = [
        ("hint", refused.and_then(ClientError::advice)),
        ("param", said(ClientError::param).map(str::to_owned)),
        ("stack", said(ClientError::stack).map(str::to_owned)),
        (
            "request_id",
            said(ClientError::request_id).map(str::to_owned),
        ),
    ];
    let further = further
        .into_iter()
        .filter_map(|(field, value)| Some((field.to_owned(), Value::from(value?))));
    json_of(code, &format!("{error:#}"), further.collect())
}

/// A failure in the API's shape, with fields besides code and message.
pub(crate) fn json_of(code: &str, message: &str, further: Map<String, Value>) -> Value {
    let mut details = further;
    details.insert("code".to_owned(), code.into());
    details.insert("message".to_owned(), message.into());
    json!({ "error": details })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    find::<std::io::Error>(error).is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

fn find<E: std::error::Error + 'static>(error: &anyhow::Error) -> Option<&E> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn each_kind_of_end_has_its_code() {
        let usage = Err::<Exit, _>(UsageError("no such prop".into())).context("cannot deploy");
        let pipe = Err::<Exit, _>(std::io::Error::from(ErrorKind::BrokenPipe)).context("stdout");
        assert_eq!(report(Ok(Exit::Failure)), Exit::Failure);
        assert_eq!(report(Err(anyhow::anyhow!("it broke"))), Exit::Failure);
        assert_eq!(report(usage), Exit::Usage);
        assert_eq!(report(pipe), Exit::Success);
    }

    #[test]
    fn an_error_for_programs_has_the_shape_of_the_apis() {
        let body = r#"{"error":{"code":"internal","message":"a fault","request_id":"r1"}}"#;
        let refused = ClientError::of_answer(500, body);
        let told = as_json(&anyhow::Error::from(refused).context("cannot deploy"));
        assert_eq!(
            told,
            json!({"error": {
                "code": "internal", "message": "cannot deploy: a fault", "request_id": "r1",
                "hint": "try again; `headwater doctor` checks the node, whose log has the request r1",
            }})
        );
        let usage = as_json(&UsageError("no such prop".into()).into());
        assert_eq!(
            usage,
            json!({"error": {"code": "usage", "message": "no such prop"}})
        );
        let other = as_json(&anyhow::anyhow!("it broke"));
        assert_eq!(
            other,
            json!({"error": {"code": "failed", "message": "it broke"}})
        );
    }
}
