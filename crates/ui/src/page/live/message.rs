//! The messages of a stream, as the browser reads them.

use bytes::Bytes;
use headwater_model::{event::Event, event_search::EventPlace, id::EmitterId, time::EpochMs};
use headwater_platform::{DeployPart, News};
use serde_json::{Value, json};

use crate::{
    part::{
        event_row,
        news::{self, Line},
        progress,
    },
    state::Ui,
};

/// Rows of one message; of the rest it has the number.
const ROWS_MAX: usize = 50;

/// The last word of a stream, after which the browser knows why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bye {
    /// The node stops; the stream goes on at the next one.
    Restart,
    /// The session has ended.
    SignedOut,
    /// The session has too many streams.
    TooMany,
}

impl Bye {
    /// The message.
    pub(super) fn message(self) -> Bytes {
        let (says, ends) = match self {
            Self::Restart => ("The node restarts", false),
            Self::SignedOut => ("You are signed out", true),
            Self::TooMany => (
                "This browser follows too many pages at once. Close some of its tabs and load this page again",
                true,
            ),
        };
        let sign_in = (self == Self::SignedOut).then_some("/signin");
        named(
            "bye",
            &json!({ "says": says, "ends": ends, "signIn": sign_in }),
        )
    }
}

/// The word that the stream is there, which script hears: silence is told from quiet by it.
pub(super) fn handshake() -> Bytes {
    named("handshake", &json!({}))
}

/// The word that something on the page has changed, which is to be read again.
pub(super) fn changed(now_ms: EpochMs) -> Bytes {
    named("changed", &json!({ "since": now_ms.0 }))
}

fn named(event: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {event}\ndata: {data}\n\n"))
}

/// One message with the parts of a deployment that have begun.
pub(super) fn begun(parts: &[DeployPart]) -> Bytes {
    let html = progress::progress(parts).into_string();
    let said = parts.last().map(|part| progress::told(*part));
    named("progress", &json!({ "html": html, "said": said }))
}

/// The same for events of everything. A message without rows says how far the log was read.
pub(super) fn news_rows(news: &News, ui: &Ui) -> Bytes {
    let now_ms = ui.env().now_ms();
    let shown = news.events.iter().rev().take(news::ROWS);
    let html: String = shown
        .map(|new| {
            let line = Line {
                place: EventPlace {
                    id: new.event.id,
                    emitter: new.emitter.clone(),
                },
                indexed_at_ms: new.event.indexed_at_ms,
                name: &new.name,
                summary: &event_row::summary(&new.event),
            };
            news::row(&line, now_ms).into_string()
        })
        .collect();
    let data = json!({ "list": "events", "html": html, "count": news.events.len() });
    Bytes::from(format!(
        "id: {}\nevent: rows\ndata: {data}\n\n",
        news.up_to.0
    ))
}

/// One message with the rows of some events, newest first as the page has them.
pub(super) fn rows<'a>(
    emitter: &EmitterId,
    events: impl Iterator<Item = &'a Event>,
    ui: &Ui,
) -> Bytes {
    let events: Vec<_> = events.collect();
    let Some(last) = events.last() else {
        return Bytes::from_static(b":\n\n");
    };
    let now_ms = ui.env().now_ms();
    let shown = events.iter().rev().take(ROWS_MAX);
    let html: String = shown
        .map(|event| event_row::row(emitter, event, false, now_ms).into_string())
        .collect();
    let data = json!({ "list": "events", "html": html, "count": events.len() });
    Bytes::from(format!("id: {}\nevent: rows\ndata: {data}\n\n", last.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_says_whether_to_come_again() {
        let said = |bye: Bye| String::from_utf8(bye.message().to_vec()).unwrap();
        let restart = said(Bye::Restart);
        assert!(restart.starts_with("event: bye\ndata: {") && restart.ends_with("}\n\n"));
        assert!(restart.contains(r#""ends":false"#), "{restart}");
        let signed_out = said(Bye::SignedOut);
        assert!(signed_out.contains(r#""ends":true"#), "{signed_out}");
        assert!(signed_out.contains(r#""signIn":"/signin""#), "{signed_out}");
        assert!(said(Bye::TooMany).contains(r#""signIn":null"#));
    }
}
