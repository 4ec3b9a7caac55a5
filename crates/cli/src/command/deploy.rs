//! `deploy`: saves a component, gathers its props and creates a source from it.

use std::path::Path;

use anyhow::Result;
use headwater_model::component::slug;
use serde_json::{Value, json};

use super::{outcome, save, show, starting};
use crate::arguments::DeployArguments;
use crate::client::Client;
use crate::exit::Exit;
use crate::output;
use crate::prop::{self, Given};
use crate::session::Session;
use crate::source::{self, text};
use crate::usage_error::UsageError;

pub(super) async fn run(session: &Session, arguments: DeployArguments) -> Result<Exit> {
    let client = &session.client;
    // Mistakes on the command line come out before anything is saved.
    let given = Given::read(&arguments.props)?;
    let component = save::save(client, &arguments.component).await?;
    let deployed = deployed(client, &arguments, &component, given).await;
    let source = save::unless_refused(client, &component, deployed).await?;
    session.print(&source, show::brief)?;
    show::warnings(&source);
    let called = called(client, &source, &component, &arguments).await;
    let exit = match arguments.run {
        true => {
            let file = save::file_of(&arguments.component);
            first_run(session, &source, file.as_deref()).await?
        }
        false => Exit::Success,
    };
    next_steps(client, &source, &called, arguments.run).await;
    Ok(exit)
}

/// The source that the node created of the component, with the values that were given or asked for.
async fn deployed(
    client: &Client,
    arguments: &DeployArguments,
    component: &Value,
    given: Given,
) -> Result<Value> {
    if text(component, "type") == "action" {
        return Err(UsageError(format!(
            "{reference} is an action, not a source; run it with `headwater run-action {reference}`",
            reference = arguments.component
        ))
        .into());
    }
    if !arguments.anyway {
        starting::refuse_never(client, component, None, &arguments.component).await?;
    }
    let props = prop::collect(client, component, given, None).await?;
    let mut body = json!({
        "component_id": component["id"],
        "configured_props": props,
    });
    if let Some(name) = &arguments.name {
        body["name"] = name.as_str().into();
    }
    if arguments.isolated {
        body["isolated"] = true.into();
    }
    let deployed = client.post_scoped(&["sources"], body).await;
    let file = save::file_of(&arguments.component);
    deployed.map_err(|error| save::in_terms_of(error, file.as_deref()))
}

/// The run that is asked for with the deployment: standard output has the source.
async fn first_run(session: &Session, source: &Value, file: Option<&Path>) -> Result<Exit> {
    let path = ["sources", text(source, "id"), "run"];
    let report = session.client.post(&path, &json!({})).await?;
    outcome::print_logs(session, &report, file);
    let exit = outcome::report(&report["outcome"], file);
    output::tell(&match exit {
        Exit::Success => format!("it ran, and emitted {}", outcome::emitted(&report)),
        Exit::Failure | Exit::Usage => {
            "it is deployed, and its first run failed as above".to_owned()
        }
    });
    Ok(exit)
}

/// The name by which commands know the new source. Tells of another that may be the one that was meant.
async fn called(
    client: &Client,
    source: &Value,
    component: &Value,
    arguments: &DeployArguments,
) -> String {
    let slug = slug(text(component, "name"));
    let reference = &arguments.component;
    let is_numbered = text(source, "name_slug").starts_with(&format!("{slug}-"));
    let Some(name) = &arguments.name else {
        if is_numbered {
            output::tell(&format!(
                "there was a source {slug} already; `headwater update {slug} {reference}` would have changed that one"
            ));
        }
        return source::called(source).to_owned();
    };
    // The source is deployed: a node that is away from now on is no reason to fail.
    let sources = client.list_scoped(&["users", "me", "sources"]).await;
    let sources = sources.unwrap_or_default();
    let called = source::called_among(source, &sources);
    let is_namesake =
        |other: &&Value| text(other, "name") == name && text(other, "id") != text(source, "id");
    if let Some(former) = sources.iter().find(is_namesake) {
        let former = source::called_among(former, &sources);
        output::tell(&format!(
            "there was a source named {name} already, which commands know as {former} from now on, and this one as \
             {called}; `headwater update {former} {reference}` would have changed that one"
        ));
    }
    called.to_owned()
}

/// The commands that a person needs next.
async fn next_steps(client: &Client, source: &Value, called: &str, has_run: bool) {
    for url in source::endpoints(source) {
        // One line, to be copied.
        output::note(&format!(
            "send it a request: curl {url} -H 'content-type: application/json' -d '{{\"hello\": \"world\"}}'"
        ));
    }
    if !source::timers(source).is_empty() {
        let which = if has_run { "next" } else { "first" };
        output::tell(&match starting::next_run(client, source).await {
            Some(when) => format!("{which} run {when}; `headwater run {called}` runs it now"),
            None => format!("run it now: headwater run {called}"),
        });
    } else if source::endpoints(source).is_empty() {
        output::tell(&format!(
            "it has no timer and no endpoint; run it with `headwater run {called}`, or on the events of another source with \
             `headwater subscriptions add --emitter OTHER --listener {called}`"
        ));
    }
    output::tell(&format!("see its events: headwater events {called} -f"));
}
