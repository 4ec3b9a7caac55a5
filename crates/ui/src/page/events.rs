//! Events: searching those of all emitters, and one of them, whole.

mod caused;
pub(crate) mod compare;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod fixture;
mod gone;
pub(crate) mod list;
pub(crate) mod matching;
mod neighbours;
pub(crate) mod replay;
pub(crate) mod selected;
pub(crate) mod send;
pub(crate) mod show;
mod value;
pub(crate) mod view_change;
mod views;
mod wanted;
