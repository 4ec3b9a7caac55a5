//! Commands, their order, and the bounds of a conversation.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, duplex},
    net::TcpStream,
    sync::{Mutex, Semaphore},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    super::{
        Settings,
        envelope::Client as Peer,
        room::Room,
        session::{Reception, Session},
        wire::{Patience, Wire},
    },
    peers::{Client, Desk, Server, settings},
};

#[tokio::test]
async fn the_extensions_are_announced_to_those_who_ask() {
    let server = Server::start(settings()).await;
    let mut client = server.client().await;
    let reply = client.ask("EHLO client.example").await;
    let wanted = "250-mx.example 250-PIPELINING 250-SIZE 10000 250-8BITMIME 250-SMTPUTF8 250 ENHANCEDSTATUSCODES";
    assert_eq!(reply, wanted);
    assert_eq!(client.ask("HELO client.example").await, "250 mx.example");
}

#[tokio::test]
async fn commands_out_of_order_are_refused_and_the_conversation_goes_on() {
    let server = Server::start(settings()).await;
    let mut client = server.client().await;
    let conversation = [
        ("MAIL FROM:<a@b.example>", "503"),
        ("RCPT TO:<known@mx.example>", "503"),
        ("DATA", "503"),
        ("STARTTLS", "503"),
        ("EHLO client.example", "250"),
        ("RCPT TO:<known@mx.example>", "503"),
        ("MAIL FROM:<a@b.example>", "250"),
        ("MAIL FROM:<a@b.example>", "503"),
        ("DATA", "554"),
        ("RSET", "250"),
        ("RCPT TO:<known@mx.example>", "503"),
        ("MAIL FROM:<>", "250"),
        ("EHLO client.example", "250"),
        ("RCPT TO:<known@mx.example>", "503"),
        ("NOOP", "250"),
        ("VRFY known", "252"),
        ("HELP", "214"),
        ("QUIT", "221"),
    ];
    client.expect(&conversation).await;
    assert_eq!(client.reply().await, "");
}

#[tokio::test]
async fn only_mailboxes_that_exist_are_taken() {
    let server = Server::start(settings()).await;
    let mut client = server.greeted().await;
    let conversation = [
        ("MAIL FROM:<a@b.example>", "250"),
        ("RCPT TO:<stranger@elsewhere.example>", "550 5.1.1"),
        ("RCPT TO:<locked@mx.example>", "451 4.3.0 The store is busy"),
        ("RCPT TO:<known+tag@any.example>", "250"),
        ("RCPT TO:not an address", "501"),
    ];
    client.expect(&conversation).await;
}

#[tokio::test]
async fn a_message_has_at_most_100_recipients_and_each_once() {
    let server = Server::start(settings()).await;
    let mut client = server.greeted().await;
    client.expect(&[("MAIL FROM:<a@b.example>", "250")]).await;
    for number in 0..100 {
        let line = format!("RCPT TO:<known{number}@mx.example>");
        client.expect(&[(&line, "250")]).await;
    }
    let conversation = [
        ("RCPT TO:<known7@mx.example>", "250"),
        ("RCPT TO:<known100@mx.example>", "452 4.5.3"),
        ("DATA", "354"),
        ("hello\r\n.", "250"),
    ];
    client.expect(&conversation).await;
    assert_eq!(server.taken().await[0].recipients.len(), 100);
}

#[tokio::test]
async fn addresses_beyond_ascii_are_asked_for() {
    let server = Server::start(settings()).await;
    let mut client = server.greeted().await;
    let conversation = [
        ("MAIL FROM:<jörg@b.example>", "553 5.6.7"),
        ("MAIL FROM:<a@b.example>", "250"),
        ("RCPT TO:<knownö@mx.example>", "553 5.6.7"),
        ("RSET", "250"),
        ("MAIL FROM:<jörg@b.example> SMTPUTF8 BODY=8BITMIME", "250"),
        ("RCPT TO:<knownö@mx.example>", "250"),
    ];
    client.expect(&conversation).await;
}

#[tokio::test]
async fn lines_that_are_no_commands_are_survived() {
    let server = Server::start(settings()).await;
    let mut client = server.greeted().await;
    let long = format!("NOOP {}", "a".repeat(100_000));
    let longest = format!("NOOP {}", "a".repeat(505));
    client
        .expect(&[(&long, "500"), (&longest, "250"), ("NOOP \rNOOP", "500")])
        .await;
    client.expect(&[("bare\nNOOP", "500")]).await;
    assert!(client.reply().await.starts_with("250"));
}

#[tokio::test]
async fn too_many_errors_end_the_conversation() {
    let server = Server::start(settings()).await;
    let mut client = server.greeted().await;
    for _ in 0..19 {
        client.expect(&[("FROB", "500")]).await;
    }
    client
        .expect(&[("NOOP", "250"), ("FROB", "421 4.7.0")])
        .await;
    assert_eq!(client.reply().await, "");
}

#[tokio::test]
async fn connections_beyond_the_bound_are_told_to_come_back() {
    let server = Server::start(Settings {
        connections_max: 1,
        ..settings()
    })
    .await;
    let mut first = server.client().await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let mut second = Client::new(stream);
    assert!(second.reply().await.starts_with("421 4.7.0"));
    first.expect(&[("QUIT", "221")]).await;
    assert_eq!(first.reply().await, "");
    // The place is free once the server has seen the end, which it says to nobody.
    loop {
        let stream = TcpStream::connect(server.address).await.unwrap();
        if Client::new(stream).reply().await.starts_with("220") {
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_told_so_and_let_go() {
    let (ours, mut theirs) = duplex(64 * 1024);
    let settings = settings();
    let patience = Patience {
        idle: settings.idle_timeout,
        until: Instant::now() + settings.session_timeout,
        stop: CancellationToken::new(),
    };
    let desk = Desk {
        taken: Mutex::default(),
        refusals: Mutex::default(),
        begun: Semaphore::new(0),
        may_end: Semaphore::new(0),
    };
    let reception = Arc::new(Reception {
        room: Room::new(settings.buffered_bytes_max),
        settings,
        mailboxes: Arc::new(desk),
    });
    let peer = Peer {
        ip: Ipv4Addr::LOCALHOST.into(),
        is_encrypted: false,
    };
    let start = Instant::now();
    let session = tokio::spawn(Session::new(Wire::new(ours, patience), reception, peer).run());
    let mut replies = String::new();
    theirs.read_to_string(&mut replies).await.unwrap();
    assert!(
        replies.ends_with("421 4.4.2 Waited too long; closing the connection\r\n"),
        "{replies}"
    );
    assert_eq!(start.elapsed(), Duration::from_secs(5 * 60));
    assert!(session.await.unwrap().is_none());
}
