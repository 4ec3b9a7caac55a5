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
    state::Ui,
    visit::Visitor,
};

/// The channels that a search of events does not look at unless it names them.
const FURTHER_CHANNELS: [&str; 2] = ["$errors", "$in"];
/// Shorter texts are words rather than ids of requests.
const REQUEST_ID_CHARS_MIN: usize = 6;

/// The things with an id.
#[derive(Default)]
pub(super) struct ById {
    pub(super) found: Vec<Found>,
    /// Whether a caller of the node may have chosen the id, so that nobody is to be led by it at once.
    pub(super) is_chosen: bool,
    /// The list in which older runs are looked for, if the id may be that of one.
    pub(super) older: Option<String>,
}

impl From<Vec<Found>> for ById {
    fn from(found: Vec<Found>) -> Self {
        Self {
            found,
            ..Self::default()
        }
    }
}

/// The things with this id; none if it is not one.
pub(super) async fn of(ui: &Ui, visitor: &Visitor, text: &str) -> Result<ById, Problem> {
    if let Ok(id) = text.parse() {
        return Ok(deployment(ui, visitor, &id).await?.into());
    }
    if let Ok(id) = text.parse() {
        return Ok(key(ui, visitor, &id).await?.into());
    }
    if let Some((kind, address)) = prefixed(text) {
        let name = text.to_owned();
        return Ok(ById::from(vec![Found::new(kind, name, address)]));
    }
    if let Ok(id) = text.parse() {
        let events = events(ui, visitor, &id).await?;
        if !events.is_empty() {
            return Ok(events.into());
        }
    }
    match origin(text) {
        Some(origin) => Ok(ById {
            is_chosen: !is_random(text),
            ..runs(ui, visitor, &origin).await?
        }),
        None => Ok(ById::default()),
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
            format!("{}/deployments/{id}", workflow.address())
        }
        Err(PlatformError::NotFound { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    Ok(vec![Found::new("deployment", id.as_str(), address)])
}

async fn key(ui: &Ui, visitor: &Visitor, id: &KeyId) -> Result<Vec<Found>, Problem> {
    let keys = PageRequest::first(PAGE_LIMIT_MAX);
    let keys = ui.platform.keys(visitor.caller(), None, &keys).await?;
    let found = keys.items.into_iter().filter(|key| key.id == *id);
    let found = found.map(|key| Found::new("key", key.name, format!("/settings/keys?key={id}")));
    Ok(found.collect())
}

/// Events of different sources and workflows may have the same id.
async fn events(ui: &Ui, visitor: &Visitor, id: &EventId) -> Result<Vec<Found>, Problem> {
    let mut found = Vec::new();
    let channels = FURTHER_CHANNELS.map(|channel| Some(channel.to_owned()));
    for channel in [None].into_iter().chain(channels) {
        let mut search = EventsSearch {
            workspace_id: visitor.workspace.clone(),
            channel,
            since_ms: Some(id.ms),
            until_ms: Some(id.ms),
            limit: PAGE_LIMIT_MAX,
            ..EventsSearch::default()
        };
        loop {
            let part = ui
                .platform
                .search_events(visitor.caller(), search.clone())
                .await?;
            let events = part.events.into_iter().filter(|event| event.id == *id);
            found.extend(events.map(|event| {
                let name = event.summary.unwrap_or_else(|| id.to_string());
                Found::new("event", name, address::of_event(&event.emitter, id))
            }));
            // Older ones have other ids.
            search.after = part.next.filter(|next| next.id >= *id);
            if search.after.is_none() {
                break;
            }
        }
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

/// Whether it is an id as nodes create them, which nobody comes upon by chance: 32 digits, or a whole `traceparent`.
fn is_random(origin: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_id = origin.len() == 32 && origin.bytes().all(is_digit);
    is_id || origin.parse::<TraceParent>().is_ok()
}

/// The run that a request caused; several, or one beside which older ones may be, are a list.
async fn runs(ui: &Ui, visitor: &Visitor, origin: &str) -> Result<ById, Problem> {
    let filter = RunSearchFilter {
        workspace_id: visitor.workspace.clone(),
        origin: Some(origin.to_owned()),
        ..RunSearchFilter::default()
    };
    let found = ui
        .platform
        .find_runs(visitor.caller(), &filter, &PageRequest::first(2))
        .await?;
    let is_cut = found.searched_to.is_some();
    let list = address::of_origin(origin);
    let address = match &*found.items {
        [] => {
            return Ok(ById {
                older: is_cut.then_some(list),
                ..ById::default()
            });
        }
        // A run of a source has its page from its end on.
        [only]
            if !is_cut
                && (only.ended.is_some() || matches!(only.runnable, RunnableId::Workflow(_))) =>
        {
            format!("/runs/{}", only.run.id)
        }
        _ => list,
    };
    Ok(ById::from(vec![Found::new(
        "request or trace",
        origin,
        address,
    )]))
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
            ("2024-7", Some("2024-7")),
            ("mine", None),
            ("orders", None),
            ("order 7 of the shop", None),
            ("<b>1234567", None),
            ("", None),
        ] {
            assert_eq!(origin(text).as_deref(), id, "{text}");
        }
    }
    #[test]
    fn ids_that_a_caller_may_have_chosen_are_known() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        for (text, random) in [
            (trace.to_owned(), true),
            (format!("00-{trace}-b7ad6b7169203331-01"), true),
            (format!("{trace}0"), false),
            ("orders-2024".to_owned(), false),
        ] {
            assert_eq!(is_random(&text), random, "{text}");
        }
    }
}
