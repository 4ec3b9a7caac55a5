//! Sending: messages handed to a relay, one connection each.
//!
//! It knows whether trying again may help, and says so; trying again is the caller's. A relay that took a
//! message and was not heard saying so gets it twice: both have the same Message-ID.

mod composition;
mod error;
mod failure;
mod relay;

#[cfg(test)]
mod tests;

use std::{fmt, time::Duration};

use lettre::{
    Message,
    message::Mailbox,
    transport::smtp::{
        Error as SmtpError,
        client::{AsyncSmtpConnection, Certificate, TlsParameters},
        extension::ClientId,
    },
};

pub use self::{
    composition::Outgoing,
    error::{InvalidSender, SendError},
};
use self::{
    failure::{Failure, Stage},
    relay::{Relay, Security},
};

/// The time for handing over a message.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time for taking leave, when all is done.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(2);

/// A sender of messages through one relay.
pub struct Sender {
    relay: Relay,
    from: Mailbox,
    /// The sender's domain as it is written within mail.
    domain: String,
    tls: Option<TlsParameters>,
    timeout: Duration,
}

impl Sender {
    /// A sender through the relay at `url`, `smtp[s]://[user:password@]host[:port][?tls=required|never]`, in
    /// the name of `from`, `name@example.com` or `Name <name@example.com>`.
    ///
    /// `smtps` encrypts from the start (port 465). `smtp` encrypts if the relay offers to (port 587 with a
    /// password, else 25); `tls=required` sends nothing otherwise, `tls=never` does not ask. Without
    /// `tls=never` a password is sent unencrypted to this machine only.
    ///
    /// # Errors
    ///
    /// The URL or the address cannot be read.
    pub fn new(url: &str, from: &str) -> Result<Self, InvalidSender> {
        let relay = Relay::read(url)?;
        let tls = tls(&relay, None)?;
        let from =
            composition::mailbox(from).ok_or_else(|| InvalidSender::From(from.to_owned()))?;
        Ok(Self {
            domain: composition::domain(&from),
            relay,
            from,
            tls,
            timeout: TIMEOUT,
        })
    }

    /// The sender, which also trusts the certificates that these authorities, as PEM, have issued.
    ///
    /// # Errors
    ///
    /// There is no certificate in the PEM, or one that cannot be read.
    pub fn with_authorities(mut self, pem: &[u8]) -> Result<Self, InvalidSender> {
        let is_certificate = memchr::memmem::find(pem, b"-----BEGIN CERTIFICATE-----").is_some();
        let authorities = Certificate::from_pem(pem).ok().filter(|_| is_certificate);
        let authorities = authorities.ok_or(InvalidSender::Authorities)?;
        self.tls = tls(&self.relay, Some(authorities))?;
        Ok(self)
    }

    /// The Message-ID of a message that a run sends: the same for the same run, place and number, and no other.
    pub fn message_id(&self, run: &str, path: &str, number: u64) -> String {
        composition::message_id(run, path, number, &self.domain)
    }

    /// Hands a message to the relay.
    ///
    /// # Errors
    ///
    /// The message is not one, or the relay did not take it.
    pub async fn send(&self, mail: &Outgoing) -> Result<(), SendError> {
        let message = composition::compose(&self.from, mail)?;
        match tokio::time::timeout(self.timeout, self.hand_over(&message)).await {
            Ok(Ok(mut connection)) => {
                // It is sent, whatever the relay says or does not say to this.
                let _ = tokio::time::timeout(FAREWELL_TIMEOUT, connection.quit()).await;
                Ok(())
            }
            Ok(Err((stage, error))) => Err(failure::told(&self.relay, stage, &error)),
            Err(_) => Err(failure::late(&self.relay, self.timeout)),
        }
    }

    async fn hand_over(&self, message: &Message) -> Result<AsyncSmtpConnection, (Stage, Failure)> {
        let mut connection = self.connect().await?;
        if let Some(credentials) = self.relay.credentials() {
            if !connection.is_encrypted() && !self.relay.may_see_the_password() {
                return Err((Stage::Encrypt, Failure::PasswordInTheOpen));
            }
            let mechanisms = relay::MECHANISMS;
            at(
                Stage::LogIn,
                connection.auth(mechanisms, &credentials).await,
            )?;
        }
        let text = message.formatted();
        at(
            Stage::Deliver,
            connection.send(message.envelope(), &text).await,
        )?;
        Ok(connection)
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, (Stage, Failure)> {
        let Relay {
            host,
            port,
            security,
            ..
        } = &self.relay;
        let hello = ClientId::Domain(self.domain.clone());
        let from_the_start = self
            .tls
            .clone()
            .filter(|_| *security == Security::FromTheStart);
        let target = (host.as_str(), *port);
        let connected = AsyncSmtpConnection::connect_tokio1(
            target,
            Some(self.timeout),
            &hello,
            from_the_start,
            None,
        );
        let mut connection = at(Stage::Connect, connected.await)?;
        let asks = match security {
            Security::FromTheStart | Security::Never => false,
            Security::WhenOffered => connection.can_starttls(),
            Security::Required => true,
        };
        if let Some(tls) = self.tls.clone().filter(|_| asks) {
            at(Stage::Encrypt, connection.starttls(tls, &hello).await)?;
        }
        Ok(connection)
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Sender");
        shown.field("relay", &self.relay).field("from", &self.from);
        shown.finish_non_exhaustive()
    }
}

fn at<T>(stage: Stage, result: Result<T, SmtpError>) -> Result<T, (Stage, Failure)> {
    result.map_err(|error| (stage, Failure::Smtp(error)))
}

/// The TLS settings for a relay, unless it is never to be used.
fn tls(
    relay: &Relay,
    authorities: Option<Certificate>,
) -> Result<Option<TlsParameters>, InvalidSender> {
    if relay.security == Security::Never {
        return Ok(None);
    }
    let mut builder = TlsParameters::builder(relay.host.clone());
    if let Some(authorities) = authorities {
        builder = builder.add_root_certificate(authorities);
    }
    builder
        .build()
        .map(Some)
        .map_err(|_| InvalidSender::Authorities)
}
