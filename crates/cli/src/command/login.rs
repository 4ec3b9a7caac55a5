//! `login` and `logout`: keep a node and the key for it as a profile, and forget it. The node says first whether it knows
//! the key.

use anyhow::Result;
use serde_json::json;

use crate::arguments::{DEFAULT_URL, Global, LoginArguments};
use crate::client::Client;
use crate::exit::Exit;
use crate::output;
use crate::profile::{DEFAULT_NAME, Profile, Profiles};
use crate::secret;
use crate::source::text;
use crate::table;

pub(crate) async fn run(global: &Global, arguments: &LoginArguments) -> Result<Exit> {
    let url = arguments.node.clone().or_else(|| global.url.clone());
    let url = url.unwrap_or_else(|| DEFAULT_URL.to_owned());
    let given = global.api_key.clone().filter(|key| !key.is_empty());
    let key = match given {
        Some(key) => key,
        None => secret::ask(
            "API key",
            "there is nobody to ask for the key; give it with --api-key or HEADWATER_API_KEY",
        )?,
    };
    let client = Client::new(&url, Some(key.clone()))?.with_key_of("this login".to_owned());
    let user = client.get(&["users", "me"]).await?;
    let name = global.profile.as_deref().unwrap_or(DEFAULT_NAME);
    let mut profiles = Profiles::read()?;
    let profile = Profile {
        url: client.base().to_string(),
        api_key: key,
        workspace: global.workspace.clone(),
    };
    profiles.profiles.insert(name.to_owned(), profile);
    profiles.current = Some(name.to_owned());
    let path = profiles.write()?;
    let shown = json!({"profile": name, "url": client.base().as_str(), "user": user["username"]});
    match global.json {
        true => output::json(&shown)?,
        false => output::data(&table::card(
            ["profile", "url", "user"]
                .map(|field| (field.to_owned(), text(&shown, field).to_owned()))
                .into(),
        ))?,
    }
    output::tell(&format!(
        "kept in {}; commands use it where no other key is found",
        path.display()
    ));
    Ok(Exit::Success)
}

pub(crate) fn forget(global: &Global) -> Result<Exit> {
    let mut profiles = Profiles::read()?;
    let name = global.profile.clone().or_else(|| profiles.current.clone());
    let name = name.unwrap_or_else(|| DEFAULT_NAME.to_owned());
    if profiles.profiles.remove(&name).is_none() {
        anyhow::bail!("there is no profile {name}; `headwater profiles list` shows them");
    }
    if profiles.current.as_ref() == Some(&name) {
        profiles.current = profiles.profiles.keys().next().cloned();
    }
    profiles.write()?;
    if global.json {
        output::json(&json!({"profile": name, "current": profiles.current}))?;
    }
    output::tell(&format!(
        "forgot the profile {name}; the node still knows its key: `headwater keys revoke` ends that"
    ));
    output::tell(&now_current(&profiles));
    Ok(Exit::Success)
}

/// The profile that commands use from now on, in a sentence.
fn now_current(profiles: &Profiles) -> String {
    let current = profiles.current.as_ref();
    let current = current.and_then(|name| Some((name, profiles.profiles.get(name)?)));
    match current {
        Some((name, profile)) => format!(
            "the current profile is {name}, of {}; `headwater profiles use NAME` changes that",
            profile.url
        ),
        None if profiles.profiles.is_empty() => "no profile is left".to_owned(),
        None => "no profile is current; `headwater profiles use NAME` chooses one".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_that_counts_is_told() {
        let mut profiles = Profiles::default();
        assert_eq!(now_current(&profiles), "no profile is left");
        let profile = Profile {
            url: "http://node:1/".into(),
            api_key: "k".into(),
            workspace: None,
        };
        profiles.profiles.insert("work".to_owned(), profile);
        assert!(now_current(&profiles).starts_with("no profile is current"));
        profiles.current = Some("work".to_owned());
        let told = now_current(&profiles);
        assert!(
            told.starts_with("the current profile is work, of http://node:1/"),
            "{told}"
        );
    }
}
