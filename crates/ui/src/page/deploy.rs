//! `/deploy`: from a component, found or written, over the form of its props to a source.
//!
//! One form serves new sources and those that are changed: each of its buttons sends all of it, and gets it back with
//! what was asked for.

mod beside;
mod card;
pub(crate) mod code;
pub(crate) mod component;
pub(crate) mod event;
pub(crate) mod failure;
pub(crate) mod findings;
mod indexed;
pub(crate) mod npm;
mod options;
pub(crate) mod search;
pub(crate) mod submission;
mod syntax;
pub(crate) mod templates;
pub(crate) mod trial;
pub(crate) mod wizard;
