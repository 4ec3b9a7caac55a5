//! The data store trait on PostgreSQL.

pub(crate) mod stores;
