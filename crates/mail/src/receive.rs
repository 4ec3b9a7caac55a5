//! Receiving: an SMTP server for the mailboxes of its caller.
//!
//! It takes what is addressed to a mailbox and refuses the rest, so that it relays nothing. A message is
//! acknowledged once its caller has it durably, not before. It does not check senders (SPF, DKIM, DMARC),
//! does not look into messages, and keeps none.

mod certificate;
mod command;
mod envelope;
mod listener;
mod mailboxes;
mod path;
mod reply;
mod room;
mod session;
mod settings;
mod text;
mod wire;

#[cfg(test)]
mod tests;

pub use self::{
    certificate::{InvalidCertificate, tls_config},
    listener::serve,
    mailboxes::{Mailboxes, Received, Refused, mailbox_name},
    settings::Settings,
};
