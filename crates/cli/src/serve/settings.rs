//! The options of a node, to be shown: the value of each, and where it was set. Decides nothing.

use clap::{Arg, Args as _, Command};
use headwater_platform::{Setting, SettingOrigin};

use crate::arguments::ServeArguments;

/// The options, those of the file filled in, with the command line and the names of variables that are set.
pub(super) fn of(
    options: &ServeArguments,
    command_line: &[String],
    has_variable: impl Fn(&str) -> bool,
) -> Vec<Setting> {
    let command = ServeArguments::augment_args(Command::new("serve"));
    let shown = options.shown();
    let found = shown.into_iter().filter_map(|(name, value)| {
        let argument = command
            .get_arguments()
            .find(|argument| argument.get_id() == name)?;
        let flag = argument.get_long()?;
        let variable = argument.get_env().and_then(|name| name.to_str());
        let is_secret = argument.is_hide_env_values_set();
        let origin = match &value {
            None => SettingOrigin::Default,
            Some(_) if is_given(flag, command_line) => SettingOrigin::Flag,
            Some(_) if variable.is_some_and(&has_variable) => SettingOrigin::Environment,
            Some(_) => SettingOrigin::File,
        };
        let value = value.filter(|_| !is_secret);
        let value = value.map(|value| without_credentials(&value));
        Some(Setting {
            name: flag.to_owned(),
            value,
            default: default(argument),
            origin,
            is_secret,
        })
    });
    found.collect()
}

/// The value with `***` in place of what a URL in it may say besides the address: the user, the password and the query.
fn without_credentials(value: &str) -> String {
    let mut parts = value.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (address, query) = match part.split_once('?') {
            Some((address, _)) => (address, "?***"),
            None => (part, ""),
        };
        let path = address.find(['/', '#']).unwrap_or(address.len());
        let (authority, path) = address.split_at(path);
        shown += "://";
        match authority.rsplit_once('@') {
            Some((_, host)) => shown += &format!("***@{host}"),
            None => shown += authority,
        }
        shown += path;
        shown += query;
    }
    shown
}

fn is_given(flag: &str, command_line: &[String]) -> bool {
    let flags = command_line
        .iter()
        .filter_map(|given| given.strip_prefix("--"));
    let mut names = flags.map(|given| given.split_once('=').map_or(given, |(name, _)| name));
    names.any(|name| name == flag)
}

/// The default that the help names.
fn default(argument: &Arg) -> Option<String> {
    let help = argument.get_help()?.to_string();
    let (_, told) = help.split_once("[default: ")?;
    let (default, _) = told.split_once(']')?;
    Some(default.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Serve {
        #[command(flatten)]
        arguments: ServeArguments,
    }

    fn settings(given: &[&str], variable: &str) -> Vec<Setting> {
        let line: Vec<String> = given.iter().map(|&one| one.to_owned()).collect();
        let options = Serve::parse_from(&line).arguments;
        of(&options, &line, |name| name == variable)
    }

    fn one(settings: &[Setting], name: &str) -> Setting {
        let found = settings.iter().find(|setting| setting.name == name);
        found.cloned().unwrap()
    }

    #[test]
    fn an_option_tells_where_it_was_set() {
        let given = [
            "serve",
            "--warm-workers=3",
            "--run-timeout",
            "5s",
            "--plan=paid",
        ];
        let all = settings(&given, "HEADWATER_WARM_WORKERS");
        let warm = one(&all, "warm-workers");
        assert_eq!(warm.value.as_deref(), Some("3"));
        assert_eq!(warm.default.as_deref(), Some("2"));
        assert_eq!(
            warm.origin,
            SettingOrigin::Flag,
            "it counts before the environment"
        );
        assert_eq!(one(&all, "plan").value.as_deref(), Some("paid"));
        let unset = one(&all, "listen");
        assert_eq!((unset.value, unset.origin), (None, SettingOrigin::Default));
        // As if the flags had been read from the environment, and from the file.
        let options = Serve::parse_from(["serve", "--listen=127.0.0.1:1", "--retained-runs=7"]);
        let all = of(&options.arguments, &["serve".to_owned()], |name| {
            name == "HEADWATER_LISTEN"
        });
        assert_eq!(one(&all, "listen").origin, SettingOrigin::Environment);
        assert_eq!(one(&all, "retained-runs").origin, SettingOrigin::File);
    }

    #[test]
    fn secrets_are_not_shown() {
        let given = ["serve", "--smtp-url=smtps://me:hush@mail.example"];
        let all = settings(&given, "");
        let smtp = one(&all, "smtp-url");
        assert!(smtp.is_secret && smtp.value.is_none());
        assert!(!format!("{all:?}").contains("hush"));
    }

    #[test]
    fn urls_are_shown_without_credentials() {
        for (value, shown) in [
            ("https://me:hush@a.example/x@y", "https://***@a.example/x@y"),
            (
                "a=http://b,c=http://me@d:1,e",
                "a=http://b,c=http://***@d:1,e",
            ),
            ("127.0.0.1:3000", "127.0.0.1:3000"),
            ("me@mail.example", "me@mail.example"),
        ] {
            assert_eq!(without_credentials(value), shown);
        }
        let given = ["serve", "--otlp-endpoint=https://me:hush@otlp.example/"];
        let all = settings(&given, "");
        let value = one(&all, "otlp-endpoint").value;
        assert_eq!(value.as_deref(), Some("https://***@otlp.example/"));
    }
}
