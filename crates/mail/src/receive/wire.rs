//! A connection as lines and replies, with its bounds in time and length. Knows nothing of commands.

use std::time::Duration;

use bytes::BytesMut;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::reply::Reply;

/// The longest command line with its CR LF.
const COMMAND_MAX: usize = 512;
/// Read at a time.
const READ_BYTES: usize = 16 * 1024;
/// The time for a last word to somebody who may no longer listen.
const FAREWELL_TIMEOUT: Duration = Duration::from_secs(5);

/// The time that a connection has.
#[derive(Debug, Clone)]
pub(super) struct Patience {
    pub(super) idle: Duration,
    pub(super) until: Instant,
    pub(super) stop: CancellationToken,
}

impl Patience {
    /// The moment until which the next word must have come.
    pub(super) fn next(&self) -> Instant {
        self.until.min(Instant::now() + self.idle)
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct Wire<S> {
    stream: S,
    buffer: BytesMut,
    patience: Patience,
}

/// A line that came in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The line without its end.
    Text(BytesMut),
    /// A line that is too long to be a command.
    TooLong,
    /// A line with a CR or LF by itself.
    BareEnd,
}

/// The reason why a conversation ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// The client is gone.
    Gone,
    /// The client said nothing for too long, or stayed too long.
    TooSlow,
    /// The server stops.
    Stopping,
    /// The client made too many mistakes.
    TooManyErrors,
    /// The client sent far more than a message may have.
    Flood,
}

impl Cut {
    /// The last word, if anybody is there to read it.
    pub(super) fn farewell(self) -> Option<Reply> {
        match self {
            Self::Gone => None,
            Self::TooSlow => Some(Reply::new(
                421,
                "4.4.2 Waited too long; closing the connection",
            )),
            Self::Stopping => Some(Reply::new(421, "4.3.2 The server stops; try again later")),
            Self::TooManyErrors => Some(Reply::new(
                421,
                "4.7.0 Too many errors; closing the connection",
            )),
            Self::Flood => Some(Reply::new(
                552,
                "5.3.4 The message is far too large; closing the connection",
            )),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    pub(super) fn new(stream: S, patience: Patience) -> Self {
        Self {
            stream,
            buffer: BytesMut::new(),
            patience,
        }
    }

    /// The next line. Between lines the server may stop.
    pub(super) async fn line(&mut self) -> Result<Line, Cut> {
        let mut is_too_long = false;
        loop {
            if self.patience.stop.is_cancelled() {
                return Err(Cut::Stopping);
            }
            if let Some(end) = memchr::memchr(b'\n', &self.buffer) {
                let line = self.buffer.split_to(end + 1);
                is_too_long |= line.len() > COMMAND_MAX;
                return Ok(if is_too_long {
                    Line::TooLong
                } else {
                    ended(line)
                });
            }
            if self.buffer.len() > COMMAND_MAX {
                is_too_long = true;
                self.buffer.clear();
            }
            self.fill().await?;
        }
    }

    /// Waits for more input.
    pub(super) async fn fill(&mut self) -> Result<(), Cut> {
        self.buffer.reserve(READ_BYTES);
        let read = timeout_at(self.patience.next(), self.stream.read_buf(&mut self.buffer));
        tokio::select! {
            biased;
            () = self.patience.stop.cancelled() => Err(Cut::Stopping),
            read = read => match read {
                Ok(Ok(0) | Err(_)) => Err(Cut::Gone),
                Ok(Ok(_)) => Ok(()),
                Err(_) => Err(Cut::TooSlow),
            },
        }
    }

    /// The input that has come in and was not read as a line.
    pub(super) fn input(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Sends a reply.
    pub(super) async fn reply(&mut self, reply: &Reply) -> Result<(), Cut> {
        self.send(reply, self.patience.next()).await
    }

    /// Says a last word and closes the connection.
    pub(super) async fn close(mut self, farewell: Option<&Reply>) {
        let until = Instant::now() + FAREWELL_TIMEOUT;
        if let Some(reply) = farewell {
            let _ = self.send(reply, until).await;
        }
        let _ = timeout_at(until, self.stream.shutdown()).await;
    }

    /// The bare connection. Input that has come in is gone with the wire: behind `STARTTLS` it was not encrypted.
    pub(super) fn into_stream(self) -> S {
        self.stream
    }

    async fn send(&mut self, reply: &Reply, until: Instant) -> Result<(), Cut> {
        let bytes = reply.bytes();
        let sent = timeout_at(until, async {
            self.stream.write_all(&bytes).await?;
            self.stream.flush().await
        });
        match sent.await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Cut::Gone),
            Err(_) => Err(Cut::TooSlow),
        }
    }
}

fn ended(mut line: BytesMut) -> Line {
    if !line.ends_with(b"\r\n") {
        return Line::BareEnd;
    }
    line.truncate(line.len() - 2);
    if line.contains(&b'\r') {
        return Line::BareEnd;
    }
    Line::Text(line)
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, duplex};

    use super::*;

    fn wire() -> (Wire<DuplexStream>, DuplexStream, CancellationToken) {
        let (ours, theirs) = duplex(64 * 1024);
        let stop = CancellationToken::new();
        let patience = Patience {
            idle: Duration::from_secs(300),
            until: Instant::now() + Duration::from_secs(3600),
            stop: stop.clone(),
        };
        (Wire::new(ours, patience), theirs, stop)
    }

    fn text(text: &str) -> Result<Line, Cut> {
        Ok(Line::Text(BytesMut::from(text)))
    }

    #[tokio::test]
    async fn lines_are_told_apart_however_they_arrive() {
        let (mut wire, mut theirs, _) = wire();
        let long = format!("NOOP {}\r\n", "a".repeat(600));
        let sent = format!("NOOP\r\nbare\nmid\rdle\r\n{long}{long}QUIT\r\n");
        theirs.write_all(sent.as_bytes()).await.unwrap();
        assert_eq!(wire.line().await, text("NOOP"));
        assert_eq!(wire.line().await, Ok(Line::BareEnd));
        assert_eq!(wire.line().await, Ok(Line::BareEnd));
        assert_eq!(wire.line().await, Ok(Line::TooLong));
        assert_eq!(wire.line().await, Ok(Line::TooLong));
        assert_eq!(wire.line().await, text("QUIT"));
        drop(theirs);
        assert_eq!(wire.line().await, Err(Cut::Gone));
    }

    #[tokio::test]
    async fn a_line_without_end_takes_no_memory() {
        let (mut wire, mut theirs, _) = wire();
        let client = async {
            for _ in 0..100 {
                theirs.write_all(&[b'a'; 10_000]).await.unwrap();
            }
            theirs.write_all(b"\r\nNOOP\r\n").await.unwrap();
        };
        let server = async {
            assert_eq!(wire.line().await, Ok(Line::TooLong));
            assert_eq!(wire.line().await, text("NOOP"));
            assert!(wire.buffer.capacity() <= 4 * READ_BYTES);
        };
        tokio::join!(client, server);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_a_connection_and_so_does_dawdling() {
        let (mut wire, mut theirs, _) = wire();
        let start = Instant::now();
        assert_eq!(wire.line().await, Err(Cut::TooSlow));
        assert_eq!(start.elapsed(), Duration::from_secs(300));
        let dawdling = async {
            while theirs.write_all(b"NOOP\r\n").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(200)).await;
            }
        };
        let server = async move {
            let cut = loop {
                if let Err(cut) = wire.line().await {
                    break cut;
                }
            };
            assert_eq!(cut, Cut::TooSlow);
            assert_eq!(start.elapsed(), Duration::from_secs(3600));
        };
        tokio::join!(dawdling, server);
    }

    #[tokio::test]
    async fn a_server_that_stops_reads_no_further_line() {
        let (mut wire, mut theirs, stop) = wire();
        theirs.write_all(b"NOOP\r\nNOOP\r\n").await.unwrap();
        assert_eq!(wire.line().await, text("NOOP"));
        stop.cancel();
        assert_eq!(wire.line().await, Err(Cut::Stopping));
    }
}
