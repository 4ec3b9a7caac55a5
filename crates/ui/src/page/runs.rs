//! Runs of sources and workflows: the list of all, and one of a source.

pub(crate) mod again;
pub(crate) mod cancel;
mod facts;
pub(crate) mod filter;
mod gone;
pub(crate) mod list;
mod log;
pub(crate) mod matching;
mod open;
pub(crate) mod selected;
pub(crate) mod show;
mod stack;
