//! The two sides of the tests: a server with mailboxes that remember, and a client that speaks in lines.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    sync::{Mutex, Semaphore},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::super::{Mailboxes, Received, Refused, Settings, mailbox_name, serve};

/// Longer than anything here takes; a test that waits so long has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Mailboxes of which `known` and those that begin so exist, and `locked` cannot be asked about.
pub(super) struct Desk {
    pub(super) taken: Mutex<Vec<Received>>,
    /// The answers to the next deliveries; `Ok` where there is none.
    pub(super) refusals: Mutex<Vec<Refused>>,
    /// Counts deliveries that have begun.
    pub(super) begun: Semaphore,
    /// Lets deliveries end.
    pub(super) may_end: Semaphore,
}

#[async_trait]
impl Mailboxes for Desk {
    async fn knows(&self, address: &str) -> Result<bool, Refused> {
        match mailbox_name(address) {
            "locked" => Err(Refused::Temporarily("The store is busy".to_owned())),
            name => Ok(name.starts_with("known")),
        }
    }

    async fn deliver(&self, received: Received) -> Result<(), Refused> {
        self.begun.add_permits(1);
        self.may_end.acquire().await.unwrap().forget();
        if let Some(refused) = self.refusals.lock().await.pop() {
            return Err(refused);
        }
        self.taken.lock().await.push(received);
        Ok(())
    }
}

/// A server that runs.
pub(super) struct Server {
    pub(super) address: SocketAddr,
    pub(super) desk: Arc<Desk>,
    pub(super) stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Server {
    pub(super) async fn start(settings: Settings) -> Self {
        Self::with_deliveries(settings, 1_000).await
    }

    /// A server whose desk ends so many deliveries, and later ones when told to.
    pub(super) async fn with_deliveries(settings: Settings, deliveries: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let desk = Arc::new(Desk {
            taken: Mutex::default(),
            refusals: Mutex::default(),
            begun: Semaphore::new(0),
            may_end: Semaphore::new(deliveries),
        });
        let stop = CancellationToken::new();
        let task = tokio::spawn(serve(listener, settings, desk.clone(), stop.clone()));
        Self {
            address,
            desk,
            stop,
            task,
        }
    }

    pub(super) async fn client(&self) -> Client<TcpStream> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let mut client = Client::new(stream);
        let greeting = client.reply().await;
        assert!(greeting.starts_with("220 mx.example "), "{greeting}");
        client
    }

    /// A client that has said its name.
    pub(super) async fn greeted(&self) -> Client<TcpStream> {
        let mut client = self.client().await;
        client.ask("EHLO client.example").await;
        client
    }

    pub(super) async fn taken(&self) -> Vec<Received> {
        self.desk.taken.lock().await.clone()
    }

    /// Waits until the server has come to its end.
    pub(super) async fn ended(self) {
        timeout(PATIENCE, self.task).await.unwrap().unwrap();
    }
}

pub(super) fn settings() -> Settings {
    Settings {
        host_name: "mx.example".to_owned(),
        message_bytes_max: 10_000,
        ..Settings::default()
    }
}

/// A client.
pub(super) struct Client<S> {
    stream: BufReader<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(super) fn new(stream: S) -> Self {
        Self {
            stream: BufReader::new(stream),
        }
    }

    pub(super) async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
        self.stream.flush().await.unwrap();
    }

    /// A whole reply, its lines joined by spaces; empty at the end of the connection.
    pub(super) async fn reply(&mut self) -> String {
        let mut reply: Vec<String> = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.stream.read_line(&mut line);
            // A connection that is reset is at its end, too.
            timeout(PATIENCE, read).await.unwrap().unwrap_or_default();
            let is_last = line.as_bytes().get(3) != Some(&b'-');
            reply.push(line.trim_end().to_owned());
            if is_last {
                return reply.join(" ");
            }
        }
    }

    pub(super) async fn ask(&mut self, line: &str) -> String {
        self.send(&format!("{line}\r\n")).await;
        self.reply().await
    }

    /// Says lines, each of which is to be answered with a code.
    pub(super) async fn expect(&mut self, lines: &[(&str, &str)]) {
        for (line, code) in lines {
            let reply = self.ask(line).await;
            assert!(reply.starts_with(code), "{line}: {reply}");
        }
    }

    /// Begins a message, and stands behind the reply to `DATA`.
    pub(super) async fn begin(&mut self) {
        let begin = [
            ("MAIL FROM:<jane@a.example>", "250"),
            ("RCPT TO:<known@mx.example>", "250"),
            ("DATA", "354"),
        ];
        self.expect(&begin).await;
    }

    pub(super) fn into_stream(self) -> S {
        self.stream.into_inner()
    }
}
