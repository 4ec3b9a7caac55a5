//! Runs of sources and workflows: the list of all, and one of a source.

pub(crate) mod again;
pub(crate) mod filter;
pub(crate) mod list;
pub(crate) mod selected;
pub(crate) mod show;
