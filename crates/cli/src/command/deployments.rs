//! `deployments`: the code that a source or workflow ran with; and `roll-back`, the way back to it.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::{events::emitter, show, workflows};
use crate::arguments::{DeploymentArguments, DeploymentsArguments, DeploymentsCommand};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::timestamp;
use crate::workflow::findings;

pub(super) async fn run(session: &Session, arguments: DeploymentsArguments) -> Result<Exit> {
    match (arguments.command, arguments.of) {
        (Some(DeploymentsCommand::Describe { deployment, code }), _) => {
            describe(session, &deployment, code).await?;
        }
        (None, of) => {
            let of = of.expect("the command line requires it without a subcommand");
            list(session, &of).await?;
        }
    }
    Ok(Exit::Success)
}

/// Takes a former deployment up again.
pub(super) async fn roll_back(session: &Session, arguments: &DeploymentArguments) -> Result<Exit> {
    let (kind, id) = emitter(session, &arguments.of).await?;
    let path = [kind, id.as_str(), "roll_back"];
    let body = json!({ "deployment_id": arguments.deployment });
    let changed = session.client.post(&path, &body).await?;
    if kind == "workflows" {
        session.print(&changed, workflows::brief)?;
        if !session.json {
            for finding in changed["findings"].as_array().into_iter().flatten() {
                output::tell(&findings::line(Path::new(""), finding));
            }
            output::tell(&folder_stays(&id, &arguments.deployment));
        }
        return Ok(Exit::Success);
    }
    session.print(&changed, show::brief)?;
    show::warnings(&changed);
    Ok(Exit::Success)
}

/// The note about the folder of a workflow that was rolled back.
fn folder_stays(workflow: &str, deployment: &str) -> String {
    format!(
        "its folder stays as it is: `headwater workflows deploy` deploys that again; `headwater deployments describe \
         {workflow} {deployment} --code` shows the files"
    )
}

async fn list(session: &Session, of: &str) -> Result<()> {
    let (kind, id) = emitter(session, of).await?;
    let mut deployments = session.client.list(&[kind, &id, "deployments"]).await?;
    deployments.reverse();
    let rows = |_: &Value| match kind {
        "workflows" => {
            let rows = deployments.iter().map(row_of_workflow).collect();
            table::overview(&["id", "deployed", "state"], &[], rows)
        }
        _ => {
            let headers = ["id", "deployed", "by", "component", "code", "state"];
            let rows = deployments.iter().map(row).collect();
            table::overview(&headers, &["code", "by"], rows)
        }
    };
    session.print(&Value::from(deployments.clone()), rows)
}

async fn describe(session: &Session, arguments: &DeploymentArguments, code: bool) -> Result<()> {
    let (kind, id) = emitter(session, &arguments.of).await?;
    let mut path = vec![kind, &id, "deployments", &arguments.deployment];
    let is_workflow = kind == "workflows";
    if is_workflow && code {
        path.push("files");
        let files = session.client.get(&path).await?;
        return session.print(&files, texts);
    }
    let deployment = session.client.get(&path).await?;
    if is_workflow {
        return session.print(&deployment, described_workflow);
    }
    if !code {
        return session.print(&deployment, described);
    }
    match deployment["component"]["code"].as_str() {
        Some(code) => output::data(code),
        None => anyhow::bail!(
            "the code of {} belongs to a component that you cannot see",
            arguments.deployment
        ),
    }
}

/// Files one after the other, each below its path.
fn texts(files: &Value) -> String {
    let files = files.as_object().into_iter().flatten();
    let texts = files.map(|(path, text)| {
        let text = text.as_str().unwrap_or_default();
        format!("==> {path} <==\n{}\n", text.trim_end_matches('\n'))
    });
    let texts: Vec<_> = texts.collect();
    match texts.is_empty() {
        true => "the files of this deployment are not kept".to_owned(),
        false => texts.join("\n"),
    }
}

fn row_of_workflow(deployment: &Value) -> Vec<String> {
    vec![
        text(deployment, "id").to_owned(),
        timestamp::listed_millis(&deployment["created_at_ms"]),
        state(deployment),
    ]
}

fn described_workflow(deployment: &Value) -> String {
    let list = |field: &str, name: fn(&Value) -> Option<&str>| {
        let items = deployment[field].as_array().into_iter().flatten();
        items.filter_map(name).collect::<Vec<_>>().join(", ")
    };
    let fields = [
        ("id", text(deployment, "id").to_owned()),
        ("state", state(deployment)),
        (
            "deployed",
            timestamp::listed_millis(&deployment["created_at_ms"]),
        ),
        ("steps", list("steps", |step| step["path"].as_str())),
        ("files", list("files", Value::as_str)),
    ];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
    table::card(
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

fn row(deployment: &Value) -> Vec<String> {
    let hash = text(deployment, "code_hash");
    vec![
        text(deployment, "id").to_owned(),
        timestamp::listed_millis(&deployment["created_at_ms"]),
        by(deployment).to_owned(),
        component(deployment),
        hash.get(..12).unwrap_or(hash).to_owned(),
        state(deployment),
    ]
}

fn by(deployment: &Value) -> &str {
    match text(deployment, "username") {
        "" => text(deployment, "user_id"),
        name => name,
    }
}

/// `KEY@VERSION`, or the name if there is no key.
fn component(deployment: &Value) -> String {
    let version = text(deployment, "component_version");
    match (text(deployment, "component_key"), version) {
        ("", version) => format!("{} {version}", text(deployment, "component_name")),
        (key, "") => key.to_owned(),
        (key, version) => format!("{key}@{version}"),
    }
    .trim_end()
    .to_owned()
}

fn state(deployment: &Value) -> String {
    let state = match deployment["current"] == true {
        true => "running",
        false => "former",
    };
    match text(deployment, "restores") {
        "" => state.to_owned(),
        former => format!("{state}, rolled back to {former}"),
    }
}

fn described(deployment: &Value) -> String {
    let fields = [
        ("id", text(deployment, "id").to_owned()),
        ("state", state(deployment)),
        (
            "deployed",
            timestamp::listed_millis(&deployment["created_at_ms"]),
        ),
        ("by", by(deployment).to_owned()),
        ("component", component(deployment)),
        ("component id", text(deployment, "component_id").to_owned()),
        ("code hash", text(deployment, "code_hash").to_owned()),
    ];
    let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
    let card = table::card(
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    );
    let props = deployment["configured_props"].as_object();
    let is_secret = |name: &str| deployment["secret_props"].get(name).is_some();
    let rows: Vec<_> = props
        .into_iter()
        .flatten()
        .map(|(name, value)| match is_secret(name) {
            true => [name.clone(), "(secret)".to_owned()],
            false => [name.clone(), value.to_string()],
        })
        .collect();
    match rows.is_empty() {
        true => card,
        false => format!("{card}\n\n{}", table::pairs(["prop", "value"], rows)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_told_by_their_key_or_their_name() {
        for (deployment, expected) in [
            (
                json!({"component_key": "k", "component_version": "1.0.0", "component_name": "N"}),
                "k@1.0.0",
            ),
            (json!({"component_key": "k", "component_name": "N"}), "k"),
            (
                json!({"component_version": "1.0.0", "component_name": "N"}),
                "N 1.0.0",
            ),
            (json!({"component_name": "N"}), "N"),
        ] {
            assert_eq!(component(&deployment), expected);
        }
    }

    #[test]
    fn the_note_about_the_folder_names_a_command_that_can_be_copied() {
        let note = folder_stays("p_1", "d_1");
        let command = "`headwater deployments describe p_1 d_1 --code`";
        assert!(note.contains(command), "{note}");
    }

    #[test]
    fn secrets_are_not_shown() {
        let deployment = json!({"id": "d_1", "current": true, "configured_props": {"a": 1, "b": null},
            "secret_props": {"b": {"secret": true}}});
        let shown = described(&deployment);
        assert!(
            shown.contains("(secret)") && shown.contains("running"),
            "{shown}"
        );
    }
}
