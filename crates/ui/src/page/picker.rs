//! The choice of one source or workflow by its name, for the filters of lists.

use headwater_model::{id::EmitterId, page::PageRequest};
use headwater_platform::{PlatformError, Wanted};
use maud::{Markup, html};

use crate::{
    part::{name::named, text},
    state::Ui,
    visit::Visitor,
};

/// Sources, and workflows, that are offered.
const OFFERED: u32 = 100;

/// Something to choose.
struct Choice {
    id: String,
    name: String,
}

/// The sources and workflows of the workspace, or of the visitor.
pub(crate) struct Picker {
    sources: Vec<Choice>,
    workflows: Vec<Choice>,
    /// The one that is chosen, offered or not, with its name.
    chosen: Option<(String, Option<String>)>,
}

impl Picker {
    /// The choice; `chosen` is the id that the address has.
    pub(crate) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        chosen: &str,
    ) -> Result<Self, PlatformError> {
        let (platform, caller) = (&ui.platform, visitor.caller());
        let workspace = || visitor.workspace.clone();
        let (sources, workflows) = tokio::try_join!(
            async {
                let page = PageRequest::first(OFFERED);
                platform
                    .sources(caller, workspace(), Wanted::default(), &page)
                    .await
            },
            async {
                let page = PageRequest::first(OFFERED);
                platform
                    .listed_workflows(caller, workspace(), Wanted::default(), &page)
                    .await
            },
        )?;
        let choice = |id: String, name: &str| Choice {
            id,
            name: name.to_owned(),
        };
        let emitter = chosen.trim().parse::<EmitterId>().ok();
        let names = platform.names(caller, emitter.clone(), []).await?;
        Ok(Self {
            sources: sources
                .items
                .iter()
                .map(|view| choice(view.source.id.to_string(), &view.source.spec.name))
                .collect(),
            workflows: workflows
                .items
                .iter()
                .map(|workflow| choice(workflow.id.to_string(), &workflow.name))
                .collect(),
            chosen: emitter.map(|emitter| {
                let name = names.of_emitter(&emitter).map(str::to_owned);
                (emitter.to_string(), name)
            }),
        })
    }

    /// The field with its label.
    pub(crate) fn field(&self, field: &str) -> Markup {
        let chosen = self.chosen.as_ref().map_or("", |(id, _)| id);
        let group = |label: &str, choices: &[Choice]| {
            html! {
                @if !choices.is_empty() {
                    optgroup label=(label) {
                        @for choice in choices { option value=(choice.id) selected[choice.id == chosen] { (text::visible(&choice.name)) } }
                    }
                }
            }
        };
        let mut offered = self.sources.iter().chain(&self.workflows);
        let is_offered = offered.any(|choice| choice.id == chosen);
        html! {
            div {
                label for=(field) { "Source or workflow " }
                select id=(field) name=(field) {
                    option value="" { "any" }
                    @if let Some((id, name)) = self.chosen.as_ref().filter(|_| !is_offered) {
                        option value=(id) selected { (text::visible(name.as_deref().unwrap_or(id))) }
                    }
                    (group("Sources", &self.sources))
                    (group("Workflows", &self.workflows))
                }
            }
        }
    }

    /// The one that is chosen, with its name if that is known.
    pub(crate) fn chosen(&self) -> Option<Markup> {
        let (id, name) = self.chosen.as_ref()?;
        Some(named(name.as_deref(), id))
    }
}
