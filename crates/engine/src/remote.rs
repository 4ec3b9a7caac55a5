//! Workers of other machines: an engine that spreads runs over those that lend theirs, and the lending.
//!
//! ```text
//! platform ──► SpreadEngine ──► the machine's own engine
//!                   │
//!                   └─ Borrowed ══ Wire ══ lend ──► the engine of another machine
//! ```
//!
//! Responsible for: the machine on which an owner has its place, the conversation of two machines about runs, and the
//! end of runs when it breaks off. Not for: who may lend or borrow, and how two machines reach each other, which the
//! caller knows; nor for workers, which each engine has.

mod borrowed;
mod frames;
mod lender;
mod messages;
mod places;
mod spread;
mod weight;

use std::{io, time::Duration};

use bytes::Bytes;
use futures::stream::BoxStream;
use tokio::sync::mpsc;

pub use self::{lender::lend, messages::WORDS, spread::SpreadEngine, weight::Weight};

/// The time between two words of a machine that has nothing to say.
const WORD_EVERY: Duration = Duration::from_secs(1);
/// The silence of the borrower after which a lender ends its runs. Shorter than the other one by more than a word and the
/// end of a worker take, so that a run that is begun again elsewhere has ended here.
const LENDER_WAITS: Duration = Duration::from_secs(5);
/// The silence of a lender after which its runs count as lost.
const BORROWER_WAITS: Duration = Duration::from_secs(8);

/// A conversation with another machine. Each side reads what the other one writes, in order; the cuts between pieces mean
/// nothing.
pub struct Wire {
    /// The pieces that come, until the other side is gone.
    pub incoming: BoxStream<'static, io::Result<Bytes>>,
    /// The pieces that go.
    pub outgoing: mpsc::UnboundedSender<Bytes>,
}
