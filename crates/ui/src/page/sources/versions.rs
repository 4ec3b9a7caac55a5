//! `/sources/{id}/versions`: the deployments of a source that are kept, and one of them with what tells it from the
//! running one.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use headwater_model::{
    id::{DeploymentId, SourceId},
    limits::PAGE_LIMIT_MAX,
    page::PageRequest,
};
use headwater_platform::{
    SOURCE_DEPLOYMENTS_KEPT, SourceDeployment, SourceDeploymentDetail, SourceDeploymentView,
    locked_packages,
};
use maud::{Markup, html};
use serde_json::Value;

use super::head::Shown;
use crate::{
    part::{
        code::listing,
        diff::diff,
        empty::empty,
        payload,
        state::{Tone, state},
        text, time,
    },
    path::{self, PathId},
    problem::Problem,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Digits of a code's hash that tell it from others.
const HASH_DIGITS: usize = 12;

/// The deployment in a page's address: `{deployment}` of the source `{id}`.
pub(crate) struct VersionPath {
    pub(super) source: SourceId,
    pub(super) deployment: DeploymentId,
}

impl<S: Send + Sync> FromRequestParts<S> for VersionPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let (source, deployment) = path::both(parts).await?;
        Ok(Self { source, deployment })
    }
}

impl VersionPath {
    /// The deployment with its code.
    pub(super) async fn detail(
        &self,
        ui: &Ui,
        visitor: &Visitor,
    ) -> Result<SourceDeploymentDetail, Problem> {
        let found = ui
            .platform
            .source_deployment(visitor.caller(), &self.source, &self.deployment);
        Ok(found.await?)
    }
}

/// Lists the deployments of a source, newest first.
pub(crate) async fn list(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    page(&ui, &visitor, &id, html! {}).await
}

/// The list, below what was refused.
pub(super) async fn page(ui: &Ui, visitor: &Visitor, id: &SourceId, above: Markup) -> PageReply {
    let shown = Shown::of(ui, visitor, id).await?;
    let all = PageRequest::first(PAGE_LIMIT_MAX);
    let mut found = ui
        .platform
        .source_deployments(visitor.caller(), id, &all)
        .await?
        .items;
    found.reverse();
    let body = html! {
        (shown.head(ui, visitor, "versions"))
        (above)
        p.note {
            "Every deployment and every update of code, values or isolation is a version. The newest "
            (SOURCE_DEPLOYMENTS_KEPT) " are kept, and the source can be rolled back to each."
        }
        form.filters method="post" action={ (shown.base()) "/versions/refresh" } data-busy="Resolving packages…" {
            button { "Refresh packages" }
            span.note { "The code stays, and its packages become the latest that it allows: as a new version, with its hooks." }
        }
        @if found.is_empty() {
            (empty("No version is kept.", html! { p { "The source is being deployed. Reload the page in a moment." } }))
        } @else {
            (table(&found, &shown.base(), visitor))
        }
    };
    Ok(Page::of(
        Section::Sources,
        format!("{} · versions", shown.name()),
        body,
    )
    .changing(&Topic::Source(id.clone()), visitor)
    .command(format!("headwater deployments {}", shown.quoted()))
    .command(format!(
        "headwater update {} --refresh-deps",
        shown.quoted()
    )))
}

fn table(found: &[SourceDeploymentView], base: &str, visitor: &Visitor) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Deployed" }
                    th scope="col" { "By" }
                    th scope="col" { "Component" }
                    th scope="col" { "Code" }
                    th scope="col" { "State" }
                    th scope="col" { "Action" }
                }
            }
            tbody {
                @for view in found {
                    @let deployment = &view.deployment;
                    @let page = format!("{base}/versions/{}", deployment.id);
                    tr {
                        td.narrow { a href=(page) { (time::ago(deployment.created_at_ms, visitor.now_ms)) } }
                        td data-label="By" { (by(deployment)) }
                        td data-label="Component" { (component(deployment)) }
                        td data-label="Code" { code { (short_hash(deployment)) } }
                        td data-label="State" { (standing(view, base)) }
                        td data-label="Action" {
                            @if !view.is_current { a href={ (page) "/roll_back" } { "Roll back" } }
                        }
                    }
                }
            }
        }
    }
}

/// Shows a deployment: its code, its values, and the difference of both to what runs.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: VersionPath,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &path.source).await?;
    let detail = path.detail(&ui, &visitor).await?;
    let current = match &shown.view.source.deployment_id {
        Some(id) if *id != path.deployment => {
            let current = VersionPath {
                source: path.source.clone(),
                deployment: id.clone(),
            };
            Some(current.detail(&ui, &visitor).await?)
        }
        _ => None,
    };
    let base = shown.base();
    let body = html! {
        p.crumbs {
            a href="/sources" { "Sources" } " / " a href=(base) { (text::line(shown.name())) } " / "
            a href={ (base) "/versions" } { "Versions" }
        }
        (head(&detail, &base, &visitor))
        @if let Some(current) = &current { (differences(current, &detail)) }
        h2 { "Code" }
        (code(&detail))
    };
    Ok(Page::of(
        Section::Sources,
        format!("{} · version", shown.name()),
        body,
    )
    .command(format!(
        "headwater deployments describe {} {}",
        shown.quoted(),
        path.deployment
    )))
}

fn head(detail: &SourceDeploymentDetail, base: &str, visitor: &Visitor) -> Markup {
    let deployment = &detail.view.deployment;
    html! {
        header.title {
            h1 { "Version " (component(deployment)) }
            (standing(&detail.view, base))
            @if !detail.view.is_current {
                div.actions {
                    a.button.primary href={ (base) "/versions/" (deployment.id) "/roll_back" } {
                        "Roll back to it"
                    }
                }
            }
        }
        dl.facts {
            dt { "Id" } dd { code { (deployment.id) } }
            dt { "Deployed" } dd { (time::exact(deployment.created_at_ms)) ", " (time::ago(deployment.created_at_ms, visitor.now_ms)) ", by " (by(deployment)) }
            dt { "Component" } dd { code { (deployment.component.id) } }
            dt { "SHA-256 of the code" } dd { code { (deployment.component.code_hash.as_str()) } }
            dt { "Worker" } dd { @if deployment.is_isolated { "its own" } @else { "shared as the node's isolation says" } }
        }
    }
}

/// The changes that rolling back makes, from the running version to this one.
fn differences(current: &SourceDeploymentDetail, former: &SourceDeploymentDetail) -> Markup {
    let codes = current.component.as_ref().zip(former.component.as_ref());
    let part = |name: &str, difference: Option<Markup>| {
        html! {
            h3 { (name) }
            @match difference {
                Some(difference) => (difference),
                None => p.note { "The same." },
            }
        }
    };
    html! {
        h2 { "From the running version to this one" }
        @match codes {
            Some((now, then)) => {
                (part("Code", diff(&now.code, &then.code)))
                (part("Packages", diff(&packages(&now.lock), &packages(&then.lock))))
            },
            None => p.note { "The code of one of them belongs to a component that you cannot see." },
        }
        (part("Values", diff(&values(&current.view), &values(&former.view)).map(payload::block)))
        p.note { "Secret values are not shown and not compared; rolling back takes up those of this version." }
    }
}

fn code(detail: &SourceDeploymentDetail) -> Markup {
    html! {
        @if let Some(component) = &detail.component {
            (listing(&component.code))
        } @else {
            p.note { "It belongs to a component that you cannot see." }
        }
    }
}

/// The values as text that two versions can be compared by.
fn values(view: &SourceDeploymentView) -> String {
    let mut text = String::new();
    for (name, value) in &view.deployment.configured_props {
        let value = match value {
            _ if view.secrets.contains(name) => "(secret)".to_owned(),
            Value::String(text) => text.clone(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        // Into a `String`, which takes everything.
        let _ = writeln!(text, "{name}: {value}");
    }
    text
}

fn packages(lock: &str) -> String {
    let packages = locked_packages(lock).into_iter();
    let mut lines: Vec<_> = packages
        .map(|package| format!("{}@{}\n", package.name, package.version))
        .collect();
    lines.sort();
    lines.dedup();
    lines.concat()
}

/// Whether it runs, and where it came from.
fn standing(view: &SourceDeploymentView, base: &str) -> Markup {
    html! {
        @if view.is_current { (state(Tone::Good, "running")) } @else { span.note { "former" } }
        @if let Some(restores) = &view.deployment.restores {
            " rolled back to " a href={ (base) "/versions/" (restores) } { (restores) }
        }
    }
}

/// The user that deployed.
pub(crate) fn by(deployment: &SourceDeployment) -> Markup {
    html! {
        @match (&deployment.deployed_by_name, &deployment.deployed_by) {
            (Some(name), _) => (text::line(name)),
            (None, Some(id)) => code { (id) },
            (None, None) => span.note { "not recorded" },
        }
    }
}

/// `KEY@VERSION`, or the name if there is no key.
pub(crate) fn component(deployment: &SourceDeployment) -> Markup {
    let component = &deployment.component;
    let name = component.key.as_deref().unwrap_or(&component.name);
    html! {
        (text::line(name))
        @if let Some(version) = &component.version { @if component.key.is_some() { "@" } @else { " " } (text::line(version)) }
    }
}

/// The digits of the code's hash that tell it from others.
pub(crate) fn short_hash(deployment: &SourceDeployment) -> &str {
    let hash = deployment.component.code_hash.as_str();
    hash.get(..HASH_DIGITS).unwrap_or(hash)
}
