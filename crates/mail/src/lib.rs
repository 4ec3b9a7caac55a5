//! Mail in and mail out: an SMTP server that takes messages for triggers, the event of such a message,
//! and a client that hands messages to a relay.
//!
//! Responsible for SMTP and MIME, and for their bounds. Deliberately ignorant of workflows, of where
//! messages and attachments are stored, of URLs, and of the clock: those are the caller's.

pub mod event;
pub mod receive;
pub mod send;
