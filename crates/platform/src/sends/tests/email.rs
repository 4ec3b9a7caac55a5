//! `$.send.email`, against this project's own mail server.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use headwater_mail::{
    receive::{Mailboxes, Received, Refused, Settings, serve},
    send::Sender,
};
use headwater_store::{SendId, SendState, SendWay};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::bench::{Bench, config};
use crate::config::PlatformConfig;

/// Takes mail for everybody but `stranger@a.example`; for `busy@a.example` from the second try on.
#[derive(Default)]
struct Desk {
    taken: Mutex<Vec<Received>>,
    tried: Mutex<Vec<String>>,
}

#[async_trait]
impl Mailboxes for Desk {
    async fn knows(&self, address: &str) -> Result<bool, Refused> {
        Ok(address != "stranger@a.example")
    }

    async fn deliver(&self, received: Received) -> Result<(), Refused> {
        let text = String::from_utf8_lossy(&received.message).into_owned();
        self.tried.lock().push(header(&text, "Message-ID"));
        let is_first = self.tried.lock().len() == 1;
        if is_first && received.recipients == ["busy@a.example"] {
            return Err(Refused::Temporarily("Later".to_owned()));
        }
        self.taken.lock().push(received);
        Ok(())
    }
}

fn header(message: &str, name: &str) -> String {
    let line = message.lines().find_map(|line| line.strip_prefix(name));
    line.expect("the message has the field")
        .trim_start_matches(':')
        .trim()
        .to_owned()
}

async fn server() -> (SocketAddr, Arc<Desk>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let desk = Arc::new(Desk::default());
    let mailboxes = Arc::clone(&desk);
    tokio::spawn(serve(
        listener,
        Settings::default(),
        mailboxes,
        CancellationToken::new(),
    ));
    (address, desk)
}

fn through(address: SocketAddr) -> PlatformConfig {
    let sender = Sender::new(
        &format!("smtp://{address}"),
        "Headwater <headwater@b.example>",
    );
    PlatformConfig {
        mail: Some(Arc::new(sender.unwrap())),
        ..config()
    }
}

async fn mail(bench: &Bench) -> SendId {
    let value = json!({"subject": "Grüße", "text": "hello", "html": "<p>hello</p>"});
    bench.queue(SendWay::Email, value).await
}

async fn error(bench: &Bench, id: &SendId) -> String {
    let error = bench.result(id).await["error"].take();
    error.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_mail_goes_to_the_owner_of_the_workflow() {
    let (address, desk) = server().await;
    let bench = Bench::with(through(address), "ada@a.example").await;
    let id = mail(&bench).await;
    bench.attempt().await;
    assert_eq!(bench.state(&id).await, SendState::Sent);
    let taken = desk.taken.lock().remove(0);
    assert_eq!(taken.recipients, ["ada@a.example"]);
    let message = String::from_utf8_lossy(&taken.message).into_owned();
    assert_eq!(header(&message, "Auto-Submitted"), "auto-generated");
    let result = bench.result(&id).await;
    let expected = json!({
        "subject": "Grüße",
        "text": "hello",
        "html": "<p>hello</p>",
        "to": "ada@a.example",
        "message_id": header(&message, "Message-ID"),
    });
    assert_eq!(result["request"], expected);
    assert_eq!(result.get("error"), None);
}

#[tokio::test]
async fn a_mail_that_has_to_wait_is_the_same_mail_later() {
    let (address, desk) = server().await;
    let bench = Bench::with(through(address), "busy@a.example").await;
    let id = mail(&bench).await;
    bench.attempt().await;
    assert_eq!(bench.state(&id).await, SendState::Pending);
    assert!(error(&bench, &id).await.contains("Later"));
    bench.pass(Duration::from_millis(bench.wait_ms(&id).await));
    bench.attempt().await;
    assert_eq!(bench.state(&id).await, SendState::Sent);
    let tried = desk.tried.lock().clone();
    assert_eq!(tried.len(), 2);
    assert_eq!(tried[0], tried[1]);
    assert_eq!(desk.taken.lock().len(), 1);
}

#[tokio::test]
async fn two_mails_of_a_step_are_told_apart() {
    let (address, desk) = server().await;
    let bench = Bench::with(through(address), "ada@a.example").await;
    let ids = [mail(&bench).await, mail(&bench).await];
    bench.attempt().await;
    for id in &ids {
        assert_eq!(bench.state(id).await, SendState::Sent);
    }
    let tried = desk.tried.lock().clone();
    assert_ne!(tried[0], tried[1]);
}

#[tokio::test]
async fn a_mail_that_nobody_takes_fails() {
    let (address, _desk) = server().await;
    let bench = Bench::with(through(address), "stranger@a.example").await;
    let id = mail(&bench).await;
    bench.attempt().await;
    assert_eq!(bench.state(&id).await, SendState::Failed);
    let error = error(&bench, &id).await;
    assert!(error.contains("550"), "{error}");
}

#[tokio::test]
async fn without_a_mail_server_the_flags_are_named() {
    let bench = Bench::new().await;
    let id = mail(&bench).await;
    bench.attempt().await;
    assert_eq!(bench.state(&id).await, SendState::Failed);
    let error = error(&bench, &id).await;
    assert!(
        error.contains("--smtp-url") && error.contains("--mail-from"),
        "{error}"
    );
    assert_ne!(bench.result(&id).await["request"], Value::Null);
}

#[tokio::test]
async fn an_owner_without_an_address_is_told_how_to_have_one() {
    let (address, desk) = server().await;
    let bench = Bench::with(through(address), "admin@localhost").await;
    let id = mail(&bench).await;
    bench.attempt().await;
    assert_eq!(bench.state(&id).await, SendState::Failed);
    let error = error(&bench, &id).await;
    assert!(
        error.contains("`me`") && error.contains("--email"),
        "{error}"
    );
    assert!(desk.tried.lock().is_empty());
}
