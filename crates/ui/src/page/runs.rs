//! `/runs`: what ran, and how that ended.

pub(crate) mod show;
