//! The registry behind the trait.

pub(crate) mod drafts;
pub(crate) mod search;
