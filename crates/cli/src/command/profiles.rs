//! `profiles`: lists the nodes that `login` keeps, and chooses the one that commands use. Keys are not shown.

use anyhow::Result;
use serde_json::{Value, json};

use crate::arguments::{Global, ProfilesArguments, ProfilesCommand};
use crate::exit::Exit;
use crate::output;
use crate::profile::{Profile, Profiles};
use crate::shell;
use crate::source::text;
use crate::table;
use crate::usage_error::UsageError;

pub(crate) fn run(global: &Global, arguments: ProfilesArguments) -> Result<Exit> {
    let profiles = Profiles::read()?;
    match arguments.command {
        ProfilesCommand::List => list(&profiles, global.json)?,
        ProfilesCommand::Use { name } => choose(profiles, name, global.json)?,
    }
    Ok(Exit::Success)
}

fn list(profiles: &Profiles, as_json: bool) -> Result<()> {
    let all = profiles.profiles.iter();
    let all: Vec<_> = all
        .map(|(name, profile)| shown(name, profile, profiles.current.as_ref() == Some(name)))
        .collect();
    if as_json {
        return output::json(&Value::from(all));
    }
    if all.is_empty() {
        output::tell("no profiles yet; `headwater login NODE_URL` keeps one");
        return Ok(());
    }
    let rows = all.iter().map(|profile| {
        let is_current = match profile["current"] == true {
            true => "yes",
            false => "-",
        };
        vec![
            text(profile, "profile").to_owned(),
            is_current.to_owned(),
            text(profile, "url").to_owned(),
            text(profile, "workspace").to_owned(),
        ]
    });
    let headers = ["profile", "current", "node", "workspace"];
    output::data(&table::listing(&headers, rows.collect())?)?;
    if profiles.current.is_none() {
        output::tell("none is current; choose one with `headwater profiles use NAME`");
    }
    Ok(())
}

fn choose(mut profiles: Profiles, name: String, as_json: bool) -> Result<()> {
    let Some(profile) = profiles.profiles.get(&name) else {
        let known: Vec<_> = profiles.profiles.keys().map(String::as_str).collect();
        let next = match known.is_empty() {
            true => format!(
                "`headwater login NODE_URL --profile {}` creates it",
                shell::quoted(&name)
            ),
            false => format!("there are {}", known.join(", ")),
        };
        return Err(UsageError(format!("there is no profile {name}; {next}")).into());
    };
    let profile = shown(&name, profile, true);
    profiles.current = Some(name);
    profiles.write()?;
    match as_json {
        true => output::json(&profile)?,
        false => {
            let fields = ["profile", "url", "workspace"];
            let rows = fields.map(|field| (field.to_owned(), text(&profile, field).to_owned()));
            let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
            output::data(&table::card(rows.collect()))?;
        }
    }
    output::tell("commands use it where no other key is found");
    Ok(())
}

fn shown(name: &str, profile: &Profile, is_current: bool) -> Value {
    json!({
        "profile": name,
        "current": is_current,
        "url": profile.url,
        "workspace": profile.workspace,
    })
}
