//! Events: searching those of all emitters, and one of them, whole.

pub(crate) mod compare;
pub(crate) mod delete;
pub(crate) mod list;
mod neighbours;
pub(crate) mod show;
