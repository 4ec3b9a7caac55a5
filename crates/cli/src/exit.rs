//! The end of the process: the exit codes, and the printing of an error. Meeting an error is the
//! command's business; the API's own errors carry their hint with them.

use std::io::ErrorKind;

use crate::client::ClientError;
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
}
