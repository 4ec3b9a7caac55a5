//! Values of props as people read them: the names of accounts, data stores, sources and workflows with links to them, and
//! schedules in words. Their ids stand in the titles.

use std::collections::HashMap;

use headwater_model::{
    id::{AccountId, EmitterId, WorkspaceId},
    schedule::Schedule,
};
use headwater_platform::{HealthStatus, KnownNames, PlatformError};
use maud::{Markup, html};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use crate::{
    address::Address as _,
    part::{
        code::copyable,
        health::health,
        name::named,
        payload,
        schedule::in_words,
        text::{self, LINE_CHARS, cut},
        tree::Tree,
    },
    state::Ui,
    visit::Visitor,
};

/// Accounts that are read for a page.
const ACCOUNTS_MAX: usize = 50;

/// The names of the things that values name.
pub(crate) struct Things {
    names: KnownNames,
    accounts: HashMap<AccountId, (String, HealthStatus)>,
    /// The workspace whose data stores are meant.
    workspace: Option<WorkspaceId>,
}

impl Things {
    /// Those of some values, as far as the visitor may see them.
    pub(crate) async fn of<'a>(
        ui: &Ui,
        visitor: &Visitor,
        workspace: Option<&WorkspaceId>,
        values: impl IntoIterator<Item = &'a Value>,
    ) -> Result<Self, PlatformError> {
        let mut emitters = Vec::new();
        let mut ids = Vec::new();
        for value in values {
            emitters.extend(value.as_str().and_then(emitter_in));
            let account = account_in(value).filter(|id| !ids.contains(id));
            ids.extend(account);
        }
        let names = ui.platform.names(visitor.caller(), emitters, []).await?;
        let mut accounts = HashMap::new();
        for id in ids.into_iter().take(ACCOUNTS_MAX) {
            match ui.platform.account(visitor.caller(), &id).await {
                Ok(view) => {
                    let known = (view.account.name, view.health.status);
                    accounts.insert(id, known);
                }
                // Deleted, or another one's.
                Err(PlatformError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            names,
            accounts,
            workspace: workspace.cloned(),
        })
    }

    /// A value of a prop. That of a data store may be its name alone. `page` is the address that shows parts of the value,
    /// up to the pointer, if there is one.
    pub(crate) fn value(
        &self,
        name: &str,
        value: &Value,
        is_data_store: bool,
        page: Option<&str>,
    ) -> Markup {
        let part = |pointer: &str| {
            let pointer: String = byte_serialize(pointer.as_bytes()).collect();
            format!("{}{pointer}", page.unwrap_or_default())
        };
        let part = page.map(|_| &part as &dyn Fn(&str) -> String);
        if let Some(id) = account_in(value) {
            let known = self.accounts.get(&id);
            let name = known.map(|(name, _)| name.as_str());
            return html! {
                a href={ "/accounts/" (id) } title=(id) { (named(name, id.as_str())) }
                @if let Some((_, status)) = known { " " (health(*status)) }
            };
        }
        let store = value.get("storeId").unwrap_or(value).as_str();
        if let Some(store) = store.filter(|_| is_data_store || value.get("storeId").is_some()) {
            let name: String = byte_serialize(store.as_bytes()).collect();
            let name = name.replace('+', "%20");
            return html! {
                a href={ "/data/" (name) @if let Some(id) = &self.workspace { "?workspace=" (id) } } { (text::line(store)) }
            };
        }
        if let Some(url) = value.get("endpoint_url").and_then(Value::as_str) {
            return copyable(url);
        }
        if let Some(id) = value.as_str().and_then(emitter_in) {
            let known = self.names.of_emitter(&id);
            return html! { a href=(id.address()) title=(id) { (named(known, id.as_str())) } };
        }
        match (schedule_in(value), value) {
            (Some(schedule), _) => html! { (in_words(&schedule)) },
            (None, Value::String(text)) => {
                let is_cut = cut(text, LINE_CHARS).1;
                let all = part.filter(|_| is_cut).map(|part| part(""));
                html! { (payload::inline(text::line(text))) @if let Some(all) = all { " " a href=(all) { "show all" } } }
            }
            (None, value) if value.is_number() || value.is_boolean() || value.is_null() => {
                html! { code { (value) } }
            }
            (None, value) => Tree {
                part,
                name,
                at: "",
                from: page.map(|_| 0),
                raw: None,
            }
            .markup(value),
        }
    }
}

fn account_in(value: &Value) -> Option<AccountId> {
    value.get("authProvisionId")?.as_str()?.parse().ok()
}

fn emitter_in(text: &str) -> Option<EmitterId> {
    text.parse().ok()
}

/// The schedule that a value is, and nothing else.
fn schedule_in(value: &Value) -> Option<Schedule> {
    const FIELDS: [&str; 4] = ["cron", "intervalSeconds", "interval_seconds", "timezone"];
    let fields = value.as_object()?;
    let is_one = fields.keys().all(|name| FIELDS.contains(&name.as_str()));
    is_one.then(|| Schedule::parse(value).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use headwater_model::{
        id::{SourceId, WorkflowId},
        time::EpochMs,
    };
    use serde_json::json;

    use super::*;

    #[test]
    fn things_are_told_by_their_values() {
        let id = AccountId::new(EpochMs(1), 2);
        let things = Things {
            names: KnownNames::default(),
            accounts: HashMap::from([(id.clone(), ("Work".to_owned(), HealthStatus::Refused))]),
            workspace: None,
        };
        let source = SourceId::new(EpochMs(1), 3);
        let workflow = WorkflowId::new(EpochMs(1), 4);
        for (value, is_data_store, expected) in [
            (
                json!({"authProvisionId": id}),
                false,
                "<bdi>Work</bdi></a> <span class=\"state bad\">".to_owned(),
            ),
            (
                json!({"intervalSeconds": 300}),
                false,
                "every 5 minutes".to_owned(),
            ),
            (
                json!({"cron": "0 9 * * *", "interval_seconds": null, "timezone": "UTC"}),
                false,
                "every day at 09:00 UTC".to_owned(),
            ),
            (
                json!({"storeId": "my orders"}),
                false,
                "href=\"/data/my%20orders\"".to_owned(),
            ),
            (json!("orders"), true, "href=\"/data/orders\"".to_owned()),
            (json!("orders"), false, "<bdi>orders</bdi>".to_owned()),
            (json!(source), false, format!("href=\"/sources/{source}\"")),
            (
                json!(workflow),
                false,
                format!("href=\"/workflows/{workflow}\""),
            ),
            (
                json!({"cron": "0 9 * * *", "more": 1}),
                false,
                "class=\"tree\"".to_owned(),
            ),
            (json!(7), false, "<code>7</code>".to_owned()),
        ] {
            let shown = things
                .value("prop", &value, is_data_store, None)
                .into_string();
            assert!(shown.contains(&expected), "{value}: {shown}");
        }
    }
}
