//! Things by words of their names, acts on them, and places.

use headwater_model::page::PageRequest;
use headwater_platform::Wanted;

use super::{acts, found::Found, places};
use crate::{
    address::Address as _, page::data, page::webhooks::list::name, problem::Problem, query::ROWS,
    state::Ui, visit::Visitor,
};

/// All whose names have all of the words: acts first, then things, then places.
pub(super) async fn with(ui: &Ui, visitor: &Visitor, words: &str) -> Result<Vec<Found>, Problem> {
    let words: Vec<_> = words.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut found = match acts::said(&words) {
        Some(said) => said.on(things(ui, visitor, said.about).await?),
        None => Vec::new(),
    };
    found.extend(things(ui, visitor, &words).await?);
    found.extend(places::with(ui, visitor, &words).await?);
    Ok(found)
}

/// The sources, workflows, webhooks, accounts and data stores whose names have all of the words.
async fn things(ui: &Ui, visitor: &Visitor, words: &[String]) -> Result<Vec<Found>, Problem> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    let wanted = Wanted {
        words: words.to_vec(),
        ..Wanted::default()
    };
    let workspace = || visitor.workspace.clone();
    let sources = platform
        .sources(
            caller,
            workspace(),
            wanted.clone(),
            &PageRequest::first(ROWS),
        )
        .await?;
    let workflows = platform
        .listed_workflows(
            caller,
            workspace(),
            wanted.clone(),
            &PageRequest::first(ROWS),
        )
        .await?;
    let words = &wanted.words;
    let webhooks = platform
        .find_webhooks(caller, workspace(), words, &PageRequest::first(ROWS))
        .await?;
    let accounts = platform.find_accounts(caller, workspace(), words).await?;
    let stores = platform
        .find_data_stores(caller, workspace(), words)
        .await?;
    let mut found = Vec::new();
    let mut add = |kind, name: &str, address: String| found.push(Found::new(kind, name, address));
    for view in &sources.items {
        let source = &view.source;
        add("source", &source.spec.name, source.id.address());
    }
    for workflow in &workflows.items {
        add("workflow", &workflow.name, workflow.id.address());
    }
    for webhook in &webhooks.items {
        add("webhook", name(webhook), webhook.id.address());
    }
    for view in &accounts {
        let account = &view.account;
        add(
            "account",
            &account.name,
            format!("/accounts/{}", account.id),
        );
    }
    for store in &stores {
        let name = store.name.as_str();
        add("data store", name, data::address(visitor, name, "", &[]));
    }
    Ok(found)
}
