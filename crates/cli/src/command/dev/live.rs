//! Events, logs and errors of a source, printed as they come: events to standard output, the rest to
//! standard error; with `--json` everything to standard output, one JSON object per line.

use std::path::Path;

use anyhow::Result;
use headwater_model::channel::Channel;
use serde_json::Value;

use super::super::{events, logs};
use crate::bundle;
use crate::follow::{Follow, Followed};
use crate::output;
use crate::session::Session;

/// The addresses of a source's lists and its stream.
pub(super) struct Addresses<'a> {
    events: [&'a str; 3],
    logs: [&'a str; 3],
    feed: [&'a str; 3],
    errors_only: [(&'a str, String); 1],
}

impl<'a> Addresses<'a> {
    pub(super) fn of(id: &'a str) -> Self {
        Self {
            events: ["sources", id, "event_summaries"],
            logs: ["sources", id, "logs"],
            feed: ["sources", id, "sse"],
            errors_only: [("event_name", Channel::ERRORS.to_owned())],
        }
    }
}

pub(super) struct Live<'a> {
    session: &'a Session,
    /// The component's name in stacks.
    file: &'a Path,
    events: Follow<'a>,
    logs: Follow<'a>,
    errors: Follow<'a>,
}

impl<'a> Live<'a> {
    /// Everything from the source's beginning.
    pub(super) fn new(session: &'a Session, file: &'a Path, at: &'a Addresses<'a>) -> Self {
        let follow = |path: &'a [&'a str], filter: &'a [(&'a str, String)], channel| {
            let feed = &at.feed;
            let followed = Followed {
                path,
                filter,
                feed,
                channel,
            };
            Follow::new(&session.client, followed)
        };
        Self {
            session,
            file,
            events: follow(&at.events, &[], None),
            logs: follow(&at.logs, &[], Some(Channel::LOGS)).silent(),
            errors: follow(&at.events, &at.errors_only, Some(Channel::ERRORS)).silent(),
        }
    }

    /// Leaves out the items that are there already.
    pub(super) async fn skip_past(&mut self) -> Result<()> {
        for follow in [&mut self.events, &mut self.logs, &mut self.errors] {
            follow.skip_past().await?;
        }
        Ok(())
    }

    /// Prints until the source is gone.
    pub(super) async fn print(self) -> Result<()> {
        let Self {
            session,
            file,
            events,
            logs,
            errors,
        } = self;
        let on_stdout = |event: &Value| output::data(&events::line(event));
        let on_stderr = |line: String| {
            output::tell(&line);
            Ok(())
        };
        tokio::try_join!(
            print(session, events, on_stdout),
            print(session, logs, |log| on_stderr(bundle::in_file(
                &logs::line(log),
                Some(file)
            ))),
            print(session, errors, |error| on_stderr(logs::thrown(
                error,
                Some(file)
            ))),
        )?;
        Ok(())
    }
}

async fn print(
    session: &Session,
    mut follow: Follow<'_>,
    show: impl Fn(&Value) -> Result<()>,
) -> Result<()> {
    loop {
        for item in follow.next().await? {
            match session.json {
                true => output::json_line(&item)?,
                false => show(&item)?,
            }
        }
    }
}
