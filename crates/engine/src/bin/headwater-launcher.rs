//! The launcher of confined processes by itself, for the engine's own tests. Nodes use the binary `headwater`.

use std::{io::Write as _, process::ExitCode};

/// Begins an argument that names ways of confining that fail, as on a kernel without them.
const WITHOUT: &str = "--without=";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let without =
        arguments.next_if(|argument| argument.as_encoded_bytes().starts_with(WITHOUT.as_bytes()));
    let without = without.unwrap_or_default();
    let without = without.to_string_lossy();
    let plan = arguments
        .peek()
        .map(|plan| plan.to_string_lossy().into_owned());
    let is_lacking = |way: &&str| {
        let way = format!("\"method\":\"{way}\"");
        plan.as_ref().is_some_and(|plan| plan.contains(&way))
    };
    let lacking = without
        .trim_start_matches(WITHOUT)
        .split(',')
        .find(is_lacking);
    if let Some(way) = lacking {
        let said = format!("headwater: a process cannot be confined: there is no {way} here\n");
        let _ = std::io::stderr().write_all(said.as_bytes());
        return ExitCode::FAILURE;
    }
    headwater_engine::confine::launch(arguments)
}
