//! Events: searching those of all emitters, and one of them, whole.

pub(crate) mod compare;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod fixture;
pub(crate) mod list;
mod neighbours;
pub(crate) mod selected;
pub(crate) mod send;
pub(crate) mod show;
pub(crate) mod view_change;
mod views;
mod wanted;
