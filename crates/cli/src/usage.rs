//! Mistakes on the command line as clap tells them, with the usage of the command that was called. Clap's own names the
//! flags whose values the environment gives, as if they had been typed.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::arguments;

/// The error with the usage of its command.
pub(crate) fn explained(error: clap::Error) -> clap::Error {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    explained_for(error, &words)
}

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
