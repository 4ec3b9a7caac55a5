//! A run of a workflow as a tree of places (docs/decisions/0025-a-run-is-a-tree-of-places.md).
//!
//! A **place** is a step, block or handler of one run that has begun, found by its path. The places are the whole
//! state of a run: a walk over the definition finds from them what is to be done next, and after a crash it finds the
//! same again. No code is replayed, and a deployment cannot break a run that names the one it began with.
//!
//! Responsible for what follows what: branches, loops, waits, retries, handlers, the end of a run. Deliberately
//! ignorant of stores, of JavaScript and of the clock: moments and answers come in as arguments.

mod answers;
mod blocks;
mod end;
mod exported;
mod failure;
mod items;
mod kept;
mod loops;
mod order;
mod place;
mod replay;
mod resolution;
mod scope;
mod tree;
mod tries;
mod waits;
mod walk;

#[cfg(test)]
mod tests;

pub use self::{
    end::{FlowCall, StepEnd, StepOutcome},
    exported::Exported,
    failure::{Cause, Failure},
    kept::{Blob, Kept},
    order::{Order, Question, Work},
    place::{Chosen, PHASES_MAX, Phase, Place, PlaceStatus, Rerun, Wait, WaitKind},
    replay::{Replay, ReplayError},
    resolution::{Resolution, Resolved},
    tree::{Closing, Root, RunEnd, RunTree, State},
};
