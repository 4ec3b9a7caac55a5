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
use crate::profile::Profiles;
use crate::prop::declared;
use crate::session::Session;
use crate::source::{self, text};
use crate::{account, webhook};

/// The variable by which a shell asks.
const VARIABLE: &str = "HEADWATER_COMPLETE";
/// A person waits with a finger on the key.
const PATIENCE: Duration = Duration::from_millis(900);
/// The commands whose `--prop` is about the component or source behind them.
const WITH_PROPS: [&str; 5] = ["deploy", "update", "run-action", "try", "dev"];
/// Components of the index that are asked for.
const INDEXED_MAX: usize = 100;

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
    DataStores,
    Variables,
    Workspaces,
    Users,
    Profiles,
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
        "source" if takes(argument, "WORKFLOW") => Live::Emitters,
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
        // `store copy` has another.
        "from" if takes(argument, "SOURCE") => Live::Sources,
        "data_store" => Live::DataStores,
        "variable" => Live::Variables,
        "workspace" => Live::Workspaces,
        "user" => Live::Users,
        "profile" | "chosen_profile" => Live::Profiles,
        _ => return None,
    })
}

fn takes(argument: &Arg, kind: &str) -> bool {
    let names = argument.get_value_names().unwrap_or_default();
    names.iter().any(|name| name.contains(kind))
}

fn candidates(kind: Live, current: &OsStr) -> Vec<CompletionCandidate> {
    let typed: Vec<OsString> = std::env::args_os()
        .skip_while(|word| word != "--")
        .skip(1)
        .collect();
    let begun = current.to_string_lossy();
    let found = known(kind, &typed, &begun).unwrap_or_default();
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
fn known(kind: Live, typed: &[OsString], begun: &str) -> Result<Vec<(String, String)>> {
    if kind == Live::Profiles {
        let profiles = Profiles::read()?.profiles.into_iter();
        return Ok(profiles
            .map(|(name, profile)| (name, profile.url))
            .collect());
    }
    // Fails only when a provider is installed already, which is just as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let session = Session::open(&global(typed)?)?;
        tokio::time::timeout(PATIENCE, ask(&session, kind, typed, begun)).await?
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

async fn ask(
    session: &Session,
    kind: Live,
    typed: &[OsString],
    begun: &str,
) -> Result<Vec<(String, String)>> {
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
            let own = client.first(&path, 1000, &scope).await?.data;
            let mut components = named(own, "key", "name");
            // A node of another version may have no index; its own components are worth showing.
            let indexed = indexed(session, typed, begun).await.unwrap_or_default();
            components.extend(named(indexed, "key", "name"));
            components.sort();
            components.dedup_by(|one, other| one.0 == other.0);
            components
        }
        Live::Props => props(session, typed).await?,
        Live::Fields => fields(session, typed).await?,
        Live::DataStores => named(client.list_scoped(&["data_stores"]).await?, "name", ""),
        Live::Variables => named(client.list_scoped(&["variables"]).await?, "name", ""),
        Live::Workspaces => named(client.list(&["workspaces"]).await?, "orgname", "name"),
        Live::Users => named(client.list(&["users"]).await?, "username", "email"),
        // Those are not the node's.
        Live::Profiles => Vec::new(),
    })
}

/// Components of the node's index whose keys may begin so: those are too many to show before something is typed.
async fn indexed(session: &Session, typed: &[OsString], begun: &str) -> Result<Vec<Value>> {
    if begun.is_empty() {
        return Ok(Vec::new());
    }
    let is_action = typed.iter().any(|word| word == "run-action");
    let kind = if is_action { "action" } else { "source" };
    let mut filter = vec![("q", begun.to_owned()), ("type", kind.to_owned())];
    // Keys begin with the app's name slug.
    let app = begun.split_once('-').map(|(app, _)| app.to_owned());
    filter.extend(app.map(|app| ("app", app)));
    let path = ["packages", "components"];
    let found = session.client.first(&path, INDEXED_MAX, &filter).await?;
    Ok(found.data)
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
    fn arguments_of_one_kind_complete_the_same_things() {
        let of = |words: &[&str], id: &str| {
            let mut command = arguments::command();
            command.build();
            let found = words.iter().fold(&command, |command, word| {
                command.find_subcommand(word).expect("the command is there")
            });
            let mut arguments = found.get_arguments();
            live(arguments.find(|it| it.get_id() == id).expect("it has it"))
        };
        for (words, id, expected) in [
            (&["webhooks", "create"][..], "from", Some(Live::Sources)),
            (&["store", "copy"], "from", None),
            (&["try"], "component", Some(Live::Components)),
            (
                &["data-stores", "show"],
                "data_store",
                Some(Live::DataStores),
            ),
            (
                &["data-stores", "set"],
                "data_store",
                Some(Live::DataStores),
            ),
            (&["variables", "delete"], "variable", Some(Live::Variables)),
            (
                &["workspaces", "describe"],
                "workspace",
                Some(Live::Workspaces),
            ),
            (&["list"], "workspace", Some(Live::Workspaces)),
            (&["list"], "profile", Some(Live::Profiles)),
            (&["profiles", "use"], "chosen_profile", Some(Live::Profiles)),
            (
                &["workflows", "describe"],
                "workflow",
                Some(Live::Workflows),
            ),
        ] {
            assert_eq!(of(words, id), expected, "{words:?} {id}");
        }
    }

    #[test]
    fn every_shell_of_the_command_line_has_a_script() {
        use clap::ValueEnum as _;

        for shell in Shell::value_variants() {
            assert!(script(*shell).unwrap().contains(VARIABLE), "{shell}");
        }
    }
}
