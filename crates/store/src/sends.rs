//! Sends of workflows: what `$.send` leaves the platform with, delivered after the commit of the step, at least once.

use async_trait::async_trait;
use headwater_model::{
    id::{InvocationId, RunnableId},
    time::EpochMs,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{error::StoreError, lease::LeaseTerm, tenants::Owner};

/// A way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendWay {
    /// An HTTP request.
    Http,
    /// A mail.
    Email,
    /// An object in a bucket.
    S3,
}

/// A send to queue.
#[derive(Debug, Clone)]
pub struct NewSend {
    /// The step's path.
    pub path: String,
    /// Its number among the step's sends, from 0.
    pub number: u32,
    /// The way.
    pub way: SendWay,
    /// Sends of one lane are bounded together: those to one host. `None`: unbounded.
    pub lane: Option<String>,
    /// Its arguments, as JSON text.
    pub value: Box<RawValue>,
}

/// Sends of a lane that may be leased at once: however long a host takes, others get their turn.
pub const SENDS_PER_LANE: u32 = 8;

/// The state of a send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendState {
    /// It is due, or will be tried again.
    Pending,
    /// It was accepted.
    Sent,
    /// It was refused, or tried too often.
    Failed,
}

/// The name of a send: stable over all its attempts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SendId {
    /// The run.
    pub run_id: InvocationId,
    /// The step's path.
    pub path: String,
    /// Its number among the step's sends.
    pub number: u32,
}

/// A send with the right to attempt it until its lease ends.
#[derive(Debug, Clone)]
pub struct ClaimedSend {
    /// Its name.
    pub id: SendId,
    /// Counts its leases; the later of two counts.
    pub attempt: u32,
    /// The workflow.
    pub runnable: RunnableId,
    /// The workflow's owner.
    pub owner: Owner,
    /// The way.
    pub way: SendWay,
    /// Its lane.
    pub lane: Option<String>,
    /// Its arguments.
    pub value: Box<RawValue>,
    /// When it was queued, epoch milliseconds.
    pub queued_at_ms: EpochMs,
}

/// The end of an attempt.
#[derive(Debug, Clone)]
pub struct SendAttempt {
    /// The send.
    pub id: SendId,
    /// The lease that it was made under.
    pub attempt: u32,
    /// The state afterwards.
    pub state: SendState,
    /// When it is tried again, if it is pending, epoch milliseconds.
    pub due_at_ms: EpochMs,
    /// Request and answer for people, as JSON text.
    pub result: Option<Box<RawValue>>,
    /// Epoch milliseconds.
    pub now_ms: EpochMs,
}

/// A send as people see it.
#[derive(Debug, Clone)]
pub struct SendRecord {
    /// Its name.
    pub id: SendId,
    /// The way.
    pub way: SendWay,
    /// Its arguments.
    pub value: Box<RawValue>,
    /// Its state.
    pub state: SendState,
    /// Attempts that have begun.
    pub attempts: u32,
    /// Request and answer of the last one.
    pub result: Option<Box<RawValue>>,
}

/// Sends that are to be made.
#[async_trait]
pub trait Sends {
    /// Leases up to `limit` due sends, oldest first.
    /// MUST NOT lease one that has a lease (`conformance::workflow_runs::a_send_has_one_lease`), nor more than
    /// [`SENDS_PER_LANE`] of a lane at once (`conformance::admission::a_full_lane_leaves_other_lanes_their_room`).
    async fn claim_sends(
        &self,
        term: LeaseTerm,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<ClaimedSend>, StoreError>;

    /// Gives back what is leased under exactly this term, as if it had never been claimed: a claim whose answer was lost has
    /// leased it, and nobody knows.
    /// MUST leave leases of other terms (`conformance::workflow_runs::sends_of_a_lost_claim_are_given_back`).
    async fn release_send_claim(&self, term: LeaseTerm) -> Result<(), StoreError>;

    /// Records the ends of attempts. Those whose lease was lost change nothing.
    async fn end_sends(&self, attempts: Vec<SendAttempt>) -> Result<(), StoreError>;

    /// When the next send is due, epoch milliseconds. Those that wait for others of their lane have no due time.
    async fn next_send_due(&self) -> Result<Option<EpochMs>, StoreError>;

    /// The sends of a run, in the order in which they were queued.
    async fn run_sends(&self, id: &InvocationId) -> Result<Vec<SendRecord>, StoreError>;
}
