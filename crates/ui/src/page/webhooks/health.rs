//! The health and the scope of webhooks as their pages show them.

use std::{collections::HashMap, time::Duration};

use headwater_model::{
    id::{EmitterId, ListenerId, WebhookId},
    subscription::{EmitterPattern, Subscription},
};
use headwater_platform::{KnownNames, RecentAttempts};
use maud::{Markup, html};

use crate::{
    part::{
        name,
        state::{Tone, state},
        text::counted,
        time,
    },
    visit::Visitor,
};

/// The share of attempts that delivered, of those that are counted.
pub(crate) fn success(recent: &RecentAttempts) -> Markup {
    let delivered = recent.attempts - recent.failures;
    html! {
        @if recent.attempts == 0 { span.note { "no attempt" } }
        @else {
            // Rounded down, so that a failure never shows as 100 %.
            @let percent = u64::from(delivered) * 100 / u64::from(recent.attempts);
            @let tone = match percent { 100 => Tone::Good, 90..100 => Tone::Warning, _ => Tone::Bad };
            (state(tone, &format!("{percent} %")))
        }
    }
}

/// The latencies that half of the attempts and 95 of 100 of them did not exceed.
pub(crate) fn latency(recent: &RecentAttempts) -> Markup {
    html! { @if let Some((half, most)) = latencies(recent) { (half) " / " (most) } }
}

/// The same as texts; of receivers that took nothing, they say nothing.
fn latencies(recent: &RecentAttempts) -> Option<(String, String)> {
    let took = |ms: u64| time::took(Duration::from_millis(ms));
    let has_delivered = recent.attempts > recent.failures;
    let (p50_ms, p95_ms) = (recent.p50_ms?, recent.p95_ms?);
    has_delivered.then(|| (took(p50_ms), took(p95_ms)))
}

/// The same in words, with what they are of.
pub(crate) fn facts(recent: &RecentAttempts, visitor: &Visitor) -> Markup {
    html! {
        dt { "Last 24 hours" }
        dd {
            (success(recent))
            @if recent.attempts > 0 {
                " of " (counted(recent.attempts.into(), "attempt", "attempts")) " delivered"
                @if let Some((half, most)) = latencies(recent) { "; half took " (half) " at most, 95 of 100 " (most) }
                "."
            }
            @if let Some(since_ms) = recent.since_ms { span.note { " Counted are deliveries dispatched since " (time::ago(since_ms, visitor.now_ms)) "." } }
        }
    }
}

/// The things that a webhook gets events of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    /// One for each subscription.
    emitters: Vec<EmitterId>,
    is_all_sources: bool,
    is_all_workflows: bool,
}

impl Scope {
    /// The scopes of all webhooks.
    pub(crate) fn of_each(subscriptions: &[Subscription]) -> HashMap<WebhookId, Self> {
        let mut scopes: HashMap<WebhookId, Self> = HashMap::new();
        for one in subscriptions {
            if let ListenerId::Webhook(id) = &one.listener {
                scopes.entry(id.clone()).or_default().add(one);
            }
        }
        scopes
    }

    /// The one of these subscriptions.
    pub(crate) fn of<'a>(subscriptions: impl IntoIterator<Item = &'a Subscription>) -> Self {
        let mut scope = Self::default();
        subscriptions.into_iter().for_each(|one| scope.add(one));
        scope
    }

    fn add(&mut self, one: &Subscription) {
        match &one.emitter {
            EmitterPattern::One(id) => self.emitters.push(id.clone()),
            EmitterPattern::AllSources => self.is_all_sources = true,
            EmitterPattern::AllWorkflows => self.is_all_workflows = true,
            EmitterPattern::User(_) | EmitterPattern::Workspace(_) => {
                self.is_all_sources = true;
                self.is_all_workflows = true;
            }
        }
    }

    /// The emitter that a list names, if there is one only.
    pub(crate) fn only(&self) -> Option<&EmitterId> {
        match (self.is_open(), &*self.emitters) {
            (false, [only]) => Some(only),
            _ => None,
        }
    }

    /// The scope as a list shows it, with a warning if it is everything of a kind, later ones too.
    pub(crate) fn markup(&self, names: &KnownNames) -> Markup {
        html! {
            @match (self.is_all_sources, self.is_all_workflows, &*self.emitters) {
                (true, true, _) => { (state(Tone::Warning, "everything")) }
                (true, false, _) => { (state(Tone::Warning, "every source")) }
                (false, true, _) => { (state(Tone::Warning, "every workflow")) }
                (false, false, []) => { span.note { "nothing" } }
                (false, false, [only]) => { (name::emitter(names, only)) }
                (false, false, all) => { (counted(all.len() as u64, "subscription", "subscriptions")) }
            }
        }
    }

    /// Whether later sources or workflows belong to it without anybody saying so.
    pub(crate) fn is_open(&self) -> bool {
        self.is_all_sources || self.is_all_workflows
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    #[test]
    fn latencies_are_told_of_receivers_that_took_something() {
        let shown = |failures| {
            let recent = RecentAttempts {
                attempts: 2,
                failures,
                p50_ms: Some(0),
                p95_ms: Some(7),
                since_ms: None::<EpochMs>,
            };
            latency(&recent).into_string()
        };
        assert_eq!(shown(1), "0 ms / 7 ms");
        assert_eq!(shown(2), "");
    }
}
