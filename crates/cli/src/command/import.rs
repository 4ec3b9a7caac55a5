//! `import`: copies components, webhooks, sources and subscriptions from a running service that speaks the same API, and
//! reports the work that is left. Changes nothing there. Each thing comes over whole or not at all, and is remembered,
//! so that the same command goes on where it ended.

mod accounts;
mod components;
mod given;
mod listings;
mod origin;
mod remembered;
mod report;
mod settings;
mod sources;
mod subscriptions;
mod webhooks;
mod workflows;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, anyhow};
use serde_json::Value;

use self::accounts::Accounts;
use self::given::GivenProps;
use self::listings::Listings;
use self::origin::Origin;
use self::remembered::Remembered;
use self::report::Report;
use crate::arguments::ImportArguments;
use crate::client::{Client, ClientError};
use crate::exit::Exit;
use crate::output;
use crate::session::Session;
use crate::source::text;
use crate::usage_error::UsageError;

/// A component here, or the reason why it did not come over.
type Brought = Result<Value, String>;

/// An import under way.
struct Import<'a> {
    origin: Origin,
    target: &'a Client,
    remembered: Remembered,
    given: GivenProps,
    accounts: Accounts,
    report: Report,
    /// The owner of the key here, and the workspace to work in.
    me: Value,
    workspace_id: Option<String>,
    /// Components that were asked for, by their ids there.
    brought: BTreeMap<String, Brought>,
    /// The subscriptions that are here, by id.
    subscribed: BTreeSet<String>,
    /// The subscriptions there that the report tells of.
    settled: BTreeSet<String>,
}

pub(super) async fn run(session: &Session, arguments: &ImportArguments) -> Result<Exit> {
    let given = GivenProps::read(&arguments.props)?;
    let origin = Origin::open(arguments)?;
    let target = &session.client;
    if origin.shown() == target.base().as_str() {
        let complaint =
            "--from is the node to copy into; name that one with --url or HEADWATER_URL";
        return Err(UsageError(complaint.to_owned()).into());
    }
    let listings = Listings::read(&origin).await?;
    given.refuse_unknown(&listings.sources)?;
    let remembered = Remembered::open(&session.data_dir, &origin, target).await?;
    let workspace_id = target.workspace_id().await?.map(str::to_owned);
    let mut import = Import {
        me: target.get(&["users", "me"]).await?,
        subscribed: subscribed(target, workspace_id.as_deref()).await?,
        accounts: Accounts::read(&origin, target).await?,
        report: Report::new(&origin, target),
        brought: BTreeMap::new(),
        settled: BTreeSet::new(),
        origin,
        target,
        remembered,
        given,
        workspace_id,
    };
    let copied = import.copy(&listings).await;
    match session.json {
        true => output::json(&serde_json::to_value(&import.report)?)?,
        false => output::report(&import.report.plain())?,
    }
    copied.map_err(|error| {
        error.context("the import ended early; run the same command again to go on with it")
    })?;
    Ok(match import.report.is_whole() {
        true => Exit::Success,
        false => Exit::Failure,
    })
}

impl Import<'_> {
    /// Webhooks come before the sources, so that a subscription exists soon after its source.
    async fn copy(&mut self, listings: &Listings) -> Result<()> {
        self.webhooks(listings).await?;
        self.components(listings).await?;
        self.workflows(listings).await?;
        self.variables(listings).await?;
        self.sources(listings).await?;
        self.subscriptions(listings).await?;
        self.unsettled_subscriptions(listings);
        self.note_workspaces(listings);
        Ok(())
    }

    /// Whether something here is where things are copied to.
    fn is_in_place(&self, here: &Value) -> bool {
        text(here, "workspace_id") == self.workspace_id.as_deref().unwrap_or_default()
    }

    fn note_workspaces(&mut self, listings: &Listings) {
        if self.origin.workspace().is_some() {
            return;
        }
        for workspace in listings.me["orgs"].as_array().into_iter().flatten() {
            let (id, name) = (text(workspace, "id"), text(workspace, "name"));
            self.report.note(format!(
                "things of the workspace {name} are copied with `--from-workspace {id}`"
            ));
        }
    }
}

async fn subscribed(target: &Client, workspace_id: Option<&str>) -> Result<BTreeSet<String>> {
    let here = match workspace_id {
        Some(id) => target.list(&["workspaces", id, "subscriptions"]).await?,
        None => target.list(&["users", "me", "subscriptions"]).await?,
    };
    let ids = here.iter().map(|one| text(one, "id").to_owned());
    Ok(ids.collect())
}

/// The reason why the target refused. A target that is away or does not know the caller ends the import.
fn refusal(error: anyhow::Error) -> Result<String> {
    match error.downcast_ref::<ClientError>() {
        Some(refused) if !refused.is_transient() && refused.status() != Some(401) => {
            Ok(format!("{error:#}"))
        }
        _ => Err(error),
    }
}

/// `None` if the target does not have it.
fn found(answer: Result<Value>) -> Result<Option<Value>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.downcast_ref::<ClientError>() {
            Some(refused) if refused.is_not_found() => Ok(None),
            _ => Err(error),
        },
    }
}

/// The id in an answer.
fn id_of(answer: &Value) -> Result<String> {
    let id = answer.get("id").and_then(Value::as_str);
    id.map(str::to_owned)
        .ok_or_else(|| anyhow!("the node's answer has no `id`"))
}
