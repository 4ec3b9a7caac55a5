//! Everything that is deployed, in numbers.

use headwater_model::{id::WorkspaceId, page::PageRequest};
use headwater_platform::{PlatformError, RunHour, SourceView, Standing, Wanted, Workflow};
use maud::{Markup, html};

use crate::{part::text::counted, state::Ui, visit::Visitor};

pub(super) struct Deployed {
    sources: u64,
    paused_sources: u64,
    pub(super) workflows: u64,
    paused_workflows: u64,
    /// One of each, by which commands are told.
    pub(super) source: Option<SourceView>,
    pub(super) workflow: Option<Workflow>,
}

impl Deployed {
    pub(super) fn is_nothing(&self) -> bool {
        self.sources + self.workflows == 0
    }

    /// The numbers that the lists show, or those of the first workspace that has something.
    pub(super) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        scopes: &[Option<WorkspaceId>],
    ) -> Result<Self, PlatformError> {
        let mut found = None;
        for scope in scopes {
            let deployed = in_scope(ui, visitor, scope).await?;
            let is_something = !deployed.is_nothing();
            if is_something || found.is_none() {
                found = Some(deployed);
            }
            if is_something {
                break;
            }
        }
        Ok(found.expect("there is a scope"))
    }

    /// The lists with their numbers.
    pub(super) fn numbers(&self, visitor: &Visitor) -> Markup {
        let part = |path: &str, (count, paused): (u64, u64), one: &str, many: &str| {
            html! {
                a href=(visitor.to(path)) { (counted(count, one, many)) }
                @if paused > 0 { ", " (paused) " of them paused" }
            }
        };
        let sources = (self.sources, self.paused_sources);
        let workflows = (self.workflows, self.paused_workflows);
        html! {
            p.note {
                (part("/sources", sources, "source", "sources")) "; "
                (part("/workflows", workflows, "workflow", "workflows"))
            }
        }
    }
}

async fn in_scope(
    ui: &Ui,
    visitor: &Visitor,
    scope: &Option<WorkspaceId>,
) -> Result<Deployed, PlatformError> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    let paused = || Wanted {
        standing: Some(Standing::Paused),
        ..Wanted::default()
    };
    let one = PageRequest::first(1);
    let sources = platform.sources(caller, scope.clone(), Wanted::default(), &one);
    let sources = sources.await?;
    let paused_sources = platform.sources(caller, scope.clone(), paused(), &one);
    let one = PageRequest::first(1);
    let workflows = platform.listed_workflows(caller, scope.clone(), Wanted::default(), &one);
    let workflows = workflows.await?;
    let paused_workflows = platform.listed_workflows(caller, scope.clone(), paused(), &one);
    Ok(Deployed {
        sources: sources.total_count,
        paused_sources: paused_sources.await?.total_count,
        workflows: workflows.total_count,
        paused_workflows: paused_workflows.await?.total_count,
        source: sources.items.into_iter().next(),
        workflow: workflows.items.into_iter().next(),
    })
}

/// Whether anything has run of late.
pub(super) fn has_run(hours: &[RunHour]) -> bool {
    hours.iter().any(|hour| hour.succeeded + hour.failed > 0)
}
