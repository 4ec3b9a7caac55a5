//! `search`: components that are on the node, and by the node's index those of npm packages and the actions that it brings
//! along, each with the command that deploys or runs it.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use crate::arguments::SearchArguments;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;

pub(super) async fn run(session: &Session, arguments: SearchArguments) -> Result<Exit> {
    let scope = session.client.scope().await?;
    let mut filter = vec![("q", arguments.words.join(" "))];
    filter.extend(arguments.app.map(|app| ("app", app)));
    filter.extend(arguments.component_type.map(|chosen| ("type", chosen)));
    // One more tells that there is more.
    let count = arguments.limit.saturating_add(1);
    let packaged = ["packages", "components"];
    let packaged = session.client.first(&packaged, count, &filter).await?.data;
    filter.extend(scope);
    let own = session
        .client
        .first(&["components"], count, &filter)
        .await?;
    let mut found: Vec<Value> = own.data.into_iter().map(own_component).collect();
    let keys: BTreeSet<String> = found.iter().map(|it| text(it, "key").to_owned()).collect();
    let others = packaged.into_iter();
    found.extend(others.filter(|component| !keys.contains(text(component, "key"))));
    let has_more = found.len() > arguments.limit;
    found.truncate(arguments.limit);
    if found.is_empty() && !session.json {
        output::tell(
            "No component matches: try fewer words. `headwater publish npm:PACKAGE` puts the components of a package that \
             is not in the index into the node's registry, and every component can be deployed from its file or URL.",
        );
        return Ok(Exit::Success);
    }
    match session.json {
        true => output::json(&Value::from(found))?,
        false => output::report(&found.iter().map(shown).collect::<Vec<_>>().join("\n\n"))?,
    }
    if has_more && !session.json {
        output::tell("there are more: add words, or raise --limit");
    }
    Ok(Exit::Success)
}

/// A component on the node is named by its key, and without one by its id.
fn own_component(mut component: Value) -> Value {
    let name = match text(&component, "key") {
        "" => text(&component, "id"),
        key => key,
    };
    component["specifier"] = Value::from(name);
    component
}

fn shown(component: &Value) -> String {
    let command = match text(component, "type") {
        "source" => "deploy",
        _ => "run-action",
    };
    let key = match text(component, "key") {
        "" => text(component, "specifier"),
        key => key,
    };
    let mut lines = vec![format!("{key}  {}", text(component, "name"))];
    let description = first_part(text(component, "description"));
    if !description.is_empty() {
        lines.push(format!("  {description}"));
    }
    lines.push(format!("  headwater {command} {key}"));
    lines.join("\n")
}

/// The description up to its links, which are of no use in a list.
fn first_part(description: &str) -> &str {
    let before = description.split_once('[').map(|(before, _)| before);
    before.unwrap_or(description).trim()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sources_are_deployed_and_actions_run_by_what_names_them() {
        let source = json!({
            "key": "gitlab-new-issue", "type": "source", "name": "New Issue",
            "description": "Emit new event. [See the documentation](https://example.com)",
            "specifier": "npm:@pipedream/gitlab/sources/new-issue/new-issue.mjs",
        });
        assert_eq!(
            shown(&source),
            "gitlab-new-issue  New Issue\n  Emit new event.\n  headwater deploy gitlab-new-issue"
        );
        let own = own_component(json!({"id": "sc_1", "type": "action", "name": "Greet"}));
        assert_eq!(shown(&own), "sc_1  Greet\n  headwater run-action sc_1");
    }
}
