//! Puts `configured_props` together: the values of the file and the flags, then those asked for on a
//! terminal, or a complaint naming everything that is missing.

use anyhow::Result;
use serde_json::Value;

use super::ask;
use super::definition::{Element, PropDefinition};
use super::form::{Form, Props, Step};
use super::given::Given;
use crate::account;
use crate::client::{Client, ClientError};
use crate::output;
use crate::question;
use crate::usage_error::UsageError;

/// All values for a component: given or asked for. `former` is the source that is updated, whose values stay.
pub(crate) async fn collect(
    client: &Client,
    component: &Value,
    given: Given,
    former: Option<&Value>,
) -> Result<Props> {
    fill(Form::new(client, component, given, former)?).await
}

/// The values for one run of an action. Props that cannot be computed keep none of them out.
pub(crate) async fn collect_for_run(
    client: &Client,
    component: &Value,
    given: Given,
) -> Result<Props> {
    fill(Form::new(client, component, given, None)?.for_run()).await
}

async fn fill(mut form: Form<'_>) -> Result<Props> {
    form.fill_in().await?;
    // If props can still appear, an unknown name may be one of theirs.
    if !form.may_grow() {
        form.refuse_unknown()?;
    }
    match question::is_possible() {
        true => interview(&mut form).await?,
        false => refuse_missing(&mut form).await?,
    }
    form.take_unnamed();
    form.refuse_unknown()?;
    Ok(form.into_values())
}

async fn interview(form: &mut Form<'_>) -> Result<()> {
    while let Some(step) = form.next_step() {
        let definition = match step {
            Step::Tell(text) => {
                output::tell(&text);
                continue;
            }
            Step::Ask(definition) => definition,
        };
        let value = ask::ask(form, &definition).await?;
        if let Err(error) = form.answer(&definition, value).await {
            // Another value may do better; a node that is away answers none.
            match error.downcast_ref::<ClientError>() {
                Some(refused) if !refused.is_transient() => output::tell(&format!("{error:#}")),
                _ => return Err(error),
            }
        }
    }
    Ok(())
}

/// With nobody to ask, everything missing is named at once. An app prop without any stored account
/// is left to the node: some apps need none.
async fn refuse_missing(form: &mut Form<'_>) -> Result<()> {
    while let Some(step) = form.next_step() {
        match step {
            Step::Tell(text) => output::tell(&text),
            Step::Ask(_) => break,
        }
    }
    let is_app = |definition: &PropDefinition| definition.element() == Element::App;
    let accounts = match form.missing().any(is_app) {
        true => account::list(form.client).await?,
        false => Vec::new(),
    };
    let missing: Vec<_> = form.missing().collect();
    Ok(check_missing(&missing, &accounts)?)
}

fn check_missing(missing: &[&PropDefinition], accounts: &[Value]) -> Result<(), UsageError> {
    let (left_out, required): (Vec<_>, Vec<_>) = missing.iter().copied().partition(|definition| {
        let mut of_app = account::of_app(accounts, definition.app());
        definition.element() == Element::App && of_app.next().is_none()
    });
    for definition in &left_out {
        output::tell(&ask::no_account(definition));
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
        title if title == definition.name() => String::new(),
        title => format!(": {title}"),
    };
    let app = definition.app().map_or_else(String::new, |app| {
        format!(" of {app}, an account's id or name")
    });
    format!(
        "\n  {} ({}{app}){label}",
        definition.name(),
        definition.kind()
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_missing_is_named_at_once() {
        let props: Vec<PropDefinition> = serde_json::from_value(json!([
            {"name": "url", "type": "string", "label": "Feed URL"},
            {"name": "slack", "type": "app", "app": "slack"},
            {"name": "rss", "type": "app", "app": "rss"},
        ]))
        .unwrap();
        let missing: Vec<_> = props.iter().collect();
        let accounts = [json!({"id": "apn_1", "app": "slack", "name": "work"})];
        let error = check_missing(&missing, &accounts).unwrap_err().to_string();
        assert!(error.contains("\n  url (string): Feed URL"), "{error}");
        assert!(error.contains("\n  slack (app of slack"), "{error}");
        assert!(!error.contains("rss"), "{error}");
    }
}
