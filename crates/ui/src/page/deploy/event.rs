//! The event that code is tried with: none, one that is written, or one of the log that the page's address names by
//! `event_id`, with `emitter` where it is not the source's own.

use headwater_model::{
    error::Invalid,
    id::{EmitterId, SourceId},
};
use headwater_platform::PlatformError;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;

use crate::{form::Entered, page::prefilled::Prefilled, state::Ui, visit::Visitor};

/// The field that names the emitter of an event that is too large to be edited.
const EMITTER: &str = "emitter";

/// The fields of a form that tell the event.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Sent {
    #[serde(default)]
    event: String,
    #[serde(default)]
    event_id: String,
    #[serde(default)]
    emitter: String,
}

impl Sent {
    /// Those of a form of props.
    pub(super) fn of(entered: &Entered) -> Self {
        let text = |name: &str| entered.text(name).unwrap_or_default().to_owned();
        Self {
            event: text("event"),
            event_id: text("event_id"),
            emitter: text(EMITTER),
        }
    }

    /// The same in a form of props.
    pub(super) fn keep(&self, entered: &mut Entered) {
        for (name, text) in [
            ("event", &self.event),
            ("event_id", &self.event_id),
            (EMITTER, &self.emitter),
        ] {
            entered.set_text(name, text.as_str());
        }
    }

    fn entered(&self) -> (&str, &str) {
        (&self.event, &self.event_id)
    }

    /// The event, if there is one.
    ///
    /// # Errors
    /// `Invalid` for a text that is not JSON, `EventGone` when the log does not have the event any more.
    pub(crate) async fn value(
        &self,
        ui: &Ui,
        visitor: &Visitor,
        source: Option<&SourceId>,
    ) -> Result<Option<Value>, PlatformError> {
        match emitter(&self.emitter, source)? {
            Some(emitter) => Prefilled::sent(ui, visitor, emitter, self.entered()).await,
            None if self.event.trim().is_empty() => Ok(None),
            None => serde_json::from_str(&self.event)
                .map(Some)
                .map_err(|error| invalid("event", format!("the event is not JSON: {error}"))),
        }
    }

    /// The field, as it was sent, or with the event that the address names.
    pub(crate) async fn field(
        &self,
        ui: &Ui,
        visitor: &Visitor,
        source: Option<&SourceId>,
    ) -> Result<Markup, PlatformError> {
        let named = visitor.parameter(EMITTER).unwrap_or_default();
        let is_sent = self.entered() != ("", "");
        let of = emitter(if is_sent { &self.emitter } else { &named }, source)?;
        let prefilled = match &of {
            Some(of) if is_sent => {
                Prefilled::again(ui, visitor, of.clone(), self.entered()).await?
            }
            Some(of) => Prefilled::of(ui, visitor, of.clone()).await?,
            None if is_sent => Prefilled::text(self.event.clone()),
            None => Prefilled::text(visitor.parameter("event").unwrap_or_default()),
        };
        let other = of.filter(|of| source.is_none_or(|own| EmitterId::from(own.clone()) != *of));
        let is_open = is_sent
            || ["event", "event_id"]
                .iter()
                .any(|it| visitor.parameter(it).is_some());
        let hint = html! { "JSON that " code { "run(event)" } " is given when you try it. Empty: the event of a run by hand, with a timestamp." };
        Ok(html! {
            details.further open[is_open] {
                summary { "An event to try it with" }
                @if let Some(other) = &other { input type="hidden" name=(EMITTER) value=(other); }
                (prefilled.field(&hint))
            }
        })
    }
}

/// The emitter that a form or an address names, or the source.
fn emitter(named: &str, source: Option<&SourceId>) -> Result<Option<EmitterId>, PlatformError> {
    if named.is_empty() {
        return Ok(source.map(|id| id.clone().into()));
    }
    let unknown = |_| {
        invalid(
            EMITTER,
            format!("`{named}` is neither a source nor a workflow"),
        )
    };
    named.parse().map(Some).map_err(unknown)
}

fn invalid(field: &str, reason: String) -> PlatformError {
    PlatformError::Invalid(Invalid::new(field, reason))
}
