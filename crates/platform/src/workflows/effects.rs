//! The effects of one execution of a step, collected until its end.

use headwater_engine::{Export, Flow, FlowOperation, LogLevel, SendKind, Sent};
use headwater_model::{outcome::Outcome, time::EpochMs};
use headwater_store::{KvWrite, NewSend, SendWay};
use headwater_workflow::run::{Failure, FlowCall, Kept, StepEnd, StepOutcome};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use std::{sync::Arc, time::Duration};
use url::Url;

use super::masking::Masks;
use crate::log_line::LogLine;

/// An event that a step emitted.
#[derive(Debug, Deserialize)]
pub(super) struct Emitted {
    pub(super) event: Box<RawValue>,
    #[serde(default)]
    pub(super) channel: Option<String>,
}

/// A message for the stream of the workflow.
#[derive(Debug, Deserialize)]
pub(super) struct Streamed {
    pub(super) channel: String,
    pub(super) payload: Box<RawValue>,
}

/// The effects of an execution so far.
#[derive(Debug, Default)]
pub(super) struct StepEffects {
    exports: Vec<(String, Kept)>,
    flow: Vec<FlowCall>,
    exit: Option<String>,
    is_skipped: bool,
    sent: Vec<Sent>,
    pub(super) logs: Vec<LogLine>,
    /// Changes of the step's key-value map.
    pub(super) kv_writes: Vec<KvWrite>,
}

/// The things that an execution sends, apart by what becomes of them.
#[derive(Debug, Default)]
pub(super) struct Sends {
    /// Numbered from 0.
    pub(super) queued: Vec<NewSend>,
    pub(super) emitted: Vec<Emitted>,
    pub(super) streamed: Vec<Streamed>,
}

impl StepEffects {
    pub(super) fn export(&mut self, export: Export) {
        let value = export.value.unwrap_or_else(|| RawValue::NULL.to_owned());
        self.exports
            .push((export.name, Kept::Here(Arc::from(value))));
    }

    pub(super) fn exit(&mut self, reason: String) {
        self.exit.get_or_insert(reason);
    }

    pub(super) fn skip(&mut self) {
        self.is_skipped = true;
    }

    pub(super) fn flow(&mut self, flow: Flow) {
        let after = Duration::from_millis(flow.after_ms);
        self.flow.push(match flow.operation {
            FlowOperation::Delay => FlowCall::Delay(after),
            FlowOperation::Suspend => FlowCall::Suspend(after),
            FlowOperation::Rerun => FlowCall::Rerun {
                after,
                context: flow.context.map(|context| Kept::Here(Arc::from(context))),
                max_retries: flow.max_retries.unwrap_or(10),
            },
        });
    }

    pub(super) fn send(&mut self, sent: Sent) {
        self.sent.push(sent);
    }

    pub(super) fn log(&mut self, level: LogLevel, message: String, ts: EpochMs) {
        self.logs.push(LogLine { level, message, ts });
    }

    /// Bytes that it has exported, logged and sent so far.
    pub(super) fn bytes(&self) -> usize {
        let exports = self.exports.iter();
        let exports = exports.map(|(name, value)| name.len() + kept_bytes(value));
        let flow = self.flow.iter().map(|call| match call {
            FlowCall::Rerun { context, .. } => context.as_ref().map_or(0, kept_bytes),
            FlowCall::Delay(_) | FlowCall::Suspend(_) => 0,
        });
        let sent = self.sent.iter().map(|sent| sent.value.get().len());
        let logs = self.logs.iter().map(|line| line.message.len());
        let exit = self.exit.iter().map(String::len);
        exports
            .chain(flow)
            .chain(sent)
            .chain(logs)
            .chain(exit)
            .sum()
    }

    /// The end of the execution, and what it sends: a step that fails sends nothing.
    pub(super) fn ended(
        self,
        path: &str,
        outcome: Outcome,
        chance: f64,
    ) -> (StepEnd, Sends, Vec<LogLine>) {
        let failure = Failure::of(&outcome);
        let mut sends = Sends::default();
        if failure.is_none() {
            for sent in self.sent {
                sends.add(path, sent);
            }
        }
        let outcome = match (failure, outcome) {
            (Some(failure), _) => StepOutcome::Failed(failure),
            (None, _) if self.is_skipped => StepOutcome::Skipped,
            (None, Outcome::Returned { value }) => {
                StepOutcome::Returned(value.map(|value| Kept::of(&value)))
            }
            (None, _) => StepOutcome::Returned(None),
        };
        let end = StepEnd {
            outcome,
            exports: self.exports,
            exit: self.exit,
            flow: self.flow,
            chance,
        };
        (end, sends, self.logs)
    }
}

fn kept_bytes(value: &Kept) -> usize {
    usize::try_from(value.bytes()).unwrap_or(usize::MAX)
}

impl Sends {
    /// Gives them the numbers from there on: those of an earlier execution of the step have others.
    pub(super) fn number_from(&mut self, first: u32) {
        for send in &mut self.queued {
            send.number = send.number.saturating_add(first);
        }
    }

    /// Masks what is kept of them. Marks in what leaves the node are opened as it does. Channels are addresses, which lead
    /// nowhere with a mark.
    pub(super) fn hide(&mut self, masks: &Masks) {
        let queued = self.queued.iter_mut().map(|send| &mut send.value);
        let emitted = self.emitted.iter_mut().map(|emitted| &mut emitted.event);
        let streamed = self
            .streamed
            .iter_mut()
            .map(|streamed| &mut streamed.payload);
        for value in queued.chain(emitted).chain(streamed) {
            if let Some(masked) = masks.json(value) {
                *value = masked;
            }
        }
    }

    fn add(&mut self, path: &str, sent: Sent) {
        let way = match sent.kind {
            SendKind::Emit => {
                self.emitted
                    .extend(serde_json::from_str::<Emitted>(sent.value.get()));
                return;
            }
            SendKind::Sse => {
                self.streamed
                    .extend(serde_json::from_str::<Streamed>(sent.value.get()));
                return;
            }
            SendKind::Http => SendWay::Http,
            SendKind::Email => SendWay::Email,
            SendKind::S3 => SendWay::S3,
        };
        self.queued.push(NewSend {
            path: path.to_owned(),
            number: u32::try_from(self.queued.len()).unwrap_or(u32::MAX),
            way,
            lane: lane(way, &sent.value),
            value: sent.value,
        });
    }
}

/// The lane of a send: the host of a request, hashed, because it may contain the value of a variable.
fn lane(way: SendWay, value: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Target {
        url: String,
    }
    if way != SendWay::Http {
        return None;
    }
    // One that cannot be read fails without a request.
    let Target { url } = serde_json::from_str(value.get()).ok()?;
    let url = Url::parse(&url).ok()?;
    let host = format!("{}:{}", url.host_str()?, url.port_or_known_default()?);
    Some(hex::encode(Sha256::digest(host.as_bytes())))
}
