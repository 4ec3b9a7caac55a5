//! `/accounts`: credentials at apps, their health, and the sources that use them. Nothing of the credentials is shown.

pub(crate) mod connect;
pub(crate) mod creators;
pub(crate) mod delete;
mod fields;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod reconnect;
pub(crate) mod rename;
pub(crate) mod show;
pub(crate) mod uses;
mod waiting;
