//! `/sources`: all of them, and one with everything about it.

pub(crate) mod list;
