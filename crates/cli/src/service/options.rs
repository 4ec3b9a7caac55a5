//! The options of `serve` that a unit gives it: understood as `serve` would, and fit for a file that everybody may read.

use std::{
    any::TypeId,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Arg, ArgMatches, Args as _, Command, parser::ValueSource};

use crate::{
    arguments::{self, DEFAULT_DATA_DIR, ServeArguments},
    usage_error::UsageError,
};

/// Ports below it are for processes that are allowed them.
const FIRST_FREE_PORT: u16 = 1024;

/// Options that were understood.
#[derive(Debug)]
pub(super) struct ServeOptions {
    /// The options in words, without the data folder.
    pub(super) words: Vec<String>,
    /// A data folder among them.
    pub(super) data_dir: Option<PathBuf>,
    /// Each file and folder that they name, with its option.
    pub(super) files: Vec<(String, PathBuf)>,
    pub(super) shutdown_grace: Option<Duration>,
    /// Whether the node listens on a port that not every process may take.
    pub(super) takes_low_port: bool,
}

impl ServeOptions {
    /// # Errors
    /// An option that `serve` does not understand, a path that depends on where one stands, or a secret.
    pub(super) fn read(words: &[String]) -> Result<Self, UsageError> {
        let line = ["headwater", "serve"].map(str::to_owned);
        let matches = arguments::command()
            .try_get_matches_from([&line, words].concat())
            .map_err(|error| UsageError(complaint(&error)))?;
        let (_, matches) = matches.subcommand().expect("`serve` is one");
        let serve = ServeArguments::augment_args(Command::new("serve"));
        let mut files = Vec::new();
        for argument in serve.get_arguments() {
            if !is_given(matches, argument.get_id().as_str()) {
                continue;
            }
            check_is_public(argument)?;
            files.extend(file(matches, argument)?);
        }
        let data_dir = is_given(matches, "data_dir")
            .then(|| matches.get_one::<PathBuf>("data_dir").cloned())
            .flatten();
        let address = |name| {
            let given = is_given(matches, name).then(|| matches.get_one::<SocketAddr>(name));
            given
                .flatten()
                .is_some_and(|address| address.port() < FIRST_FREE_PORT)
        };
        let grace = "shutdown_grace";
        let shutdown_grace = is_given(matches, grace).then(|| matches.get_one::<Duration>(grace));
        Ok(Self {
            words: without_data_dir(words),
            data_dir,
            files,
            shutdown_grace: shutdown_grace.flatten().copied(),
            takes_low_port: address("listen") || address("smtp_listen"),
        })
    }
}

/// The data folder of the service, unless it is where the manager's services have theirs.
pub(super) fn chosen_data_dir(
    options: &ServeOptions,
    global: &Path,
) -> Result<Option<PathBuf>, UsageError> {
    let is_default = global == Path::new(DEFAULT_DATA_DIR);
    let given = options.data_dir.clone();
    let chosen = given.or_else(|| (!is_default).then(|| global.to_owned()));
    chosen.map(|path| whole("--data-dir", path)).transpose()
}

fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.value_source(name) == Some(ValueSource::CommandLine)
}

/// The reason in clap's words, without its heading.
fn complaint(error: &clap::Error) -> String {
    let told = error.to_string();
    let told = told.trim_start_matches("error: ");
    let reason = told.split("\n\n").next().unwrap_or(told);
    format!("the options behind `--` are those of `headwater serve`: {reason}")
}

fn check_is_public(argument: &Arg) -> Result<(), UsageError> {
    let variable = argument.get_env().and_then(|name| name.to_str());
    match (argument.is_hide_env_values_set(), variable) {
        (true, Some(variable)) => Err(UsageError(format!(
            "--{}: everybody may read a unit; set {variable} in the file that EnvironmentFile= of the unit names",
            argument.get_long().unwrap_or_default()
        ))),
        (true, None) | (false, _) => Ok(()),
    }
}

fn file(matches: &ArgMatches, argument: &Arg) -> Result<Option<(String, PathBuf)>, UsageError> {
    let is_path = argument.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let path = match is_path {
        true => matches.get_one::<PathBuf>(argument.get_id().as_str()),
        false => None,
    };
    let Some(path) = path else {
        return Ok(None);
    };
    let option = format!("--{}", argument.get_long().unwrap_or_default());
    let path = whole(&option, path.clone())?;
    Ok(Some((option, path)))
}

fn whole(option: &str, path: PathBuf) -> Result<PathBuf, UsageError> {
    if path.is_absolute() {
        return Ok(path);
    }
    Err(UsageError(format!(
        "{option}: `{}` is not a whole path, and a service stands in no folder of yours; give one that begins with /",
        path.display()
    )))
}

fn without_data_dir(words: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--data-dir" => {
                words.next();
            }
            given if given.starts_with("--data-dir=") => {}
            _ => kept.push(word.clone()),
        }
    }
    kept
}
