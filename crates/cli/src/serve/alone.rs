//! A node that has its store for itself, once no other node has it.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{
    folder_fault, listening, node, ready, receiving::MailListener, running::Running, setup::Setup,
    stop_signals::StopSignals, stopping, store::NodeStore, systemd,
};

/// Nothing that the node has in progress would be kept, so that it ends at once.
const REPLACED: &str = "another node has taken this one's place in the database, because it was silent for too long or was started a \
                        second time; start it anew to let it stand by";
const AT_ONCE: &str = "another node was started on the same database at this moment; start this one anew to let it stand by";
/// The time that connections without a request may hold up the end.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);

/// Serves until a signal, then lets requests and runs finish.
///
/// # Errors
/// The store cannot be used; another node has taken this one's place.
pub(super) async fn serve(
    setup: &Setup<'_>,
    store: NodeStore,
    listener: TcpListener,
    mail: Option<MailListener>,
) -> Result<()> {
    let listener = prepare(setup, &store, listener)
        .await
        .inspect_err(|_| setup.data_dir.leave_as_found())?;
    let started = Running::start(setup, store, mail, |engine| engine)
        .await
        // Before anything is taken back, which may make room.
        .map_err(|error| folder_fault::explained(&setup.global.data_dir, error))
        .inspect_err(|_| {
            let data_dir = &setup.data_dir;
            // A database stays, and with it what only the keys in the folder open.
            let has_keys = data_dir.has_secret_keys() || data_dir.has_api_key();
            if setup.options.database_url.is_none() || !has_keys {
                data_dir.leave_as_found();
            }
        })?;
    let Some(running) = started else {
        bail!(AT_ONCE);
    };
    let stops = CancellationToken::new();
    let server = setup.server(running.router(), stops.clone());
    // A reader of the next line may tell it to stop at once.
    let mut signals = StopSignals::watch()?;
    ready::tell(setup)?;
    let public = tokio::spawn(server.serve(listener));
    tokio::select! {
        () = signals.first() => {}
        () = running.replaced() => bail!(REPLACED),
    }
    systemd::stopping();
    let grace = node::shutdown_grace(&setup.options);
    running.tell_stopping(setup.notes, grace);
    stops.cancel();
    let ended = running.stop(setup.notes, grace, signals.another()).await;
    // Connections that a client keeps open without a request must not hold up the end.
    let _ = tokio::time::timeout(CLOSED_WITHIN, public).await;
    stopping::tell_ended(setup.notes, ended.close().await);
    Ok(())
}

/// Takes the store once no other node has it, and makes it ready for use.
async fn prepare(
    setup: &Setup<'_>,
    store: &NodeStore,
    listener: TcpListener,
) -> Result<TcpListener> {
    let listener = stand_by(setup, store, listener).await?;
    match store.prepare().await? {
        true => Ok(listener),
        false => bail!(AT_ONCE),
    }
}

/// Waits until no other node has the store. Nobody listens meanwhile, as clients must go to the node that serves; only a
/// socket that was passed stays open, which its giver holds anyway.
async fn stand_by(
    setup: &Setup<'_>,
    store: &NodeStore,
    listener: TcpListener,
) -> Result<TcpListener> {
    let Some(holder) = store.holder().await? else {
        return Ok(listener);
    };
    let kept = setup.is_passed.then_some(listener);
    let holder = holder.as_str();
    setup
        .notes
        .note(&format!("standing by: the node {holder} has the database"));
    // Standing by is all that it was started for; whoever waits for its start would take it for stuck.
    systemd::ready();
    store.free().await;
    match kept {
        Some(listener) => Ok(listener),
        None => listening::listen(setup.address).await,
    }
}
