//! `serve --check`: tries what a start needs, and changes nothing. Each fault is told, not only the first.
//!
//! Not responsible for what only a start can find: work that a former node left undone, and whether workers start.

use std::{collections::BTreeSet, fs, io::ErrorKind, path::Path};

use anyhow::{Context as _, Result, anyhow, bail};
use headwater_engine::network::NetworkPolicy;
use headwater_store_postgres::PostgresStore;
use rustix::fs::Access;

use super::{
    apps::Apps,
    arguments::ServeArguments,
    cluster::ClusterOptions,
    data_dir::{DataDir, STORE},
    folder_fault, listening, log,
    network::Network,
    node, receiving, sending, store,
    tls::Tls,
    unreached,
    workflows::WorkflowFolders,
};
use crate::{arguments::Global, exit::Exit, output};

/// Tries everything, and tells the faults.
pub(super) async fn run(global: &Global, options: &ServeArguments) -> Result<Exit> {
    let mut faults = Faults::default();
    configuration(&mut faults, options, &global.data_dir);
    let address = listening::address(options);
    let listening = tokio::net::TcpListener::bind(address).await;
    faults.note(listening.with_context(|| format!("--listen: cannot listen on {address}")));
    faults.note(receiving::bind(options).await);
    faults.note(WorkflowFolders::check(options));
    let root = &global.data_dir;
    faults.note(folder(root));
    faults.note(room(root));
    match options.database_url.as_deref() {
        Some(url) => faults.note(database(url).await),
        None => faults.note(embedded(root)),
    };
    faults.note(keys(root, options.new_secret_key.unwrap_or(false)));
    faults.tell()
}

/// Refuses values that no start could heed. Takes and changes nothing.
///
/// # Errors
/// The first such value.
pub(super) fn refuse_wrong(options: &ServeArguments, data_dir: &Path) -> Result<()> {
    options
        .database_url
        .as_deref()
        .map(store::check_scheme)
        .transpose()?;
    let network = Network::of(options)?;
    let folder = DataDir::apps_in(data_dir);
    // A data folder that this user may not read has faults of its own, which are told better later.
    let opened = fs::read_dir(&folder).map_err(|error| error.kind());
    let apps = match opened {
        Err(ErrorKind::PermissionDenied) => Apps::unread(folder),
        Ok(_) | Err(_) => Apps::of(options, folder)?,
    };
    node::app_config(options, listening::address(options), &network, apps).map(drop)
}

/// The options that are read without touching anything.
fn configuration(faults: &mut Faults, options: &ServeArguments, data_dir: &Path) {
    let lines = std::env::var(log::VARIABLE).unwrap_or_default();
    let address = listening::address(options);
    faults.note(log::filter(&lines));
    faults.note(node::body_limits(options));
    faults.note(ClusterOptions::of(options));
    faults.note(Tls::of(options));
    faults.note(node::public_url(options, address));
    faults.note(node::retained_events(options));
    faults.note(node::trusted_proxies(options));
    faults.note(node::backoff(options));
    faults.note(sending::mail(options));
    faults.note(sending::s3(options));
    let folder = DataDir::apps_in(data_dir);
    let apps = faults.note(Apps::of(options, folder.clone()));
    let network = faults.note(Network::of(options));
    // The faults of these two are noted; the rest has others.
    let network = network.unwrap_or(Network {
        policy: NetworkPolicy::PublicOnly,
        routes: Vec::new(),
        ca: None,
    });
    faults.note(node::app_config(
        options,
        address,
        &network,
        apps.unwrap_or_else(|| Apps::unread(folder)),
    ));
}

/// Checks that the data folder can be written, or created.
fn folder(root: &Path) -> Result<()> {
    let failed = || {
        let shown = root.display();
        format!("cannot use the data folder {shown}; choose another with --data-dir")
    };
    DataDir::refuse_file(root)?;
    match fs::read_dir(root) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(failed),
    }?;
    let there = folder_fault::existing(root);
    let there = there.with_context(|| format!("there is no folder above {}", root.display()))?;
    rustix::fs::access(&there, Access::WRITE_OK | Access::EXEC_OK).with_context(failed)?;
    match DataDir::is_in_use(root) {
        true => bail!(
            "another headwater is using the data folder {}; stop it or choose another with --data-dir",
            root.display()
        ),
        false => Ok(()),
    }
}

/// Checks that the data folder's disk has room for what a node writes.
fn room(root: &Path) -> Result<()> {
    match folder_fault::little_room(root) {
        Some(little) => bail!("{little}; free some space"),
        None => Ok(()),
    }
}

/// Checks the embedded store, if there is one yet.
fn embedded(root: &Path) -> Result<()> {
    match DataDir::has_data(root) {
        true => headwater_store_sqlite::check(&root.join(STORE)).map_err(|error| anyhow!(error)),
        false => Ok(()),
    }
}

/// Checks that the database answers and can be used, without a look at whether another node has it: this one would stand by.
async fn database(url: &str) -> Result<()> {
    store::check_scheme(url)?;
    let opened = PostgresStore::open_for_one(url).await;
    opened.map(drop).map_err(|error| unreached::told(&error))
}

/// Checks the secret key that is given or kept. A node that never started has none yet.
fn keys(root: &Path, gives_up: bool) -> Result<()> {
    let given = std::env::var("HEADWATER_SECRET_KEY").ok();
    match (given, DataDir::secret_key_in(root)) {
        (Some(text), _) => text
            .parse::<headwater_platform::KeyRing>()
            .map(drop)
            .map_err(|reason| anyhow!("HEADWATER_SECRET_KEY cannot be used: {reason}")),
        (None, Ok(text)) => text
            .parse::<headwater_platform::KeyRing>()
            .map(drop)
            .map_err(|reason| {
                anyhow!(
                    "the secret key in {} cannot be used: {reason}",
                    root.display()
                )
            }),
        (None, Err(error)) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot read the secret key in {}", root.display()))
        }
        (None, Err(_)) if DataDir::has_data(root) && !gives_up => bail!(
            "the secret key of {} is missing: restore it from a backup, or set HEADWATER_SECRET_KEY; --new-secret-key gives up \
             what is encrypted with it",
            root.display()
        ),
        (None, Err(_)) => Ok(()),
    }
}

/// The faults that were found, each once: some parts are read by several.
#[derive(Default)]
struct Faults {
    told: BTreeSet<String>,
    in_order: Vec<String>,
}

impl Faults {
    /// Takes what was tried, and notes its failure.
    fn note<T>(&mut self, tried: Result<T, impl Into<anyhow::Error>>) -> Option<T> {
        tried
            .map_err(|error| {
                let text = format!("{:#}", error.into());
                if self.told.insert(text.clone()) {
                    self.in_order.push(text);
                }
            })
            .ok()
    }

    fn tell(self) -> Result<Exit> {
        for fault in &self.in_order {
            output::tell(&format!("fault: {fault}"));
        }
        match self.in_order.len() {
            0 => {
                output::data("ok: a node would start with these options")?;
                Ok(Exit::Success)
            }
            1 => bail!("1 fault; nothing was changed"),
            count => bail!("{count} faults; nothing was changed"),
        }
    }
}
