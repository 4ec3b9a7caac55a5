//! A source as the API shows it: found by its id, name or name slug, and the parts of it that tables
//! show. Changes nothing.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::client::Client;

/// The source's id, name and other texts; empty when absent.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or("")
}

/// Finds a source by id, exact name or name slug.
pub(crate) async fn find(client: &Client, id_or_name: &str) -> Result<Value> {
    if id_or_name.starts_with("dc_") {
        return client.get(&["sources", id_or_name]).await;
    }
    match find_by_name(client, id_or_name).await? {
        Some(source) => Ok(source),
        None if is_workflow(client, id_or_name).await => bail!(
            "{id_or_name} is a workflow; its commands are below `headwater workflows`, such as `headwater workflows \
             runs {id_or_name}`"
        ),
        None => bail!(
            "no source is called {id_or_name}; `headwater list` shows the sources, `headwater workflows list` the \
             workflows"
        ),
    }
}

/// The id alone: an id is taken as it is, without asking for the source.
pub(crate) async fn find_id(client: &Client, id_or_name: &str) -> Result<String> {
    if id_or_name.starts_with("dc_") {
        return Ok(id_or_name.to_owned());
    }
    let source = find(client, id_or_name).await?;
    Ok(text(&source, "id").to_owned())
}

pub(crate) async fn find_by_name(client: &Client, name: &str) -> Result<Option<Value>> {
    let sources = client.list_scoped(&["users", "me", "sources"]).await?;
    named("sources", sources, name)
}

/// Whether a text that is not a source is the id, name or name slug of a workflow.
pub(crate) async fn is_workflow(client: &Client, given: &str) -> bool {
    if given.starts_with("p_") {
        return true;
    }
    let workflows = client.list_scoped(&["workflows"]).await;
    workflows.is_ok_and(|workflows| {
        let fields = ["name", "name_slug"];
        let is_called =
            |workflow: &Value| fields.iter().any(|field| text(workflow, field) == given);
        workflows.iter().any(is_called)
    })
}

/// The one of these that is called so. Slugs are unique and names are not: a name that several share asks for an id.
pub(crate) fn named(kind: &str, items: Vec<Value>, name: &str) -> Result<Option<Value>> {
    let is_it = |item: &Value| text(item, "name") == name;
    let namesakes = items.iter().filter(|item| is_it(item));
    let namesakes: Vec<_> = namesakes.map(|item| called_among(item, &items)).collect();
    if namesakes.len() > 1 {
        bail!(
            "{} {kind} are called {name}; use one of these: {}",
            namesakes.len(),
            namesakes.join(", ")
        );
    }
    let (mut by_name, rest): (Vec<_>, Vec<_>) = items.into_iter().partition(is_it);
    let by_slug = || {
        rest.into_iter()
            .find(|item| text(item, "name_slug") == name)
    };
    Ok(by_name.pop().or_else(by_slug))
}

/// A source, or another thing with name and slug, as commands find it among all of its kind: by its name if that is one word and
/// no other has it, by its name slug if that is no other's name, or by its id.
pub(crate) fn called_among<'a>(item: &'a Value, all: &[Value]) -> &'a str {
    let id = text(item, "id");
    let is_free = |called: &str| {
        let mut others = all.iter().filter(|other| text(other, "id") != id);
        others.all(|other| text(other, "name") != called)
    };
    let names = [text(item, "name"), text(item, "name_slug")];
    let mut names = names.into_iter().filter(|name| is_plain(name));
    names.find(|name| is_free(name)).unwrap_or(id)
}

/// The same where others of its name are not known of.
pub(crate) fn called(item: &Value) -> &str {
    called_among(item, &[])
}

/// Whether shells take a name for one word, and commands take it for a name.
fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(char::is_alphanumeric);
    let is_id = ["dc_", "p_"].iter().any(|prefix| name.starts_with(prefix));
    begins && !is_id && letters.all(|it| it.is_alphanumeric() || matches!(it, '-' | '_' | '.'))
}

/// The URLs of the source's HTTP interfaces.
pub(crate) fn endpoints(source: &Value) -> Vec<String> {
    configured(source)
        .filter_map(|value| value.get("endpoint_url")?.as_str())
        .map(str::to_owned)
        .collect()
}

/// The times at which the source's timers fire.
pub(crate) fn timers(source: &Value) -> Vec<String> {
    configured(source).filter_map(timer).collect()
}

fn configured(source: &Value) -> impl Iterator<Item = &Value> {
    let props = source.get("configured_props").and_then(Value::as_object);
    props.into_iter().flat_map(|props| props.values())
}

/// The times of one timer.
pub(crate) fn timer(value: &Value) -> Option<String> {
    if let Some(cron) = value.get("cron").and_then(Value::as_str) {
        return Some(format!("cron {cron}"));
    }
    let seconds = value.get("interval_seconds")?.as_u64()?;
    Some(match seconds {
        0 => return None,
        seconds if seconds % 3600 == 0 => format!("every {} h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("every {} min", seconds / 60),
        seconds => format!("every {seconds} s"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_wins_over_a_slug_and_an_ambiguous_name_is_refused() {
        let sources = vec![
            json!({"id": "dc_1", "name": "RSS", "name_slug": "rss"}),
            json!({"id": "dc_2", "name": "rss", "name_slug": "rss-1"}),
            json!({"id": "dc_3", "name": "RSS", "name_slug": "rss-2"}),
        ];
        let id = |name: &str| {
            let found = named("sources", sources.clone(), name);
            found.map(|source| source.map(|source| text(&source, "id").to_owned()))
        };
        assert_eq!(id("rss").unwrap().as_deref(), Some("dc_2"));
        assert_eq!(id("rss-2").unwrap().as_deref(), Some("dc_3"));
        assert_eq!(id("none").unwrap(), None);
        assert_eq!(
            id("RSS").unwrap_err().to_string(),
            "2 sources are called RSS; use one of these: dc_1, rss-2"
        );
    }

    #[test]
    fn a_name_of_one_word_is_what_a_thing_is_called_unless_others_have_it() {
        let sources = [
            json!({"id": "dc_1", "name": "orders", "name_slug": "inbox"}),
            json!({"id": "dc_2", "name": "orders", "name_slug": "inbox-1"}),
            json!({"id": "dc_3", "name": "RSS", "name_slug": "rss"}),
            json!({"id": "dc_4", "name": "New row", "name_slug": "new-row"}),
            json!({"id": "dc_5", "name": "inbox", "name_slug": "inbox-2"}),
        ];
        let called: Vec<_> = sources
            .iter()
            .map(|source| called_among(source, &sources))
            .collect();
        assert_eq!(called, ["dc_1", "inbox-1", "RSS", "new-row", "inbox"]);
        assert_eq!(super::called(&sources[0]), "orders");
        assert_eq!(
            super::called(&json!({"id": "dc_1", "name": "dc_2"})),
            "dc_1"
        );
    }

    #[test]
    fn triggers_are_read_from_the_configured_props() {
        let source = json!({"configured_props": {
            "url": "https://example.com",
            "http": {"endpoint_url": "http://node/e/t"},
            "timer": {"cron": null, "interval_seconds": 900},
            "nightly": {"cron": "0 3 * * *", "interval_seconds": null},
        }});
        assert_eq!(endpoints(&source), ["http://node/e/t"]);
        assert_eq!(timers(&source), ["every 15 min", "cron 0 3 * * *"]);
    }
}
