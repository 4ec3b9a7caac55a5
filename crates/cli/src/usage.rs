//! Mistakes on the command line as clap tells them, with the usage of the command that was called. Clap's own names the
//! flags whose values the environment gives, as if they had been typed.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Map, Value};

use crate::exit::{self, Exit};
use crate::{arguments, output};

/// Tells a person about the mistake, or a program that asks for JSON, and settles the exit code.
pub(crate) fn report(error: clap::Error) -> Exit {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    let error = explained_for(error, &words);
    let is_help = !error.use_stderr();
    match as_json(&error).filter(|_| words.iter().any(|word| word == "--json")) {
        Some(told) if !is_help => output::json_note(&told),
        _ => drop(error.print()),
    }
    match is_help {
        true => Exit::Success,
        false => Exit::Usage,
    }
}

/// The mistake in the API's shape; help has none.
fn as_json(error: &clap::Error) -> Option<Value> {
    let told = error.render().to_string();
    let told = told.strip_prefix("error: ")?;
    let message = told.split("\n\nUsage:").next().unwrap_or(told);
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = message.trim_end_matches(" For more information, try '--help'.");
    Some(exit::json_of("usage", message, Map::new()))
}

/// The error with the usage of its command.
fn explained_for(mut error: clap::Error, words: &[String]) -> clap::Error {
    if error.kind() == ErrorKind::MissingSubcommand
        && let Some(help) = help_of(words)
    {
        return help;
    }
    if error.get(ContextKind::Usage).is_none() {
        return error;
    }
    let mut command = arguments::command();
    command.build();
    let mut called = &mut command;
    for word in words {
        // Words between are flags of the commands above, and their values.
        if called.find_subcommand(word).is_some() {
            called = called
                .find_subcommand_mut(word)
                .expect("it was found just now");
        }
    }
    let usage = called.render_usage();
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    error
}

/// The help of a group of commands, which says of each what it does.
fn help_of(words: &[String]) -> Option<clap::Error> {
    let asked = ["headwater".to_owned()].into_iter();
    let asked = asked.chain(words.iter().cloned()).chain(["-h".to_owned()]);
    arguments::command().try_get_matches_from(asked).err()
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::arguments::Cli;

    #[test]
    fn a_group_without_a_command_shows_its_help() {
        for (words, told) in [
            (&[][..], "Deploy a component"),
            (&["webhooks"][..], "Rotate"),
        ] {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            let error = Cli::try_parse_from([&["headwater".to_owned()], &words[..]].concat());
            let shown = explained_for(error.unwrap_err(), &words).to_string();
            assert!(shown.contains("Commands:"), "{shown}");
            assert!(
                shown.to_lowercase().contains(&told.to_lowercase()),
                "{shown}"
            );
        }
    }

    #[test]
    fn a_program_is_told_the_mistake_alone() {
        let error = Cli::try_parse_from(["headwater", "list", "--stae", "x"]).unwrap_err();
        let told = as_json(&error).unwrap();
        assert_eq!(told["error"]["code"], "usage");
        let message = told["error"]["message"].as_str().unwrap_or_default();
        assert!(
            message.starts_with("unexpected argument '--stae' found"),
            "{message}"
        );
        assert!(
            !message.contains("Usage") && !message.contains("--help"),
            "{message}"
        );
        let help = Cli::try_parse_from(["headwater", "--help"]).unwrap_err();
        assert_eq!(as_json(&help), None);
    }

    #[test]
    fn the_usage_is_that_of_the_command_whatever_the_environment_gives() {
        let words = ["--url", "http://a", "workflows", "deploy"].map(str::to_owned);
        let error = Cli::try_parse_from([&["headwater".to_owned()], &words[..]].concat());
        let told = explained_for(error.unwrap_err(), &words).to_string();
        assert!(
            told.contains("Usage: headwater workflows deploy [OPTIONS] <DIR>"),
            "{told}"
        );
    }
}
