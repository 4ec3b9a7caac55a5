//! Prefixed ids. Each id is its own type, so a wrong one does not compile.
//!
//! An id is its prefix and 22 base62 digits: 48 bits of milliseconds, then 80 random bits. Ids created
//! later sort later. Foreign ids of other lengths are refused as malformed.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::EpochMs;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Digits after the prefix; 62^22 just exceeds 2^128.
const BODY_LEN: usize = 22;
/// Digits after the prefix of the shortest id that another platform gave.
const FOREIGN_LEN_MIN: usize = 6;

/// Why a text is not an id of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not {kind} id: expected `{prefix}` and {FOREIGN_LEN_MIN} to {BODY_LEN} letters or digits, as the \
     platform gave it"
)]
pub struct InvalidId {
    text: String,
    kind: &'static str,
    prefix: &'static str,
}

/// Digits that are worked out together: 62^10 fits 64 bits, whose division is far cheaper than 128's.
const CHUNK_LEN: usize = 10;
const CHUNK: u128 = 62_u128.pow(CHUNK_LEN as u32);

/// The prefix, then 48 bits of milliseconds and 80 random bits as 22 base62 digits, order preserved.
fn text(prefix: &str, now_ms: EpochMs, entropy: u128) -> String {
    let mut value = (u128::from(now_ms.0 & 0xFFFF_FFFF_FFFF) << 80) | (entropy >> 48);
    let mut digits = [b'0'; BODY_LEN];
    for chunk in digits.rchunks_mut(CHUNK_LEN) {
        let mut rest = (value % CHUNK) as u64;
        value /= CHUNK;
        for digit in chunk.iter_mut().rev() {
            *digit = DIGITS[(rest % 62) as usize];
            rest /= 62;
        }
    }
    let mut text = String::with_capacity(prefix.len() + BODY_LEN);
    text.push_str(prefix);
    text.extend(digits.iter().map(|digit| char::from(*digit)));
    text
}

fn is_body(text: &str) -> bool {
    text.len() == BODY_LEN && is_alphanumeric(text)
}

/// Ids that Pipedream gave are shorter, and stay as they are.
fn is_foreign_body(text: &str) -> bool {
    (FOREIGN_LEN_MIN..=BODY_LEN).contains(&text.len()) && is_alphanumeric(text)
}

fn is_alphanumeric(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident, $prefix:literal, $kind:literal $(, $is_body:ident)?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The prefix of every id of this kind.
            pub const PREFIX: &'static str = $prefix;

            /// A new id from the clock and 128 random bits.
            pub fn new(now_ms: EpochMs, entropy: u128) -> Self {
                Self(text($prefix, now_ms, entropy))
            }

            /// The id as it is shown and stored.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                match text.strip_prefix($prefix) {
                    Some(rest) if ids!(@is_body rest $(, $is_body)?) => Ok(Self(text.to_owned())),
                    _ => Err(InvalidId { text: text.to_owned(), kind: $kind, prefix: $prefix }),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
    (@is_body $rest:ident) => { is_body($rest) };
    (@is_body $rest:ident, $is_body:ident) => { $is_body($rest) };
}

ids! {
    /// A deployed component, that is, a source.
    SourceId, "dc_", "a source";
    /// A saved component.
    ComponentId, "sc_", "a saved component";
    /// A workflow.
    WorkflowId, "p_", "a workflow", is_foreign_body;
    /// An immutable deployment of a workflow.
    DeploymentId, "d_", "a deployment";
    /// A webhook.
    WebhookId, "wh_", "a webhook";
    /// A subscription.
    SubscriptionId, "sub_", "a subscription";
    /// A workspace (also called organization).
    WorkspaceId, "o_", "a workspace";
    /// A user.
    UserId, "u_", "a user";
    /// A connected account of an app.
    AccountId, "apn_", "an account", is_foreign_body;
    /// One way through a browser to a connected account.
    ConnectId, "cn_", "a connect";
    /// One run of a component's code.
    InvocationId, "inv_", "an invocation";
    /// One event for one webhook.
    DeliveryId, "dlv_", "a delivery";
    /// The place of a failure, as `$errors` names it: code of a saved component, or a webhook.
    CellId, "c_", "a cell";
    /// An API key's record (not the key itself).
    KeyId, "key_", "a key";
    /// A browser that is signed in.
    SessionId, "ses_", "a session";
    /// The record of an act.
    AuditId, "au_", "an audit record";
}

impl CellId {
    /// The cell of a saved component's code.
    pub fn of_component(id: &ComponentId) -> Self {
        Self::with_body(&id.0[ComponentId::PREFIX.len()..])
    }

    /// The cell that stands for a webhook.
    pub fn of_webhook(id: &WebhookId) -> Self {
        Self::with_body(&id.0[WebhookId::PREFIX.len()..])
    }

    fn with_body(body: &str) -> Self {
        Self(format!("{}{body}", Self::PREFIX))
    }
}

/// A trigger of a workflow: its kind is the prefix, as workflows' files have it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TriggerId(String);

/// The kind of a workflow's trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriggerKind {
    /// Requests at a URL: `hi_`.
    Http,
    /// Ticks of a schedule: `ti_`.
    Timer,
    /// Mail: `ei_`.
    Email,
    /// Events of a source that the workflow deploys: `dc_`.
    Source,
    /// Events of emitters: `ev_`.
    Events,
}

impl TriggerKind {
    const ALL: [Self; 5] = [
        Self::Http,
        Self::Timer,
        Self::Email,
        Self::Source,
        Self::Events,
    ];

    fn prefix(self) -> &'static str {
        match self {
            Self::Http => "hi_",
            Self::Timer => "ti_",
            Self::Email => "ei_",
            Self::Source => "dc_",
            Self::Events => "ev_",
        }
    }
}

impl TriggerId {
    /// A new id from the clock and 128 random bits.
    pub fn new(kind: TriggerKind, now_ms: EpochMs, entropy: u128) -> Self {
        Self(text(kind.prefix(), now_ms, entropy))
    }

    /// The id as it is shown and stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its kind.
    pub fn kind(&self) -> TriggerKind {
        let mut kinds = TriggerKind::ALL.into_iter();
        let found = kinds.find(|kind| self.0.starts_with(kind.prefix()));
        found.unwrap_or(TriggerKind::Events)
    }
}

impl FromStr for TriggerId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let mut bodies = TriggerKind::ALL.into_iter();
        let is_known = bodies.any(|kind| {
            text.strip_prefix(kind.prefix())
                .is_some_and(is_foreign_body)
        });
        match is_known {
            true => Ok(Self(text.to_owned())),
            false => Err(InvalidId {
                text: text.to_owned(),
                kind: "a trigger",
                prefix: "hi_|ti_|ei_|dc_|ev_",
            }),
        }
    }
}

impl fmt::Display for TriggerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for TriggerId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for TriggerId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// An emitter of events: a source or a workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EmitterId {
    /// A deployed component.
    Source(SourceId),
    /// A workflow.
    Workflow(WorkflowId),
}

/// An owner of code that invocations run: a source or a workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunnableId {
    /// A deployed component.
    Source(SourceId),
    /// A workflow.
    Workflow(WorkflowId),
}

/// A listener of events: a source, a workflow or a webhook.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListenerId {
    /// A deployed component, run with the emitted data as its event.
    Source(SourceId),
    /// A workflow.
    Workflow(WorkflowId),
    /// A webhook, POSTed to.
    Webhook(WebhookId),
}

macro_rules! id_sum {
    ($name:ident, $kind:literal, $prefixes:literal, $($variant:ident),+) => {
        impl $name {
            /// The id as it is shown and stored.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$variant(id) => id.as_str(),)+ }
            }
        }
        impl FromStr for $name {
            type Err = InvalidId;
            fn from_str(text: &str) -> Result<Self, InvalidId> {
                $(if let Ok(id) = text.parse() { return Ok(Self::$variant(id)); })+
                Err(InvalidId { text: text.to_owned(), kind: $kind, prefix: $prefixes })
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

id_sum!(EmitterId, "an emitter", "dc_|p_", Source, Workflow);
id_sum!(
    RunnableId,
    "a source or workflow",
    "dc_|p_",
    Source,
    Workflow
);
id_sum!(
    ListenerId,
    "a listener",
    "dc_|p_|wh_",
    Source,
    Workflow,
    Webhook
);

impl From<SourceId> for EmitterId {
    fn from(id: SourceId) -> Self {
        Self::Source(id)
    }
}

impl From<SourceId> for RunnableId {
    fn from(id: SourceId) -> Self {
        Self::Source(id)
    }
}

impl From<WorkflowId> for RunnableId {
    fn from(id: WorkflowId) -> Self {
        Self::Workflow(id)
    }
}

impl From<RunnableId> for ListenerId {
    fn from(id: RunnableId) -> Self {
        match id {
            RunnableId::Source(id) => Self::Source(id),
            RunnableId::Workflow(id) => Self::Workflow(id),
        }
    }
}

impl From<EmitterId> for ListenerId {
    fn from(id: EmitterId) -> Self {
        match id {
            EmitterId::Source(id) => Self::Source(id),
            EmitterId::Workflow(id) => Self::Workflow(id),
        }
    }
}

impl From<RunnableId> for EmitterId {
    fn from(id: RunnableId) -> Self {
        match id {
            RunnableId::Source(id) => Self::Source(id),
            RunnableId::Workflow(id) => Self::Workflow(id),
        }
    }
}

/// An event's id, `<epoch_ms>-<sequence>` (docs/decisions/0003-event-ids.md): strictly increasing per
/// emitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct EventId {
    /// Milliseconds since the epoch.
    pub ms: EpochMs,
    /// Counts the events of one emitter within the same millisecond, from 0.
    pub sequence: u32,
}

impl EventId {
    /// The next id of an emitter whose last one was `last`; never smaller than `last`, even if the clock stepped back.
    pub fn next(last: Option<Self>, now_ms: EpochMs) -> Self {
        match last {
            Some(last) if last.ms >= now_ms => match last.sequence.checked_add(1) {
                Some(sequence) => Self {
                    ms: last.ms,
                    sequence,
                },
                None => Self {
                    ms: last.ms + Duration::from_millis(1),
                    sequence: 0,
                },
            },
            _ => Self {
                ms: now_ms,
                sequence: 0,
            },
        }
    }
}

/// Why a text is not an event id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an event id: expected <epoch_ms>-<sequence>, such as 1700000000000-0")]
pub struct InvalidEventId(String);

impl FromStr for EventId {
    type Err = InvalidEventId;

    fn from_str(text: &str) -> Result<Self, InvalidEventId> {
        let invalid = || InvalidEventId(text.to_owned());
        let (ms, sequence) = text.split_once('-').ok_or_else(invalid)?;
        let id = Self {
            ms: EpochMs(ms.parse().map_err(|_| invalid())?),
            sequence: sequence.parse().map_err(|_| invalid())?,
        };
        // The store keeps ids as signed 64-bit integers; only the canonical spelling is an id.
        if id.ms.0 > i64::MAX as u64 || id.to_string() != text {
            return Err(invalid());
        }
        Ok(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.sequence)
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cell_is_named_after_its_code() {
        let component = ComponentId::new(EpochMs(7), 9);
        let cell = CellId::of_component(&component);
        assert_eq!(cell.as_str(), component.as_str().replace("sc_", "c_"));
        assert_eq!(cell.as_str().parse(), Ok(cell));
    }

    #[test]
    fn another_kinds_prefix_is_refused() {
        let source = SourceId::new(EpochMs(1), 2);
        assert!(source.as_str().parse::<SourceId>().is_ok());
        assert!(source.as_str().parse::<ComponentId>().is_err());
        assert!("dc_short".parse::<SourceId>().is_err());
        assert!("dc_".parse::<SourceId>().is_err());
    }

    #[test]
    fn an_emitter_is_a_source_or_a_workflow_but_no_webhook() {
        let webhook = WebhookId::new(EpochMs(1), 2).to_string();
        assert!(webhook.parse::<EmitterId>().is_err());
        assert!(matches!(webhook.parse(), Ok(ListenerId::Webhook(_))));
    }

    #[test]
    fn whatever_runs_code_emits_events_under_its_own_id() {
        let (source, workflow) = (SourceId::new(EpochMs(1), 2), WorkflowId::new(EpochMs(1), 2));
        for runnable in [RunnableId::from(source), RunnableId::from(workflow)] {
            assert_eq!(runnable.as_str().parse(), Ok(runnable.clone()));
            let emitter = EmitterId::from(runnable.clone());
            assert_eq!(emitter.as_str(), runnable.as_str());
        }
        assert!(
            WebhookId::new(EpochMs(1), 2)
                .as_str()
                .parse::<RunnableId>()
                .is_err()
        );
    }

    #[test]
    fn the_digits_are_those_of_the_number() {
        let largest = SourceId::new(EpochMs(u64::MAX), u128::MAX);
        assert_eq!(largest.as_str(), "dc_7n42DGM5Tflk9n8mt7Fhc7");
        assert_eq!(
            SourceId::new(EpochMs(0), 61 << 48).as_str(),
            "dc_000000000000000000000z"
        );
        assert_eq!(
            SourceId::new(EpochMs(0), 62 << 48).as_str(),
            "dc_0000000000000000000010"
        );
    }

    #[test]
    fn event_ids_have_one_spelling() {
        for bad in [
            "",
            "1",
            "1-",
            "-1",
            "01-0",
            "1-00",
            "+1-0",
            "1-0-0",
            "99999999999999999999-0",
        ] {
            assert!(bad.parse::<EventId>().is_err(), "{bad}");
        }
        assert_eq!(
            "17-3".parse::<EventId>(),
            Ok(EventId {
                ms: EpochMs(17),
                sequence: 3
            })
        );
    }

    proptest! {
        #[test]
        fn later_ids_sort_later(a in 0u64..1 << 47, gap in 1u64..1 << 40, x: u128, y: u128) {
            prop_assert!(SourceId::new(EpochMs(a), x) < SourceId::new(EpochMs(a + gap), y));
        }

        #[test]
        fn event_ids_increase_whatever_the_clock_does(clock in proptest::collection::vec(0u64..5, 1..50)) {
            let mut last = None;
            for now_ms in clock {
                let next = EventId::next(last, EpochMs(now_ms));
                prop_assert!(last.is_none_or(|last| last < next));
                last = Some(next);
            }
        }

        #[test]
        fn event_ids_survive_display(ms in 0u64..1 << 62, sequence: u32) {
            let id = EventId { ms: EpochMs(ms), sequence };
            prop_assert_eq!(id.to_string().parse::<EventId>(), Ok(id));
        }
    }
}
