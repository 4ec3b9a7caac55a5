//! Subscriptions: each is created as soon as both of its ends are here.

use anyhow::Result;
use serde_json::{Value, json};

use super::listings::Listings;
use super::report::{Kind, State, Thing, Work, WorkKind};
use super::{Import, id_of, refusal};
use crate::source::text;

/// Patterns that mean the same everywhere.
const PATTERNS: [&str; 2] = ["dc_*", "p_*"];

impl Import<'_> {
    /// Creates those whose ends are here by now.
    pub(super) async fn subscriptions(&mut self, listings: &Listings) -> Result<()> {
        for subscription in &listings.subscriptions {
            let there = identity(subscription);
            if self.settled.contains(&there) {
                continue;
            }
            let ends = ["emitter_id", "listener_id"]
                .map(|end| self.counterpart(listings, text(subscription, end)));
            let [Some(emitter), Some(listener)] = ends else {
                continue;
            };
            let state = match self.remembered.id(&there) {
                Some(id) if self.subscribed.contains(id) => Ok(State::Kept),
                _ => self.subscribe(subscription, &emitter, &listener).await?,
            };
            let left = match &state {
                Ok(_) => Vec::new(),
                Err(reason) => vec![WorkKind::Rewrite.work(reason.clone())],
            };
            self.settle(subscription, state.unwrap_or(State::Missing), left);
        }
        Ok(())
    }

    /// Tells of those that lack one of their ends.
    pub(super) fn unsettled_subscriptions(&mut self, listings: &Listings) {
        for subscription in &listings.subscriptions {
            if self.settled.contains(&identity(subscription)) {
                continue;
            }
            let ends = ["emitter_id", "listener_id"].map(|end| text(subscription, end));
            let missing = ends
                .into_iter()
                .filter(|id| self.counterpart(listings, id).is_none());
            let work = missing.map(|id| {
                let bringing = match id.starts_with("p_") {
                    true => {
                        "; `headwater workflows import` and `workflows deploy` bring workflows over"
                    }
                    false => "",
                };
                WorkKind::Elsewhere.work(format!("{id} is not here{bringing}"))
            });
            let work = work.collect();
            self.settle(subscription, State::Missing, work);
        }
    }

    fn settle(&mut self, subscription: &Value, state: State, left: Vec<Work>) {
        let there = identity(subscription);
        let channel = match text(subscription, "event_name") {
            "" => String::new(),
            channel => format!(" on {channel}"),
        };
        let (emitter, listener) = (
            text(subscription, "emitter_id"),
            text(subscription, "listener_id"),
        );
        self.report.add(Thing {
            kind: Kind::Subscription,
            name: format!("{emitter} to {listener}{channel}"),
            id: self.remembered.id(&there).map(str::to_owned),
            from_id: there.clone(),
            state,
            left,
        });
        self.settled.insert(there);
    }

    async fn subscribe(
        &mut self,
        subscription: &Value,
        emitter: &str,
        listener: &str,
    ) -> Result<Result<State, String>> {
        let body = json!({
            "emitter_id": emitter, "listener_id": listener, "event_name": text(subscription, "event_name"),
        });
        // A pattern means everything of the caller, in every workspace.
        let created = match PATTERNS.contains(&emitter) {
            true => self.target.post(&["subscriptions"], &body).await,
            false => self.target.post_scoped(&["subscriptions"], body).await,
        };
        let id = match created {
            Ok(created) => id_of(&created)?,
            Err(error) => return Ok(Err(refusal(error)?)),
        };
        self.remembered.keep(&identity(subscription), &id)?;
        // One that was here already is not created twice.
        Ok(Ok(match self.subscribed.insert(id) {
            true => State::Imported,
            false => State::Kept,
        }))
    }

    /// The id here of an emitter or a listener there.
    fn counterpart(&self, listings: &Listings, there: &str) -> Option<String> {
        if PATTERNS.contains(&there) {
            return Some(there.to_owned());
        }
        if there == text(&listings.me, "id") {
            return Some(text(&self.me, "id").to_owned());
        }
        if Some(there) == self.origin.workspace() {
            return self.workspace_id.clone();
        }
        self.remembered.id(there).map(str::to_owned)
    }
}

/// A subscription's id; of one without, its ends.
fn identity(subscription: &Value) -> String {
    match text(subscription, "id") {
        "" => ["emitter_id", "listener_id", "event_name"]
            .map(|field| text(subscription, field))
            .join(" "),
        id => id.to_owned(),
    }
}
