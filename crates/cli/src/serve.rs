//! `headwater serve`: the composition root. Puts store, engine, use cases and API together, and ends
//! them in order. The work of the parts is theirs.

mod admin_key;
mod alone;
mod apps;
pub(crate) mod arguments;
mod as_given;
mod backup;
mod banner;
mod check;
mod cluster;
mod connections;
mod data_dir;
mod descriptors;
pub(crate) mod environment;
pub(crate) mod files;
mod first_user;
mod log;
mod memory;
mod near_name;
mod network;
mod node;
mod receiving;
mod running;
mod sending;
mod server;
mod settings;
mod setup;
mod stop_signals;
mod stopping;
mod store;
mod store_copy;
mod systemd;
mod tls;
mod traces;
mod unreached;
mod variables;
mod workflows;

pub(crate) use self::admin_key::reset as reset_admin_key;
pub(crate) use self::backup::{back_up, restore};
pub(crate) use self::data_dir::{ADDRESS_FILE, keep_api_key};
pub(crate) use self::store_copy::copy as copy_store;

use std::{
    io::ErrorKind,
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use headwater_api::ConnectionCounts;
use tokio::net::TcpListener;

use crate::{
    arguments::{Global, ServeArguments},
    exit::Exit,
    serve::{
        cluster::ClusterOptions, data_dir::DataDir, setup::Setup, store::NodeStore, tls::Tls,
        traces::Traces, workflows::WorkflowFolders,
    },
};

const ADDRESS_FREED_WITHIN: Duration = Duration::from_secs(1);
const ADDRESS_TRIED_EVERY: Duration = Duration::from_millis(10);

/// Runs a node until it is told to stop.
pub(crate) async fn run(global: &Global, arguments: ServeArguments) -> Result<Exit> {
    let options = arguments.with_file()?;
    if options.check {
        return check::run(global, &options).await;
    }
    let lines = std::env::var(log::VARIABLE).ok();
    let notes = log::start(options.log_json.unwrap_or(false), lines.as_deref())?;
    variables::warn_of_misspelt();
    let bodies = node::body_limits(&options)?;
    WorkflowFolders::check(&options)?;
    let tls = Tls::of(&options)?;
    let cluster = ClusterOptions::of(&options)?;
    let listen_at = options.listen;
    let listener = listen(listen_at.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 3000)))).await?;
    let address = listener.local_addr()?;
    let mail = receiving::bind(&options).await?;
    let data_dir = DataDir::open(&global.data_dir)?;
    // The holder of the store has the folder; a running node's socket must not be replaced.
    let store = NodeStore::open(&data_dir, options.database_url.as_deref()).await?;
    if let Some(mail) = &mail {
        notes.note(&format!(
            "mail to workflows is taken on {}",
            mail.address()?
        ));
    }
    let traces = Traces::start(options.otlp_endpoint.as_deref())?;
    let setup = Setup {
        global,
        options,
        bodies,
        data_dir,
        address,
        notes,
        tracer: traces.as_ref().map(Traces::tracer),
        counts: ConnectionCounts::default(),
        tls,
    };
    match cluster {
        None => alone::serve(&setup, store, listener, mail).await?,
        // Mail is taken by the node that leads, which binds its address for the time.
        Some(cluster) => {
            drop(mail);
            cluster::serve(&setup, cluster, store, listener).await?;
        }
    }
    if let Some(traces) = traces {
        traces.flush().await;
    }
    Ok(Exit::Success)
}

/// Tells the machine that the node is ready, and people where everything is.
fn tell_ready(setup: &Setup<'_>) -> Result<()> {
    let Setup {
        options,
        data_dir,
        notes,
        address,
        ..
    } = setup;
    data_dir.write_address(&banner::local_url(options, *address))?;
    notes.note(&format!(
        "headwater {} is ready on {}://{address}",
        env!("CARGO_PKG_VERSION"),
        tls::scheme(options)
    ));
    systemd::ready();
    if !notes.are_transient() && banner::is_reached_by_nobody(options, *address) {
        tracing::warn!("{}; set --public-url", banner::UNREACHABLE);
    }
    if notes.are_transient() {
        let given = &setup.global.data_dir;
        notes.note(&banner::lines(options, *address, given, data_dir));
    }
    Ok(())
}

/// A process that a killed node was just starting holds its address until that process has begun.
async fn listen(address: SocketAddr) -> Result<TcpListener> {
    let give_up_at = Instant::now() + ADDRESS_FREED_WITHIN;
    loop {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && Instant::now() < give_up_at => {
                tokio::time::sleep(ADDRESS_TRIED_EVERY).await;
            }
            bound => {
                return bound.with_context(|| {
                    format!(
                        "cannot listen on {address}; choose another address with --listen, such as 127.0.0.1:3001"
                    )
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_that_is_about_to_be_free_is_waited_for() {
        let former = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = former.local_addr().unwrap();
        let listening = tokio::spawn(listen(address));
        tokio::task::yield_now().await;
        assert!(!listening.is_finished());
        drop(former);
        let listener = listening.await.unwrap().unwrap();
        assert_eq!(listener.local_addr().unwrap(), address);
    }
}
