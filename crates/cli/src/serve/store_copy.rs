//! `store copy`: all that a node has, from a data folder into a database or back, while no node runs. The store goes table by
//! table (`store::transfer`), files of owners file by file; the keys of a folder go along with it. A destination is marked as
//! unfinished from before its first row until everything was read again and found the same.

mod owned_files;
mod place;
mod report;

use anyhow::{Context as _, Result};
use headwater_platform::KeyRing;
use headwater_store::transfer::{self, EmptyTables, Tables};

use self::{
    place::{Destination, Original, Place},
    report::Report,
};
use crate::{
    arguments::{CopyStoreArguments, Global},
    exit::Exit,
    output,
};

/// Copies the one into the other.
pub(crate) async fn copy(global: &Global, arguments: &CopyStoreArguments) -> Result<Exit> {
    let from = Place::of("--from", &arguments.from)?;
    let to = Place::of("--to", &arguments.to)?;
    let original = opened(&from).await.with_context(|| {
        format!("cannot copy the store of {from}; stop its node first, if one runs")
    })?;
    let cluster_keys = original.cluster_keys().await?;
    let destination = Destination::create(&to)
        .await
        .with_context(|| format!("cannot copy into {to}"))?;
    output::note(&format!("copying {from} to {to}"));
    let copied = copied(&original, &destination, cluster_keys.as_ref());
    let report = copied.await.with_context(|| {
        format!("nothing of {from} has changed; {to} is unfinished, and no node starts on it")
    })?;
    report.print(global.json)?;
    output::note(&format!(
        "copied {from} to {to}, read it again and found it the same"
    ));
    output::note(&destination.next_step(&original));
    Ok(Exit::Success)
}

/// Opens a store that nobody uses: otherwise nothing is begun.
async fn opened(from: &Place) -> Result<Original> {
    let original = Original::open(from).await?;
    transfer::check_unused(original.tables(), "store to copy").await?;
    Ok(original)
}

async fn copied(
    original: &Original,
    destination: &Destination,
    cluster_keys: Option<&KeyRing>,
) -> Result<Report> {
    let progress = report::Progress::default();
    let heard = |part, table: &str, rows| progress.hear(part, table, rows);
    let (from, to): (&dyn Tables, &dyn EmptyTables) = (original.tables(), destination.tables());
    let tables = transfer::copy(from, to, &heard).await?;
    let files = owned_files::copy(&*original.files()?, &*destination.files()?).await;
    let files = files.context("cannot copy the files of workflows and events")?;
    destination.take_parts(original, cluster_keys).await?;
    to.finish().await?;
    Ok(Report { tables, files })
}
