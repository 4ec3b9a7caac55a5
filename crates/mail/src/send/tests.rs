//! Sending to this crate's own server, and to relays that follow a script.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    net::TcpListener,
    sync::Mutex,
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{InvalidSender, Outgoing, SendError, Sender};
use crate::{
    event::{self, Options},
    receive::{Mailboxes, Received, Refused, Settings, serve, tls_config},
};

/// Takes everything but mail for `stranger` and `busy`.
#[derive(Default)]
struct Desk {
    taken: Mutex<Vec<Received>>,
}

#[async_trait]
impl Mailboxes for Desk {
    async fn knows(&self, address: &str) -> Result<bool, Refused> {
        match address {
            "busy@a.example" => Err(Refused::Temporarily("Later".to_owned())),
            _ => Ok(address != "stranger@a.example"),
        }
    }

    async fn deliver(&self, received: Received) -> Result<(), Refused> {
        self.taken.lock().await.push(received);
        Ok(())
    }
}

/// A server of this crate, until the end of the test.
async fn own_server(tls: Option<Arc<ServerConfig>>) -> (SocketAddr, Arc<Desk>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let desk = Arc::new(Desk::default());
    let settings = Settings {
        tls,
        ..Settings::default()
    };
    tokio::spawn(serve(
        listener,
        settings,
        desk.clone(),
        CancellationToken::new(),
    ));
    (address, desk)
}

/// A certificate for `localhost`, as PEM, and a server's settings with it.
fn certificate() -> (String, Arc<ServerConfig>) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let config = tls_config(
        cert.pem().as_bytes(),
        signing_key.serialize_pem().as_bytes(),
    );
    (cert.pem(), config.unwrap())
}

fn sender(url: &str) -> Sender {
    Sender::new(url, "Headwater <headwater@b.example>").unwrap()
}

fn mail(to: &str) -> Outgoing {
    Outgoing {
        to: vec![to.to_owned()],
        subject: "Grüße".to_owned(),
        text: Some("hello\n.\nbehind the dot".to_owned()),
        html: Some("<p>hello</p>".to_owned()),
        message_id: "<1@b.example>".to_owned(),
        sent_at_ms: 1_774_346_927_000,
        headers: vec![("X-Run".to_owned(), "ex_1".to_owned())],
    }
}

#[tokio::test]
async fn a_message_arrives_as_it_was_meant() {
    let (address, desk) = own_server(None).await;
    let sender = sender(&format!("smtp://{address}"));
    sender.send(&mail("Jane <jane@a.example>")).await.unwrap();
    let taken = desk.taken.lock().await;
    assert_eq!(taken[0].envelope_from, "headwater@b.example");
    assert_eq!(taken[0].recipients, ["jane@a.example"]);
    assert_eq!(taken[0].helo, "b.example");
    let event = event::parse(&taken[0], &Options::new("id", "mx.example", 0)).event;
    assert_eq!(event["subject"], "Grüße");
    assert_eq!(event["headers"]["message-id"], "<1@b.example>");
    assert_eq!(event["headers"]["x-run"], "ex_1");
    assert_eq!(event["headers"]["from"]["value"][0]["name"], "Headwater");
    assert_eq!(event["date"], "2026-03-24T10:08:47.000Z");
    assert_eq!(event["body"]["text"], "hello\n.\nbehind the dot");
    assert_eq!(event["body"]["html"], "<p>hello</p>");
}

#[tokio::test]
async fn a_repeated_send_can_be_recognised() {
    let (address, desk) = own_server(None).await;
    let sender = sender(&format!("smtp://{address}"));
    let mail = Outgoing {
        message_id: sender.message_id("ex_1", "notify", 0),
        ..mail("jane@a.example")
    };
    sender.send(&mail).await.unwrap();
    sender.send(&mail).await.unwrap();
    let taken = desk.taken.lock().await;
    let line = format!("Message-ID: {}\r\n", mail.message_id);
    for received in taken.iter() {
        assert!(String::from_utf8_lossy(&received.message).contains(&line));
    }
    assert_eq!(taken.len(), 2);
}

#[tokio::test]
async fn the_connection_is_encrypted_when_the_relay_offers_to() {
    let (authority, tls) = certificate();
    let (address, desk) = own_server(Some(tls)).await;
    let url = format!("smtp://localhost:{}", address.port());
    for (query, is_encrypted) in [("", true), ("?tls=required", true), ("?tls=never", false)] {
        let sender = sender(&format!("{url}{query}"));
        let sender = sender.with_authorities(authority.as_bytes()).unwrap();
        sender.send(&mail("jane@a.example")).await.unwrap();
        assert_eq!(
            desk.taken.lock().await.pop().unwrap().tls,
            is_encrypted,
            "{query}"
        );
    }
    let error = sender(&url)
        .send(&mail("jane@a.example"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, SendError::Unavailable(_)),
        "not trusted: {error}"
    );
    assert_eq!(*desk.taken.lock().await, []);
}

#[tokio::test]
async fn nothing_is_sent_where_encryption_is_required_and_not_offered() {
    let (address, desk) = own_server(None).await;
    let sender = sender(&format!("smtp://{address}?tls=required"));
    let error = sender.send(&mail("jane@a.example")).await.unwrap_err();
    assert!(matches!(error, SendError::Unavailable(_)), "{error}");
    assert!(
        error
            .to_string()
            .contains("Cannot encrypt the connection to the mail server"),
        "{error}"
    );
    assert_eq!(*desk.taken.lock().await, []);
}

#[tokio::test]
async fn a_refused_recipient_is_told_from_one_that_has_to_wait() {
    let (address, _desk) = own_server(None).await;
    let sender = sender(&format!("smtp://{address}"));
    let refused = sender.send(&mail("stranger@a.example")).await.unwrap_err();
    let text = format!(
        "The mail server {address} did not take the message (550 5.1.1 Nobody receives mail at this address here)"
    );
    assert_eq!(refused, SendError::Refused(text));
    let later = sender.send(&mail("busy@a.example")).await.unwrap_err();
    assert!(
        matches!(&later, SendError::Unavailable(text) if text.contains("(451 4.3.0 Later)")),
        "{later}"
    );
}

#[tokio::test]
async fn a_message_that_is_none_is_not_tried() {
    let sender = sender("smtp://127.0.0.1:1");
    let error = sender.send(&mail("nobody")).await.unwrap_err();
    assert_eq!(
        error,
        SendError::Refused("`nobody` is not an address".to_owned())
    );
}

#[tokio::test]
async fn a_relay_that_is_not_there_is_unavailable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let sender = sender(&format!("smtp://jane:hush@{address}"));
    let error = sender.send(&mail("jane@a.example")).await.unwrap_err();
    assert!(matches!(error, SendError::Unavailable(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("Cannot reach the mail server {address} (")),
        "{text}"
    );
    assert!(!text.contains("hush"), "{text}");
}

#[test]
fn wrong_settings_are_told() {
    let from = Sender::new("smtp://host", "nobody").unwrap_err();
    assert_eq!(from, InvalidSender::From("nobody".to_owned()));
    let sender = Sender::new("smtps://host", "a@b.example").unwrap();
    let authorities = sender.with_authorities(b"no PEM").unwrap_err();
    assert_eq!(authorities, InvalidSender::Authorities);
}

/// The turns of a relay: a line it must hear, and its answer. It hangs up behind the last.
type Script = &'static [(&'static str, &'static str)];

const EHLO: (&str, &str) = ("EHLO b.example", "250-relay\r\n250 AUTH PLAIN LOGIN");
const LOGIN: (&str, &str) = ("AUTH PLAIN AGphbmUAaHVzaA==", "235 welcome");
const MAIL: (&str, &str) = ("MAIL FROM:<headwater@b.example>", "250 OK");
const RCPT: (&str, &str) = ("RCPT TO:<jane@a.example>", "250 OK");
const DATA: (&str, &str) = ("DATA", "354 go ahead");

async fn follow<S: AsyncRead + AsyncWrite + Unpin>(stream: S, script: Script) {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 relay\r\n").await.unwrap();
    for (wanted, answer) in script {
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.unwrap();
            let line = line.trim_end();
            // The message is the one thing that is said in many lines.
            if *wanted != "." || line == "." {
                assert_eq!(line, *wanted);
                break;
            }
        }
        stream
            .write_all(format!("{answer}\r\n").as_bytes())
            .await
            .unwrap();
        stream.flush().await.unwrap();
    }
}

/// A relay that follows the script once, for a client that gives the password `hush`.
async fn relay(script: Script) -> (Sender, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        follow(stream, script).await;
    });
    (sender(&format!("smtp://jane:hush@{address}")), task)
}

async fn outcome(script: Script) -> Result<(), SendError> {
    let (sender, task) = relay(script).await;
    let outcome = sender.send(&mail("jane@a.example")).await;
    task.await.unwrap();
    outcome
}

#[tokio::test]
async fn user_and_password_are_given_when_asked_for() {
    let whole = [
        EHLO,
        LOGIN,
        MAIL,
        RCPT,
        DATA,
        (".", "250 taken"),
        ("QUIT", "221 bye"),
    ];
    assert_eq!(outcome(Box::leak(Box::new(whole))).await, Ok(()));
}

#[tokio::test]
async fn a_relay_that_took_the_message_need_not_say_goodbye() {
    let whole = [EHLO, LOGIN, MAIL, RCPT, DATA, (".", "250 taken")];
    assert_eq!(outcome(Box::leak(Box::new(whole))).await, Ok(()));
}

#[tokio::test]
async fn a_refused_login_is_told_without_the_password() {
    let refused = (
        "AUTH PLAIN AGphbmUAaHVzaA==",
        "535 5.7.8 hush and AGphbmUAaHVzaA== are wrong",
    );
    let error = outcome(Box::leak(Box::new([EHLO, refused])))
        .await
        .unwrap_err();
    assert!(matches!(error, SendError::Refused(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.ends_with("did not accept user and password (535 5.7.8 … and … are wrong)"),
        "{text}"
    );
}

#[tokio::test]
async fn permanent_answers_are_final_and_others_are_not() {
    for (script, is_final) in [
        (
            vec![
                EHLO,
                LOGIN,
                ("MAIL FROM:<headwater@b.example>", "553 not you"),
            ],
            true,
        ),
        (
            vec![
                EHLO,
                LOGIN,
                ("MAIL FROM:<headwater@b.example>", "450 not now"),
            ],
            false,
        ),
        (
            vec![EHLO, ("AUTH PLAIN AGphbmUAaHVzaA==", "454 not now")],
            false,
        ),
        (vec![EHLO, LOGIN, MAIL, RCPT, DATA, (".", "554 spam")], true),
        (
            vec![EHLO, LOGIN, MAIL, RCPT, DATA, (".", "452 full")],
            false,
        ),
        (vec![EHLO, LOGIN, MAIL, RCPT, DATA], false),
        (vec![EHLO, LOGIN], false),
        (vec![("EHLO b.example", "421 closing")], false),
        (vec![("EHLO b.example", "what?")], false),
        (vec![("EHLO b.example", "250 no login here")], false),
    ] {
        let told = format!("{script:?}");
        // It may say QUIT to a relay that has hung up.
        let (sender, _task) = relay(script.leak()).await;
        let error = sender.send(&mail("jane@a.example")).await.unwrap_err();
        assert_eq!(
            matches!(error, SendError::Refused(_)),
            is_final,
            "{told}: {error}"
        );
    }
}

#[tokio::test]
async fn a_relay_that_says_nothing_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut sender = sender(&format!("smtp://{address}"));
    sender.timeout = Duration::from_millis(50);
    let error = sender.send(&mail("jane@a.example")).await.unwrap_err();
    assert!(matches!(error, SendError::Unavailable(_)), "{error}");
    assert!(error.to_string().contains("did not answer"), "{error}");
}

#[tokio::test]
async fn smtps_is_encrypted_from_the_start() {
    let (authority, tls) = certificate();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = TlsAcceptor::from(tls).accept(stream).await.unwrap();
        let script = &[
            EHLO,
            LOGIN,
            MAIL,
            RCPT,
            DATA,
            (".", "250 taken"),
            ("QUIT", "221 bye"),
        ];
        follow(stream, script).await;
    });
    let sender = sender(&format!("smtps://jane:hush@localhost:{port}"));
    let sender = sender.with_authorities(authority.as_bytes()).unwrap();
    sender.send(&mail("jane@a.example")).await.unwrap();
    task.await.unwrap();
}

#[test]
fn base64_of_the_login_is_that_of_the_scripts() {
    assert_eq!(
        LOGIN.0,
        format!("AUTH PLAIN {}", BASE64_STANDARD.encode("\0jane\0hush"))
    );
}
