//! Things by their ids. Prefixed ids lead to their pages, where they turn out to be somebody's or not; other ids are looked
//! for among the caller's things.

use headwater_model::{
    id::{DeploymentId, EventId, KeyId, RunnableId},
    limits::PAGE_LIMIT_MAX,
    page::PageRequest,
    trace::TraceParent,
};
use headwater_platform::{EventsSearch, PlatformError, RunSearchFilter};

use super::found::Found;
use crate::{
    address::{self, Address as _},
    problem::Problem,
    query::ROWS,
    state::Ui,
    visit::Visitor,
};

/// The channels that a search of events does not look at unless it names them.
const FURTHER_CHANNELS: [&str; 2] = ["$errors", "$in"];
/// Shorter texts are words rather than ids of requests.
const REQUEST_ID_CHARS_MIN: usize = 6;

/// The things with this id; none if it is not one.
pub(super) async fn of(ui: &Ui, visitor: &Visitor, text: &str) -> Result<Vec<Found>, Problem> {
    if let Ok(id) = text.parse() {
        return deployment(ui, visitor, &id).await;
    }
    if let Ok(id) = text.parse() {
        return key(ui, visitor, &id).await;
    }
    if let Some((kind, address)) = prefixed(text) {
        let name = text.to_owned();
        return Ok(vec![Found {
            kind,
            name,
            address,
        }]);
    }
    if let Ok(id) = text.parse() {
        return events(ui, visitor, &id).await;
    }
    match origin(text) {
        Some(origin) => runs(ui, visitor, &origin).await,
        None => Ok(Vec::new()),
    }
}

/// The kind of a thing with this prefix, and its page.
fn prefixed(id: &str) -> Option<(&'static str, String)> {
    let is_id = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let (kind, before) = match id.split_once('_')?.0 {
        "dc" => ("source", "/sources/"),
        "p" => ("workflow", "/workflows/"),
        "wh" => ("webhook", "/webhooks/"),
        "dlv" => ("delivery", "/deliveries/"),
        "inv" => ("run", "/runs/"),
        "apn" => ("account", "/accounts/"),
        "sc" => ("component", "/deploy/"),
        "o" => ("workspace", "/settings/members?workspace="),
        // A user has no page; the acts are known.
        "u" => ("user", "/settings/audit?actor="),
        _ => return None,
    };
    is_id.then(|| (kind, format!("{before}{id}")))
}

async fn deployment(ui: &Ui, visitor: &Visitor, id: &DeploymentId) -> Result<Vec<Found>, Problem> {
    let address = match ui.platform.deployed_by(visitor.caller(), id).await {
        Ok(RunnableId::Source(source)) => format!("{}/versions/{id}", source.address()),
        Ok(RunnableId::Workflow(workflow)) => {
            format!("{}/steps?deployment={id}", workflow.address())
        }
        Err(PlatformError::NotFound { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    Ok(vec![Found {
        kind: "deployment",
        name: id.to_string(),
        address,
    }])
}

async fn key(ui: &Ui, visitor: &Visitor, id: &KeyId) -> Result<Vec<Found>, Problem> {
    let keys = PageRequest::first(PAGE_LIMIT_MAX);
    let keys = ui.platform.keys(visitor.caller(), None, &keys).await?;
    let found = keys.items.into_iter().filter(|key| key.id == *id);
    let found = found.map(|key| Found {
        kind: "key",
        name: key.name,
        address: format!("/settings/keys?key={id}"),
    });
    Ok(found.collect())
}

/// Events of different sources and workflows may have the same id.
async fn events(ui: &Ui, visitor: &Visitor, id: &EventId) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    let channels = FURTHER_CHANNELS.map(|channel| Some(channel.to_owned()));
    for channel in [None].into_iter().chain(channels) {
        let search = EventsSearch {
            workspace_id: visitor.workspace.clone(),
            channel,
            since_ms: Some(id.ms),
            until_ms: Some(id.ms),
            limit: ROWS,
            ..EventsSearch::default()
        };
        let events = ui.platform.search_events(visitor.caller(), search).await?;
        let events = events.events.into_iter().filter(|event| event.id == *id);
        found.extend(events.map(|event| Found {
            kind: "event",
            name: event.summary.unwrap_or_else(|| id.to_string()),
            address: address::of_event(&event.emitter, id),
        }));
    }
    Ok(found)
}

/// The id of a request or a trace, if the text may be one: a line of the log has it, an answer to a request, or a header.
fn origin(text: &str) -> Option<String> {
    if let Ok(trace) = text.parse::<TraceParent>() {
        return Some(format!("{:032x}", trace.trace_id));
    }
    let is_sane = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte);
    let is_id = text.len() >= REQUEST_ID_CHARS_MIN
        && text.bytes().all(is_sane)
        && text.bytes().any(|byte| byte.is_ascii_digit());
    is_id.then(|| text.to_owned())
}

/// The run that a request caused; several are a list.
async fn runs(ui: &Ui, visitor: &Visitor, origin: &str) -> Result<Vec<Found>, Problem> {
    let filter = RunSearchFilter {
        workspace_id: visitor.workspace.clone(),
        origin: Some(origin.to_owned()),
        ..RunSearchFilter::default()
    };
    let found = ui
        .platform
        .find_runs(visitor.caller(), &filter, &PageRequest::first(2))
        .await?;
    let address = match &*found.items {
        [] => return Ok(Vec::new()),
        // A run of a source has its page from its end on.
        [only] if only.ended.is_some() || matches!(only.runnable, RunnableId::Workflow(_)) => {
            format!("/runs/{}", only.run.id)
        }
        _ => address::of_origin(origin),
    };
    Ok(vec![Found {
        kind: "request or trace",
        name: origin.to_owned(),
        address,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lead_to_their_things_and_nowhere_else() {
        for (text, address) in [
            ("dc_0123", Some("/sources/dc_0123")),
            ("inv_a", Some("/runs/inv_a")),
            ("o_1", Some("/settings/members?workspace=o_1")),
            ("u_1", Some("/settings/audit?actor=u_1")),
            ("u_1&x", None),
            ("dc_../../evil", None),
            ("orders", None),
            ("some_words", None),
        ] {
            let found = prefixed(text).map(|(_, address)| address);
            assert_eq!(found.as_deref(), address, "{text}");
        }
    }

    #[test]
    fn requests_and_traces_are_known_by_their_form() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let parent = format!("00-{trace}-b7ad6b7169203331-01");
        for (text, id) in [
            (trace, Some(trace)),
            (parent.as_str(), Some(trace)),
            ("mine-1", Some("mine-1")),
            ("mine", None),
            ("orders", None),
            ("order 7 of the shop", None),
            ("<b>1234567", None),
            ("", None),
        ] {
            assert_eq!(origin(text).as_deref(), id, "{text}");
        }
    }
}
