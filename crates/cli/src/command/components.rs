//! `list components`: the components that can be deployed by key or id, one line each.

use anyhow::Result;
use serde_json::Value;

use crate::arguments::ComponentsArguments;
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::table;

pub(super) async fn run(session: &Session, arguments: ComponentsArguments) -> Result<Exit> {
    let scope = session.client.scope().await?;
    let mut filter = Vec::new();
    if !arguments.words.is_empty() {
        filter.push(("q", arguments.words.join(" ")));
    }
    filter.extend(arguments.app.map(|app| ("app", app)));
    filter.extend(arguments.component_type.map(|chosen| ("type", chosen)));
    let is_search = !filter.is_empty();
    filter.extend(scope);
    let page = session
        .client
        .first(&["components"], arguments.limit, &filter)
        .await?;
    let components = page.data;
    if components.is_empty() && !session.json {
        output::tell(match is_search {
            true => "no component matches; try fewer words, or `headwater search` for those on npm",
            false => {
                "no components yet; publish some with `headwater publish FILE|DIR|npm:PACKAGE`, or find those on npm \
                 with `headwater search`"
            }
        });
        return Ok(Exit::Success);
    }
    let full = components.len() == arguments.limit;
    let rows = |_: &Value| {
        let rows = components.iter().map(row).collect();
        let headers = ["key", "version", "type", "published", "name"];
        table::overview(&headers, &["published", "type"], rows)
    };
    session.print(&Value::from(components.clone()), rows)?;
    if full && !session.json {
        output::tell("there may be more: search with words, or raise --limit");
    }
    Ok(Exit::Success)
}

/// A component without a key is deployed by its id.
fn row(component: &Value) -> Vec<String> {
    let key = match text(component, "key") {
        "" => text(component, "id"),
        key => key,
    };
    let published = match component["published"].as_bool() {
        Some(true) => "yes",
        _ => "no",
    };
    vec![
        key.to_owned(),
        text(component, "version").to_owned(),
        text(component, "type").to_owned(),
        published.to_owned(),
        text(component, "name").to_owned(),
    ]
}
