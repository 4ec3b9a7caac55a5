//! `headwater serve`: the composition root. Puts store, engine, use cases and API together, and ends
//! them in order. The work of the parts is theirs.

mod activation;
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
mod folder_fault;
pub(crate) mod help;
mod listening;
mod log;
mod memory;
mod near_name;
mod network;
mod node;
mod ready;
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

use anyhow::Result;
use headwater_api::ConnectionCounts;

use crate::{
    arguments::{Global, ServeArguments},
    exit::Exit,
    serve::{
        cluster::ClusterOptions, setup::Setup, store::NodeStore, tls::Tls, traces::Traces,
        workflows::WorkflowFolders,
    },
};

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
    let traces = Traces::start(options.otlp_endpoint.as_deref())?;
    // Before anything is taken: a second node with a slip in its options is told of the slip, not of the first node.
    check::refuse_wrong(&options, &global.data_dir)?;
    let passed = activation::passed()?;
    let is_passed = passed.is_some();
    let listener = match passed {
        Some(listener) => listener,
        None => listening::listen(listening::address(&options)).await?,
    };
    let address = listener.local_addr()?;
    if let Some(given) = options
        .listen
        .filter(|given| is_passed && *given != address)
    {
        tracing::warn!(
            "--listen {given} does not count: the service manager passes a socket at {address}"
        );
    }
    let mail = receiving::bind(&options).await?;
    // The holder of the store has the folder; a running node's socket must not be replaced.
    let database = options.database_url.as_deref();
    let (data_dir, store) = NodeStore::open(&global.data_dir, database).await?;
    if let Some(mail) = &mail {
        notes.note(&format!(
            "mail to workflows is taken on {}",
            mail.address()?
        ));
    }
    let setup = Setup {
        global,
        options,
        bodies,
        data_dir,
        address,
        is_passed,
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
