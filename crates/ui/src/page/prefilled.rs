//! The event that the form of a run by hand begins with: one of the emitter's own that its address names, as text to edit;
//! a large one stays where it is, and the form names it.

use headwater_model::{
    error::Invalid,
    event::EventRef,
    id::{EmitterId, EventId},
};
use headwater_platform::PlatformError;
use maud::{Markup, html};
use serde_json::Value;

use crate::{
    address,
    assets::EDITOR,
    part::{payload, text::bytes, verification::COPIED_BYTES_MAX},
    reply::Page,
    state::Ui,
    visit::Visitor,
};

/// The field of an event that is too large to be edited.
const EVENT_ID: &str = "event_id";

/// The text of the form, and the event that runs if the text is empty.
#[derive(Debug, Default)]
pub(crate) struct Prefilled {
    pub(crate) text: String,
    /// A large event, with its size.
    large: Option<(EventRef, usize)>,
}

impl Prefilled {
    /// The text alone.
    pub(crate) fn text(text: String) -> Self {
        Self { text, large: None }
    }

    /// The event that the address names, or the text that it has.
    pub(crate) async fn of(
        ui: &Ui,
        visitor: &Visitor,
        emitter: EmitterId,
    ) -> Result<Self, PlatformError> {
        match visitor.parameter(EVENT_ID) {
            Some(id) => Self::of_event(ui, visitor, &reference(emitter, &id)?).await,
            None => Ok(Self::text(visitor.parameter("event").unwrap_or_default())),
        }
    }

    /// An event of the log.
    pub(crate) async fn of_event(
        ui: &Ui,
        visitor: &Visitor,
        of: &EventRef,
    ) -> Result<Self, PlatformError> {
        let logged = ui.platform.event(visitor.caller(), of).await?;
        let json = logged.event.event.get();
        if json.len() > COPIED_BYTES_MAX {
            return Ok(Self {
                text: String::new(),
                large: Some((of.clone(), json.len())),
            });
        }
        let value: Value = serde_json::from_str(json).unwrap_or_default();
        Ok(Self::text(format!("{value:#}")))
    }

    /// The same form with the text that was sent.
    pub(crate) async fn again(
        ui: &Ui,
        visitor: &Visitor,
        emitter: EmitterId,
        (text, id): (&str, &str),
    ) -> Result<Self, PlatformError> {
        let known = match id {
            "" => Self::default(),
            id => match Self::of_event(ui, visitor, &reference(emitter, id)?).await {
                Ok(known) => known,
                // The refusal says so.
                Err(PlatformError::EventGone { .. }) => Self::default(),
                Err(error) => return Err(error),
            },
        };
        Ok(Self {
            text: text.to_owned(),
            ..known
        })
    }

    /// The event that was sent: its text, or else the one that the form names.
    ///
    /// # Errors
    /// `Invalid` for a text that is not JSON, `EventGone` when the log does not have the event any more.
    pub(crate) async fn sent(
        ui: &Ui,
        visitor: &Visitor,
        emitter: EmitterId,
        (text, id): (&str, &str),
    ) -> Result<Option<Value>, PlatformError> {
        let invalid = |error: serde_json::Error| {
            let reason = format!("the event is not JSON: {error}");
            PlatformError::Invalid(Invalid::new("event", reason))
        };
        match (text.trim(), id) {
            ("", "") => Ok(None),
            ("", id) => {
                let of = reference(emitter, id)?;
                let logged = ui.platform.event(visitor.caller(), &of).await?;
                let event = serde_json::from_str(logged.event.event.get());
                event.map(Some).map_err(invalid)
            }
            (text, _) => serde_json::from_str(text).map(Some).map_err(invalid),
        }
    }

    /// The field; `hint` says what it is for.
    pub(crate) fn field(&self, hint: &Markup) -> Markup {
        let field = html! {
            div.field {
                label for="event" { "Event" }
                textarea #event name="event" rows="8" spellcheck="false" placeholder="{}" aria-describedby="event-hint" data-editor=(EDITOR.path()) data-language="json" data-at="press" { (self.text) }
                @if let Some((of, size)) = &self.large {
                    input type="hidden" name=(EVENT_ID) value=(of.id);
                    p.hint {
                        "Empty: " a href=(address::of_event(&of.emitter, &of.id)) { "the event" } " that you came from, as it is. It has " (bytes(*size)) ", which is more than is edited here."
                    }
                }
                p.hint #event-hint { (hint) }
            }
        };
        match self.text.is_empty() {
            true => field,
            false => payload::block(field),
        }
    }

    /// Adds the command line that runs with the event to a page.
    pub(crate) fn command(&self, line: &str, page: Page) -> Page {
        match self.argument() {
            none if none.is_empty() => page.command(line),
            event => page.command_with_payload(&format!("{line}{event}")),
        }
    }

    /// The argument of a command line that gives the event.
    fn argument(&self) -> String {
        const SHORT: usize = 200;
        let value = serde_json::from_str::<Value>(&self.text).map(|value| value.to_string());
        match value {
            Ok(text) if text.len() <= SHORT => {
                format!(" --event {}", crate::part::code::quoted(&text))
            }
            Err(_) if self.text.trim().is_empty() && self.large.is_none() => String::new(),
            _ => " --event @event.json".to_owned(),
        }
    }
}

fn reference(emitter: EmitterId, id: &str) -> Result<EventRef, PlatformError> {
    match id.parse::<EventId>() {
        Ok(id) => Ok(EventRef { emitter, id }),
        Err(_) => {
            let reason = format!("`{EVENT_ID}`: there is no event `{id}`");
            Err(PlatformError::Invalid(Invalid::new(EVENT_ID, reason)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_event_or_the_file_with_it() {
        for (text, expected) in [
            ("", ""),
            ("{\n  \"a\": 1\n}", " --event '{\"a\":1}'"),
            ("not JSON", " --event @event.json"),
        ] {
            assert_eq!(Prefilled::text(text.to_owned()).argument(), expected);
        }
        let long = format!("\"{}\"", "x".repeat(300));
        assert_eq!(Prefilled::text(long).argument(), " --event @event.json");
    }
}
