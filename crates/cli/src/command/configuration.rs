//! `configuration`: the guide's page about the options of `serve`, written from the options themselves. For `cargo xtask
//! configuration`, which commits it.

use std::fmt::Write as _;

use anyhow::Result;
use clap::{Arg, CommandFactory as _};

use crate::arguments::Cli;
use crate::exit::Exit;
use crate::output;

const HEAD: &str = "\
# Configuration

Every option of `headwater serve` can be given in three places; the first of them counts: a flag, an environment variable,
a key of the TOML file that `--config FILE` names. The file's keys are the flags with underscores:

```toml
listen = \"0.0.0.0:3000\"
public_url = \"https://headwater.example.com\"
allow_private_network = [\"10.0.0.0/8\"]
```

A node shows the options that it runs with at `/settings/node` of the [web UI](web-ui.md), without secrets.

<!-- Written by `cargo xtask configuration` from the options' own texts. -->
";

pub(crate) fn run() -> Result<Exit> {
    output::data(page().trim_end())?;
    Ok(Exit::Success)
}

/// The page as Markdown.
fn page() -> String {
    let command = Cli::command();
    let serve = command.find_subcommand("serve");
    let options = serve.into_iter().flat_map(clap::Command::get_arguments);
    let mut page = HEAD.to_owned();
    for option in options.filter(|option| !option.is_hide_set()) {
        section(&mut page, option);
    }
    page
}

fn section(page: &mut String, option: &Arg) {
    let Some(flag) = option
        .get_long()
        .filter(|flag| !["config", "check"].contains(flag))
    else {
        return;
    };
    let value = option.get_value_names().into_iter().flatten().next();
    let value = match (
        value,
        option
            .get_num_args()
            .is_some_and(|args| args.min_values() == 0),
    ) {
        (Some(value), true) => format!("[={value}]"),
        (Some(value), false) => format!(" {value}"),
        (None, _) => String::new(),
    };
    let _ = write!(page, "\n## --{flag}\n\n`--{flag}{value}`");
    if let Some(variable) = option.get_env() {
        let _ = write!(page, ", `{}`", variable.to_string_lossy());
    }
    let _ = writeln!(page, ", `{}` in the file.\n", flag.replace('-', "_"));
    let help = option.get_long_help().or_else(|| option.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let text = help.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    let (text, note) = match text
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once(" ["))
    {
        Some((text, note)) => (text, Some(note)),
        None => (text.as_str(), None),
    };
    let _ = write!(page, "{}.", escaped(text));
    match note.map(|note| note.split_once(": ").unwrap_or((note, ""))) {
        Some((name, "")) => _ = write!(page, " {}.", capitalized(name)),
        Some((name, value)) => _ = write!(page, " {}: `{value}`.", capitalized(name)),
        None => {}
    }
    page.push('\n');
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The text of an option as Markdown's: its words stand for themselves.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if matches!(letter, '<' | '*' | '_' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_has_the_options_as_they_are() {
        let written = include_str!("../../../../docs/guide/configuration.md");
        assert!(
            written.trim_end() == page().trim_end(),
            "docs/guide/configuration.md is not what the options say; run `cargo xtask configuration`"
        );
    }

    #[test]
    fn each_option_says_where_it_can_be_given() {
        let page = page();
        assert!(page.contains("`--listen ADDRESS`, `HEADWATER_LISTEN`, `listen` in the file."));
        assert!(page.contains("`--allow-private-network[=CIDR,…]`"));
        assert!(!page.contains("## --config") && !page.contains("## --check"));
    }
}
