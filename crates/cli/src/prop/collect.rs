//! Puts `configured_props` together: what the file and the flags give, then what is asked for on
//! a terminal, or a complaint naming everything that is missing.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

use super::definition::{Element, PropDefinition};
use super::{ask, value};
use crate::account;
use crate::arguments::PropArguments;
use crate::client::Client;
use crate::exit::UsageError;
use crate::output;

type Props = Map<String, Value>;

/// Values as given on the command line, before the component's definitions are known.
pub(crate) struct Given {
    from_file: Props,
    from_flags: Vec<(String, String)>,
}

impl Given {
    pub(crate) fn read(arguments: &PropArguments) -> Result<Self> {
        let from_file = match &arguments.props_file {
            Some(path) => read_file(path)?,
            None => Props::new(),
        };
        let from_flags = arguments.props.iter().map(|prop| split(prop));
        Ok(Self {
            from_file,
            from_flags: from_flags.collect::<Result<_, _>>()?,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.from_file.is_empty() && self.from_flags.is_empty()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let flags = self.from_flags.iter().map(|(name, _)| name.as_str());
        self.from_file.keys().map(String::as_str).chain(flags)
    }
}

/// All values for a component: given or asked for. `configured` names the props that have a value
/// already, as those of a source that is updated.
pub(crate) async fn collect(
    client: &Client,
    definitions: &[PropDefinition],
    given: Given,
    configured: &HashSet<String>,
) -> Result<Props> {
    refuse_unknown(definitions, &given)?;
    let mut props = resolve(client, definitions, given).await?;
    let missing: Vec<_> = definitions
        .iter()
        .filter(|definition| definition.needs_value())
        .filter(|definition| !props.contains_key(&definition.name))
        .filter(|definition| !configured.contains(&definition.name))
        .collect();
    if missing.is_empty() {
        return Ok(props);
    }
    let needs_account = |definition: &&PropDefinition| definition.element() == Element::App;
    let accounts = match missing.iter().any(needs_account) {
        true => account::list(client).await?,
        false => Vec::new(),
    };
    if !ask::possible() {
        refuse_missing(&missing, &accounts)?;
        return Ok(props);
    }
    for definition in missing {
        if let Some(value) = ask::ask(definition, &accounts)? {
            props.insert(definition.name.clone(), value);
        }
    }
    Ok(props)
}

async fn resolve(client: &Client, definitions: &[PropDefinition], given: Given) -> Result<Props> {
    let find = |name: &str| {
        definitions
            .iter()
            .find(|definition| definition.name == name)
    };
    let mut props = Props::new();
    for (name, value) in given.from_file {
        let value = match find(&name) {
            Some(definition) => value::from_json(definition, value).map_err(invalid)?,
            None => value,
        };
        props.insert(name, value);
    }
    for (name, text) in given.from_flags {
        let value = match find(&name) {
            Some(definition) => value::parse(definition, &text).map_err(invalid)?,
            None => value::parse_undeclared(&text),
        };
        props.insert(name, value);
    }
    for definition in definitions {
        if let Some(value) = props.get_mut(&definition.name) {
            resolve_account(client, definition, value).await?;
        }
    }
    Ok(props)
}

/// The account an app prop names by id or name.
async fn resolve_account(
    client: &Client,
    definition: &PropDefinition,
    value: &mut Value,
) -> Result<()> {
    if let (Element::App, Some(name)) = (definition.element(), value.as_str()) {
        let id = account::find_id(client, name, definition.app.as_deref())
            .await
            .with_context(|| format!("prop {}", definition.name))?;
        *value = account::prop_value(&id);
    }
    Ok(())
}

/// A misspelt name would silently configure nothing. A component that reloads its props may have
/// more of them than it declares.
fn refuse_unknown(definitions: &[PropDefinition], given: &Given) -> Result<(), UsageError> {
    if definitions.iter().any(|definition| definition.reload_props) {
        return Ok(());
    }
    let known: Vec<_> = definitions
        .iter()
        .map(|definition| definition.name.as_str())
        .collect();
    match given.names().find(|name| !known.contains(name)) {
        Some(name) if known.is_empty() => Err(UsageError(format!(
            "the component has no prop {name}; it has no props at all"
        ))),
        Some(name) => Err(UsageError(format!(
            "the component has no prop {name}; it has {}",
            known.join(", ")
        ))),
        None => Ok(()),
    }
}

/// With nobody to ask, everything missing is named at once. An app prop without any stored account
/// is left to the node: some apps need none.
fn refuse_missing(missing: &[&PropDefinition], accounts: &[Value]) -> Result<(), UsageError> {
    let (left_out, required): (Vec<_>, Vec<_>) = missing.iter().copied().partition(|definition| {
        let mut of_app = account::of_app(accounts, definition.app.as_deref());
        definition.element() == Element::App && of_app.next().is_none()
    });
    for definition in &left_out {
        output::note(&ask::no_account(definition));
    }
    if required.is_empty() {
        return Ok(());
    }
    let lines: String = required.iter().map(|prop| describe(prop)).collect();
    Err(UsageError(format!(
        "these props need a value; give each with --prop NAME=VALUE, or all with --props-file:\
         {lines}"
    )))
}

fn describe(definition: &PropDefinition) -> String {
    let label = match definition.title() {
        title if title == definition.name => String::new(),
        title => format!(": {title}"),
    };
    let app = definition.app.as_deref();
    let app = app.map_or_else(String::new, |app| {
        format!(" of {app}, an account's id or name")
    });
    format!("\n  {} ({}{app}){label}", definition.name, definition.kind)
}

fn invalid(invalid: value::InvalidValue) -> UsageError {
    UsageError(invalid.to_string())
}

fn split(prop: &str) -> Result<(String, String), UsageError> {
    match prop.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(UsageError(format!(
            "--prop {prop} has no value; write --prop NAME=VALUE"
        ))),
    }
}

fn read_file(path: &Path) -> Result<Props> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the props in {}", path.display()))?;
    let props = serde_json::from_str(&text)
        .map_err(|error| UsageError(format!("{} is not a JSON object: {error}", path.display())))?;
    Ok(props)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definitions(props: Value) -> Vec<PropDefinition> {
        serde_json::from_value(props).unwrap()
    }

    #[test]
    fn a_flag_is_a_name_and_a_value_that_may_hold_equals_signs() {
        assert_eq!(split("a=b=c").unwrap(), ("a".into(), "b=c".into()));
        assert_eq!(split("a=").unwrap(), ("a".into(), String::new()));
        assert!(split("a").is_err());
        assert!(split("=a").is_err());
    }

    #[test]
    fn everything_missing_is_named_at_once() {
        let props = definitions(json!([
            {"name": "url", "type": "string", "label": "Feed URL"},
            {"name": "slack", "type": "app", "app": "slack"},
            {"name": "rss", "type": "app", "app": "rss"},
        ]));
        let missing: Vec<_> = props.iter().collect();
        let accounts = [json!({"id": "apn_1", "app": "slack", "name": "work"})];
        let error = refuse_missing(&missing, &accounts).unwrap_err().to_string();
        assert!(error.contains("\n  url (string): Feed URL"), "{error}");
        assert!(error.contains("\n  slack (app of slack"), "{error}");
        assert!(!error.contains("rss"), "{error}");
    }

    #[test]
    fn an_unknown_name_is_refused_unless_props_can_appear_later() {
        let given = || Given {
            from_file: Props::new(),
            from_flags: vec![("ulr".into(), "x".into())],
        };
        let fixed = definitions(json!([{"name": "url", "type": "string"}]));
        let error = refuse_unknown(&fixed, &given()).unwrap_err().to_string();
        assert_eq!(error, "the component has no prop ulr; it has url");
        let dynamic = definitions(json!([{"name": "a", "type": "string", "reloadProps": true}]));
        assert!(refuse_unknown(&dynamic, &given()).is_ok());
    }
}
