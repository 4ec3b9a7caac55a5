//! Events: searching those of all emitters, and one of them, whole.

pub(crate) mod list;
pub(crate) mod show;
pub(crate) mod view_change;
mod views;
mod wanted;
