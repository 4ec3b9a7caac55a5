//! Puts `configured_props` together: the values of the file and the flags, then those asked for on a
//! terminal, or a complaint naming everything that is missing.

use anyhow::Result;
use serde_json::Value;

use super::app::Way;
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

/// With nobody to ask, everything missing is named at once, each with the way to it. An app prop whose app needs no account
/// may stay without.
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
    let mut lines = String::new();
    for definition in form.missing() {
        let note = match is_app(definition) {
            true => of_app(form.client, definition, &accounts).await?,
            false => Some(String::new()),
        };
        lines.extend(note.map(|note| describe(definition, &note)));
    }
    match lines.is_empty() {
        true => Ok(()),
        false => Err(UsageError(format!(
            "these props need a value; give each with --prop NAME=VALUE, or all with --props-file:{lines}"
        ))
        .into()),
    }
}

/// The note about the account of an app prop; `None` if it can do without.
async fn of_app(
    client: &Client,
    definition: &PropDefinition,
    accounts: &[Value],
) -> Result<Option<String>> {
    let app = definition.app().unwrap_or_default();
    if account::of_app(accounts, definition.app()).next().is_some() {
        return Ok(Some(format!(" of {app}, an account's id or name")));
    }
    Ok(match Way::to(client, app).await? {
        Way::NotNeeded => None,
        way @ (Way::Consent | Way::Fields | Way::Unlisted) => {
            Some(format!(" of {app}: {}", way.advice(app)))
        }
    })
}

fn describe(definition: &PropDefinition, note: &str) -> String {
    let label = match definition.title() {
        title if title == definition.name() => String::new(),
        title => format!(": {title}"),
    };
    format!(
        "\n  {} ({}{note}){label}",
        definition.name(),
        definition.kind()
    )
}
