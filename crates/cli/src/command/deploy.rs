//! `deploy`: saves a component, gathers its props and creates a source from it.

use std::path::Path;

use anyhow::Result;
use headwater_model::component::slug;
use serde_json::{Value, json};

use super::{outcome, save, show};
use crate::arguments::DeployArguments;
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
    if text(&component, "type") == "action" {
        return Err(UsageError(format!(
            "{reference} is an action, not a source; run it with `headwater run-action {reference}`",
            reference = arguments.component
        ))
        .into());
    }
    if !arguments.anyway && can_never_fire(&component) {
        return Err(UsageError(format!(
            "{} would never run by itself: it has no timer and no endpoint, and the events that it waits for go to \
             Pipedream's own servers. Deploy it with --anyway to run it by hand or on events of other sources; \
             `headwater list components` shows sources that poll",
            arguments.component
        ))
        .into());
    }
    let props = prop::collect(client, &component, given, None).await?;
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
    let source = client.post_scoped(&["sources"], body).await?;
    session.print(&source, show::brief)?;
    show::warnings(&source);
    if arguments.name.is_none() {
        tell_of_namesake(&source, text(&component, "name"), &arguments.component);
    }
    if arguments.run {
        return first_run(
            session,
            &source,
            save::file_of(&arguments.component).as_deref(),
        )
        .await;
    }
    next_steps(&source);
    Ok(Exit::Success)
}

/// Whether nothing but an app's own events starts it, which do not reach the node.
fn can_never_fire(component: &Value) -> bool {
    let props = component["configurable_props"].as_array();
    let has = |kind: &str| {
        let mut props = props.into_iter().flatten();
        props.any(|prop| text(prop, "type") == kind)
    };
    has("$.interface.apphook") && !has("$.interface.timer") && !has("$.interface.http")
}

/// The run that is asked for with the deployment: standard output has the source.
async fn first_run(session: &Session, source: &Value, file: Option<&Path>) -> Result<Exit> {
    let path = ["sources", text(source, "id"), "run"];
    let report = session.client.post(&path, &json!({})).await?;
    outcome::print_logs(session, &report, file);
    let exit = outcome::report(&report["outcome"], file);
    output::tell(&match exit {
        Exit::Success => format!("it ran, and emitted {} events", report["events"]),
        Exit::Failure | Exit::Usage => {
            "it is deployed, and its first run failed as above".to_owned()
        }
    });
    next_steps(source);
    Ok(exit)
}

/// Tells that there is a source of that name already, which may be the one that was meant.
fn tell_of_namesake(source: &Value, name: &str, component: &str) {
    let slug = slug(name);
    if text(source, "name_slug").starts_with(&format!("{slug}-")) {
        output::tell(&format!(
            "there was a source {slug} already; `headwater update {slug} {component}` would have changed that one"
        ));
    }
}

/// The commands that a person needs next.
fn next_steps(source: &Value) {
    for url in source::endpoints(source) {
        output::note(&format!(
            "send it a request: curl {url} -H 'content-type: application/json' -d '{{\"hello\": \"world\"}}'"
        ));
    }
    let called = show::called(source);
    if !source::timers(source).is_empty() {
        output::tell(&format!("run it now: headwater run {called}"));
    } else if source::endpoints(source).is_empty() {
        output::tell(&format!(
            "it has no timer and no endpoint; run it with `headwater run {called}`, or on the events of another source with \
             `headwater subscriptions add --emitter OTHER --listener {called}`"
        ));
    }
    output::tell(&format!("see its events: headwater events {called} -f"));
}
