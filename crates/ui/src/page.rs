//! The pages, one file per address: parse, one or a few use cases, markup.

pub(crate) mod accounts;
pub(crate) mod deploy;
pub(crate) mod home;
pub(crate) mod live;
pub(crate) mod signin;
pub(crate) mod sources;
