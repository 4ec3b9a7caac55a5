//! `/workflows/{id}/deployments/{deployment}`: the files of a deployment, one at a time, and the difference of each to the
//! deployment that new runs follow.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use axum::{
    extract::{FromRequestParts, State},
    http::request::Parts,
};
use headwater_model::id::{DeploymentId, WorkflowId};
use headwater_platform::{DeploymentSummary, DeploymentView};
use maud::{Markup, html};
use url::form_urlencoded::byte_serialize;

use super::head::Shown;
use crate::{
    part::{
        code::listing,
        diff::diff,
        empty::empty,
        state::{Tone, state},
        text::{self, bytes, counted},
        time,
    },
    path,
    problem::Problem,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// The file that a page shows first.
const DEFINITION: &str = "workflow.yaml";

/// The texts of a deployment by the paths of its files.
type Files = BTreeMap<String, String>;

/// The deployment in a page's address: `{deployment}` of the workflow `{id}`.
pub(crate) struct DeploymentPath {
    pub(super) workflow: WorkflowId,
    pub(super) deployment: DeploymentId,
}

impl<S: Send + Sync> FromRequestParts<S> for DeploymentPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let (workflow, deployment) = path::both(parts).await?;
        Ok(Self {
            workflow,
            deployment,
        })
    }
}

impl DeploymentPath {
    /// The deployment with its steps.
    pub(super) async fn view(&self, ui: &Ui, visitor: &Visitor) -> Result<DeploymentView, Problem> {
        let found = ui.platform.workflow_deployment(
            visitor.caller(),
            &self.workflow,
            Some(&self.deployment),
        );
        Ok(found.await?)
    }

    pub(super) async fn files(
        &self,
        ui: &Ui,
        visitor: &Visitor,
        of: &DeploymentId,
    ) -> Result<Files, Problem> {
        let (caller, id) = (visitor.caller(), &self.workflow);
        Ok(ui
            .platform
            .workflow_deployment_files(caller, id, of)
            .await?)
    }
}

/// A file of the deployment that new runs follow, seen from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Same,
    Changed,
    /// The deployment that new runs follow does not have it.
    Added,
    /// Only the deployment that new runs follow has it.
    Missing,
}

impl Standing {
    fn of(then: Option<&String>, now: Option<&String>) -> Self {
        match (then, now) {
            (Some(then), Some(now)) if then == now => Self::Same,
            (Some(_), Some(_)) => Self::Changed,
            (_, None) => Self::Added,
            (None, Some(_)) => Self::Missing,
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Same => "the same",
            Self::Changed => "changed",
            Self::Added => "not in the current one",
            Self::Missing => "only in the current one",
        }
    }
}

/// Shows a deployment.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    path: DeploymentPath,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &path.workflow).await?;
    let view = path.view(&ui, &visitor).await?;
    let files = path.files(&ui, &visitor, &path.deployment).await?;
    let current = match view.deployment.is_current {
        true => None,
        false => {
            let id = &shown.view.workflow.deployment_id;
            Some(path.files(&ui, &visitor, id).await?)
        }
    };
    let paths: BTreeSet<&String> = files
        .keys()
        .chain(current.iter().flat_map(Files::keys))
        .collect();
    let wanted = match visitor.parameter("file") {
        Some(wanted) if !paths.contains(&wanted) => {
            return Err(Problem::not_found("file", &wanted));
        }
        Some(wanted) => wanted,
        None => DEFINITION.to_owned(),
    };
    let base = shown.base();
    let body = html! {
        p.crumbs {
            a href="/workflows" { "Workflows" } " / " a href=(base) { (text::line(shown.name())) } " / "
            a href={ (base) "/settings" } { "Deployments" }
        }
        (head(&view, &base, &visitor, !files.is_empty()))
        @if files.is_empty() {
            (empty("The files of this deployment are not kept.", html! { p { "It cannot be compared or taken up again: deploy the folder of the workflow instead." } }))
        } @else {
            h2 { "Files" }
            (list(&paths, (&files, current.as_ref()), &wanted))
            (file(&wanted, (&files, current.as_ref())))
        }
    };
    Ok(Page::of(
        Section::Workflows,
        format!("{} · deployment", shown.name()),
        body,
    )
    .command(format!(
        "headwater deployments describe {} {}",
        shown.quoted(),
        path.deployment
    )))
}

fn head(view: &DeploymentView, base: &str, visitor: &Visitor, has_files: bool) -> Markup {
    let deployment = &view.deployment;
    html! {
        header.title {
            h1 { "Deployment of " (time::exact(deployment.created_at_ms)) }
            (standing(deployment, base))
            div.actions {
                a.button href={ (base) "/steps?deployment=" (deployment.id) } { "Its steps" }
                @if !deployment.is_current && has_files {
                    a.button.primary href={ (base) "/deployments/" (deployment.id) "/roll_back" } { "Roll back to it" }
                }
            }
        }
        dl.facts {
            dt { "Id" } dd { code { (deployment.id) } }
            dt { "Deployed" } dd { (time::ago(deployment.created_at_ms, visitor.now_ms)) }
            dt { "Steps and blocks" } dd { (view.nodes.len()) }
        }
    }
}

/// Whether new runs follow it, and where it came from.
pub(super) fn standing(deployment: &DeploymentSummary, base: &str) -> Markup {
    html! {
        @if deployment.is_current { (state(Tone::Good, "current")) } @else { span.note { "former" } }
        @if let Some(restores) = &deployment.restores {
            " rolled back to " a href={ (base) "/deployments/" (restores) } { (restores) }
        }
    }
}

fn list(paths: &BTreeSet<&String>, (then, now): (&Files, Option<&Files>), wanted: &str) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "File" }
                    th scope="col" { "Size" }
                    @if now.is_some() { th scope="col" { "To the current one" } }
                }
            }
            tbody {
                @for path in paths {
                    @let query: String = byte_serialize(path.as_bytes()).collect();
                    tr {
                        th scope="row" {
                            a href={ "?file=" (query) "#file" } aria-current=[(*path == wanted).then_some("true")] { (text::line(path)) }
                        }
                        td data-label="Size" { @if let Some(text) = then.get(*path) { (bytes(text.len())) } }
                        @if let Some(now) = now {
                            td data-label="To the current one" { (Standing::of(then.get(*path), now.get(*path)).in_words()) }
                        }
                    }
                }
            }
        }
        @if let Some(now) = now {
            @let changed = paths.iter().filter(|path| then.get(**path) != now.get(**path)).count();
            p.note {
                (counted(changed as u64, "file differs", "files differ")) " from the deployment that new runs follow. "
                "Secret values and bearer tokens are neither shown nor compared."
            }
        } @else {
            p.note { "Secret values and bearer tokens are not shown." }
        }
    }
}

/// One file: the changes that rolling back makes in it, and its text.
fn file(path: &str, (then, now): (&Files, Option<&Files>)) -> Markup {
    let text = then.get(path);
    html! {
        section #file aria-labelledby="file-title" {
            h2 #file-title { (text::value(path)) }
            @if let Some(now) = now {
                h3 { "From the current one to this one" }
                @let of_now = now.get(path).map_or("", String::as_str);
                @match diff(of_now, text.map_or("", String::as_str)) {
                    Some(difference) => (difference),
                    None => p.note { "The same." },
                }
            }
            @match text {
                Some(text) => {
                    h3 { "Text" }
                    (listing(text))
                }
                None => p.note { "This deployment does not have it." },
            }
        }
    }
}
