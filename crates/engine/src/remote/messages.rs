//! The words of two machines about runs. Both have the same code of them, so that the words are nobody else's business.
//!
//! Values of components stay JSON text, which is read where it is used, as from a worker: no value makes a word unreadable.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use headwater_model::{event::Emit, hash::ArtifactHash, outcome::Outcome};
use serde::{Deserialize, Serialize};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use crate::{
    api::{EngineError, Export, Invocation, KvChange, LogLevel, WorkerOwner, WorkerSpec},
    data_store::{StoreOperation, StoreReply},
    json_if_any,
    response::Response,
    step::{Flow, Sent, Service, StepResponse},
};

/// A number of the words, which is another one once the code that says what they are has changed: machines whose numbers
/// differ may not understand each other.
pub const WORDS: u64 = {
    let code: [&[u8]; 8] = [
        include_bytes!("messages.rs"),
        include_bytes!("frames.rs"),
        include_bytes!("../api.rs"),
        include_bytes!("../data_store.rs"),
        include_bytes!("../response.rs"),
        include_bytes!("../step.rs"),
        include_bytes!("../../../model/src/event.rs"),
        include_bytes!("../../../model/src/outcome.rs"),
    ];
    // FNV-1a
    let (mut number, mut file) = (0xcbf2_9ce4_8422_2325, 0);
    while file < code.len() {
        let mut place = 0;
        while place < code[file].len() {
            number = (number ^ code[file][place] as u64).wrapping_mul(0x0100_0000_01b3);
            place += 1;
        }
        file += 1;
    }
    number
};

/// A run of the borrower. It names the run's messages in both directions, and is never used again.
pub(super) type Call = u64;
/// A question of a run, which is answered once.
pub(super) type Question = u64;
/// A request of the borrower besides runs, which is answered once.
pub(super) type Errand = u64;

/// A word of the borrower.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Invoke {
        call: Call,
        worker: Spec,
        run: Run,
    },
    /// The answer to `Wants`; an archive is beside it.
    Given {
        call: Call,
        what: Wanted,
        given: Given,
    },
    /// The answer to a question of a run.
    Answer {
        question: Question,
        answer: Answer,
    },
    ForgetTmp {
        owner: WorkerOwner,
        tmp: String,
    },
    Release {
        errand: Errand,
        owner: WorkerOwner,
    },
    Evict {
        errand: Errand,
        owner: WorkerOwner,
    },
    /// Nothing, but the borrower is there.
    Alive,
}

/// A word of the lender.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// The worker of a run needs a part of its component.
    Wants {
        call: Call,
        what: Wanted,
    },
    /// The worker has the run, or did not get it.
    Invoked {
        call: Call,
        refused: Option<EngineError>,
    },
    /// A message of a run; a body is beside it.
    Said {
        call: Call,
        said: Said,
    },
    /// The run has got the answer, and had read most of the earlier ones.
    Taken {
        question: Question,
    },
    Done {
        errand: Errand,
        is_done: bool,
    },
    /// The lender is there, with these numbers of workers, and may be about to leave.
    Alive {
        warm: usize,
        workers: usize,
        is_leaving: bool,
    },
}

/// `WorkerSpec` without what the lender has to ask for.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Spec {
    pub(super) owner: WorkerOwner,
    pub(super) tenant: String,
    pub(super) is_isolated: bool,
    pub(super) heap_mib: Option<u32>,
    pub(super) artifact_hash: ArtifactHash,
    pub(super) env: BTreeMap<String, String>,
}

/// `Invocation` under the name that both sides know it by.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Run {
    entry: Box<RawValue>,
    event: Box<RawValue>,
    props: Texts,
    wall: Option<Duration>,
}

/// A part of a component that only the borrower has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Wanted {
    Artifact,
    KeyValues,
}

/// That part, or the reason why it cannot be had.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Given {
    Artifact,
    KeyValues(Texts),
    Refused(EngineError),
}

/// `StoreReply`, in which nothing and `null` stay apart.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Value(#[serde(with = "json_if_any")] Option<Box<RawValue>>),
    Failed(String),
}

/// `RunMessage` with questions by number.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Said {
    Emit(Emit),
    Respond(Response),
    Log {
        level: LogLevel,
        text: String,
    },
    KvChanged(KvChange),
    Exported(Export),
    Exited(String),
    StoreAsked {
        question: Question,
        store: String,
        operation: StoreOperation,
    },
    Skipped,
    Flow(Flow),
    Sent(Sent),
    Responded(StepResponse),
    ResponseBody {
        #[serde(skip)]
        bytes: Bytes,
        has_more: bool,
    },
    ResponseRefused(String),
    Asked {
        question: Question,
        service: Service,
        operation: String,
        arguments: Box<RawValue>,
    },
    Outcome(Ended),
}

/// `Outcome`, in which nothing and `null` stay apart.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Ended {
    Returned(#[serde(with = "json_if_any")] Option<Box<RawValue>>),
    Otherwise(Box<RawValue>),
}

/// Values by name, in their order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Texts(Vec<(String, Box<RawValue>)>);

impl Spec {
    pub(super) fn of(worker: &WorkerSpec) -> Self {
        Self {
            owner: worker.owner.clone(),
            tenant: worker.tenant.to_string(),
            is_isolated: worker.is_isolated,
            heap_mib: worker.heap_mib,
            artifact_hash: worker.artifact_hash.clone(),
            env: worker.env.clone(),
        }
    }
}

impl Run {
    /// # Errors
    /// A value has no JSON.
    pub(super) fn of(invocation: &Invocation) -> Result<Self, EngineError> {
        Ok(Self {
            entry: to_raw_value(&invocation.entry).map_err(unreadable)?,
            event: (*invocation.event).to_owned(),
            props: Texts::of(&invocation.props)?,
            wall: invocation.wall,
        })
    }

    /// # Errors
    /// A value cannot be read.
    pub(super) fn into_invocation(self, call: Call) -> Result<Invocation, EngineError> {
        Ok(Invocation {
            run: call,
            entry: serde_json::from_str(self.entry.get()).map_err(unreadable)?,
            event: self.event.into(),
            props: self.props.into_values()?,
            wall: self.wall,
        })
    }
}

impl Texts {
    /// # Errors
    /// A value has no JSON.
    pub(super) fn of(values: &Map<String, Value>) -> Result<Self, EngineError> {
        let text = |(name, value): (&String, &Value)| Ok((name.clone(), to_raw_value(value)?));
        let texts = values.iter().map(text).collect::<Result<_, _>>();
        texts.map(Self).map_err(unreadable)
    }

    /// # Errors
    /// A value cannot be read.
    pub(super) fn into_values(self) -> Result<Map<String, Value>, EngineError> {
        let value =
            |(name, text): (String, Box<RawValue>)| Ok((name, serde_json::from_str(text.get())?));
        let values = self.0.into_iter().map(value).collect::<Result<_, _>>();
        values.map_err(unreadable)
    }
}

impl Ended {
    /// The outcome came from a worker as JSON, and is so again.
    pub(super) fn of(outcome: &Outcome) -> Self {
        let ended = match outcome {
            Outcome::Returned { value } => value
                .as_ref()
                .map(to_raw_value)
                .transpose()
                .map(Self::Returned),
            Outcome::Threw { .. }
            | Outcome::LimitExceeded { .. }
            | Outcome::Lost { .. }
            | Outcome::Cancelled { .. } => to_raw_value(outcome).map(Self::Otherwise),
        };
        ended.expect("values of JSON have a text")
    }

    pub(super) fn into_outcome(self) -> Outcome {
        let outcome = match self {
            Self::Returned(None) => Ok(Outcome::Returned { value: None }),
            Self::Returned(Some(text)) => serde_json::from_str(text.get()).map(|value| {
                let value = Some(value);
                Outcome::Returned { value }
            }),
            Self::Otherwise(text) => serde_json::from_str(text.get()),
        };
        outcome.unwrap_or_else(|error| lost(&error))
    }
}

fn lost(error: &serde_json::Error) -> Outcome {
    let message = format!("its end cannot be told to another node: {error}");
    Outcome::Lost { message }
}

fn unreadable(error: serde_json::Error) -> EngineError {
    EngineError::Protocol(format!("a value cannot be told to another node: {error}"))
}

impl Answer {
    pub(super) fn of(reply: StoreReply) -> Self {
        match reply {
            Ok(value) => Self::Value(value),
            Err(reason) => Self::Failed(reason),
        }
    }

    pub(super) fn into_reply(self) -> StoreReply {
        match self {
            Self::Value(value) => Ok(value),
            Self::Failed(reason) => Err(reason),
        }
    }
}

impl Said {
    /// The bytes that go beside the message.
    pub(super) fn take_body(&mut self) -> Bytes {
        self.body().map(std::mem::take).unwrap_or_default()
    }

    /// The message with the bytes that came beside it.
    pub(super) fn with_body(mut self, bytes: Bytes) -> Self {
        if let Some(body) = self.body() {
            *body = bytes;
        }
        self
    }

    fn body(&mut self) -> Option<&mut Bytes> {
        match self {
            Self::Respond(response) => Some(&mut response.body),
            Self::Responded(step) => Some(&mut step.response.body),
            Self::ResponseBody { bytes, .. } => Some(bytes),
            _ => None,
        }
    }
}
