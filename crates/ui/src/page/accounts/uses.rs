//! The sources that use accounts.

use std::collections::HashMap;

use headwater_model::{
    id::SourceId,
    page::{Page, PageRequest},
};
use headwater_platform::{PlatformError, SourceView, Wanted};
use maud::{Markup, html};

use crate::{
    part::text::{self, counted},
    state::Ui,
    visit::Visitor,
};

/// Sources that are read at once.
const ROWS: u32 = 100;
/// Pages of sources that are read.
const PAGES: usize = 10;

/// The names of sources by the ids of the accounts that they use.
pub(super) struct Uses {
    by_account: HashMap<String, Vec<(SourceId, String)>>,
    /// Whether there are more sources than were read.
    is_partial: bool,
}

impl Uses {
    /// The uses by the sources that lists show.
    pub(super) async fn of(ui: &Ui, visitor: &Visitor) -> Result<Self, PlatformError> {
        let mut by_account: HashMap<String, Vec<_>> = HashMap::new();
        let mut next = Some(PageRequest::first(ROWS));
        for _ in 0..PAGES {
            let Some(request) = next else { break };
            let page = sources(ui, visitor, &request).await?;
            next = request.behind(&page.items, |view| view.source.id.clone());
            for view in &page.items {
                for id in accounts_of(view) {
                    let source = (view.source.id.clone(), view.source.spec.name.clone());
                    by_account.entry(id.to_owned()).or_default().push(source);
                }
            }
        }
        Ok(Self {
            by_account,
            is_partial: next.is_some(),
        })
    }

    pub(super) fn by(&self, account: &str) -> &[(SourceId, String)] {
        self.by_account
            .get(account)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The sources as links, at most so many.
    pub(super) fn links(&self, account: &str, at_most: usize) -> Markup {
        let sources = self.by(account);
        html! {
            @if sources.is_empty() { span.note { @if self.is_partial { "none that was read" } @else { "no source" } } }
            @for (at, (id, name)) in sources.iter().take(at_most).enumerate() {
                @if at > 0 { ", " }
                a href={ "/sources/" (id) } { (text::line(name)) }
            }
            @if sources.len() > at_most { " and " (counted((sources.len() - at_most) as u64, "other", "others")) }
        }
    }

    /// The limit of the search, where it was met.
    pub(super) fn note(&self) -> Markup {
        html! {
            @if self.is_partial {
                p.note { "Uses were looked for among the first " (text::grouped(PAGES as u64 * u64::from(ROWS))) " sources." }
            }
        }
    }
}

async fn sources(
    ui: &Ui,
    visitor: &Visitor,
    page: &PageRequest<SourceId>,
) -> Result<Page<SourceView>, PlatformError> {
    let (caller, workspace) = (visitor.caller(), visitor.workspace.clone());
    let sources = ui
        .platform
        .sources(caller, workspace, Wanted::default(), page);
    sources.await
}

/// The ids of the accounts that a source uses.
pub(crate) fn accounts_of(view: &SourceView) -> impl Iterator<Item = &str> {
    let values = view.configured_props.values();
    values.filter_map(|value| value.get("authProvisionId")?.as_str())
}
