//! Messages: whole ones, refused ones, encrypted ones, and those that try to be two.

use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor,
    address::Envelope,
    transport::smtp::client::{Certificate, CertificateStore, Tls, TlsParameters},
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::io::AsyncWriteExt as _;

use super::{
    super::{Received, Refused, Settings, tls_config},
    peers::{Server, settings},
};

const MIB: usize = 1024 * 1024;

/// Another program's client.
fn mailer(server: &Server, tls: Tls) -> AsyncSmtpTransport<Tokio1Executor> {
    AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous("127.0.0.1")
        .port(server.address.port())
        .tls(tls)
        .build()
}

fn envelope(to: &[&str]) -> Envelope {
    let to = to.iter().map(|to| to.parse().unwrap()).collect();
    Envelope::new(Some("jane@a.example".parse().unwrap()), to).unwrap()
}

#[tokio::test]
async fn another_programs_client_delivers_a_message() {
    let server = Server::start(settings()).await;
    let message = b"Subject: hello\r\n\r\n.dots\r\n..\r\n.\r\nbehind\r\n";
    let to = ["known+tag@mx.example", "known2@other.example"];
    mailer(&server, Tls::None)
        .send_raw(&envelope(&to), message)
        .await
        .unwrap();
    let taken = server.taken().await;
    let wanted = Received {
        envelope_from: "jane@a.example".to_owned(),
        recipients: to.map(str::to_owned).to_vec(),
        client_ip: "127.0.0.1".parse().unwrap(),
        message: [&message[..], b"\r\n"].concat().into(),
        tls: false,
        helo: "[127.0.0.1]".to_owned(),
    };
    assert_eq!(taken, [wanted]);
}

#[tokio::test]
async fn commands_may_be_sent_without_waiting_for_replies() {
    let server = Server::start(settings()).await;
    let mut client = server.client().await;
    client
        .send("EHLO c.example\r\nMAIL FROM:<>\r\nRCPT TO:<stranger@x.example>\r\nRCPT TO:<known@x.example>\r\nDATA\r\n")
        .await;
    for code in ["250", "250", "550", "250", "354"] {
        let reply = client.reply().await;
        assert!(reply.starts_with(code), "{code}: {reply}");
    }
    client
        .send("one\r\n.\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<known@x.example>\r\nDATA\r\ntwo\r\n.\r\nQUIT\r\n")
        .await;
    for code in ["250", "250", "250", "354", "250", "221"] {
        let reply = client.reply().await;
        assert!(reply.starts_with(code), "{code}: {reply}");
    }
    let taken = server.taken().await;
    let texts: Vec<_> = taken.iter().map(|received| &*received.message).collect();
    assert_eq!(texts, [b"one\r\n", b"two\r\n"]);
    assert_eq!(taken[0].envelope_from, "");
}

#[tokio::test]
async fn a_large_message_comes_in_whole() {
    let server = Server::start(Settings {
        message_bytes_max: 6 * MIB,
        ..settings()
    })
    .await;
    let message = b"0123456789abcdef 0123456789abcdef 0123456789abcdef\r\n".repeat(5 * MIB / 52);
    let to = envelope(&["known@mx.example"]);
    mailer(&server, Tls::None)
        .send_raw(&to, &message)
        .await
        .unwrap();
    let taken = server.taken().await;
    assert!(taken[0].message.starts_with(&message));
    assert_eq!(taken[0].message.len(), message.len() + 2);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused_early_and_late() {
    let server = Server::start(settings()).await;
    let mut client = server.greeted().await;
    client
        .expect(&[("MAIL FROM:<a@b.example> SIZE=10001", "552 5.3.4")])
        .await;
    client.begin().await;
    let line = format!("{}\r\n", "a".repeat(98));
    client.send(&line.repeat(101)).await;
    client.expect(&[(".", "552 5.3.4")]).await;
    client.begin().await;
    client.send(&line.repeat(100)).await;
    client.expect(&[(".", "250")]).await;
    client.begin().await;
    client.send(&line.repeat(300)).await;
    assert!(client.reply().await.starts_with("552 5.3.4"));
    assert_eq!(client.reply().await, "");
    assert_eq!(server.taken().await.len(), 1);
}

#[tokio::test]
async fn a_message_that_finds_no_room_is_to_come_again() {
    let server = Server::start(Settings {
        buffered_bytes_max: 0,
        ..settings()
    })
    .await;
    let mut client = server.greeted().await;
    client.begin().await;
    client
        .expect(&[("hello\r\n.", "452 4.3.1"), ("NOOP", "250")])
        .await;
    assert_eq!(server.taken().await, []);
}

#[tokio::test]
async fn a_message_cannot_be_made_two() {
    let server = Server::start(settings()).await;
    let mut client = server.greeted().await;
    for end in ["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r\n", "\r\n.\r\r\n"] {
        client.begin().await;
        let smuggled =
            "MAIL FROM:<forged@a.example>\r\nRCPT TO:<known@mx.example>\r\nDATA\r\nforged";
        client.send(&format!("hello{end}{smuggled}\r\n.\r\n")).await;
        let reply = client.reply().await;
        assert!(reply.starts_with("554 5.6.0"), "{end:?}: {reply}");
        client.expect(&[("NOOP", "250")]).await;
    }
    assert_eq!(server.taken().await, []);
}

#[tokio::test]
async fn the_desk_decides_and_the_sender_learns_how() {
    let server = Server::start(settings()).await;
    *server.desk.refusals.lock().await = vec![
        Refused::Permanently("The workflow is gone".to_owned()),
        Refused::Temporarily("The store is busy".to_owned()),
    ];
    let mut client = server.greeted().await;
    for reply in [
        "451 4.3.0 The store is busy",
        "554 5.6.0 The workflow is gone",
        "250 2.0.0 Taken",
    ] {
        client.begin().await;
        client.expect(&[("hello\r\n.", reply)]).await;
    }
    assert_eq!(server.taken().await.len(), 1);
}

#[tokio::test]
async fn a_message_without_its_end_is_none() {
    let server = Server::start(settings()).await;
    let mut client = server.greeted().await;
    client.begin().await;
    client.send("hello\r\n.\r").await;
    drop(client);
    server.stop.cancel();
    let desk = server.desk.clone();
    server.ended().await;
    assert_eq!(*desk.taken.lock().await, []);
}

#[tokio::test]
async fn a_client_may_encrypt_the_connection() {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let tls = tls_config(
        cert.pem().as_bytes(),
        signing_key.serialize_pem().as_bytes(),
    )
    .unwrap();
    let server = Server::start(Settings {
        tls: Some(tls),
        ..settings()
    })
    .await;
    let trust = TlsParameters::builder("localhost".to_owned())
        .certificate_store(CertificateStore::None)
        .add_root_certificate(Certificate::from_pem(cert.pem().as_bytes()).unwrap())
        .build()
        .unwrap();
    let to = envelope(&["known@mx.example"]);
    let mailer = mailer(&server, Tls::Required(trust));
    mailer
        .send_raw(&to, b"Subject: hello\r\n\r\n")
        .await
        .unwrap();
    assert!(server.taken().await[0].tls);

    let mut client = server.greeted().await;
    let reply = client.ask("EHLO client.example").await;
    assert!(reply.ends_with("250 STARTTLS"), "{reply}");
    // The second command would be read as if it had come encrypted.
    client.send("STARTTLS\r\nNOOP\r\n").await;
    assert!(client.reply().await.starts_with("501"));
    assert!(client.reply().await.starts_with("250"));
    client.expect(&[("STARTTLS", "220")]).await;
    let mut stream = client.into_stream();
    stream.write_all(b"EHLO in the open\r\n").await.unwrap();
    server.stop.cancel();
    server.ended().await;
}
