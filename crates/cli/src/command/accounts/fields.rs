//! The fields of an account: as the command line gives them, or asked for by the catalog's fields of
//! the app.

use anyhow::{Context as _, Result};
use inquire::Select;
use serde_json::{Map, Value};

use crate::at_file;
use crate::client::Client;
use crate::question;
use crate::secret;
use crate::source::text;
use crate::usage_error::UsageError;

pub(super) fn read(given: &[String]) -> Result<Map<String, Value>> {
    let values = given.iter().filter_map(|field| field.split_once('='));
    if values.filter(|(_, value)| at_file::is_stdin(value)).count() > 1 {
        let reason = "only one --field can be read from standard input; write --field KEY=@FILE for the others";
        return Err(UsageError(reason.to_owned()).into());
    }
    given.iter().map(|field| read_one(field)).collect()
}

/// `KEY=VALUE`, `KEY=@FILE`, or `KEY` alone to be asked for the value: it then stays out of the shell's history.
fn read_one(field: &str) -> Result<(String, Value)> {
    let Some((key, given)) = field.split_once('=') else {
        let otherwise = format!(
            "--field {field} has no value; write --field {field}=VALUE, or --field {field}=@FILE"
        );
        return Ok((field.to_owned(), secret::ask(field, &otherwise)?.into()));
    };
    let value = at_file::read(given, &format!("field {key}"))?;
    Ok((key.to_owned(), value.into()))
}

/// Asks for the fields of an app.
pub(super) async fn ask(client: &Client, app: &str) -> Result<Map<String, Value>> {
    let found = client
        .first(&["apps"], usize::MAX, &[("q", app.to_owned())])
        .await?;
    let known = found.data.iter().find(|it| text(it, "name_slug") == app);
    let fields = known.and_then(|known| known["fields"].as_array());
    let fields = fields.map(Vec::as_slice).unwrap_or_default();
    match known.map(|known| text(known, "auth_type")) {
        None => Err(UsageError(format!(
            "`{app}` is not in the node's catalog; give the fields of `$auth` with --field KEY=VALUE. \
             `headwater apps` lists the catalog; for an app without credentials, add it with `auth = \
             \"none\"` to a file of `serve --apps`"
        ))),
        // It needs none. A user who moves here may want one anyway, for the things that name it.
        Some("none") => Ok(()),
        Some("oauth2") => Err(UsageError(format!(
            "connect `{app}` in a browser with `headwater accounts connect {app}`, or give existing \
             tokens with --field oauth_access_token=…"
        ))),
        Some(_) if !question::is_possible() => Err(UsageError(format!("give {}", usage(fields)))),
        Some(_) => Ok(()),
    }?;
    let mut answers = Map::new();
    for field in fields {
        let answer = ask_one(field)?;
        if !answer.is_empty() {
            answers.insert(text(field, "name").to_owned(), answer.into());
        }
    }
    Ok(answers)
}

/// The command-line arguments that give all of them.
fn usage(fields: &[Value]) -> String {
    let options = fields.iter().map(|field| {
        let values: Vec<_> = options(field).map(|option| text(option, "value")).collect();
        let values = values.join("|");
        let value = match field["multiline"] == true {
            true => "@FILE",
            false if values.is_empty() => "…",
            false => &values,
        };
        let option = format!("--field {}={value}", text(field, "name"));
        match field["optional"] == true {
            true => format!("[{option}]"),
            false => option,
        }
    });
    options.collect::<Vec<_>>().join(" ")
}

/// The values that a field may have, if it is a choice.
fn options(field: &Value) -> impl Iterator<Item = &Value> {
    field["options"].as_array().into_iter().flatten()
}

fn choose(question: &str, field: &Value, is_optional: bool) -> Result<String> {
    const NONE: &str = "(none)";
    let none = is_optional.then_some(NONE).into_iter();
    let labels: Vec<_> = none
        .chain(options(field).map(|option| text(option, "label")))
        .collect();
    let asked = Select::new(question, labels).prompt();
    let chosen = asked.with_context(|| format!("cannot ask for {question}"))?;
    let option = options(field).find(|option| text(option, "label") == chosen);
    Ok(option.map_or_else(String::new, |option| text(option, "value").to_owned()))
}

fn ask_one(field: &Value) -> Result<String> {
    let (name, label) = (text(field, "name"), text(field, "label"));
    let is_optional = field["optional"] == true;
    let note = if is_optional { " (optional)" } else { "" };
    if field["multiline"] == true {
        let path = question::ask(
            &format!("{label}, the file that it is in{note}:"),
            !is_optional,
        )?;
        return match path.is_empty() {
            true => Ok(path),
            false => at_file::read(&format!("@{path}"), &format!("field {name}")),
        };
    }
    if options(field).next().is_some() {
        return choose(&format!("{label}{note}:"), field, is_optional);
    }
    if field["secret"] == true {
        return secret::ask(&format!("{label}{note}"), "");
    }
    question::ask(&format!("{label}{note}:"), !is_optional)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fields_are_told_as_they_are_given() {
        let fields = [
            json!({"name": "host"}),
            json!({"name": "key", "secret": true, "multiline": true}),
            json!({"name": "region", "optional": true}),
            json!({"name": "tls", "options": [{"value": "on"}, {"value": "off"}]}),
        ];
        let told = "--field host=… --field key=@FILE [--field region=…] --field tls=on|off";
        assert_eq!(usage(&fields), told);
    }
}
