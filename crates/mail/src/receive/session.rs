//! One client's conversation: which command is in order when.

use std::{borrow::Cow, sync::Arc};

use tokio::io::{AsyncRead, AsyncWrite};

use super::{
    command::{self, Command, NewMail},
    envelope::{self, Client, Envelope},
    mailboxes::Mailboxes,
    reply::Reply,
    room::Room,
    settings::Settings,
    text::MailText,
    wire::{Cut, Line, Wire},
};

const ERRORS_MAX: u32 = 20;

/// The server that sessions are held for.
pub(super) struct Reception {
    pub(super) settings: Settings,
    pub(super) mailboxes: Arc<dyn Mailboxes>,
    pub(super) room: Room,
}

/// A conversation.
pub(super) struct Session<S> {
    wire: Wire<S>,
    reception: Arc<Reception>,
    client: Client,
    helo: Option<String>,
    envelope: Option<Envelope>,
    errors: u32,
}

/// The end of a conversation that went well.
enum End {
    Quit,
    StartTls,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    pub(super) fn new(wire: Wire<S>, reception: Arc<Reception>, client: Client) -> Self {
        Self {
            wire,
            reception,
            client,
            helo: None,
            envelope: None,
            errors: 0,
        }
    }

    /// Converses until one of both has had enough. The connection comes back if it is to be encrypted now.
    pub(super) async fn run(mut self) -> Option<S> {
        match self.converse().await {
            Ok(End::StartTls) => return Some(self.wire.into_stream()),
            Ok(End::Quit) => self.wire.close(None).await,
            Err(cut) => self.wire.close(cut.farewell().as_ref()).await,
        }
        None
    }

    async fn converse(&mut self) -> Result<End, Cut> {
        // A client that has just encrypted the connection was greeted before.
        if !self.client.is_encrypted {
            let name = &self.reception.settings.host_name;
            let greeting = Reply::new(220, format!("{name} ESMTP Headwater"));
            self.wire.reply(&greeting).await?;
        }
        loop {
            let reply = match self.command().await? {
                Ok(Command::Quit) => {
                    self.wire.reply(&Reply::new(221, "2.0.0 Bye")).await?;
                    return Ok(End::Quit);
                }
                Ok(Command::StartTls) => match self.may_encrypt() {
                    Ok(()) => {
                        self.wire.reply(&Reply::new(220, "2.0.0 Go ahead")).await?;
                        return Ok(End::StartTls);
                    }
                    Err(reply) => reply,
                },
                Ok(Command::Data) => self.data().await?,
                Ok(command) => self.obey(command).await,
                Err(reply) => reply,
            };
            self.answer(reply).await?;
        }
    }

    /// The next command, or the reply to a line that is not one.
    async fn command(&mut self) -> Result<Result<Command, Reply>, Cut> {
        Ok(match self.wire.line().await? {
            Line::Text(line) => command::read(&line),
            Line::TooLong => Err(Reply::new(500, "5.5.2 The line is too long")),
            Line::BareEnd => Err(Reply::new(500, "5.5.2 Lines end with CR LF")),
        })
    }

    /// Sends a reply, unless it is the one that makes too many errors.
    async fn answer(&mut self, reply: Reply) -> Result<(), Cut> {
        if reply.blames_the_client() {
            self.errors += 1;
            if self.errors >= ERRORS_MAX {
                return Err(Cut::TooManyErrors);
            }
        }
        self.wire.reply(&reply).await
    }

    /// Carries out the commands that need nothing but an answer.
    async fn obey(&mut self, command: Command) -> Reply {
        match command {
            Command::Hello { name, is_extended } => self.hello(name, is_extended),
            Command::Mail(mail) => self.begin(mail),
            Command::Recipient(address) => match &mut self.envelope {
                Some(envelope) => envelope.add(address, &*self.reception.mailboxes).await,
                None => Reply::new(503, "5.5.1 Say MAIL FROM first"),
            },
            Command::Reset => {
                self.envelope = None;
                Reply::new(250, "2.0.0 Forgotten")
            }
            Command::Verify => Reply::new(252, "2.5.2 Send a message and see"),
            Command::Help => Reply::new(214, "2.0.0 See RFC 5321"),
            Command::Noop | Command::Data | Command::StartTls | Command::Quit => {
                Reply::new(250, "2.0.0 OK")
            }
        }
    }

    fn hello(&mut self, name: String, is_extended: bool) -> Reply {
        self.envelope = None;
        self.helo = Some(name);
        let settings = &self.reception.settings;
        if !is_extended {
            return Reply::new(250, settings.host_name.clone());
        }
        let mut lines: Vec<Cow<'static, str>> = vec![
            settings.host_name.clone().into(),
            "PIPELINING".into(),
            format!("SIZE {}", settings.message_bytes_max).into(),
            "8BITMIME".into(),
            "SMTPUTF8".into(),
            "ENHANCEDSTATUSCODES".into(),
        ];
        if settings.tls.is_some() && !self.client.is_encrypted {
            lines.push("STARTTLS".into());
        }
        Reply::with_lines(250, lines)
    }

    /// Commands that came in behind `STARTTLS` were not encrypted, but would be read as if they were.
    fn may_encrypt(&mut self) -> Result<(), Reply> {
        if self.reception.settings.tls.is_none() || self.client.is_encrypted {
            return Err(Reply::new(503, "5.5.1 STARTTLS is not offered now"));
        }
        if !self.wire.input().is_empty() {
            return Err(Reply::new(501, "5.5.4 Nothing may follow STARTTLS"));
        }
        Ok(())
    }

    fn begin(&mut self, mail: NewMail) -> Reply {
        let Some(helo) = &self.helo else {
            return Reply::new(503, "5.5.1 Say EHLO first");
        };
        if self.envelope.is_some() {
            return Reply::new(503, "5.5.1 A message was begun already; RSET forgets it");
        }
        match Envelope::new(mail, helo, self.reception.settings.message_bytes_max) {
            Ok(envelope) => {
                self.envelope = Some(envelope);
                Reply::new(250, "2.1.0 OK")
            }
            Err(reply) => reply,
        }
    }

    /// Takes the text of a message and hands both over. A server that stops waits for the latter.
    async fn data(&mut self) -> Result<Reply, Cut> {
        let Some(envelope) = self.envelope.take() else {
            return Ok(Reply::new(503, "5.5.1 Say MAIL FROM first"));
        };
        if !envelope.has_recipients() {
            self.envelope = Some(envelope);
            return Ok(Reply::new(554, "5.5.1 No recipient was accepted"));
        }
        let go_ahead = "Send the message; end it with a dot on a line by itself";
        self.wire.reply(&Reply::new(354, go_ahead)).await?;
        let size_max = self.reception.settings.message_bytes_max;
        let mut text = MailText::new(size_max, &self.reception.room);
        while !text.take(self.wire.input()) {
            if text.is_flood() {
                return Err(Cut::Flood);
            }
            self.wire.fill().await?;
        }
        match text.finish() {
            Ok(kept) => {
                let received = envelope.with(kept.text, self.client);
                let reply = envelope::deliver(received, &*self.reception.mailboxes).await;
                drop(kept.share);
                Ok(reply)
            }
            Err(fault) => Ok(fault.reply()),
        }
    }
}
