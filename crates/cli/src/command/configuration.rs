//! `configuration`: the guide's page about the options of `serve`, written from the options themselves. For `cargo xtask
//! configuration`, which commits it.

use std::fmt::Write as _;

use anyhow::Result;
use clap::Arg;

use crate::arguments::{self, ServeArguments};
use crate::exit::Exit;
use crate::output;
use crate::serve::help::VARIABLES;

const HEAD: &str = "\
# Configuration

An option of `headwater serve` can be given in three places; the first of them counts: a flag, an environment variable,
a key of the TOML file that `--config FILE` names. The file's keys are the flags with underscores:

```toml
listen = \"0.0.0.0:3000\"
public_url = \"https://headwater.example.com\"
allow_private_network = [\"10.0.0.0/8\"]
```

A node shows the options that it runs with at `/settings/node` of the [web UI](web-ui.md), without secrets. `headwater
serve --help` has the same options under the same headings.

<!-- Written by `cargo xtask configuration` from the options' own texts. -->
";

const FURTHER: &str = "\
## Variables besides the options

The node reads these from its environment only.
";

pub(crate) fn run() -> Result<Exit> {
    output::data(page().trim_end())?;
    Ok(Exit::Success)
}

/// The page as Markdown.
fn page() -> String {
    let command = arguments::command();
    let serve = command.find_subcommand("serve");
    let options = serve.into_iter().flat_map(clap::Command::get_arguments);
    let options: Vec<_> = options
        .filter(|option| !option.is_hide_set())
        .filter_map(|option| Some((option.get_help_heading()?, option)))
        .collect();
    let mut themes: Vec<&str> = Vec::new();
    for (theme, _) in &options {
        if !themes.contains(theme) {
            themes.push(theme);
        }
    }
    let mut page = HEAD.to_owned();
    for theme in themes {
        let _ = write!(page, "\n## {theme}\n");
        let of_theme = options.iter().filter(|(of, _)| *of == theme);
        // As in the help, those of every command come first.
        let (of_all, own): (Vec<_>, Vec<_>) =
            of_theme.partition(|(_, option)| option.is_global_set());
        for (_, option) in of_all.into_iter().chain(own) {
            section(&mut page, option);
        }
    }
    let _ = write!(page, "\n{FURTHER}");
    for (name, meaning) in VARIABLES {
        let _ = write!(page, "\n### {name}\n\n");
        explain(&mut page, meaning);
    }
    page
}

fn section(page: &mut String, option: &Arg) {
    let Some(flag) = option.get_long() else {
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
    let _ = write!(page, "\n### --{flag}\n\n`--{flag}{value}`");
    if let Some(variable) = option.get_env() {
        let _ = write!(page, ", `{}`", variable.to_string_lossy());
    }
    let key = option.get_id().as_str();
    match ServeArguments::is_in_file(key) {
        true => _ = writeln!(page, ", `{key}` in the file.\n"),
        false => page.push_str("; not in the file.\n\n"),
    }
    let help = option.get_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let default = option.get_default_values().first();
    let default = default.map(|value| format!(" [default: {}]", value.to_string_lossy()));
    explain(page, &(help + &default.unwrap_or_default()));
}

/// The text of an option or a variable, with its default in a sentence of its own.
fn explain(page: &mut String, text: &str) {
    let text = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
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
        let data_dir = "`--data-dir DIR`, `HEADWATER_DATA_DIR`; not in the file.\n\nFolder for all data of the node; created if \
                        it is missing. Default: `./headwater-data`.";
        assert!(page.contains(data_dir), "{page}");
        assert!(page.contains("### HEADWATER_SECRET_KEY"));
        for absent in ["--config", "--check", "--url", "--json"] {
            assert!(!page.contains(&format!("## {absent}\n")), "{absent}");
        }
    }

    #[test]
    fn each_option_is_below_its_theme() {
        let page = page();
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
        let mail = place("\n## Mail\n")..place("\n## Objects in S3\n");
        assert!(mail.contains(&place("\n### --smtp-listen\n")));
        let data = place("\n## Data and database\n")..place("\n## Several nodes\n");
        assert!(data.contains(&place("\n### --data-dir\n")));
    }
}
