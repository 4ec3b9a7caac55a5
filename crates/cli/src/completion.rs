//! Completions of the command line: of its words, and of values that the node has, such as the names of sources. A shell
//! starts this program anew for each of them. Whatever goes wrong, nothing is completed and nothing is said.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{Arg, Command, FromArgMatches as _};
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::{CompleteEnv, Shells};
use serde_json::Value;

use crate::arguments::{self, Global};
use crate::prop::declared;
use crate::session::Session;
use crate::source::{self, text};
use crate::{account, webhook};

/// The variable by which a shell asks.
const VARIABLE: &str = "HEADWATER_COMPLETE";
/// A person waits with a finger on the key.
const PATIENCE: Duration = Duration::from_millis(900);
/// The commands whose `--prop` is about the component or source behind them.
const WITH_PROPS: [&str; 4] = ["deploy", "update", "run-action", "dev"];

/// A kind of value that a node knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Live {
    Sources,
    Workflows,
    /// Whose events a command shows.
    Emitters,
    Webhooks,
    /// Sources and webhooks, which events can be sent to.
    Listeners,
    Apps,
    Accounts,
    Components,
    Props,
    Fields,
}

/// Prints completions and ends, if a shell asks for them.
pub(crate) fn complete_if_asked() {
    CompleteEnv::with_factory(|| with_live_values(arguments::command()))
        .var(VARIABLE)
        .complete();
}

/// The script with which a shell asks.
pub(crate) fn script(shell: Shell) -> Result<String> {
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string());
    let shell = shell.context("there are no completions for this shell")?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "headwater", "headwater", "headwater", &mut script)?;
    Ok(String::from_utf8(script)?)
}

fn with_live_values(command: Command) -> Command {
    let command = command.mut_args(|argument| match live(&argument) {
        Some(kind) => argument.add(ArgValueCompleter::new(move |current: &OsStr| {
            candidates(kind, current)
        })),
        None => argument,
    });
    command.mut_subcommands(with_live_values)
}

/// Arguments of one name mean one kind of thing in all commands.
fn live(argument: &Arg) -> Option<Live> {
    Some(match argument.get_id().as_str() {
        "source" if takes_workflows(argument) => Live::Emitters,
        "source" | "subject" => Live::Sources,
        "emitter" => Live::Emitters,
        "workflow" => Live::Workflows,
        "webhook" => Live::Webhooks,
        "listener" => Live::Listeners,
        "app" => Live::Apps,
        "account" => Live::Accounts,
        "component" => Live::Components,
        "props" => Live::Props,
        "fields" => Live::Fields,
        _ => return None,
    })
}

fn takes_workflows(argument: &Arg) -> bool {
    let names = argument.get_value_names().unwrap_or_default();
    names.iter().any(|name| name.contains("WORKFLOW"))
}

fn candidates(kind: Live, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed: Vec<OsString> = std::env::args_os()
        .skip_while(|word| word != "--")
        .skip(1)
        .collect();
    let found = known(kind, &typed).unwrap_or_default();
    let begun = current.to_string_lossy();
    let found = found.into_iter();
    let found = found.filter(|(value, _)| value.starts_with(&*begun));
    let mut candidates: Vec<_> = found
        .map(|(value, help)| {
            let help = Some(help).filter(|help| !help.is_empty());
            CompletionCandidate::new(value).help(help.map(Into::into))
        })
        .collect();
    if kind == Live::Components {
        candidates.extend(PathCompleter::file().complete(current));
    }
    candidates
}

/// The values of a kind, with a word about each.
fn known(kind: Live, typed: &[OsString]) -> Result<Vec<(String, String)>> {
    // Fails only when a provider is installed already, which is just as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let session = Session::open(&global(typed)?)?;
        tokio::time::timeout(PATIENCE, ask(&session, kind, typed)).await?
    })
}

/// The global options among the words.
fn global(typed: &[OsString]) -> Result<Global> {
    use clap::Args as _;

    let command = Global::augment_args(Command::new("headwater"));
    let flags: Vec<String> = command
        .get_arguments()
        .filter(|argument| argument.get_action().takes_values())
        .filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
        .collect();
    let mut given = vec![OsString::from("headwater")];
    for (at, word) in typed.iter().enumerate() {
        let word = word.to_string_lossy();
        let flag = word.split_once('=').map_or(&*word, |(flag, _)| flag);
        if flags.iter().any(|known| known == flag) {
            given.push((&*word).into());
            given.extend(typed.get(at + 1).filter(|_| flag == word).cloned());
        }
    }
    Ok(Global::from_arg_matches(
        &command.try_get_matches_from(given)?,
    )?)
}

async fn ask(session: &Session, kind: Live, typed: &[OsString]) -> Result<Vec<(String, String)>> {
    let client = &session.client;
    let named = |items: Vec<Value>, name: &str, about: &str| {
        let items = items.iter();
        items
            .map(|item| (text(item, name).to_owned(), text(item, about).to_owned()))
            .filter(|(name, _)| !name.is_empty())
            .collect::<Vec<_>>()
    };
    Ok(match kind {
        Live::Sources => called(&sources(session).await?),
        Live::Workflows => called(&workflows(session).await?),
        Live::Emitters => {
            let mut emitters = called(&sources(session).await?);
            emitters.extend(called(&workflows(session).await?));
            emitters
        }
        Live::Webhooks => named(webhook::list(client).await?, "name", "url"),
        Live::Listeners => {
            let mut listeners = named(webhook::list(client).await?, "name", "url");
            listeners.extend(called(&sources(session).await?));
            listeners
        }
        Live::Apps => named(client.list(&["apps"]).await?, "name_slug", "name"),
        Live::Accounts => named(account::list(client).await?, "name", "app"),
        Live::Components => {
            let scope = client.scope().await?;
            let path = ["components"];
            named(client.first(&path, 1000, &scope).await?.data, "key", "name")
        }
        Live::Props => props(session, typed).await?,
        Live::Fields => fields(session, typed).await?,
    })
}

/// Things by what commands call them, with their whole names.
fn called(all: &[Value]) -> Vec<(String, String)> {
    all.iter()
        .map(|item| {
            (
                source::called_among(item, all).to_owned(),
                text(item, "name").to_owned(),
            )
        })
        .collect()
}

async fn sources(session: &Session) -> Result<Vec<Value>> {
    session
        .client
        .list_scoped(&["users", "me", "sources"])
        .await
}

async fn workflows(session: &Session) -> Result<Vec<Value>> {
    session.client.list_scoped(&["workflows"]).await
}

/// The props of the source or component that the command is about, as `NAME=`.
async fn props(session: &Session, typed: &[OsString]) -> Result<Vec<(String, String)>> {
    let words: Vec<_> = typed.iter().map(|word| word.to_string_lossy()).collect();
    let at = words.iter().position(|word| WITH_PROPS.contains(&&**word));
    let at = at.context("no command with props")?;
    let subject = words.get(at + 1).context("nothing to configure yet")?;
    let client = &session.client;
    if Path::new(&**subject).is_file() {
        let code = std::fs::read_to_string(&**subject)?;
        let names = declared::names(&code).into_iter();
        return Ok(names
            .map(|name| (format!("{name}="), String::new()))
            .collect());
    }
    let reference = match &*words[at] {
        "update" => {
            let id = source::find_id(client, subject).await?;
            let source = client.get(&["sources", &id]).await?;
            text(&source, "component_id").to_owned()
        }
        _ => subject.clone().into_owned(),
    };
    let scope = client.scope().await?;
    let component = client.get_data(&["components", &reference], &scope).await?;
    let props = component["configurable_props"].as_array();
    let props = props.into_iter().flatten();
    Ok(props
        .map(|prop| {
            let about = match text(prop, "label") {
                "" => text(prop, "type"),
                label => label,
            };
            (format!("{}=", text(prop, "name")), about.to_owned())
        })
        .collect())
}

/// The fields of the app, or of the account's, that the command is about, as `NAME=`.
async fn fields(session: &Session, typed: &[OsString]) -> Result<Vec<(String, String)>> {
    let words: Vec<_> = typed.iter().map(|word| word.to_string_lossy()).collect();
    let at = words.iter().position(|word| word == "accounts");
    let words = at.map_or(&[][..], |at| &words[at + 1..]);
    let (verb, subject) = (words.first(), words.get(1));
    let subject = subject.context("nothing that has fields yet")?;
    let slug = match verb.map(|verb| &**verb) {
        Some("update") => {
            let accounts = account::list(&session.client).await?;
            let account = accounts.iter().find(|it| text(it, "name") == *subject);
            text(account.context("no such account")?, "app").to_owned()
        }
        _ => subject.clone().into_owned(),
    };
    let query = [("q", slug.clone())];
    let apps = session.client.first(&["apps"], usize::MAX, &query).await?;
    let app = apps.data.iter().find(|app| text(app, "name_slug") == slug);
    let fields = app.and_then(|app| app["fields"].as_array());
    let fields = fields.into_iter().flatten();
    Ok(fields
        .map(|field| {
            (
                format!("{}=", text(field, "name")),
                text(field, "label").to_owned(),
            )
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn global_options_count_wherever_they_are_typed() {
        let typed = [
            "headwater",
            "logs",
            "--url",
            "http://node:1",
            "--api-key=k",
            "-f",
            "",
        ];
        let global = global(&typed.map(OsString::from)).unwrap();
        assert_eq!(global.url.as_deref(), Some("http://node:1"));
        assert_eq!(global.api_key.as_deref(), Some("k"));
    }

    #[test]
    fn every_shell_of_the_command_line_has_a_script() {
        use clap::ValueEnum as _;

        for shell in Shell::value_variants() {
            assert!(script(*shell).unwrap().contains(VARIABLE), "{shell}");
        }
    }
}
