//! A server that stops: who waits is told, and a message under way gets its answer first.

use tokio::{net::TcpStream, time::timeout};

use super::peers::{PATIENCE, Server, settings};

#[tokio::test]
async fn a_message_that_is_being_delivered_is_finished_first() {
    let server = Server::with_deliveries(settings(), 0).await;
    let mut idle = server.greeted().await;
    let mut writing = server.greeted().await;
    writing.begin().await;
    writing.send("half a mess").await;
    let mut sending = server.greeted().await;
    sending.begin().await;
    sending.send("hello\r\n.\r\n").await;
    timeout(PATIENCE, server.desk.begun.acquire())
        .await
        .unwrap()
        .unwrap()
        .forget();

    server.stop.cancel();
    for client in [&mut idle, &mut writing] {
        assert!(client.reply().await.starts_with("421 4.3.2"));
        assert_eq!(client.reply().await, "");
    }
    server.desk.may_end.add_permits(1);
    assert!(sending.reply().await.starts_with("250"));
    assert!(sending.reply().await.starts_with("421 4.3.2"));
    let (desk, address) = (server.desk.clone(), server.address);
    server.ended().await;
    assert_eq!(desk.taken.lock().await.len(), 1);
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_server_without_clients_stops_at_once() {
    let server = Server::start(settings()).await;
    server.stop.cancel();
    server.ended().await;
}
