//! Accepting connections, encrypting them when asked to, and stopping.

use std::{net::IpAddr, sync::Arc, time::Duration};

use rustls::ServerConfig;
use tokio::{
    io::AsyncWriteExt as _,
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::{JoinError, JoinSet},
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::sync::CancellationToken;

use super::{
    envelope::Client,
    mailboxes::Mailboxes,
    reply::Reply,
    room::Room,
    session::{Reception, Session},
    settings::Settings,
    wire::{Patience, Wire},
};

/// The time for telling a client that it is one too many.
const REFUSAL_TIMEOUT: Duration = Duration::from_millis(100);
/// The wait after accepting failed, most often because no file descriptor is left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves mail until `stop`. It returns once every conversation has ended: those that wait are told to come
/// back later, messages that are being delivered are finished first.
pub async fn serve(
    listener: TcpListener,
    settings: Settings,
    mailboxes: Arc<dyn Mailboxes>,
    stop: CancellationToken,
) {
    let places = Arc::new(Semaphore::new(settings.connections_max));
    let reception = Arc::new(Reception {
        room: Room::new(settings.buffered_bytes_max),
        settings,
        mailboxes,
    });
    let mut sessions = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(ended) = sessions.join_next() => {
                report(ended);
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        match (accepted, places.clone().try_acquire_owned()) {
            (Ok((stream, peer)), Ok(place)) => {
                let (reception, stop) = (reception.clone(), stop.clone());
                sessions.spawn(async move {
                    converse(stream, peer.ip(), reception, stop).await;
                    drop(place);
                });
            }
            (Ok((stream, _)), Err(_)) => refuse(stream).await,
            (Err(error), _) => {
                tracing::warn!(%error, "cannot accept a connection for mail");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    while let Some(ended) = sessions.join_next().await {
        report(ended);
    }
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a conversation for mail failed");
    }
}

async fn refuse(mut stream: TcpStream) {
    let reply = Reply::new(421, "4.7.0 Too many connections; try again later").bytes();
    let _ = timeout(REFUSAL_TIMEOUT, stream.write_all(&reply)).await;
}

async fn converse(
    stream: TcpStream,
    ip: IpAddr,
    reception: Arc<Reception>,
    stop: CancellationToken,
) {
    // Replies are short and waited for.
    let _ = stream.set_nodelay(true);
    let settings = &reception.settings;
    let tls = settings.tls.clone();
    let patience = Patience {
        idle: settings.idle_timeout,
        until: Instant::now() + settings.session_timeout,
        stop,
    };
    let plain = Client {
        ip: ip.to_canonical(),
        is_encrypted: false,
    };
    let session = Session::new(
        Wire::new(stream, patience.clone()),
        reception.clone(),
        plain,
    );
    let (Some(stream), Some(tls)) = (session.run().await, tls) else {
        return;
    };
    let Some(stream) = encrypt(stream, tls, &patience).await else {
        return;
    };
    let encrypted = Client {
        is_encrypted: true,
        ..plain
    };
    Session::new(Wire::new(stream, patience), reception, encrypted)
        .run()
        .await;
}

async fn encrypt(
    stream: TcpStream,
    tls: Arc<ServerConfig>,
    patience: &Patience,
) -> Option<TlsStream<TcpStream>> {
    let handshake = timeout_at(patience.next(), TlsAcceptor::from(tls).accept(stream));
    tokio::select! {
        biased;
        () = patience.stop.cancelled() => None,
        done = handshake => match done {
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a client for mail did not agree on encryption");
                None
            }
            Err(_) => None,
        },
    }
}
