//! `/webhooks`: where events are sent to.

pub(crate) mod change;
pub(crate) mod create;
pub(crate) mod edit;
pub(crate) mod emitters;
pub(crate) mod health;
pub(crate) mod list;
pub(crate) mod replay;
pub(crate) mod secret;
pub(crate) mod show;
pub(crate) mod test;
