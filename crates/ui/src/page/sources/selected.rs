//! `/sources/selected`: the sources whose boxes are checked are run, paused, resumed or deleted.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::SourceId;
use headwater_platform::{PlatformError, UpdateSource};
use maud::{Markup, html};

use crate::{
    address::Address as _,
    fields::Fields,
    page::selected::{Asked, Back, Selected, Tally, no_act},
    part::text::{self, counted},
    problem::Problem,
    reply::{FormReply, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// An act on sources.
#[derive(Debug, Clone, Copy)]
enum Act {
    Run,
    Pause,
    Resume,
    Delete,
}

impl Act {
    fn of(text: &str) -> Result<Self, Problem> {
        match text {
            "run" => Ok(Self::Run),
            "pause" => Ok(Self::Pause),
            "resume" => Ok(Self::Resume),
            "delete" => Ok(Self::Delete),
            other => Err(no_act(other)),
        }
    }

    /// The verb of the question, and the fact after the act.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Run => ("Run", "run"),
            Self::Pause => ("Pause", "paused"),
            Self::Resume => ("Resume", "active"),
            Self::Delete => ("Delete", "deleted"),
        }
    }

    fn consequences(self) -> Markup {
        html! {
            @match self {
                Self::Run => { p { "Each runs once now, one after the other, with the event of a run by hand. Those that are paused do not run." } }
                Self::Pause => { p { "They run on nothing until they are resumed, and keep their events. The hook " code { "deactivate" } " of each runs first." } }
                Self::Resume => { p { "They run on their triggers again. The hook " code { "activate" } " of each runs first; where it fails, the source stays paused." } }
                Self::Delete => {
                    p { "Their events, runs, logs and key-value maps go with them, and so do the subscriptions from and to them. Their endpoints answer 404 from then on." }
                    p { "To stop them and keep their events, pause them instead." }
                }
            }
        }
    }

    async fn on(self, ui: &Ui, visitor: &Visitor, id: &SourceId) -> Result<(), PlatformError> {
        let (platform, caller) = (&ui.platform, visitor.caller());
        let active = match self {
            Self::Run => return platform.run_source(caller, id, None).await.map(drop),
            Self::Pause => false,
            Self::Resume => true,
            Self::Delete => return platform.delete_source(caller, id).await,
        };
        let change = UpdateSource {
            active: Some(active),
            ..UpdateSource::default()
        };
        platform.update_source(caller, id, change).await.map(drop)
    }
}

/// Asks, with their number.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let Selected { act, ids } = Selected::<SourceId>::of(&visitor)?;
    let act = Act::of(&act)?;
    let mut rows = Vec::with_capacity(ids.len());
    for id in &ids {
        let view = ui.platform.source(visitor.caller(), id).await?;
        rows.push(html! { a href=(id.address()) { (text::line(&view.source.spec.name)) } });
    }
    let (verb, _) = act.words();
    let count = counted(ids.len() as u64, "source", "sources");
    let command = match act {
        Act::Run => "run",
        Act::Pause => "deactivate",
        Act::Resume => "activate",
        Act::Delete => "delete",
    };
    let asked = Asked {
        section: Section::Sources,
        title: format!("{verb} {count}?"),
        button: verb,
        busy: "Changing the sources…",
        consequences: act.consequences(),
        rows,
        list: "/sources",
        command: format!("headwater {command} {}", ids[0]),
    };
    Ok(asked.page(&visitor))
}

/// Does it to each of them.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Back>,
) -> FormReply {
    let Selected { act, ids } = Selected::<SourceId>::of(&visitor)?;
    let act = Act::of(&act)?;
    let mut tally = Tally::default();
    for id in &ids {
        tally.add(act.on(&ui, &visitor, id).await)?;
    }
    let (_, done) = act.words();
    let words = match act {
        Act::Run => ("source has", "sources have", done),
        Act::Pause | Act::Resume | Act::Delete => ("source is", "sources are", done),
    };
    tally.back(&visitor, ("/sources", &given.back), words)
}
