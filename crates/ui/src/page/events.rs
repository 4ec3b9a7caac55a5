//! Events: one of them, whole.

pub(crate) mod show;
