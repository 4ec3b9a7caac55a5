//! `/settings/audit`: who did what, when and from where, filtered by the address of the page.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    http::StatusCode,
};
use headwater_model::error::Invalid;
use headwater_platform::{
    Actor, ActorKind, AuditAction, AuditFilter, AuditRecord, AuditTarget, FoundAudit, PlatformError,
};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Map, Value};
use url::form_urlencoded::Serializer;

use super::page;
use crate::{
    page::deliveries::list::capped,
    part::{
        code::quoted,
        empty::empty,
        icon::{Icon, icon},
        text, time,
    },
    problem::capital,
    query::{ROWS, TIME, read, since, until},
    reply::{Page, PageReply},
    state::Ui,
    visit::Visitor,
};

/// Characters of a client's name that a row shows.
const AGENT_CHARS: usize = 36;

/// The parameters; empty ones filter nothing.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    actor: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    since: String,
    #[serde(default)]
    until: String,
}

impl Wanted {
    pub(super) fn filter(&self, visitor: &Visitor) -> Result<AuditFilter, PlatformError> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let now_ms = visitor.now_ms;
        Ok(AuditFilter {
            actor: given(&self.actor),
            action: given(&self.action),
            target_id: given(&self.target),
            workspace_id: visitor.workspace.clone(),
            since_ms: read(("since", self.since.trim()), TIME, |text| {
                since(text, now_ms)
            })?,
            until_ms: read(("until", self.until.trim()), TIME, |text| {
                until(text, now_ms)
            })?,
        })
    }

    /// The parameters that filter, by the names of the command line's options.
    fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("actor", self.actor.trim()),
            ("action", self.action.trim()),
            ("target", self.target.trim()),
            ("since", self.since.trim()),
            ("until", self.until.trim()),
        ];
        all.into_iter().filter(|(_, text)| !text.is_empty())
    }

    /// The address of the file with what they find.
    fn file(&self, visitor: &Visitor) -> String {
        let mut query = Serializer::new(String::new());
        if let Some(id) = &visitor.workspace {
            query.append_pair("workspace", id.as_str());
        }
        query.extend_pairs(self.given());
        format!("/settings/audit/export?{}", query.finish())
    }

    /// The same with the command line.
    fn command(&self) -> String {
        let options = self.given();
        let options = options.map(|(name, text)| format!(" --{name} {}", quoted(text)));
        format!("headwater audit{}", options.collect::<String>())
    }
}

/// Lists audit records.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> PageReply {
    let filter = match wanted.filter(&visitor) {
        Ok(filter) => filter,
        Err(PlatformError::Invalid(invalid)) => return Ok(unreadable(&wanted, &visitor, &invalid)),
        Err(error) => return Err(error.into()),
    };
    let request = visitor.page_request();
    let (found, count) = ui
        .platform
        .audit(visitor.caller(), &filter, &request)
        .await?;
    let days = ui.platform.config().retained_audit_days;
    let is_admin = visitor.caller().identity.user.is_admin;
    let body = html! {
        p.note { (about(is_admin, days)) }
        (form(&wanted, &visitor, None))
        @if found.items.is_empty() {
            (nothing(&wanted, days))
        } @else {
            p.note { (capped(count)) @if count.count == 1 && !count.is_capped { " record" } @else { " records" } ", " a href=(wanted.file(&visitor)) download { "download all as NDJSON" } }
            (table(&found.items, &visitor))
        }
        (pages(&found, &visitor))
    };
    Ok(page(&visitor, "audit", body).command(wanted.command()))
}

fn about(is_admin: bool, days: u32) -> String {
    let whose = match is_admin {
        true => "Acts of all users and keys.",
        false => {
            "Your acts, and those of others on your things and on the things of your workspaces."
        }
    };
    match days {
        0 => whose.to_owned(),
        1 => format!("{whose} Records are kept for a day."),
        days => format!("{whose} Records are kept for {days} days."),
    }
}

/// The form with what was written, of which a time cannot be read.
fn unreadable(wanted: &Wanted, visitor: &Visitor, invalid: &Invalid) -> Page {
    let body = html! {
        p.wrong role="alert" #wrong { (icon(Icon::Warning)) (text::sentence(&capital(&invalid.reason))) "." }
        (form(wanted, visitor, Some(&invalid.field)))
    };
    page(visitor, "audit", body).with_status(StatusCode::UNPROCESSABLE_ENTITY)
}

fn form(wanted: &Wanted, visitor: &Visitor, wrong: Option<&str>) -> Markup {
    let is_wrong = |name: &str| (wrong == Some(name)).then_some("true");
    let said = |name: &str| (wrong == Some(name)).then_some("wrong");
    html! {
        form.filters action="/settings/audit" {
            @if let Some(id) = &visitor.workspace { input type="hidden" name="workspace" value=(id); }
            div { label for="actor" { "Actor " } input #actor name="actor" value=(wanted.actor) size="14" placeholder="name or id" autocomplete="off" spellcheck="false"; }
            div { label for="action" { "Act " } (actions(&wanted.action)) }
            div { label for="target" { "Thing " } input #target name="target" value=(wanted.target) size="18" placeholder="id" autocomplete="off" spellcheck="false"; }
            div { label for="since" { "Since " } input #since name="since" value=(wanted.since) size="14" placeholder="24h or 2026-01-31" autocomplete="off" aria-invalid=[is_wrong("since")] aria-describedby=[said("since")]; }
            div { label for="until" { "Until " } input #until name="until" value=(wanted.until) size="14" placeholder="now" autocomplete="off" aria-invalid=[is_wrong("until")] aria-describedby=[said("until")]; }
            button { "Filter" }
        }
    }
}

/// The kinds of things, and the acts on each.
fn actions(chosen: &str) -> Markup {
    let names: Vec<(&str, &str)> = AuditAction::ALL
        .iter()
        .filter_map(|action| Some((action.name().split_once('.')?.0, action.name())))
        .collect();
    let mut kinds: Vec<&str> = names.iter().map(|(kind, _)| *kind).collect();
    kinds.dedup();
    let is_known = chosen.is_empty()
        || names
            .iter()
            .any(|(kind, name)| [*kind, *name].contains(&chosen));
    html! {
        select #action name="action" {
            option value="" { "any" }
            @if !is_known { option value=(chosen) selected { (text::visible(chosen)) } }
            @for kind in kinds {
                optgroup label=(kind) {
                    option value=(kind) selected[chosen == kind] { "any of " (kind) }
                    @for (_, name) in names.iter().filter(|(of, _)| *of == kind) {
                        option value=(name) selected[chosen == *name] { (name) }
                    }
                }
            }
        }
    }
}

fn nothing(wanted: &Wanted, days: u32) -> Markup {
    if wanted.given().next().is_some() {
        return empty(
            "No act is like this, or its record is not kept any more.",
            html! { p { a href="/settings/audit" { "Show all acts" } } },
        );
    }
    match days {
        0 => empty(
            "This node keeps no audit records.",
            html! { p { "It was started with " code { "--retained-audit-days=0" } "." } },
        ),
        _ => empty("Nothing was done yet.", html! {}),
    }
}

fn table(records: &[AuditRecord], visitor: &Visitor) -> Markup {
    html! {
        table.list {
            thead { tr {
                th scope="col" { "When" } th scope="col" { "Act" } th scope="col" { "Actor" } th scope="col" { "Thing" }
                th scope="col" { "From" } th scope="col" { "More" }
            } }
            tbody {
                @for record in records {
                    tr data-row=(record.id) {
                        td.narrow { (time::ago(record.at_ms, visitor.now_ms)) }
                        th.narrow scope="row" data-label="Act" { a href=(visitor.with(&[("action", Some(&record.action))])) { (text::line(&record.action)) } }
                        td.named data-label="Actor" { (who(&record.actor, visitor)) }
                        td data-label="Thing" { (thing(record)) }
                        td data-label="From" { (from(record)) }
                        td data-label="More" { (more(&record.details)) }
                    }
                }
            }
        }
    }
}

fn who(actor: &Actor, visitor: &Visitor) -> Markup {
    let by = |name: &str, id: Option<&str>| {
        let id = id.unwrap_or(name);
        html! { a href=(visitor.with(&[("actor", Some(id))])) { (text::line(name)) } }
    };
    let user_id = actor.user_id.as_ref().map(|id| id.as_str());
    let key = actor.key_name.as_deref().unwrap_or_default();
    html! {
        @match actor.via {
            ActorKind::Nobody => { "nobody known" }
            ActorKind::Node => { "the node" }
            ActorKind::Key | ActorKind::Session | ActorKind::Link => {
                @match &actor.username { Some(name) => { (by(name, user_id)) } None => { "a user that is gone" } }
            }
        }
        @match actor.via {
            ActorKind::Key => { " " span.note { "key " (text::line(key)) } }
            ActorKind::Session => { " " span.note { "in a browser" } }
            ActorKind::Link => { " " span.note { "by a link" } }
            ActorKind::Nobody | ActorKind::Node => {}
        }
    }
}

fn thing(record: &AuditRecord) -> Markup {
    let AuditTarget { kind, id, name, .. } = &record.target;
    let shown = name.as_deref().unwrap_or(id);
    let address = address(record);
    html! {
        (text::line(kind))
        @if !shown.is_empty() {
            " "
            @match &address {
                Some(address) => { a href=(address) { (text::line(shown)) } }
                None => { b { (text::line(shown)) } }
            }
        }
    }
}

/// The page of the thing, unless it went with the act.
fn address(record: &AuditRecord) -> Option<String> {
    let AuditTarget { kind, id, .. } = &record.target;
    let is_gone = record.action == format!("{kind}.delete");
    let base = match kind.as_str() {
        "source" => "/sources/",
        "workflow" => "/workflows/",
        "webhook" => "/webhooks/",
        "delivery" => "/deliveries/",
        "account" => "/accounts/",
        "run" => "/runs/",
        _ => return None,
    };
    let is_id = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_id && !is_gone).then(|| format!("{base}{id}"))
}

fn from(record: &AuditRecord) -> Markup {
    let (agent, is_cut) = text::cut(&record.user_agent, AGENT_CHARS);
    html! {
        @if let Some(address) = &record.address { (text::line(address)) }
        @if !agent.is_empty() { " " span.note { (text::value(agent)) @if is_cut { "…" } } }
    }
}

fn more(details: &Map<String, Value>) -> Markup {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items = items.iter().map(|item| match item.as_str() {
                Some(text) => text.to_owned(),
                None => item.to_string(),
            });
            items.collect::<Vec<_>>().join(", ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    };
    html! {
        @for (at, (field, value)) in details.iter().enumerate() {
            @if at > 0 { ", " }
            span.note { (text::line(field)) } " " (text::line(&shown(value)))
        }
    }
}

/// The ways to the next and the first page. A search that found little has looked at many, and goes on there.
fn pages(found: &FoundAudit, visitor: &Visitor) -> Markup {
    let is_full = found.items.len() >= ROWS as usize;
    let last = found.items.last().map(|record| &record.id);
    let next = found.searched_to.as_ref().or(last.filter(|_| is_full));
    html! {
        nav.pager aria-label="Pages" {
            @if visitor.parameter("after").is_some() { a href=(visitor.with(&[])) { "First page" } }
            @if let Some(next) = next { a rel="next" href=(visitor.with(&[("after", Some(next.as_str()))])) { "Next" (icon(Icon::Next)) } }
        }
    }
}
