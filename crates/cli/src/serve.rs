//! `headwater serve`: the composition root. Puts store, engine, use cases and API together, and ends
//! them in order. The work of the parts is theirs.

mod admin_key;
mod apps;
pub(crate) mod arguments;
mod as_given;
mod backup;
mod banner;
mod check;
mod connections;
mod data_dir;
mod descriptors;
pub(crate) mod environment;
pub(crate) mod files;
mod log;
mod memory;
mod near_name;
mod network;
mod node;
mod receiving;
mod sending;
mod server;
mod settings;
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
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use headwater_api::{BodyLimits, ConnectionCounts, Pages, Settings};
use headwater_platform::{FirstUserOptions, Platform};
use tokio::{
    net::{TcpListener, UnixListener},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    arguments::{Global, ServeArguments},
    exit::Exit,
    serve::{
        connections::Connections, data_dir::DataDir, log::Notes, server::Server,
        stop_signals::StopSignals, store::NodeStore, tls::Tls, traces::Traces,
        workflows::WorkflowFolders,
    },
};

/// Mail that is not wholly here by then is left to its sender.
const MAIL_TAKEN_WITHIN: Duration = Duration::from_secs(5);
/// A deployment that is not done by then is left to the next start.
const DEPLOYED_WITHIN: Duration = Duration::from_secs(10);
/// Nothing that the node has in progress would be kept, so that it ends at once.
const REPLACED: &str = "another node has taken this one's place in the database, because it was silent for too long or was started a \
                        second time; start it anew to let it stand by";
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
    let listener = listen(
        options
            .listen
            .unwrap_or(SocketAddr::from(([127, 0, 0, 1], 3000))),
    )
    .await?;
    let address = listener.local_addr()?;
    let mail = receiving::bind(&options).await?;
    let data_dir = DataDir::open(&global.data_dir)?;
    // The holder of the store has the folder; a running node's socket must not be replaced.
    let store = NodeStore::open(&data_dir, options.database_url.as_deref()).await?;
    let listener = stand_by(&store, listener, address, notes).await?;
    store.prepare().await?;
    // Before the first worker starts: workers get a link to the socket.
    let socket = match options.self_alias.is_some() {
        true => Some(data_dir.bind_api_socket()?),
        false => None,
    };
    let traces = Traces::start(options.otlp_endpoint.as_deref())?;
    let tracer = traces.as_ref().map(Traces::tracer);
    let started = async {
        let app = node::start(&options, &data_dir, address, store, tracer).await?;
        first_user(&app, global, &options, &data_dir, notes).await?;
        let folders = WorkflowFolders::open(&options, global, &data_dir, &app).await?;
        anyhow::Ok((app, folders))
    };
    let (app, folders) = started.await.inspect_err(|_| {
        // A database keeps the first user, whose key is nowhere but in the folder.
        if options.database_url.is_none() {
            data_dir.leave_as_found();
        }
    })?;
    let stopping = CancellationToken::new();
    let server = server(&options, bodies, tls, Arc::clone(&app), stopping.clone());
    if let Some(mail) = &mail {
        notes.note(&format!(
            "mail to workflows is taken on {}",
            mail.address()?
        ));
    }
    let mail = mail.map(|mail| mail.start(&app, stopping.clone()));
    let folders = folders.map(|folders| folders.start(stopping.clone()));
    let node = Node {
        app,
        server,
        mail,
        folders,
        stopping,
        notes,
        // A reader of the next line may tell it to stop at once.
        signals: StopSignals::watch()?,
    };
    data_dir.write_address(&banner::local_url(&options, address))?;
    tell_ready(notes, &options, address, (&global.data_dir, &data_dir));
    node.serve(listener, socket).await?;
    if let Some(traces) = traces {
        traces.flush().await;
    }
    Ok(Exit::Success)
}

/// Waits until no other node has the store. Nobody listens meanwhile: clients must go to the node that serves.
async fn stand_by(
    store: &NodeStore,
    listener: TcpListener,
    address: SocketAddr,
    notes: Notes,
) -> Result<TcpListener> {
    let Some(holder) = store.holder().await? else {
        return Ok(listener);
    };
    drop(listener);
    let holder = holder.as_str();
    notes.note(&format!("standing by: the node {holder} has the database"));
    // Standing by is all that it was started for; whoever waits for its start would take it for stuck.
    systemd::ready();
    store.free().await;
    listen(address).await
}

/// Tells the machine that the node is ready, and people where everything is. The data folder is as it was given, and as it is.
fn tell_ready(
    notes: Notes,
    options: &ServeArguments,
    address: SocketAddr,
    (given, data_dir): (&Path, &DataDir),
) {
    notes.note(&format!(
        "headwater {} is ready on {}://{address}",
        env!("CARGO_PKG_VERSION"),
        tls::scheme(options)
    ));
    systemd::ready();
    if !notes.are_transient() && banner::is_reached_by_nobody(options, address) {
        tracing::warn!("{}; set --public-url", banner::UNREACHABLE);
    }
    if notes.are_transient() {
        notes.note(&banner::lines(options, address, given, data_dir));
    }
}

/// The server of the node's connections until it stops.
fn server(
    options: &ServeArguments,
    bodies: BodyLimits,
    tls: Option<Arc<Tls>>,
    app: Arc<Platform>,
    stopping: CancellationToken,
) -> Server {
    let counts = ConnectionCounts::default();
    let settings = Settings {
        sets_endpoints_apart: options.sandbox_endpoints.unwrap_or(true),
        bodies,
        connections: counts.clone(),
    };
    let limits = node::connection_limits(options);
    let connections = Connections::new(limits, counts);
    let pages = Pages {
        all: headwater_ui::router(Arc::clone(&app)),
        missing: headwater_ui::missing(Arc::clone(&app)),
    };
    let router = headwater_api::router(app, settings, pages);
    Server::new(router, connections, tls, stopping)
}

/// A node that is put together.
struct Node {
    app: Arc<Platform>,
    server: Server,
    mail: Option<JoinHandle<()>>,
    folders: Option<JoinHandle<()>>,
    stopping: CancellationToken,
    notes: Notes,
    signals: StopSignals,
}

impl Node {
    /// Serves until a signal, then lets requests and runs finish.
    async fn serve(mut self, listener: TcpListener, socket: Option<UnixListener>) -> Result<()> {
        let public = tokio::spawn(self.server.clone().serve(listener));
        // Components may call the API until their runs have ended, so this one is not shut down gracefully.
        let internal = socket.map(|socket| {
            let server = self.server.clone().past_shutdown();
            tokio::spawn(server.serve_components(socket))
        });
        tokio::select! {
            () = self.signals.first() => {}
            () = self.app.replaced() => bail!(REPLACED),
        }
        systemd::stopping();
        stopping::tell_begun(self.notes, &self.app);
        self.stopping.cancel();
        // Before the platform stops: what is being taken is promised to its sender.
        if let Some(mail) = self.mail {
            let _ = tokio::time::timeout(MAIL_TAKEN_WITHIN, mail).await;
        }
        if let Some(folders) = self.folders {
            let _ = tokio::time::timeout(DEPLOYED_WITHIN, folders).await;
        }
        tokio::select! {
            () = self.app.stop() => {}
            () = stopping::tell_left(self.notes, &self.app) => {}
            () = self.signals.another() => {}
        }
        if let Some(internal) = internal {
            internal.abort();
        }
        // Connections that a client keeps open without a request must not hold up the end.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), public).await;
        self.app.close().await;
        self.notes.note("stopped");
        Ok(())
    }
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

/// Makes the first user at the first start, with the given key or a new one that is told once.
async fn first_user(
    app: &Platform,
    global: &Global,
    options: &ServeArguments,
    data_dir: &DataDir,
    notes: Notes,
) -> Result<()> {
    if !app.is_empty().await? {
        return Ok(());
    }
    let given = global.api_key.clone().filter(|key| !key.is_empty());
    let api_key = given.clone().map_or_else(data_dir::new_api_key, Ok)?;
    data_dir.write_api_key(&api_key)?;
    let username = options
        .username
        .clone()
        .unwrap_or_else(|| "admin".to_owned());
    let email = options
        .email
        .clone()
        .unwrap_or_else(|| "admin@localhost".to_owned());
    app.create_first_user(FirstUserOptions {
        api_key: api_key.clone(),
        username,
        email,
    })
    .await?;
    if given.is_none() {
        let kept_in = data_dir.shown_key_path();
        // A journal would keep it for all readers of journals.
        notes.note(&match notes.are_transient() {
            true => format!("API key of the first user (shown once, kept in {kept_in}): {api_key}"),
            false => format!("the API key of the first user is in {kept_in}"),
        });
    }
    Ok(())
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
