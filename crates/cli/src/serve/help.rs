//! The help of `serve`: among its own options those of every command that a node heeds, without the others, and the
//! variables that are not options.

use clap::{Arg, Command, builder::Resettable};

use super::log;

/// Options of every command that a node heeds: their ids, the theme that they belong to, and their meaning for it.
const HEEDED: [(&str, &str, &str); 3] = [
    (
        "data_dir",
        "Data and database",
        "Folder for all data of the node; created if it is missing",
    ),
    (
        "api_key",
        "Accounts and quotas",
        "API key that the first user gets, at the first start; others can read a command line, so give it in the environment \
         [default: a new one, kept in DATA_DIR/api-key]",
    ),
    (
        "workspace",
        "Workflows",
        "Workspace, by its id or orgname, for which --workflows deploys [default: the first user's own]",
    ),
];

/// Variables of a node that are not options, with their meaning.
pub(crate) const VARIABLES: [(&str, &str); 4] = [
    (
        log::VARIABLE,
        "Lines of the log: error, warn, info, debug, trace or off, or modules with theirs, such as \
         info,headwater_platform=debug [default: info]",
    ),
    (
        "HEADWATER_SECRET_KEY",
        "Key that accounts and secrets are encrypted with, in place of the file DATA_DIR/secret-key and in its format, 1: and \
         64 hexadecimal digits; set it from the first start on if backups of the data folder must not contain the key",
    ),
    (
        "HEADWATER_CACHE_DIR",
        "Folder of Deno, the bundler and downloaded packages; a service without a home needs it [default: \
         $XDG_CACHE_HOME/headwater, or else $HOME/.cache/headwater]",
    ),
    (
        "HEADWATER_DENO",
        "Deno to use in place of one on PATH or an installed one",
    ),
];

/// The command line with this help of `serve`.
pub(crate) fn explain(command: Command) -> Command {
    let of_all = command.get_arguments();
    let of_all: Vec<_> = of_all
        .filter(|argument| argument.is_global_set())
        .map(|argument| of_serve(argument.clone()))
        .collect();
    command.mut_subcommand("serve", |serve| {
        let examples = serve.get_after_help().map(ToString::to_string);
        let examples = examples.unwrap_or_default();
        serve.args(of_all).after_help(
            format!("{}\n\n{examples}", variables())
                .trim_end()
                .to_owned(),
        )
    })
}

fn of_serve(argument: Arg) -> Arg {
    let heeded = HEEDED.iter().find(|(id, ..)| argument.get_id() == *id);
    match heeded {
        Some((_, theme, help)) => argument
            .help_heading(*theme)
            .help(*help)
            .long_help(Resettable::Reset)
            .hide_short_help(false),
        None => argument.hide(true),
    }
}

fn variables() -> String {
    let lines = VARIABLES.map(|(name, meaning)| format!("  {name}\n          {meaning}"));
    format!("Variables besides the options:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use crate::arguments;

    use super::*;

    fn help() -> String {
        let mut command = arguments::command();
        command.build();
        let serve = command.find_subcommand_mut("serve").unwrap();
        serve.render_long_help().to_string()
    }

    #[test]
    fn the_options_are_told_by_theme() {
        let command = arguments::command();
        let serve = command.find_subcommand("serve").unwrap();
        let shown = serve
            .get_arguments()
            .filter(|argument| !argument.is_hide_set());
        let without: Vec<_> = shown
            .filter(|argument| argument.get_help_heading().is_none())
            .filter_map(Arg::get_long)
            .collect();
        assert_eq!(without, ["config", "check"]);
        let help = help();
        let (_, nodes) = help.split_once("\nSeveral nodes:\n").unwrap();
        let (nodes, _) = nodes.split_once(":\n\n").unwrap_or((nodes, ""));
        assert!(nodes.contains("--cluster-secret"), "{help}");
    }

    #[test]
    fn options_of_every_command_are_told_only_if_a_node_heeds_them() {
        let help = help();
        let flags: Vec<_> = help
            .lines()
            .filter_map(|line| line.trim_start().split([' ', ',']).next())
            .collect();
        for heeded in ["--data-dir", "--api-key", "--workspace"] {
            assert!(flags.contains(&heeded), "{heeded}: {help}");
        }
        for other in ["--url", "--profile", "--ca-file", "--json", "-o"] {
            assert!(!flags.contains(&other), "{other}: {help}");
        }
        for (name, _) in VARIABLES {
            assert!(help.contains(name), "{name}: {help}");
        }
        assert!(help.contains("Examples:"), "{help}");
    }
}
