//! The envelope of a message that is being sent: from whom, for whom, and whether it may be.

use std::net::IpAddr;

use bytes::Bytes;

use super::{
    command::NewMail,
    mailboxes::{Mailboxes, Received, Refused},
    reply::Reply,
};

const RECIPIENTS_MAX: usize = 100;

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Client {
    pub(super) ip: IpAddr,
    /// Whether the connection is encrypted by now.
    pub(super) is_encrypted: bool,
}

/// An envelope.
#[derive(Debug)]
pub(super) struct Envelope {
    helo: String,
    from: String,
    is_utf8: bool,
    recipients: Vec<String>,
}

impl Envelope {
    /// An envelope without recipients, from a client that gave itself this name.
    pub(super) fn new(mail: NewMail, helo: &str, size_max: usize) -> Result<Self, Reply> {
        if mail.size.is_some_and(|size| size > size_max as u64) {
            let text = format!("5.3.4 A message may have {size_max} bytes");
            return Err(Reply::new(552, text));
        }
        if !mail.is_utf8 && !mail.from.is_ascii() {
            return Err(beyond_ascii());
        }
        Ok(Self {
            helo: helo.to_owned(),
            from: mail.from,
            is_utf8: mail.is_utf8,
            recipients: Vec::new(),
        })
    }

    pub(super) fn has_recipients(&self) -> bool {
        !self.recipients.is_empty()
    }

    /// Adds a recipient, if somebody receives mail there.
    pub(super) async fn add(&mut self, address: String, mailboxes: &dyn Mailboxes) -> Reply {
        if !self.is_utf8 && !address.is_ascii() {
            return beyond_ascii();
        }
        if self.recipients.contains(&address) {
            return Reply::new(250, "2.1.5 OK");
        }
        if self.recipients.len() >= RECIPIENTS_MAX {
            let text = "4.5.3 Too many recipients; send the rest with another message";
            return Reply::new(452, text);
        }
        match mailboxes.knows(&address).await {
            Ok(true) => {
                self.recipients.push(address);
                Reply::new(250, "2.1.5 OK")
            }
            Ok(false) => Reply::new(550, "5.1.1 Nobody receives mail at this address here"),
            Err(refused) => refusal(refused, "5.1.1"),
        }
    }

    /// The message in this envelope.
    pub(super) fn with(self, message: Bytes, client: Client) -> Received {
        Received {
            envelope_from: self.from,
            recipients: self.recipients,
            client_ip: client.ip,
            message,
            tls: client.is_encrypted,
            helo: self.helo,
        }
    }
}

/// Hands a message over, and says what became of it.
pub(super) async fn deliver(received: Received, mailboxes: &dyn Mailboxes) -> Reply {
    let client = received.client_ip;
    match mailboxes.deliver(received).await {
        Ok(()) => Reply::new(250, "2.0.0 Taken"),
        Err(refused) => {
            tracing::info!(%client, reason = %refused, "a message was refused");
            refusal(refused, "5.6.0")
        }
    }
}

fn beyond_ascii() -> Reply {
    let text = "5.6.7 An address beyond ASCII needs MAIL FROM with SMTPUTF8";
    Reply::new(553, text)
}

/// The reply to a refusal, a permanent one with its own status.
fn refusal(refused: Refused, permanent: &str) -> Reply {
    match refused {
        Refused::Temporarily(reason) => Reply::new(451, format!("4.3.0 {reason}")),
        Refused::Permanently(reason) => Reply::new(554, format!("{permanent} {reason}")),
    }
}
